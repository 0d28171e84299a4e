"""The program in a pseudo-terminal, as bytes: what is typed, what comes back, and when."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence

from tests.bench.programs import Home

PATIENCE = 60.0


class Terminal:
    """Used as a context: the program is ended with it."""

    def __init__(self, argv: Sequence[str], where: Home, columns: int = 100, rows: int = 30) -> None:
        self.began = time.perf_counter()
        self.seen = b""
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.chdir(where.work)
            os.execve(argv[0], list(argv), dict(where.env))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.close(self._fd)
        os.waitpid(self.pid, 0)

    def send(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def read(self, seconds: float) -> bool:
        """Take in what comes within `seconds`; False when nothing did."""
        ready, _, _ = select.select([self._fd], [], [], max(0.0, seconds))
        if ready:
            self.seen += os.read(self._fd, 65536)
        return bool(ready)

    def until(self, words: str, after: int = 0, patience: float = PATIENCE) -> float:
        """Wait for `words` behind byte `after` of what was seen; the moment at which they were there."""
        end = time.perf_counter() + patience
        while words.encode() not in self.seen[after:]:
            if time.perf_counter() > end:
                raise TimeoutError(f"{words!r} did not come: {self.seen[-2000:]!r}")
            self.read(0.05)
        return time.perf_counter()

    def processor(self) -> float:
        """Seconds of processor time that the program has used."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """MiB resident."""
        with open(f"/proc/{self.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def quiet(self, seconds: float = 0.6) -> None:
        """Wait until the program has nothing to do any more (a tick or two aside)."""
        used = -1.0
        while self.processor() - used > 0.02:
            used = self.processor()
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                self.read(end - time.perf_counter())
