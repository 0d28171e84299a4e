"""A conversation held by a host program over JSON lines on standard input.

Lines are taken as they come. A message starts a turn, or is kept until the turn before it has ended; an answer continues
a turn that waits, or is kept until it does; a stop ends the turn that runs or waits. At the end of the input what still
waits is parked, and the code is that of the last turn.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from contextlib import suppress

from hitl_cli.agent import Agent
from hitl_cli.cli import lines
from hitl_cli.cli.assemble import Assembly
from hitl_cli.cli.narrate import Narrator
from hitl_cli.cli.options import Turn
from hitl_cli.cli.watch import Events, Watch
from hitl_cli.errors import HitlError, UsageError
from hitl_cli.journal import Began, Who
from hitl_cli.outcome import Outcome, Suspended

LONGEST = 10 * 1024 * 1024  # bytes of one line


async def serve(assembly: Assembly, turn: Turn, message: str | None, *, as_lines: bool) -> int:
    """Until the end of the input or a signal; the exit code."""
    agent = assembly.agent()
    narrator = Narrator(quiet=turn.quiet or as_lines, verbose=turn.verbose)
    async with Watch(assembly, agent, narrator, as_lines=as_lines) as watch:
        return await Host(watch, agent).serve(message)


class Host:
    """One conversation: `run` is how the last turn came out, None before the first."""

    def __init__(self, watch: Watch, agent: Agent) -> None:
        self.watch, self.agent = watch, agent
        self.run: Outcome | None = None
        self.code = 0
        self._said: deque[lines.User | lines.Say | lines.Stop] = deque()
        self._ended = False

    async def serve(self, message: str | None) -> int:
        if self.watch.assembly.session:
            await self._reopen()
        if message is not None:
            self._said.append(lines.User(message))
        # A daemon: nothing ends a read of standard input but its end, and the process need not wait for that.
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()
        while (said := await self._next()) is not None:
            await self._take(said)
        if isinstance(self.run, Suspended):
            self.watch.tell(lines.end_line(self.run, self.watch.seq))
        return 130 if self.watch.signalled else self.code

    async def _reopen(self) -> None:
        """A session this process did not start: what waits in it is told first."""
        snapshot = await self.agent.load(self.watch.session)
        began = next((r.entry for r in reversed(snapshot.history) if isinstance(r.entry, Began)), None)
        self.watch.seq = lines.last_seq(snapshot.history)
        self.watch.tell_session(began)
        for interrupt in snapshot.pending:
            self.watch.tell({"type": "interrupt", "interrupt": lines.shown(interrupt), "seq": self.watch.seq})
        if snapshot.pending:
            self._came(
                Suspended(
                    session=snapshot.session,
                    messages=snapshot.messages,
                    usage=snapshot.usage,
                    state=snapshot.state,
                    denied=snapshot.denied,
                    pending=snapshot.pending,
                )
            )

    async def _next(self) -> lines.User | lines.Say | lines.Stop | None:
        """The next thing that was said; None at the end."""
        while not (self.watch.deaf or self.watch.signalled):
            if self._said:
                return self._said.popleft()
            if self._ended:
                return None
            self.watch.news.clear()
            await self.watch.news.wait()
        return None

    async def _take(self, said: lines.User | lines.Say | lines.Stop) -> None:
        session, waiting = self.watch.session, isinstance(self.run, Suspended)
        match said:
            case lines.User() if waiting:
                self._bad("the turn waits for answers; a message can be sent when it has ended")
            case lines.User(text):
                await self._turn(lambda: self.agent.stream(text, session=session))
            case lines.Say(id, answer) if waiting:
                who = Who("program", "host")
                await self._turn(lambda: self.agent.stream_resume(session, {id: answer}, who=who))
            case lines.Say(id):
                self._bad(f"{id} does not wait for an answer")
            case lines.Stop() if waiting:
                stopped = await self.agent.stop(session)
                if stopped:
                    self._came(stopped)

    async def _turn(self, events: Events) -> None:
        try:
            self._came(await self.watch.turn(events))
        except UsageError as error:  # refused: the session is as it was
            self._bad(str(error))
        except HitlError as error:
            self.run, self.code = None, error.exit_code
            self.watch.tell(lines.failed_line(error, self.watch.session, self.watch.seq))

    def _came(self, run: Outcome) -> None:
        self.run, self.code = run, lines.exit_code(run)
        if not isinstance(run, Suspended):
            self.watch.tell(lines.end_line(run, self.watch.seq))

    def _bad(self, problem: str) -> None:
        self.watch.tell({"type": "error", "message": problem, "seq": self.watch.seq})

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lines as they come, in a thread of its own, since any kind of file may be standard input."""
        rest = b""
        while True:
            try:
                part = os.read(sys.stdin.fileno(), 1 << 16)
            except (OSError, ValueError, AttributeError):
                part = b""
            *whole, rest = (rest + part).split(b"\n")
            too_long = len(rest) > LONGEST
            if not part:
                whole.append(rest)
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(self._heard, whole, not part, too_long)
            if not part or too_long:
                return

    def _heard(self, whole: list[bytes], ended: bool, too_long: bool) -> None:
        for raw in whole:
            said = lines.parse(raw)
            if isinstance(said, lines.Bad):
                self._bad(said.problem)
            elif isinstance(said, lines.Stop) and self.watch.running:
                self._said.clear()
                self.watch.cancel()
            elif said is not None:
                self._said.append(said)
        if too_long:
            self._bad(f"a line is longer than {LONGEST // 1024 // 1024} MB; nothing more is read")
        self._ended = self._ended or ended or too_long
        self.watch.news.set()
