"""Turns watched from where no terminal is: signals end them, events become lines or a narration, the run comes back.

A signal, or standard output that cannot be written any more, cancels the turn: the agent closes what was open, so that
the session can be taken up again.
"""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from hitl_cli import instructions
from hitl_cli.agent import Agent
from hitl_cli.attachments import attach
from hitl_cli.cli import lines
from hitl_cli.cli.assemble import Assembly
from hitl_cli.cli.narrate import Narrator
from hitl_cli.cli.out import Out
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import HitlError, ModelUnavailable, SessionBusy
from hitl_cli.journal import Recorded
from hitl_cli.notify import Event, notice_of, notify
from hitl_cli.outcome import Outcome, RunEnded, Snapshot, Stopped
from hitl_cli.ui.clean import clean

T = TypeVar("T")
Events = Callable[[], AsyncGenerator[Any, None]]  # made anew while the session is run by another process
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 5.0  # seconds that a session run by another process is waited for


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """What `work` gives, tried again while another process runs the session; at last SessionBusy."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while True:
        try:
            return await work()
        except SessionBusy:
            if loop.time() > end:
                raise
        await asyncio.sleep(0.1)


def watched(assembly: Assembly, turn: Turn, output: str) -> Watch:
    """The watch over an agent of its own; a person is told what happens where standard output does not say it."""
    narrator = Narrator(quiet=turn.quiet, verbose=turn.verbose, short=output != "text")
    return Watch(assembly, assembly.agent(), narrator, output, turn.store)


class Watch:
    """Used as an async context around the turns of one process. `output` is text, json or stream-json."""

    def __init__(self, assembly: Assembly, agent: Agent, narrator: Narrator, output: str, store: str | None) -> None:
        self.assembly, self.agent, self.narrator, self.output = assembly, agent, narrator, output
        self.store = store  # as it was named, for the commands that are told
        self.session = assembly.session or assembly.store.create()
        self.out = Out()
        self.seq = 0
        self.signalled = False
        self.brief = False  # stop the next turn once it is on record
        self.news = asyncio.Event()  # something outside a turn may want to be looked at
        self._task: asyncio.Task[Outcome] | None = None

    async def __aenter__(self) -> Watch:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup
            # Not the loop's own handlers: they would not be heard while a slow reader is waited for.
            signal.signal(number, lambda *_: self._signal(loop))
        if self.output == "stream-json" and self.out.is_pipe:
            # A pipe without a reader is ready at once, long before there may be something to write.
            loop.add_reader(sys.stdout.fileno(), self._deserted)
        if self.assembly.session:
            for _, record in self.assembly.store.entries(["replied"], session=self.session):
                self.narrator.event(record)  # what was asked for before may run now
        for problem in await self.assembly.connect(self.agent):
            self.narrator.say(problem)
        place = self.agent.place
        for notice in instructions.gather(place, self.assembly.paths).notices(place):
            self.narrator.note(notice)
        for notice in self.assembly.notices:
            self.narrator.say(notice)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.assembly.close()
        await self.agent.close()

    def _signal(self, loop: asyncio.AbstractEventLoop) -> None:
        self.signalled = self.out.hurried = True
        with suppress(RuntimeError):  # the loop is closed: everything is done
            loop.call_soon_threadsafe(self._stop)

    def _deserted(self) -> None:
        asyncio.get_running_loop().remove_reader(sys.stdout.fileno())
        self.out.lost = self.out.lost or BrokenPipeError()
        self._stop()

    def _stop(self) -> None:
        self.news.set()
        self.cancel()

    @property
    def running(self) -> bool:
        return self._task is not None

    def cancel(self) -> None:
        """Stop the turn that runs, if one does."""
        if self._task:
            self._task.cancel()

    # --- turns ------------------------------------------------------------------------------------------------------

    def message(self, text: str, named: str) -> Events:
        """A message; files that the part `named` of it names with `@` go along as far as no question is needed."""

        def events() -> AsyncGenerator[Any, None]:
            attached = attach(self.agent, self.session, named, person=False)
            for problem in attached.problems:
                self.narrator.say(clean(problem))
            return self.agent.stream(text, self.session, content=attached.content)

        return events

    async def turn(self, events: Events) -> Outcome:
        """Watch a turn to its end. A turn that is cancelled ends `Stopped`, as interrupted."""
        if self.signalled:
            return await self._interrupted()
        self._task = asyncio.create_task(patiently(lambda: self._follow(events)))
        try:
            return await self._task
        except asyncio.CancelledError:
            if not self._task.cancelled():
                raise
            return await self._interrupted()
        finally:
            self._task = None

    async def to_the_end(self, events: Events) -> int:
        """One turn, told in the format that was asked for; the exit code."""
        await self.tell_session()
        try:
            run = await self.turn(events)
        except HitlError as error:
            await self.tell_failure(error)
            if isinstance(error, ModelUnavailable):
                where = f" --store {shlex.quote(self.store)}" if self.store else ""
                raise ModelUnavailable(f"{error}\n  Go on later with: hitl recover {self.session}{where}") from None
            raise
        self.tell_end(run)
        return self.code(lines.exit_code(run))

    def code(self, code: int) -> int:
        """The exit code of the process whose last turn gives `code`; an output that could not be written is an error."""
        if self.signalled:
            return 130
        if self.out.lost and not self.out.gone:
            raise self.out.lost
        return code

    async def _follow(self, events: Events) -> Outcome:
        self.assembly.keep_flags()
        async with aclosing(events()) as stream:
            async for event in stream:
                if isinstance(event, RunEnded):
                    return event.run
                self._see(event)
        raise AssertionError("a stream of events ends with RunEnded")

    async def _interrupted(self) -> Outcome:
        """A turn that was cancelled; one that had come to a question just before waits for its answer."""
        snapshot = await self.agent.load(self.session)
        return lines.waiting(snapshot) or Stopped(
            session=self.session,
            why="interrupted",
            reason="interrupted",
            messages=snapshot.messages,
            usage=lines.spent(snapshot),
            state=snapshot.state,
            denied=snapshot.denied,
        )

    # --- what is told -----------------------------------------------------------------------------------------------

    def _see(self, event: object) -> None:
        if isinstance(event, Recorded):
            self.seq = event.seq
            if self.brief:
                self.brief = False
                self.cancel()
        self.narrator.event(event)
        for line in lines.of_event(event, self.seq):
            self.tell(line)

    async def tell_session(self) -> Snapshot | None:
        """The first line; the snapshot of a session that is continued."""
        snapshot = await self.agent.load(self.session) if self.assembly.session else None
        self.seq = len(snapshot.history) if snapshot else 0
        self.tell(lines.session_line(self.session, self.assembly.settings, self.seq))
        return snapshot

    def tell_end(self, run: Outcome) -> None:
        """How a turn came out: the answer in text, else a line."""
        self._notify(notice_of(run))
        end = lines.end_line(run, self.seq)
        if self.output == "text":
            if run.text:
                self._put(run.text + "\n")
            self.narrator.end(run, self.store)
        elif self.output == "json":
            self._put(lines.text(end) + "\n")
        else:
            self.tell(end)

    async def tell_failure(self, error: HitlError) -> None:
        """The end of a turn that an error ended; in text the error speaks for itself."""
        self._notify("failed")
        snapshot = None
        with suppress(HitlError):  # the store may be what failed
            snapshot = await self.agent.load(self.session)
        end = lines.failed_line(error, self.session, snapshot, self.seq)
        if self.output == "json":
            self._put(lines.text(end) + "\n")
        self.tell(end)

    def _notify(self, event: Event | None) -> None:
        commands = self.assembly.config.notify
        if event and event in commands:
            from hitl_cli import sessions  # few want to be told

            with suppress(HitlError):  # the store may be what failed
                title = sessions.head_of(self.assembly.store, self.session).title
                notify(commands, event, session=self.session, title=title, cwd=self.agent.place.cwd)

    def tell(self, line: lines.Line) -> None:
        if self.output == "stream-json":
            self._put(lines.text(line) + "\n")

    def _put(self, text: str) -> None:
        """Write; the turn is stopped when that cannot be done any more."""
        self.out.put(text)
        if self.out.lost:
            self._stop()
