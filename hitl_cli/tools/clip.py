"""Long or strange output made fit for a model: head and tail of it, and bytes that are no text as visible escapes."""

from __future__ import annotations

from pathlib import Path

from hitl_cli.regex import later

LIMIT = 30_000  # characters of output in a result (the limit of Bash, used by all)
_STRANGE = later(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")  # control characters but tab, newline, return, escape


def plain(data: bytes) -> str:
    """Output as text: what is not UTF-8 and control characters appear as `\\xNN`."""
    return _STRANGE.sub(lambda found: f"\\x{ord(found[0]):02x}", data.decode("utf-8", "backslashreplace"))


def clip(text: str, limit: int = LIMIT, *, whole: str = "") -> str:
    """`text`, or its head and tail with a line between that counts what is left out; `whole` says where all of it is."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return _joined(text[:half], text[-half:], f"{len(text) - 2 * half:,} characters", whole)


def clip_file(path: Path, start: int, end: int, limit: int = LIMIT) -> tuple[str, bool]:
    """Bytes `start` to `end` of a file as `plain` text, clipped; whether something was left out.

    Reads no more than it shows, however large the file is.
    """
    room = limit * 4  # bytes that surely hold `limit` characters
    with path.open("rb") as file:
        file.seek(start)
        if end - start <= room:
            text = plain(file.read(end - start))
            return clip(text, limit, whole=str(path)), len(text) > limit
        head = file.read(room // 2)
        file.seek(end - room // 2)
        tail = file.read(room // 2)
    left, right = plain(_until_whole(head))[: limit // 2], plain(_from_whole(tail))[-(limit // 2) :]
    hidden = end - start - len(left.encode()) - len(right.encode())
    return _joined(left, right, f"about {max(hidden, 0):,} bytes", str(path)), True


def _joined(head: str, tail: str, left_out: str, whole: str) -> str:
    where = f"; the whole is in {whole}" if whole else ""
    return f"{head}\n\n[... {left_out} left out{where} ...]\n\n{tail}"


def _until_whole(data: bytes) -> bytes:
    """Without the beginning of a character whose rest is not there."""
    for back in range(1, min(4, len(data)) + 1):
        if data[-back] >= 0xC0:
            size = 2 if data[-back] < 0xE0 else 3 if data[-back] < 0xF0 else 4
            return data if back == size else data[:-back]
        if data[-back] < 0x80:
            break
    return data


def _from_whole(data: bytes) -> bytes:
    """Without the rest of a character whose beginning is not there."""
    at = 0
    while at < min(4, len(data)) and 0x80 <= data[at] < 0xC0:
        at += 1
    return data[at:]
