"""The REPL: the prompt wired to one conversation.

What is printed goes once through `Paper`; the bottom of the screen is drawn from three states: what goes on (`Live`), what
is asked (`Asking`), what is typed (`Composer`).
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from contextlib import suppress

from hitl_cli.errors import HitlError
from hitl_cli.instructions import gather
from hitl_cli.journal import Answered, Ended, Raised, Recorded
from hitl_cli.store import Head
from hitl_cli.ui import commands
from hitl_cli.ui.asking import Asking
from hitl_cli.ui.clean import clean, cut
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.errands import NO_COMMAND, Errands, told
from hitl_cli.ui.hands import Hands
from hitl_cli.ui.keys import app_keys
from hitl_cli.ui.partner import Partner
from hitl_cli.ui.prompt import Kept, Prompt
from hitl_cli.ui.render import Teller
from hitl_cli.ui.session import Conversation
from hitl_cli.ui.theme import Line
from hitl_cli.ui.view import View
from hitl_cli.ui.waiting import Outcome, Waiting


class Repl:
    """Owns the prompt from when it is made; `open` begins the conversation."""

    def __init__(self, prompt: Prompt, partner: Partner) -> None:
        self.prompt, self.setup = prompt, prompt.setup
        self.paper, self.app, self.composer = prompt.paper, prompt.app, prompt.composer
        self.say, self.refresh, self.leave = prompt.say, prompt.refresh, prompt.leave
        self.view = View(self.paper, prompt.status)
        self.errands = Errands(self.paper, self.setup.place.cwd)
        self.hands = Hands(self)
        self.keys = app_keys(self.hands)
        self.asking = Asking(self.paper, self.refresh, self.leave, self.hands.expand)
        self.press = self.asking.press
        self.panel_lines = self.asking.lines
        self.talk = Conversation(self.setup, partner, self)

    def begin_teller(self) -> None:
        self.teller = Teller(self.paper.width - 1, self.setup.colour)

    def open(self, early: Sequence[Kept]) -> None:
        """Begin, and go on with what was typed before there was anybody to take it."""
        if self.setup.session:
            self.talk.reopen(self.setup.session)
        for line in gather(self.setup.place, self.setup.paths).notices(self.setup.place):
            self.say(line)
        for line in self.setup.notices:
            self.say(line, "warn")
        if self.setup.message:
            self.talk.send(Typed(self.setup.message, self.setup.message))
        else:
            self.talk.go_on()
        for kept in early:
            if isinstance(kept, Typed):
                self.typed(kept)
            else:
                kept(self.hands)
        self.app.create_background_task(self._tick())

    async def end(self) -> None:
        """Stop what runs, and say how to go on."""
        with suppress(HitlError):
            await self.talk.close()
        await self.setup.workshop.close()
        for line in self.setup.farewell(self.talk.session, len(self.talk.pending)):
            self.print([[("dim", f"  {line}")]])

    # -- the screen, as the conversation sees it

    def show(self, event: object) -> None:
        self.view.live.see(event, time.monotonic())
        self.teller.width = self.paper.width - 1
        self.paper.print(self.teller.tell(event))
        if isinstance(event, Recorded) and isinstance(event.entry, Answered | Ended | Raised):
            self._count()
        self.refresh()

    def glimpse(self, event: object) -> None:
        self.view.live.see(event, time.monotonic())
        self.refresh()

    def busy(self, on: bool) -> None:
        if on:
            self.view.live.begin(time.monotonic())
        else:
            self.view.live.end()
            self._count()
        self.refresh()

    async def ask(self, waiting: Waiting) -> Outcome:
        call = waiting.interrupt.call
        what = call.name if call else waiting.interrupt.kind
        self.teller.face(call.id if call else "")
        if self.setup.config.bell:
            self.paper.bell()
        self.paper.name(f"hitl waits: {clean(what)}")
        self.prompt.bottom.attend()
        try:
            return await self.asking.put(waiting)
        finally:
            self.prompt.bottom.compose()
            self.paper.name(self.prompt.title)

    def give_back(self, typed: Sequence[Typed]) -> None:
        """Unsent messages become the draft again, in front of what is there."""
        self.composer.put("\n".join([*(t.shown for t in typed), self.prompt.draft]).strip("\n"))

    def print(self, lines: list[Line]) -> None:
        self.paper.print(self.teller.lines(lines))

    # -- other sessions

    async def pick(self, heads: Sequence[Head]) -> str | None:
        """One of several sessions, chosen by the person."""
        if not heads:
            self.say("There is no other session in this folder.")
            return None
        return await self.errands.pick(heads)

    async def edit(self, text: str, suffix: str) -> str | None:
        """`text` as the person leaves it in `$EDITOR`."""
        return await self.errands.edit(text, suffix)

    # -- what was typed

    def typed(self, typed: Typed) -> None:
        if typed.text == "!":
            self.say(NO_COMMAND)
        elif typed.text.startswith("!"):
            self.app.create_background_task(self._errand(typed.text[1:].strip()))
        elif typed.text.startswith("/"):
            self.app.create_background_task(self._command(typed))
        else:
            self.talk.send(typed)
        self.refresh()

    def command(self, typed: Typed) -> None:
        self.app.create_background_task(self._command(typed))

    async def _command(self, typed: Typed) -> None:
        if not commands.must_wait(self, typed):
            self.print([[], [("dim", cut(f"> {clean(typed.shown)}".split("\n")[0], self.width - 1))]])
        await commands.run(self, typed)
        self.talk.proceed()
        self.refresh()

    async def _errand(self, command: str) -> None:
        """`!command`: run by the person, told to the model with the next message."""
        self.paper.print(self.teller.lines([[], [("warn", "! "), ("code", clean(command))]]))
        code, output = await self.errands.run(command)
        if code:
            self.say(f"exit code {code}")
        self.talk.notes.append(told(command, code, output))

    @property
    def width(self) -> int:
        return self.paper.width

    @property
    def unsent(self) -> Sequence[Typed]:
        return self.talk.queue

    @property
    def waiting(self) -> int:
        return self.view.status.waiting

    # -- what is drawn

    def live_lines(self) -> list[Line]:
        if self.asking.open:
            return []
        return self.view.going_on(self.teller.splitter.tail if self.teller.splitter.open else "", self.talk.queue)

    def status_line(self) -> Line:
        return self.view.status_line(self.talk)

    # -- what happens by itself

    async def _tick(self) -> None:
        """Move the spinner; look now and then what others did and what waits in all sessions."""
        for beat in itertools.count():
            await asyncio.sleep(0.1)
            if self.view.live.busy and not self.asking.open:
                self.refresh()
            if beat % 5 == 0:
                with suppress(HitlError):  # told when it stands in the way of a turn
                    self.talk.glance()
                    self.talk.partner.renew_rules()
            if beat % 50 == 0:
                self._count()

    def _count(self) -> None:
        with suppress(HitlError):
            waiting = sum(len(head.pending) for head in self.setup.store.heads(pending=True))
            if waiting != self.view.status.waiting:
                self.view.status.waiting = waiting
                self.refresh()
