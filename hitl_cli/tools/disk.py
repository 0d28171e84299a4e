"""Files as tools read and replace them: only regular files, and a new content appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from hitl_cli.paths import private
from hitl_cli.tools.declare import Failed, shown

EDITABLE = 64 * 2**20  # bytes of a file that is changed, hashed and compared whole


def open_regular(path: str, readable: Callable[[str], bool]) -> int:
    """A descriptor for reading; what is missing, a folder or no plain file is `Failed` with what to do instead.

    `path` has its links resolved, so a link in the last place was put there since and is refused; a pipe or device is
    never waited for.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Failed(f"{shown(path)} does not exist{_nearest(path, readable)}") from None
    except PermissionError:
        raise Failed(f"{shown(path)} cannot be read: permission denied") from None
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise Failed(f"{shown(path)} is a folder: list it with Glob")
    raise Failed(f"{shown(path)} is not a regular file but a pipe, socket or device")


def _nearest(path: str, readable: Callable[[str], bool]) -> str:
    folder, name = os.path.split(path)
    try:
        names = [n for n in os.listdir(folder) if readable(os.path.join(folder, n))]
    except FileNotFoundError:
        return f"; there is no folder {shown(folder)} either"
    except OSError:
        return ""
    import difflib

    folded = {n.casefold(): n for n in names}
    close = [folded[n] for n in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]
    return f"; its folder has {', '.join(map(shown, close))}" if close else ""


def content(path: str) -> bytes | None:
    """The bytes of a file that is to be changed; None when there is none yet."""
    if not os.path.lexists(path):
        return None
    fd = open_regular(path, lambda _: False)
    with open(fd, "rb") as file:
        if (size := os.fstat(fd).st_size) > EDITABLE:
            raise Failed(f"{shown(path)} has {size:,} bytes, too many to change with this tool")
        return file.read()


def replace(path: str, data: bytes) -> None:
    """Write `data` beside `path`, flush it, and rename it into place. Keeps the mode and, where allowed, the owner."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    old = os.stat(path, follow_symlinks=False) if os.path.lexists(path) else None
    if old and not os.access(path, os.W_OK):
        raise Failed(f"{shown(path)} is write-protected")
    beside = os.path.join(folder, f".{secrets.token_hex(8)}.hitl")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Failed(f"nothing can be written to the folder {shown(folder)}: permission denied")
    fd = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666 if not old else 0o600
    )
    try:
        with open(fd, "wb") as file:
            if old:
                _keep(fd, old)
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.rename(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    _sync_folder(folder)


def _keep(fd: int, old: os.stat_result) -> None:
    with contextlib.suppress(PermissionError):  # another user's file: only its owner or root may give it away
        os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def create_private(path: Path) -> int:
    """A new or emptied file that only the user can read, in a folder that only the user can open."""
    private(path.parent)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
