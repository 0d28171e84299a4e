"""What standard input adds to a message: nothing, a text, or a clear refusal; never a wait without end.

A terminal is never read. Without a message the input is the message. With one, a first byte is awaited for a second;
if it comes, all of it is read, up to a limit, and added.
"""

from __future__ import annotations

import os
import select
import stat
import sys

from hitl_cli.errors import UsageError

LARGEST = 10 * 1024 * 1024
PATIENCE = 1.0  # seconds for a first byte when a message is there already


def message(given: str | None) -> str:
    """The whole message of a turn; raises UsageError when there is none, it is too long, or not UTF-8."""
    piped = _piped(None if given is None else PATIENCE)
    text = "\n\n".join(part for part in (given, piped) if part and part.strip())
    if not text:
        raise UsageError('There is no message.\n  Give one: hitl run "what to do", or pipe it in.')
    return text


def _piped(patience: float | None) -> str:
    if sys.stdin is None or sys.stdin.closed:
        return ""
    try:
        fd = sys.stdin.fileno()
        kind = os.fstat(fd).st_mode
    except (OSError, ValueError):
        return ""
    if os.isatty(fd):
        return ""
    # A regular file or /dev/null answers at once; only something that can be silent is waited for.
    silent = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)
    if silent and patience is not None and not select.select([fd], [], [], patience)[0]:
        return ""
    return _decode(_read(fd))


def _read(fd: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        try:
            part = os.read(fd, 1 << 20)
        except OSError as error:
            raise UsageError(f"Standard input cannot be read: {error}.") from None
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise UsageError(
                f"Standard input holds more than {LARGEST // 1024 // 1024} MB.\n"
                "  Save it to a file and name the file in the message."
            )


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"Standard input is not UTF-8 (byte {error.start}).\n  Convert it first (iconv), or name the file instead."
        ) from None
