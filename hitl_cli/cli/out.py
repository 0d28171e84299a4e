"""Standard output of a turn: each piece written whole and at once, until nobody takes it any more.

A slow reader is waited for, which holds the turn back and loses nothing. A reader that went away, a full disk or a signal
while it is waited for ends that: `lost` is why, and nothing more is written.
"""

from __future__ import annotations

import os
import select
import stat
import sys


class GaveUp(OSError):
    """A signal came while the reader was waited for."""


class Out:
    def __init__(self) -> None:
        self.lost: OSError | None = None
        self._writing = False

    @property
    def is_pipe(self) -> bool:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)

    def put(self, text: str) -> None:
        """Write `text` as UTF-8; half a surrogate pair, which no encoding has, as `?`."""
        if self.lost is None:
            self._writing = True
            try:
                self._write(memoryview(text.encode("utf-8", "replace")))
            except OSError as error:
                self.lost = error
            finally:
                self._writing = False

    def _write(self, data: memoryview) -> None:
        sys.stdout.flush()
        fd = sys.stdout.fileno()
        while data:
            try:
                data = data[os.write(fd, data) :]
            except BlockingIOError:  # whoever gave us this end has set it so
                select.select([], [fd], [])

    def give_up(self) -> None:
        """Called by a signal handler: wait for the reader no longer."""
        if self._writing:
            raise GaveUp("a signal came while the reader was waited for")

    @property
    def gone(self) -> bool:
        """Nobody reads any more, which is no error."""
        return isinstance(self.lost, BrokenPipeError | GaveUp)
