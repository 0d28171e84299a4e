"""A conversation held by a host program over JSON lines on standard input.

Lines are taken as they come. A message starts a turn, or is kept until the turn before it has ended; an answer continues
a turn that waits, or is kept until it does; a stop ends the turn that runs or waits; a turn that was cut off is recovered
when that is said. At the end of the input what still waits is parked, and the code is that of the last turn.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from contextlib import suppress

from hitl_cli.cli import keeping, lines
from hitl_cli.cli.assemble import Assembly
from hitl_cli.cli.turn import Turn
from hitl_cli.cli.watch import Events, Watch, patiently, watched
from hitl_cli.errors import HitlError, InvalidAnswers, UsageError
from hitl_cli.journal import Who
from hitl_cli.outcome import Outcome, Snapshot, Suspended
from hitl_cli.ui.clean import clean

LONGEST = 10 * 1024 * 1024  # bytes of one line


async def serve(assembly: Assembly, turn: Turn, message: str | None, output: str) -> int:
    """Until the end of the input or a signal; the exit code."""
    async with watched(assembly, turn, output) as watch:
        return await Host(watch).serve(message)


class Host:
    """One conversation: `waits` is the turn that waits for answers, `code` that of the last turn."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.agent = watch, watch.agent
        self.waits: Suspended | None = None
        self.code = 0
        self._said: deque[lines.Said] = deque()
        self._ended = False

    async def serve(self, message: str | None) -> int:
        snapshot = await self.watch.tell_session()
        if snapshot:  # a session this process did not start: what waits in it is told first
            for interrupt in snapshot.pending:
                self.watch.tell({"type": "interrupt", "interrupt": lines.shown(interrupt), "seq": self.watch.seq})
            self._wait_for(snapshot)
        if message is not None:
            self._said.append(lines.User(message))
        # A daemon: nothing ends a read of standard input but its end, and the process need not wait for that.
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()
        while (said := await self._next()) is not None:
            await self._take(said)
        if self.waits:
            self.watch.tell_end(self.waits)
        return self.watch.code(self.code)

    async def _next(self) -> lines.Said | None:
        """The next thing that was said; None at the end."""
        while not (self.watch.out.lost or self.watch.signalled):
            if self._said:
                return self._said.popleft()
            if self._ended:
                return None
            self.watch.news.clear()
            await self.watch.news.wait()
        return None

    async def _take(self, said: lines.Said) -> None:
        session, who = self.watch.session, Who("program", "host")
        match said:
            case lines.User() if self.waits:
                self._bad("the turn waits for answers; a message can be sent when it has ended")
            case lines.User(text):
                await self._turn(self.watch.message(text, text))
            case lines.Say(id, answer) if self.waits:
                if problems := keeping.problems(self.agent, await self.agent.load(session), {id: answer}):
                    self._bad(str(InvalidAnswers(problems)))
                else:
                    await self._turn(lambda: self.agent.stream_resume(session, {id: answer}, who=who))
            case lines.Say(id):
                self._bad(f"{id} does not wait for an answer")
            case lines.Recover():
                await self._turn(lambda: self.agent.stream_recover(session, who=who))
            case lines.Stop() if self.waits:
                stopped = await patiently(lambda: self.agent.stop(session))
                if stopped:
                    self._came(stopped)

    async def _turn(self, events: Events) -> None:
        self.watch.brief = bool(self._said) and isinstance(self._said[0], lines.Stop)  # said before this could begin
        try:
            self._came(await self.watch.turn(events))
        except UsageError as error:  # refused: the session is as it was, which may not be how it was known here
            self._bad(str(error))
            self.code = error.exit_code
            self._wait_for(await self.agent.load(self.watch.session))
        except HitlError as error:
            self.waits, self.code = None, error.exit_code
            await self.watch.tell_failure(error)

    def _wait_for(self, snapshot: Snapshot) -> None:
        """What waits in the session as it is stored."""
        self.waits = lines.waiting(snapshot)
        if self.waits:
            self._came(self.waits)

    def _came(self, run: Outcome) -> None:
        self.code = lines.exit_code(run)
        self.waits = run if isinstance(run, Suspended) else None
        if not self.waits:
            self.watch.tell_end(run)

    def _bad(self, problem: str) -> None:
        self.watch.tell({"type": "error", "message": problem, "seq": self.watch.seq})
        if self.watch.output != "stream-json":
            self.watch.narrator.say(f"hitl: {clean(problem)}")

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
                self.watch.cancel()
                self._said.appendleft(said)  # it may have come to a question before it is cancelled
            elif said is not None:
                self._said.append(said)
        if too_long:
            self._bad(f"a line is longer than {LONGEST // 1024 // 1024} MB; nothing more is read")
        self._ended = self._ended or ended or too_long
        self.watch.news.set()
