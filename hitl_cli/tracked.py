"""What git keeps of a folder: the paths in the index of its repository.

The format is that of gitformat-index(5), versions 2 and 3: a head of 12 bytes; entries of 62 bytes (64 with more flags), the
name, NULs up to a multiple of 8; extensions, of which those in capitals may be passed over; a checksum of 20 bytes.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence

from hitl_cli.access import inside

_CHECKSUM = 20


def is_repository(folder: str) -> bool:
    """As git finds one: its head may be a link to what is not there, and the rest lie in a common folder."""
    if not os.path.lexists(f"{folder}/HEAD"):
        return False
    return os.path.isfile(f"{folder}/commondir") or (
        os.path.isdir(f"{folder}/objects") and os.path.isdir(f"{folder}/refs")
    )


def tracked(folder: str, real: str, most: int) -> Sequence[str] | None:
    """The paths below a folder (`real` with links followed), by its name and by its real one, that the index of its
    repository holds; None when that cannot be read or holds more than `most`."""
    top = real
    while not is_repository(data := _data_of(top)):
        if top in ("", "/"):
            return None
        top = posixpath.dirname(top)
    try:
        with open(f"{data}/index", "rb") as file:
            names = _names(file.read(), most)
    except FileNotFoundError:
        return []  # nothing was ever added
    except OSError:
        return None
    if names is None:
        return None
    paths = [path for path in (f"{top.rstrip('/')}/{name}" for name in names) if inside(path, real)]
    return paths if folder == real else [*paths, *(folder + path[len(real) :] for path in paths)]


def _data_of(top: str) -> str:
    """Where the data of a repository lie whose files are in the folder `top`: further work trees have a file that says so."""
    data = f"{top}/.git"
    try:
        with open(data, encoding="utf-8", errors="surrogateescape") as file:
            said = file.read(10_000)
    except OSError:  # it is a folder, or not there
        return data
    return posixpath.join(top, said.removeprefix("gitdir:").strip())


def _names(index: bytes, most: int) -> list[str] | None:
    """The names in an index; None when it is of another form than the one above, or there are too many."""
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if index[:4] != b"DIRC" or version not in (2, 3) or count > most:
        return None
    found, at, end = [], 12, len(index) - _CHECKSUM
    for _ in range(count):
        name = at + (64 if at + 60 < end and index[at + 60] & 0x40 else 62)
        stop = index.find(b"\0", name, end)
        if stop < 0:
            return None
        found.append(os.fsdecode(index[name:stop]))
        at += (stop - at) // 8 * 8 + 8
    while at < end:
        if not index[at : at + 1].isupper():
            return None  # more names are kept elsewhere (a split index), or it cannot be told
        at += 8 + int.from_bytes(index[at + 4 : at + 8], "big")
    return found if at == end else None
