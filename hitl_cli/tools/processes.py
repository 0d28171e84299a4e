"""A shell command as a process of its own: its output spooled to a file, and everything it started ended with it.

The command leads a new session, so it has no terminal to ask on; standard input is empty. Its shell waits at
a gate until whoever must know of it does, so nothing of the command happens unknown. What belongs to it is every process
of that session, whichever group it put itself into, and every descendant. Output goes through a pipe that this process
reads as it comes: a child left behind can hold the pipe, but nobody waits for it.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hitl_cli.tools.disk import create_private

KEPT = 256 * 2**20  # bytes of one command's output kept on disk
_GRACE = 2.0  # seconds between asking a process to end and ending it
_PULSE = 0.1  # seconds between two pieces of live output, and the patience for stragglers
# The shell reads one line, then becomes the command; where nobody is left to write the line, it just ends. The line goes
# into `_`, which bash sets anew for every program: any other name could be one of the person's exported variables.
_GATE = 'read -r _ && exec "$@" </dev/null'
_LIVE = 8_000  # characters of live output in one piece; the newest count


class Spool:
    """Output on disk, private to the user. A disk that fails loses output, never the command."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.kept, self.problem = path, 0, 0, ""
        self._fd: int | None = None

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.problem:
            return
        try:
            if self._fd is None:
                self._fd = create_private(self.path)
            data = data[: KEPT - self.kept]
            while data:
                written = os.write(self._fd, data)
                self.kept, data = self.kept + written, data[written:]
        except OSError as error:
            self.problem = f"the output could not be kept: {error.strerror}"
        if self.size > KEPT:
            self.problem = f"only the first {KEPT:,} bytes of the output were kept"

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def discard(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


class Command:
    """A running command. Make it with `start`, from the event loop that then reads its output."""

    def __init__(
        self, process: asyncio.subprocess.Process, pipe: int, spool: Spool, live: Callable[[str], None]
    ) -> None:
        self.process, self.spool, self.live = process, spool, live
        self.closed: Callable[[], None] = lambda: None  # called when nothing of the command is left
        self._pipe: int | None = pipe
        self._loop = asyncio.get_running_loop()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._pulse: asyncio.TimerHandle | None = None
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)

    def _read(self) -> bool:
        """One piece of output; False when there is none now."""
        if self._pipe is None:
            return False
        try:
            data = os.read(self._pipe, 65536)
        except BlockingIOError:
            return False
        if not data:
            self._close_pipe()
            return False
        self.spool.write(data)
        self._pending = (self._pending + self._decoder.decode(data))[-_LIVE:]
        if self._pulse is None:
            self._pulse = self._loop.call_later(_PULSE, self._show)
        return True

    def _show(self) -> None:
        self._pulse = None
        if self._pending:
            self.live(self._pending)
            self._pending = ""

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    async def finished(self, within: float | None) -> bool:
        """Waits for the shell itself, not for what it left running; False when it is still there after `within` seconds."""
        try:
            await asyncio.wait_for(self.process.wait(), within)
        except TimeoutError:
            return False
        for _ in range(64):  # what is in the pipe: it holds less than that
            if not self._read():
                break
        self._flush()
        return True

    async def left(self) -> list[int]:
        """What still runs although the shell is gone, after a moment's patience for what is just ending."""
        deadline = self._loop.time() + _PULSE
        while (there := members(self.process.pid)) and self._loop.time() < deadline:
            await asyncio.sleep(0.01)
        return there

    async def end(self) -> None:
        """TERM to everything that belongs to the command, KILL to what is left of it after a grace."""
        for ask, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
            deadline = self._loop.time() + patience
            told: set[int] = set()
            while there := members(self.process.pid):
                _tell([pid for pid in there if pid not in told] if ask == signal.SIGTERM else there, ask)
                told |= set(there)
                if self._loop.time() > deadline:
                    break
                await asyncio.sleep(0.02)
        with contextlib.suppress(TimeoutError):
            await self.finished(_GRACE)
        self.close()

    @property
    def ending(self) -> str:
        """How the shell ended, in words."""
        code = self.process.returncode or 0
        return f"exit code {code}" if code >= 0 else f"ended by signal {signal.Signals(-code).name}"

    def close(self) -> None:
        self._close_pipe()
        self._flush()
        self.spool.close()
        self.closed()

    def _flush(self) -> None:
        if self._pulse is not None:
            self._pulse.cancel()
        self._pending += self._decoder.decode(b"", final=True)
        self._show()


async def start(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    spool: Spool,
    live: Callable[[str], None],
    known: Callable[[int], None],
) -> Command:
    """`argv` begins with a bash, and runs once `known` was told its process. Raises OSError when the program or the folder
    is not there or the command is too long for the system."""
    reads, writes = os.pipe()
    passes, gate = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(argv[0], "--noprofile", "--norc", "-c", _GATE, argv[0], *argv),
            cwd=cwd,
            env=dict(env),
            stdin=passes,
            stdout=writes,
            stderr=writes,
            start_new_session=True,
        )
        known(process.pid)
        with contextlib.suppress(BrokenPipeError):  # somebody ended the shell at the gate
            os.write(gate, b"\n")
    except BaseException:
        os.close(reads)
        raise
    finally:
        for end in (writes, passes, gate):
            os.close(end)
    return Command(process, reads, spool, live)


def members(session: int) -> list[int]:
    """The processes of a session that are alive, and all descendants of its leader, each before those it started: a shell
    that outlives what it waits for would begin what comes next."""
    table = _table()
    found = {pid for pid, (_, leader) in table.items() if leader == session}
    while more := {pid for pid, (parent, _) in table.items() if parent in found} - found:
        found |= more

    def depth(pid: int) -> int:
        steps = 0
        while pid in found and steps < len(found):  # read one after another, the rows may even name each other
            pid, steps = table[pid][0], steps + 1
        return steps

    return sorted(found, key=depth)


def _table() -> dict[int, tuple[int, int]]:
    """Every live process: parent, and session (on systems without /proc: process group)."""
    return _from_proc() if os.path.isdir("/proc/self") else _from_ps()


def _from_proc() -> dict[int, tuple[int, int]]:
    table: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                # proc(5): pid (name) state ppid pgrp session ...; the name may hold blanks and parentheses
                state, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
                if state not in (b"Z", b"X"):
                    table[int(name)] = (int(parent), int(session))
    return table


def _from_ps() -> dict[int, tuple[int, int]]:
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=False)
    rows = [line.split() for line in listing.stdout.splitlines()]
    return {int(pid): (int(parent), int(group)) for pid, parent, group, state, *_ in rows if state[0] != "Z"}


def _tell(pids: Sequence[int], what: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, what)
