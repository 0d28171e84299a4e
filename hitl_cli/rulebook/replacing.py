"""A file replaced in one step, under a lock beside it: whoever reads it finds the old text or the new one, whole."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitl_cli.errors import SessionBusy
from hitl_cli.paths import private

_WAIT = 10.0  # seconds for another process to finish


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of `file`. Raises SessionBusy, OSError."""
    private(file.parent)
    handle = os.open(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waited = time.monotonic() - began
                if waited > _WAIT:
                    raise SessionBusy(f"another process is writing {file}; nothing was changed. Try again.") from None
                time.sleep(0.01 / (1 + 5 * waited))  # who has waited longer looks more often: nobody waits for good
        yield
    finally:
        os.close(handle)


def replace(file: Path, text: str) -> None:
    """Put `text` in the place of the file's own."""
    import tempfile

    target = Path(os.path.realpath(file))  # a link to a file kept elsewhere stays a link
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
