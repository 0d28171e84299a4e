"""Commands that run on while the conversation goes on. A job is named after the call of its session that started it."""

from __future__ import annotations

import asyncio
import contextlib

from hitl_cli.records import Struct, field
from hitl_cli.tools.clip import clip_file
from hitl_cli.tools.declare import Failed
from hitl_cli.tools.guard import Guard
from hitl_cli.tools.processes import Command, members


class Job(Struct):
    session: str
    name: str
    text: str
    command: Command
    told: int = 0  # bytes of the output that the model has been given
    over: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False  # by BashKill or the end of the session

    @property
    def status(self) -> str:
        if not self.over.is_set():
            return "running"
        return "ended" if self.ended else f"finished, {self.command.ending}"

    def unread(self) -> tuple[str, bool]:
        """The output since the last time, clipped; whether something was left out."""
        spool, start = self.command.spool, self.told
        self.told = spool.kept
        if spool.kept == start:
            return "", False
        text, cut = clip_file(spool.path, start, spool.kept)
        return text.rstrip("\n"), cut

    def output(self) -> str:
        """All output so far, clipped, for a person: what the model has been given is left as it is."""
        spool = self.command.spool
        return clip_file(spool.path, 0, spool.kept)[0].rstrip("\n") if spool.kept else ""

    async def watch(self) -> None:
        """Until the shell and all that it left running are gone."""
        await self.command.finished(None)
        while members(self.command.process.pid):
            await asyncio.sleep(0.5)
        self.command.close()
        self.over.set()

    async def wait(self, seconds: float) -> None:
        if seconds:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), seconds)

    async def end(self) -> None:
        if not self.over.is_set():
            self.ended = True
            await self.command.end()
            self.over.set()


class Jobs:
    """The jobs of this process, of whichever session. `close` ends them all; whoever opens a session must call it."""

    def __init__(self) -> None:
        self._guard = Guard()
        self._jobs: list[Job] = []
        self._watching: set[asyncio.Task[None]] = set()

    def of(self, session: str) -> list[Job]:
        return [job for job in self._jobs if job.session == session]

    def begun(self, pid: int) -> None:
        """The session of a command that is to end with this process, however that ends."""
        self._guard.watch(pid)

    def over(self, pid: int) -> None:
        self._guard.forget(pid)

    def add(self, job: Job) -> None:
        """The call is over; nobody watches the job's output any more, it is asked for."""
        job.command.live = lambda _: None
        self._jobs.append(job)
        task = asyncio.ensure_future(job.watch())
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    def find(self, session: str, name: str) -> Job:
        for job in reversed(self.of(session)):
            if job.name == name:
                return job
        known = ", ".join(job.name for job in self.of(session)) or "none"
        raise Failed(f"there is no job {name} (jobs: {known}); jobs end with the session that started them")

    async def close(self) -> None:
        await asyncio.gather(*(job.end() for job in self._jobs))
        for task in list(self._watching):
            task.cancel()
        self._jobs.clear()
        self._guard.close()
