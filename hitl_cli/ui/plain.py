"""Consoles that answer line by line: numbered lines for `--plain` and screen readers, and rich's panels for programs.

Either can be an agent's `responder`: it asks about everything that waits and returns the answers, or None when there
are none, and then it goes on waiting. Questions are asked one at a time in the whole process. At a terminal, what was
typed before a question stood there is thrown away, and half a second must pass without a key.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from hitl_cli.answers import takes_of
from hitl_cli.interrupts import Answer, Interrupt, Reject
from hitl_cli.outcome import Suspended
from hitl_cli.ui.approval.body import Sheet, shorten
from hitl_cli.ui.approval.terms import Answered, AnsweredRest, Judge, Stopped
from hitl_cli.ui.clean import reveal
from hitl_cli.ui.dialogue import Dialogue, Outcome
from hitl_cli.ui.lines import literal
from hitl_cli.ui.theme import plain, rich_text

if TYPE_CHECKING:
    from rich.console import Console

WAIT = 0.5  # seconds without a key before an answer counts
_ONE_AT_A_TIME = threading.Lock()


def _ask(
    console: PlainConsole | RichConsole,
    interrupt: Interrupt,
    *,
    number: int = 1,
    total: int = 1,
    judge: Judge | None = None,
    alerts: Sequence[str] = (),
) -> Outcome:
    """Put one question; at the end of input it is parked."""
    with _ONE_AT_A_TIME:
        return Dialogue(console, interrupt, judge, number=number, total=total, now=time.time()).run(alerts)


def _respond(console: PlainConsole | RichConsole, run: Suspended) -> Mapping[str, Answer] | None:
    given: dict[str, Answer] = {}
    for index, interrupt in enumerate(run.pending):
        match console.ask(interrupt, number=index + 1, total=len(run.pending)):
            case Stopped():
                return None
            case Answered(answer):
                given[interrupt.id] = answer
            case AnsweredRest(answer):
                return given | {i.id: answer for i in run.pending[index:] if Reject in takes_of(i)}
    return given or None


@dataclass
class PlainConsole:
    """Plain text, one thing a line, every line of content with its number. None: standard input, standard error."""

    input: TextIO | None = None
    output: TextIO | None = None

    __call__, ask = _respond, _ask

    def show(self, sheet: Sheet, alerts: Sequence[str]) -> None:
        badges = "".join(f", {text}" for _, text in sheet.badges)
        self.say(f"{sheet.title}{badges}")
        for text in _numbered(sheet):
            self._write(text + "\n")
        for line in sheet.tail(10_000, alerts):
            self._write(plain(line).strip() + "\n")
        _quiet(self.input or sys.stdin)

    def say(self, text: str) -> None:
        self._write(reveal(text.replace("\n", " ").replace("\t", " ")) + "\n")

    def read(self, prompt: str) -> str:
        self._write(reveal(prompt.replace("\n", " ").replace("\t", " ")))
        return _line(self.input or sys.stdin)

    def _write(self, text: str) -> None:
        out = self.output or sys.stderr
        out.write(text)
        out.flush()


@dataclass
class RichConsole:
    """The same questions drawn by rich. `console` None: one on standard error; it is never stored with the object."""

    console: Console | None = None
    input: TextIO | None = None

    __call__, ask = _respond, _ask

    def show(self, sheet: Sheet, alerts: Sequence[str]) -> None:
        for line in [[], *sheet.whole(self._console.width, alerts)]:
            self._console.print(rich_text(line))
        _quiet(self.input or sys.stdin)

    def say(self, text: str) -> None:
        self._console.print(rich_text([("", "  "), *literal(text.replace("\n", " "))]), soft_wrap=True)

    def read(self, prompt: str) -> str:
        self._console.print(rich_text([("", "  "), *literal(prompt.replace("\n", " "), "key")]), end="", soft_wrap=True)
        return _line(self.input or sys.stdin)

    @property
    def _console(self) -> Console:
        if self.console is None:
            from rich.console import Console

            self.console = Console(stderr=True, highlight=False)
        return self.console

    def __getstate__(self) -> dict[str, Any]:
        return {"console": None, "input": None}


_SIGNS = {"+": "added", "-": "removed", " ": "same", "@": "then", "\\": "note"}


def _numbered(sheet: Sheet) -> list[str]:
    if sheet.rows:
        rows = [row for row in sheet.rows if row.sign != "@" or row.text]
        return [f"{_SIGNS[row.sign]} {row.number or ''}: {plain(literal(row.text))}".replace(" :", ":") for row in rows]
    lines = sheet.content.split("\n") if sheet.content else []
    return [
        f"{index + 1}: {f'{text} blank lines' if isinstance(text, int) else plain(literal(text))}"
        for index, text in shorten(lines)
    ]


def _line(stream: TextIO) -> str:
    line = stream.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def _quiet(stream: TextIO) -> None:
    """Throw away what was typed so far at a terminal, and wait until nothing comes for half a second."""
    if not stream.isatty():
        return
    import select
    import termios

    while True:
        termios.tcflush(stream.fileno(), termios.TCIFLUSH)
        if not select.select([stream.fileno()], [], [], WAIT)[0]:
            termios.tcflush(stream.fileno(), termios.TCIFLUSH)
            return
