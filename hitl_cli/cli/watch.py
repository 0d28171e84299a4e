"""Turns watched from where no terminal is: signals end them, events become lines or a narration, the run comes back.

A signal, or a reader of the lines that went away, cancels the turn: the agent closes what was open, so that the session
can be taken up again, and the code is 130.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from hitl_cli.agent import Agent
from hitl_cli.cli import lines
from hitl_cli.cli.assemble import Assembly
from hitl_cli.cli.narrate import Narrator
from hitl_cli.errors import HitlError, SessionBusy
from hitl_cli.journal import Began, Recorded
from hitl_cli.outcome import Outcome, RunEnded, Stopped

Events = Callable[[], AsyncGenerator[Any, None]]  # made anew while the session is run by another process
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 5.0  # seconds that a session run by another process is waited for


class Watch:
    """Used as an async context around the turns of one process."""

    def __init__(self, assembly: Assembly, agent: Agent, narrator: Narrator, *, as_lines: bool) -> None:
        self.assembly, self.agent, self.narrator, self.as_lines = assembly, agent, narrator, as_lines
        self.session = assembly.session or assembly.store.create()
        self.seq = 0
        self.deaf = False  # nobody reads the lines any more
        self.signalled = False
        self.news = asyncio.Event()  # something outside a turn may want to be looked at
        self._told_session = False
        self._task: asyncio.Task[Outcome] | None = None

    async def __aenter__(self) -> Watch:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signal)
        for problem in await self.assembly.connect(self.agent):
            self.narrator.say(problem)
        for notice in self.assembly.notices:
            self.narrator.say(notice)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.assembly.close()
        await self.agent.close()

    def _signal(self) -> None:
        self.signalled = True
        self.news.set()
        self.cancel()

    @property
    def running(self) -> bool:
        return self._task is not None

    def cancel(self) -> None:
        """Stop the turn that runs, if one does."""
        if self._task:
            self._task.cancel()

    async def turn(self, events: Events) -> Outcome:
        """Watch a turn to its end. A turn that is cancelled ends `Stopped`, as interrupted."""
        self._task = asyncio.create_task(self._follow(events))
        try:
            return await self._task
        except asyncio.CancelledError:
            if not self._task.cancelled():
                raise
            return await self._interrupted()
        finally:
            self._task = None

    async def to_the_end(self, events: Events, output: str, store: str | None) -> int:
        """One turn with what is told of it in the format `output`; the exit code."""
        try:
            run = await self.turn(events)
        except HitlError as error:
            end = lines.failed_line(error, self.session, self.seq)
            if output == "json":
                print(lines.text(end))
            elif output == "stream-json":
                self.tell(end)
            raise
        end = lines.end_line(run, self.seq)
        if output == "stream-json":
            self.tell(end)
        elif output == "json":
            print(lines.text(end))
        else:
            if run.text:
                print(run.text)
            self.narrator.end(run, store)
        return lines.exit_code(run)

    async def _follow(self, events: Events) -> Outcome:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while True:
            try:
                async with aclosing(events()) as stream:
                    async for event in stream:
                        if isinstance(event, RunEnded):
                            return event.run
                        self._see(event)
            except SessionBusy:
                if loop.time() > end:
                    raise
                await asyncio.sleep(0.1)

    def _see(self, event: object) -> None:
        if isinstance(event, Recorded):
            self.seq = event.seq
        self.narrator.event(event)
        if not self.as_lines:
            return
        if isinstance(event, Recorded) and isinstance(event.entry, Began):
            self.tell_session(event.entry)
        for line in lines.of_event(event):
            self.tell(line)

    def tell_session(self, began: Began | None) -> None:
        """The first line; a new session has its id by now."""
        if not self._told_session:
            self._told_session = True
            settings = self.assembly.settings
            self.tell(
                lines.session_line(
                    self.session, began, self.seq, cwd=settings.cwd, model=settings.model, mode=settings.mode
                )
            )

    def tell(self, line: lines.Line) -> None:
        """Write one line; when its reader is gone the turn is stopped, and nothing more is written."""
        if self.deaf:
            return
        try:
            sys.stdout.write(lines.text(line) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self.deaf = True
            self.cancel()

    async def _interrupted(self) -> Outcome:
        snapshot = await self.agent.load(self.session)
        return Stopped(
            session=self.session,
            why="interrupted",
            reason="interrupted",
            messages=snapshot.messages,
            usage=snapshot.usage,
            state=snapshot.state,
            denied=snapshot.denied,
        )
