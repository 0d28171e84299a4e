"""The REPL without live parts, for screen readers (`--plain`) and terminals that cannot move their cursor.

Everything is a line that is printed once: the person types a line, the turn runs to its end, questions are put as numbered
lines. Ctrl-C stops a turn; at the prompt it leaves, as the end of input does, and what waits is parked.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from hitl_cli.errors import HitlError
from hitl_cli.instructions import gather
from hitl_cli.journal import Began, Recorded, Started
from hitl_cli.models import Retrying, preload
from hitl_cli.records import replace
from hitl_cli.regex import later
from hitl_cli.store import Head
from hitl_cli.ui import commands
from hitl_cli.ui.approval import Stopped
from hitl_cli.ui.clean import clean, fold
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.errands import KEPT, NO_COMMAND, edit_text, told
from hitl_cli.ui.partner import Partner
from hitl_cli.ui.plain import PlainConsole
from hitl_cli.ui.render import Teller
from hitl_cli.ui.session import Conversation
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.theme import Line, plain
from hitl_cli.ui.waiting import Outcome, Waiting
from hitl_cli.ui.wording import call_words

KEYS = (
    "Enter sends a line. A question is answered with one of the letters or words that it names, then Enter. "
    "Control-C stops a turn, and leaves at the prompt; Control-D leaves. /help lists the commands."
)
_LOOKS = later(r"\x1b\[[\d;]*m")  # ours: other people's were cleaned away


class PlainRepl:
    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.width = shutil.get_terminal_size().columns
        self.console = PlainConsole()
        self.talk = Conversation(setup, Partner(setup), self)
        self.waiting = 0
        self._leaving = False

    def begin_teller(self) -> None:
        self.teller = Teller(self.width - 1, False)

    def run(self) -> int:
        with suppress(ImportError):
            import readline  # noqa: F401 - line editing for `input`
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            runner.run(self._open())
            while not self._leaving:
                try:
                    text = input("> ").strip()
                except (EOFError, KeyboardInterrupt):
                    break
                loop.add_signal_handler(signal.SIGINT, self._stop)
                runner.run(self._line(text))
                loop.remove_signal_handler(signal.SIGINT)
            runner.run(self._close())
        return 0

    async def _open(self) -> None:
        preload(self.talk.agent.model)
        for notice in (*gather(self.setup.place, self.setup.paths).notices(self.setup.place), *self.setup.notices):
            self.say(notice)
        self.say(f"hitl in {self.setup.place.cwd}. {KEYS}")
        if self.setup.session:
            self.talk.reopen(self.setup.session)
        self.talk.go_on()
        await self.talk.wait()
        if self.setup.message:
            self.say(f"> {self.setup.message}")
            await self._line(self.setup.message)

    async def _line(self, text: str) -> None:
        typed = Typed(text, text)
        if text == "!":
            self.say(NO_COMMAND)
        elif text.startswith("!"):
            self._errand(text[1:].strip())
        elif text.startswith("/"):
            await commands.run(self, typed)
        elif text:
            self.talk.send(typed)
        await self.talk.wait()

    async def _close(self) -> None:
        with suppress(HitlError):
            await self.talk.close()
        await self.setup.workshop.close()
        self.print([[("", line)] for line in self.setup.farewell(self.talk.session, len(self.talk.pending))])

    def _stop(self) -> None:
        self._stopping = asyncio.ensure_future(self.talk.stop())

    def _errand(self, command: str) -> None:
        done = subprocess.run(
            [os.environ.get("SHELL") or "/bin/sh", "-c", command], cwd=self.setup.place.cwd, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output = clean(done.stdout.decode("utf-8", "replace"))
        print(output, end="" if output.endswith("\n") else "\n", flush=True)
        self.talk.notes.append(told(command, done.returncode, output[:KEPT].strip("\n")))

    # -- the screen, as conversation and commands see it

    def show(self, event: object) -> None:
        if isinstance(event, Recorded) and isinstance(event.entry, Started):
            call = self.teller.calls.get(event.entry.call)
            if call:
                self.say(f"running: {call_words(call.name, event.entry.input or call.input)}")
        elif isinstance(event, Retrying):
            self.say(f"{event.why}; next try in {event.after_s:.0f} s")
        elif isinstance(event, Recorded) and isinstance(event.entry, Began) and self.talk.working:
            event = replace(event, entry=replace(event.entry, text=""))  # it stands there as it was typed
        print(_LOOKS.sub("", self.teller.tell(event)), end="", flush=True)

    def glimpse(self, event: object) -> None:
        pass

    def say(self, words: str, style: str = "dim") -> None:
        rows = [row.rstrip() for line in clean(words).split("\n") for row in fold(line, self.width - 1)]
        print("\n".join(rows), flush=True)

    def print(self, lines: list[Line]) -> None:
        for line in lines:
            print(plain(line), flush=True)

    def busy(self, on: bool) -> None:
        pass

    async def ask(self, waiting: Waiting) -> Outcome:
        """The loop stands still meanwhile: nothing of this session runs while it waits."""
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        self.teller.face(waiting.interrupt.call.id if waiting.interrupt.call else "")
        if self.setup.config.bell and sys.stdout.isatty():
            print("\a", end="", flush=True)
        try:
            outcome = self.console.ask(
                waiting.interrupt, number=waiting.number, total=waiting.total, judge=waiting.judge
            )
        except KeyboardInterrupt:
            outcome = Stopped()
        finally:
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._stop)
        return outcome

    def give_back(self, typed: Sequence[Typed]) -> None:
        for one in typed:
            self.say(f"Not sent: {one.shown}")

    def command(self, typed: Typed) -> None:
        self._running = asyncio.ensure_future(commands.run(self, typed))

    def leave(self) -> None:
        self._leaving = True

    async def pick(self, heads: Sequence[Head]) -> str | None:
        for number, head in enumerate(heads, 1):
            self.say(f"{number}: {head.session} {head.title}")
        chosen = input("Which (nothing: none)? ").strip() if heads else ""
        return heads[int(chosen) - 1].session if chosen.isdecimal() and 0 < int(chosen) <= len(heads) else None

    async def edit(self, text: str, suffix: str) -> str | None:
        return edit_text(text, suffix)
