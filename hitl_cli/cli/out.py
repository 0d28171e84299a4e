"""Standard output of a turn: each piece written whole and at once, until nobody takes it any more.

A slow reader is waited for, which holds the turn back and loses nothing. A reader that went away or a full disk ends that,
and so does a reader that takes nothing for a second after a signal: `lost` is why, and nothing more is written.
"""

from __future__ import annotations

import os
import select
import stat
import sys

GLANCE = 0.1  # seconds between two looks at whether a signal came
GRACE = 1.0  # seconds that a reader is waited for after one


class GaveUp(OSError):
    """The reader took nothing any more when the program was to end."""


class Out:
    def __init__(self) -> None:
        self.lost: OSError | None = None
        self.hurried = False  # set by a signal handler

    @property
    def is_pipe(self) -> bool:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)

    @property
    def gone(self) -> bool:
        """Nobody reads any more, which is no error."""
        return isinstance(self.lost, BrokenPipeError | GaveUp)

    def put(self, text: str) -> None:
        """Write `text` as UTF-8; half a surrogate pair, which no encoding has, as `?`."""
        if self.lost is None:
            try:
                sys.stdout.flush()
                self._write(memoryview(text.encode("utf-8", "replace")))
            except OSError as error:
                self.lost = error

    def _write(self, data: memoryview) -> None:
        fd = sys.stdout.fileno()
        while data:
            self._wait(fd)
            try:
                data = data[os.write(fd, data[: select.PIPE_BUF]) :]  # so much is taken at once where any is taken
            except BlockingIOError:
                continue

    def _wait(self, fd: int) -> None:
        left = GRACE
        while not select.select([], [fd], [], GLANCE)[1]:
            if self.hurried:
                left -= GLANCE
            if left <= 0:
                raise GaveUp("the reader took nothing any more")
