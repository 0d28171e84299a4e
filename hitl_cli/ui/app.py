"""The REPL: one prompt_toolkit application for its whole life, wired to one conversation.

Everything runs in one event loop. What is printed goes once through `Paper`; the bottom of the screen is drawn from three
states: what goes on (`Live`), what is asked (`Asking`), what is typed (`Composer`). Ctrl-C is a key here like any other.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.patch_stdout import patch_stdout

from hitl_cli.errors import HitlError
from hitl_cli.models import preload
from hitl_cli.store import Head
from hitl_cli.ui import bottom, commands
from hitl_cli.ui.asking import Asking
from hitl_cli.ui.clean import clean, cut
from hitl_cli.ui.complete import ComposerCompleter, Files
from hitl_cli.ui.compose import Composer, Typed
from hitl_cli.ui.errands import edit_text, run_command, told
from hitl_cli.ui.history import SharedHistory
from hitl_cli.ui.keys import app_keys, panel_keys
from hitl_cli.ui.live import Live
from hitl_cli.ui.picker import pick
from hitl_cli.ui.render import Teller, expanded
from hitl_cli.ui.session import Conversation
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.terminal import HeldOutput, Paper, is_capable, open_output
from hitl_cli.ui.theme import Line, prompt_style
from hitl_cli.ui.waiting import Outcome, Waiting

AGAIN = 2.0  # seconds in which a second Ctrl-C leaves
SHOWN = 3  # turns of an earlier conversation that are printed when it is reopened


def repl(setup: Setup) -> int:
    """Run the REPL on this terminal until the person leaves; the exit code."""
    if setup.config.plain or not is_capable():
        from hitl_cli.ui.plainrepl import PlainRepl

        return PlainRepl(setup).run()
    output = open_output(sys.stdout)
    setup.colour = setup.colour and not os.environ.get("NO_COLOR")
    with patch_stdout():
        return asyncio.run(Repl(setup, create_input(), output).run())


class _Application(Application[None]):
    """`resized` is called before the bottom is drawn anew for another size."""

    resized: Callable[[], None]

    def _on_resize(self) -> None:
        self.resized()
        super()._on_resize()


class Repl:
    def __init__(self, setup: Setup, input: Input, output: HeldOutput) -> None:
        self.setup = setup
        self.paper = Paper(output, setup.colour)
        self.teller = Teller(self.paper.width - 1, setup.colour)
        self.live = Live()
        self.asking = Asking(self.paper, self.refresh, self.leave)
        self.talk = Conversation(setup, self)
        self.status = bottom.Status()
        self.own = commands.own_commands(setup.paths.config / "commands")
        completer = ComposerCompleter(Files(setup.place.cwd), self._commands, lambda n: commands.choices(self, n))
        self.composer = Composer(SharedHistory(setup.paths.history), completer, self.typed)
        self._expanded = 0  # how many results back Ctrl-O has gone
        self._leaving = 0.0
        self._bottom = bottom.build(
            self.composer.buffer,
            self.composer.bindings(),
            panel_keys(self.asking.press),
            self._live_lines,
            self.asking.lines,
            self._status_line,
        )
        self.app = _Application(
            self._bottom.layout,
            key_bindings=app_keys(self),
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
        self.live.see(event, time.monotonic())
        self.teller.width = self.paper.width - 1
        self.paper.print(self.teller.tell(event))
        self.refresh()

    def say(self, words: str, style: str = "dim") -> None:
        self.paper.print(self.teller.lines([[(style, line)] for line in clean(words).split("\n")]))

    def busy(self, on: bool) -> None:
        if on:
            self.live.begin(time.monotonic())
        else:
            self.live.end()
            self._count()
        self.refresh()

    async def ask(self, waiting: Waiting) -> Outcome:
        what = waiting.interrupt.call.name if waiting.interrupt.call else waiting.interrupt.kind
        if self.setup.config.bell:
            self.paper.bell()
        self.paper.name(f"hitl waits: {clean(what)}")
        self._notify("waiting")
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
        await self.talk.reopen(session, shown)

    async def pick(self, heads: Sequence[Head]) -> str | None:
        """One of several sessions, chosen by the person."""
        if not heads:
            self.say("There is no other session in this folder.")
            return None
        async with self.paper.lent():
            return await pick(heads, self.paper.output, self.setup.colour)

    async def edit(self, text: str, suffix: str) -> str | None:
        """`text` as the person leaves it in `$EDITOR`."""
        async with self.paper.lent():
            return await asyncio.to_thread(edit_text, text, suffix)

    def _notify(self, event: str) -> None:
        """Run the command that the settings name for an event; what it prints or returns does not matter."""
        command = self.setup.config.notify.get(event)
        if command:
            with suppress(OSError):
                subprocess.Popen(
                    ["/bin/sh", "-c", command], cwd=self.setup.place.cwd, start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip

    # -- what was typed

    def typed(self, typed: Typed) -> None:
        self._expanded = 0
        if typed.text.startswith("!") and typed.text[1:].strip():
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
        async with self.paper.lent():
            code, output = await asyncio.to_thread(run_command, command, self.setup.place.cwd)
        if code:
            self.say(f"exit code {code}")
        self.talk.notes.append(told(command, code, output))

    def _commands(self) -> dict[str, str]:
        known = {command.name: command.help for command in commands.COMMANDS}
        return known | {name: commands.summary(text) for name, text in self.own.items()}

    # -- what the keys do

    @property
    def draft(self) -> str:
        return self.composer.buffer.text

    @property
    def running(self) -> bool:
        return self.talk.working and not self.asking.open

    @property
    def width(self) -> int:
        return self.paper.width

    @property
    def waiting(self) -> int:
        return self.status.waiting

    @property
    def queued(self) -> bool:
        return bool(self.talk.queue)

    @property
    def panel_open(self) -> bool:
        return self.asking.open

    def interrupt(self) -> None:
        """Ctrl-C: stop the turn, else empty the draft, else leave at the second time."""
        if self.running:
            self.stop()
        elif self.draft:
            self.composer.buffer.reset()
        elif time.monotonic() - self._leaving < AGAIN:
            self.leave()
        else:
            self._leaving = time.monotonic()
            self._hint("Ctrl-C again leaves")

    def stop(self) -> None:
        self.app.create_background_task(self.talk.stop())

    def leave(self) -> None:
        with suppress(Exception):  # prompt_toolkit raises a bare Exception when it is leaving already
            self.app.exit()

    def next_mode(self) -> None:
        order = ("default", "accept-edits", "plan")
        mode = self.talk.mode
        following = order[(order.index(mode) + 1) % len(order)] if mode in order else order[0]
        self.app.create_background_task(self.talk.set_mode(following))

    def expand(self) -> None:
        """Ctrl-O: the newest result whole; again: the one before it."""
        if not self.teller.results:
            self._hint("Nothing to show yet")
            return
        self._expanded = self._expanded % len(self.teller.results) + 1
        call, result = self.teller.results[-self._expanded]
        self.paper.print(self.teller.lines(expanded(call, result, self.paper.width)))

    def take_back(self) -> None:
        """Up: the message queued last becomes the draft."""
        self.composer.put(self.talk.queue.pop().shown)
        self.refresh()

    async def edit_draft(self) -> None:
        edited = await self.edit(self.composer.expanded(self.draft), ".md")
        if edited is None:
            self._hint("The editor failed; the draft is as it was. $VISUAL or $EDITOR names the editor.")
        else:
            self.composer.put(edited)

    def _hint(self, words: str) -> None:
        """In place of the status line for a moment."""
        self.status.hint = words
        self.refresh()

        def over() -> None:
            if self.status.hint == words:
                self.status.hint = ""
                self.refresh()

        asyncio.get_running_loop().call_later(AGAIN, over)

    # -- what is drawn

    def _live_lines(self) -> list[Line]:
        if self.asking.open:
            return []
        width = self.paper.width
        tail = self.teller.splitter.tail if self.teller.splitter.open else ""
        lines = self.live.lines(tail, width, self.paper.height // 2, time.monotonic())
        for typed in self.talk.queue:
            first = clean(typed.shown).split("\n")[0]
            lines.append([("dim", cut(f"  next: {first}", width - 1))])
        if self.talk.queue:
            lines[-1] = [*lines[-1], ("dim", cut("  (Up takes it back)", max(0, width - 30)))]
        return lines

    def _status_line(self) -> Line:
        talk = self.talk
        self.status.mode, self.status.model = talk.mode, clean(talk.model)
        self.status.folder = clean(bottom.short_folder(self.setup.place.cwd, self.setup.place.home))
        window = talk.agent.model.window
        self.status.left = max(0, 100 - 100 * talk.context // window) if talk.context and window else None
        self.status.cost = talk.usage.cost
        return self.status.line(self.paper.width)

    def _title(self) -> str:
        return f"hitl: {clean(os.path.basename(self.setup.place.cwd) or '/')}"

    # -- the beginning, the end, and what happens by itself

    def _begin(self) -> None:
        preload(self.talk.agent.model)
        self.paper.name(self._title())
        self.app.create_background_task(self._open())

    def _mishap(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Something failed outside a turn: one line, and the REPL goes on."""
        error = context.get("exception")
        self.say(self.talk.mishap(error if isinstance(error, Exception) else RuntimeError(context["message"])), "warn")

    async def _open(self) -> None:
        if self.setup.connect:
            for problem in await self.setup.connect(self.talk.agent):
                self.say(problem, "warn")
        if self.setup.session:
            await self.talk.reopen(self.setup.session, SHOWN)
        else:
            self.say(f"hitl in {self.setup.place.cwd} · /help for help", "dim")
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
        session = self.talk.session
        if session:
            waits = f" It waits for {len(self.talk.pending)} answer(s): hitl pending" if self.talk.pending else ""
            self.paper.print(
                self.teller.lines([[("dim", f"Session {session} is kept. Reopen it: hitl resume {session}{waits}")]])
            )

    async def _tick(self) -> None:
        """Move the spinner; look now and then what others did and what waits in all sessions."""
        for beat in itertools.count():
            await asyncio.sleep(0.1)
            if self.live.busy and not self.asking.open:
                self.refresh()
            if beat % 5 == 0:
                with suppress(HitlError):  # told when it stands in the way of a turn
                    self.talk.glance()
                    self.talk.renew_rules()
            if beat % 50 == 0:
                self._count()

    def _count(self) -> None:
        with suppress(HitlError):
            waiting = sum(len(head.pending) for head in self.setup.store.heads(pending=True))
            if waiting != self.status.waiting:
                self.status.waiting = waiting
                self.refresh()
