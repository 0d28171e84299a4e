"""The REPL: one prompt_toolkit application for its whole life, wired to one conversation.

Everything runs in one event loop. What is printed goes once through `Paper`; the bottom of the screen is drawn from three
states: what goes on (`Live`), what is asked (`Asking`), what is typed (`Composer`). Ctrl-C is a key here like any other.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.patch_stdout import patch_stdout

from hitl_cli.errors import HitlError
from hitl_cli.instructions import gather
from hitl_cli.journal import Answered, Ended, Raised, Recorded
from hitl_cli.models import preload
from hitl_cli.store import Head
from hitl_cli.ui import bottom, commands
from hitl_cli.ui.asking import Asking
from hitl_cli.ui.clean import clean, cut
from hitl_cli.ui.complete import ComposerCompleter, Files
from hitl_cli.ui.compose import Composer, Typed
from hitl_cli.ui.errands import Errands, told
from hitl_cli.ui.hands import Hands
from hitl_cli.ui.history import SharedHistory
from hitl_cli.ui.keyboard import in_lines, is_capable
from hitl_cli.ui.keys import app_keys, panel_keys
from hitl_cli.ui.mishap import mishap
from hitl_cli.ui.render import Teller
from hitl_cli.ui.session import Conversation
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.terminal import HeldOutput, Paper, Resizing, open_output
from hitl_cli.ui.theme import Line, prompt_style
from hitl_cli.ui.view import View
from hitl_cli.ui.waiting import Outcome, Waiting

SHOWN = 3  # turns of an earlier conversation that are printed when it is reopened


def repl(setup: Setup) -> int:
    """Run the REPL on this terminal until the person leaves; the exit code."""
    if setup.config.plain or not is_capable():
        from hitl_cli.ui.plainrepl import PlainRepl

        in_lines()
        return PlainRepl(setup).run()
    output = open_output(sys.stdout)
    setup.colour = setup.colour and not os.environ.get("NO_COLOR")
    with patch_stdout():
        return asyncio.run(Repl(setup, create_input(), output).run())


class Repl:
    def __init__(self, setup: Setup, input: Input, output: HeldOutput) -> None:
        self.setup = setup
        self.paper = Paper(output, setup.colour)
        self.teller = Teller(self.paper.width - 1, setup.colour)
        self.view = View(self.paper, self.refresh)
        self.errands = Errands(self.paper, setup.place.cwd)
        hands = Hands(self)
        self.asking = Asking(self.paper, self.refresh, self.leave, hands.expand)
        self.talk = Conversation(setup, self)
        self._early: list[Typed] | None = []  # what was typed before the conversation was there; None from then on
        self.own = commands.own_commands(setup.paths.config / "commands")
        completer = ComposerCompleter(Files(setup.place.cwd), self._commands, commands.choices)
        self.composer = Composer(SharedHistory(setup.paths.history), completer, self.typed)
        self._bottom = bottom.build(
            self.composer.buffer,
            self.composer.bindings(),
            panel_keys(self.asking.press),
            self._live_lines,
            self.asking.lines,
            self._status_line,
        )
        self.app = Resizing(
            self._bottom.layout,
            key_bindings=app_keys(hands),
            style=prompt_style(setup.colour),
            editing_mode=EditingMode.VI if setup.config.editing == "vi" else EditingMode.EMACS,
            input=input,
            output=output,
            mouse_support=False,
            erase_when_done=True,
            min_redraw_interval=0.02,
        )
        self.app.ttimeoutlen = 0.05
        self.app.timeoutlen = 0.15
        self.app.resized = self.paper.resized
        self.paper.attach(self.app)

    async def run(self) -> int:
        """Until the person leaves."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(number, self.leave)
        ticking = asyncio.create_task(self._tick())
        try:
            loop.set_exception_handler(self._mishap)
            await self.app.run_async(pre_run=self._begin, set_exception_handler=False)
        finally:
            ticking.cancel()
        await self._end()
        return 0

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

    def say(self, words: str, style: str = "dim") -> None:
        self.paper.print(self.teller.said(words, style))

    def busy(self, on: bool) -> None:
        if on:
            self.view.live.begin(time.monotonic())
        else:
            self.view.live.end()
            self._count()
        self.refresh()

    async def ask(self, waiting: Waiting) -> Outcome:
        what = waiting.interrupt.call.name if waiting.interrupt.call else waiting.interrupt.kind
        if self.setup.config.bell:
            self.paper.bell()
        self.paper.name(f"hitl waits: {clean(what)}")
        self._bottom.attend()
        try:
            return await self.asking.put(waiting)
        finally:
            self._bottom.compose()
            self.paper.name(self._title())

    def give_back(self, typed: Sequence[Typed]) -> None:
        """Unsent messages become the draft again, in front of what is there."""
        self.composer.put("\n".join([*(t.shown for t in typed), self.draft]).strip("\n"))

    def print(self, lines: list[Line]) -> None:
        self.paper.print(self.teller.lines(lines))

    def refresh(self) -> None:
        self.app.invalidate()

    # -- other sessions

    def begin_anew(self) -> None:
        """The next message begins a new session."""
        self.talk.begin_anew()
        self.teller = Teller(self.paper.width - 1, self.setup.colour)

    async def reopen(self, session: str, shown: int = SHOWN) -> None:
        self.teller = Teller(self.paper.width - 1, self.setup.colour)
        await self.talk.switch(session, shown)

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
        if self._early is not None:
            self._early.append(typed)
        elif typed.text.startswith("!") and typed.text[1:].strip():
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

    def _commands(self) -> dict[str, str]:
        known = {command.name: command.help for command in commands.COMMANDS}
        return known | {name: commands.summary(text) for name, text in self.own.items()}

    @property
    def draft(self) -> str:
        return self.composer.buffer.text

    @property
    def width(self) -> int:
        return self.paper.width

    @property
    def waiting(self) -> int:
        return self.view.status.waiting

    def leave(self) -> None:
        with suppress(Exception):  # prompt_toolkit raises a bare Exception when it is leaving already
            self.app.exit()

    # -- what is drawn

    def _live_lines(self) -> list[Line]:
        if self.asking.open:
            return []
        return self.view.going_on(self.teller.splitter.tail if self.teller.splitter.open else "", self.talk.queue)

    def _status_line(self) -> Line:
        return self.view.status_line(self.talk)

    def _title(self) -> str:
        return f"hitl: {clean(os.path.basename(self.setup.place.cwd) or '/')}"

    # -- the beginning, the end, and what happens by itself

    def _begin(self) -> None:
        self.paper.name(self._title())
        # Once the prompt is there: what loads takes the interpreter from what is drawn.
        asyncio.get_running_loop().call_later(0.05, preload, self.talk.agent.model)
        self.app.create_background_task(self._open())

    def _mishap(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Something failed outside a turn: one line, and the REPL goes on."""
        error = context.get("exception")
        self.say(mishap(error or RuntimeError(context["message"]), self.setup.paths), "warn")

    async def _open(self) -> None:
        try:
            await self._greet()
        finally:
            early, self._early = self._early or [], None
            for typed in early:
                self.typed(typed)

    async def _greet(self) -> None:
        for problem in await self.talk.partner.connect():
            self.say(problem, "warn")
        if self.setup.session:
            await self.talk.reopen(self.setup.session, SHOWN)
        else:
            self.say(f"hitl in {bottom.from_home(self.setup.place.cwd, self.setup.place.home)} · /help for help", "dim")
        for line in gather(self.setup.place, self.setup.paths).notices(self.setup.place):
            self.say(line)
        for line in self.setup.notices:
            self.say(line, "warn")
        if self.setup.message:
            self.talk.send(Typed(self.setup.message, self.setup.message))
        else:
            self.talk.go_on()

    async def _end(self) -> None:
        """After the application: stop what runs, and say how to go on."""
        with suppress(HitlError):
            await self.talk.close()
        if self.setup.close:
            await self.setup.close()
        self.paper.name("")
        for line in self.setup.farewell(self.talk.session, len(self.talk.pending)):
            self.print([[("dim", f"  {line}")]])

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
