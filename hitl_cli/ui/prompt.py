"""The prompt: one prompt_toolkit application for the whole life of the REPL, on the screen before anything else is loaded.

It has an owner, who is told what is typed and says what is drawn around the input line. At first that is the porter, who
keeps what is typed; as soon as all that a conversation stands on is loaded it is the REPL. Everything runs in one event
loop, and Ctrl-C is a key here like any other.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import DynamicKeyBindings, KeyBindings

from hitl_cli.ui import bottom
from hitl_cli.ui.clean import clean
from hitl_cli.ui.complete import ComposerCompleter, Files
from hitl_cli.ui.compose import Composer, Typed
from hitl_cli.ui.history import SharedHistory
from hitl_cli.ui.keys import Acts, app_keys, panel_keys
from hitl_cli.ui.lines import said
from hitl_cli.ui.mishap import mishap
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.terminal import HeldOutput, Paper, Resizing
from hitl_cli.ui.theme import Line, ansi, prompt_style

if TYPE_CHECKING:
    from hitl_cli.ui.partner import Partner

AGAIN = 2.0  # seconds in which a second Ctrl-C leaves
HINT = 2.0  # seconds that a hint stands in place of the status
Kept = Typed | Callable[[Acts], None]  # a message, or what a key does


class Owner(Protocol):
    """`keys`: what they do outside the input line and a panel. `unsent`: finished texts that nobody has had yet."""

    keys: KeyBindings

    @property
    def unsent(self) -> Sequence[Typed]: ...

    def typed(self, typed: Typed) -> None:
        """A text that Enter finished."""

    def press(self, key: str, data: str) -> None:
        """A key of the panel."""

    def live_lines(self) -> list[Line]: ...
    def panel_lines(self) -> list[Line]: ...
    def status_line(self) -> Line: ...

    async def end(self) -> None:
        """The person has left."""


class Porter:
    """Keeps what is typed, and which keys were pressed, for the owner to come."""

    running = queued = panel_open = False

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self.interrupt, self.leave = prompt.interrupt, prompt.leave
        self.keys = app_keys(self)
        self.kept: list[Kept] = []

    @property
    def draft(self) -> str:
        return self._prompt.draft

    def typed(self, typed: Typed) -> None:
        self.kept.append(typed)

    def next_mode(self) -> None:
        self.kept.append(lambda acts: acts.next_mode())

    def edit_draft(self) -> None:
        self.kept.append(lambda acts: acts.edit_draft())

    # Before there is a conversation, these keys mean nothing.
    def expand(self) -> None: ...
    def stop(self) -> None: ...
    def take_back(self) -> None: ...
    def press(self, key: str, data: str) -> None: ...

    @property
    def unsent(self) -> list[Typed]:
        return [kept for kept in self.kept if isinstance(kept, Typed)]

    def live_lines(self) -> list[Line]:
        return bottom.queued_lines(self.unsent, self._prompt.paper.width)

    def panel_lines(self) -> list[Line]:
        return []

    def status_line(self) -> Line:
        return self._prompt.status.line(self._prompt.paper.width)

    async def end(self) -> None:
        await self._prompt.setup.workshop.close()


class Prompt:
    def __init__(self, setup: Setup, input: Input, output: HeldOutput) -> None:
        self.setup = setup
        self.paper = Paper(output, setup.colour)
        folder = clean(bottom.short_folder(setup.place.cwd, setup.place.home))
        self.status = bottom.Status(setup.settings.mode, clean(setup.settings.model), folder)
        self.porter = Porter(self)
        self.owner: Owner = self.porter
        completer = ComposerCompleter(Files(setup.place.cwd), self._commands, _choices)
        self.composer = Composer(SharedHistory(setup.paths.history), completer, lambda typed: self.owner.typed(typed))
        self.bottom = bottom.build(
            self.composer.buffer,
            self.composer.bindings(),
            panel_keys(lambda key, data: self.owner.press(key, data)),
            lambda: self.owner.live_lines(),
            lambda: self.owner.panel_lines(),
            lambda: self.owner.status_line(),
        )
        self.app = Resizing(
            self.bottom.layout,
            key_bindings=DynamicKeyBindings(lambda: self.owner.keys),
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
        self._interrupted = 0.0

    async def run(self) -> None:
        """Until the person leaves. Raises what stands in the way of a conversation, should that be found only now."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(number, self.leave)
        loop.add_signal_handler(signal.SIGINT, lambda: None)  # meant for an editor that has the terminal meanwhile
        loop.set_exception_handler(self._mishap)
        try:
            await self.app.run_async(pre_run=self._begin, handle_sigint=False, set_exception_handler=False)
        finally:
            for text in (*(typed.shown for typed in self.owner.unsent), self.draft):
                if text:
                    self.say(f"Not sent: {text}")
            await self.owner.end()
            self.paper.name("")

    def _begin(self) -> None:
        """What takes longer comes after the first drawing."""
        self.paper.name(self.title)
        if not self.setup.session:
            where = bottom.from_home(self.setup.place.cwd, self.setup.place.home)
            self.paper.begin(self._said(f"hitl in {where} · /help for help"))
        self.app.create_background_task(self._open())

    async def _open(self) -> None:
        try:
            partner = await asyncio.to_thread(_partner, self.setup)
            from hitl_cli.ui.repl import Repl

            self.owner = repl = Repl(self, partner)
        except Exception as error:
            self.app.exit(exception=error)
        else:
            repl.open(self.porter.kept)

    def _mishap(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Something failed outside a turn: one line, and the REPL goes on."""
        error = context.get("exception")
        self.say(mishap(error or RuntimeError(context["message"]), self.setup.paths), "warn")

    def _commands(self) -> Mapping[str, str]:
        """Asked, as `_choices`, in the completer's own thread, which may wait until the commands are loaded."""
        from hitl_cli.ui import commands

        return commands.offered(self.setup)

    # -- what every owner does with it

    @property
    def draft(self) -> str:
        return self.composer.buffer.text

    @property
    def title(self) -> str:
        return f"hitl: {clean(os.path.basename(self.setup.place.cwd) or '/')}"

    def say(self, words: str, style: str = "dim") -> None:
        self.paper.print(self._said(words, style))

    def _said(self, words: str, style: str = "dim") -> str:
        return ansi(said(words, style, self.paper.width - 1), self.paper.colour)

    def refresh(self) -> None:
        self.app.invalidate()

    def hint(self, words: str) -> None:
        """In place of the status line for a moment."""
        self.status.hint = words
        self.refresh()
        asyncio.get_running_loop().call_later(HINT, self._unhint, words)

    def _unhint(self, words: str) -> None:
        if self.status.hint == words:
            self.status.hint = ""
            self.refresh()

    def interrupt(self) -> None:
        """Ctrl-C where nothing runs: empty the draft, else leave at the second time."""
        if self.draft:
            self.composer.buffer.reset()
        elif time.monotonic() - self._interrupted < AGAIN:
            self.leave()
        else:
            self._interrupted = time.monotonic()
            self.hint("Ctrl-C again leaves")

    def leave(self) -> None:
        with suppress(Exception):  # prompt_toolkit raises a bare Exception when it is leaving already
            self.app.exit()


def _choices(name: str) -> tuple[str, ...]:
    from hitl_cli.ui import commands

    return commands.choices(name)


def _partner(setup: Setup) -> Partner:
    """Who answers. All that a conversation stands on is loaded for it, in a thread, so that no key waits; then the SDK."""
    from hitl_cli.models import preload
    from hitl_cli.ui import repl  # noqa: F401 - loaded here, used there
    from hitl_cli.ui.partner import Partner

    partner = Partner(setup)
    preload(partner.agent.model)
    return partner
