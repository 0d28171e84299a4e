"""The forms that open below a call: a reason, an edited input, a result (and `ladder`: a rule). Each is a pure machine.

A form answers a key with a `Sign` or with what it came to. A key that means nothing in a form is a `STRAY`: somebody may
be typing without looking, and the panel goes deaf for a moment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Protocol

from hitl_cli.interrupts import Preview, Supply
from hitl_cli.records import Struct
from hitl_cli.ui.approval.field import TextField
from hitl_cli.ui.approval.terms import Answered, Editor, Input, Judge, Outcome
from hitl_cli.ui.lines import hang, literal
from hitl_cli.ui.theme import Line


class Sign(Enum):
    STAY = auto()
    CLOSE = auto()
    STRAY = auto()


class Revised(Struct, frozen=True):
    """An edited input that was judged: it is shown like a new call before it can be approved."""

    input: Input
    preview: Preview
    verdict: str


Step = Sign | Outcome | Revised


class Form(Protocol):
    def press(self, key: str, now: float, data: str) -> Step: ...

    def lines(self, width: int, height: int) -> list[Line]: ...

    def keys(self) -> list[tuple[str, str]]: ...


class Typing(Protocol):
    """A form whose text `$EDITOR` can change."""

    def take(self, text: str) -> Step: ...


def head(line: Line, width: int) -> list[Line]:
    """The first line of a form."""
    return hang(line, width, [("", "  ")])


def window(blocks: Sequence[list[Line]], at: int, room: int) -> list[Line]:
    """The rows of all blocks, or of as many around block `at` as fit into `room` rows, and how many are not shown."""
    if sum(map(len, blocks)) <= room:
        return [row for block in blocks for row in block]
    first, last, used = at, at + 1, len(blocks[at]) + 2
    while True:
        if last < len(blocks) and used + len(blocks[last]) <= room:
            used, last = used + len(blocks[last]), last + 1
        elif first and used + len(blocks[first - 1]) <= room:
            used, first = used + len(blocks[first - 1]), first - 1
        else:
            break
    above: list[Line] = [[("dim", f"  ↑ {first} more")]] if first else []
    below: list[Line] = [[("dim", f"  ↓ {len(blocks) - last} more")]] if last < len(blocks) else []
    return [*above, *(row for block in blocks[first:last] for row in block), *below]


def note(text: str, width: int) -> list[Line]:
    return hang(literal(text.replace("\n", " "), "warn"), width, [("warn", "  ! ")]) if text else []


class ReasonForm:
    """Why not: told to the model, may be empty."""

    def __init__(self, title: str, ends: Callable[[str], Outcome]) -> None:
        self.title, self._ends = title, ends
        self.field = TextField()

    def press(self, key: str, now: float, data: str) -> Step:
        if key == "enter":
            return self._ends(self.field.text.strip())
        if key == "escape":
            return Sign.CLOSE
        self.field.press(key, data)
        return Sign.STAY

    def lines(self, width: int, height: int) -> list[Line]:
        return [*head(literal(self.title, "title"), width), *self.field.lines(width)]

    def keys(self) -> list[tuple[str, str]]:
        return [("enter", "say no"), ("esc", "back")]


MAIN = {"Bash": "command", "Write": "content", "WebFetch": "url"}
SMALL = 4000  # characters; above that the line editor is no help


class EditForm:
    """The main argument of a known tool, or all arguments as JSON; judged again when it is entered."""

    def __init__(self, tool: str, input: Input, judge: Judge) -> None:
        self._input, self._judge = input, judge
        main = MAIN.get(tool, "")
        self.main = main if isinstance(input.get(main), str) else ""
        text = str(input[self.main]) if self.main else json.dumps(input, indent=2, ensure_ascii=False)
        self.field = TextField(text, several=True)
        self.problem = ""

    @property
    def small(self) -> bool:
        return len(self.field.text) <= SMALL

    @property
    def editor(self) -> Editor:
        suffix = {"command": ".sh", "": ".json"}.get(self.main, ".txt")
        path = str(self._input.get("file_path", ""))
        name, _, ending = path.rpartition("/")[2].rpartition(".")
        return Editor(self.field.text, f".{ending}" if self.main == "content" and name and ending.isalnum() else suffix)

    def take(self, text: str) -> Step:
        """The text that `$EDITOR` left, which ends with the line end that editors add."""
        added = text.endswith("\n") and not self.field.text.endswith("\n")
        self.field = TextField(text[:-1] if added else text, several=True)
        return self._enter()

    def press(self, key: str, now: float, data: str) -> Step:
        if key == "enter":
            return self._enter()
        if key == "escape":
            return Sign.CLOSE
        if key == "c-g":
            return self.editor
        self.field.press(key, data)
        self.problem = ""
        return Sign.STAY

    def _enter(self) -> Step:
        try:
            given = {**self._input, self.main: self.field.text} if self.main else json.loads(self.field.text)
        except json.JSONDecodeError as error:
            self.problem = f"This is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
            return Sign.STAY
        except RecursionError:
            given = None
        if not isinstance(given, dict):
            self.problem = "The arguments must be one JSON object: { … }."
            return Sign.STAY
        if given == dict(self._input):
            return Sign.CLOSE
        if not given:  # as an answer it would stand for the call as it is (see `answers`)
            self.problem = "A call cannot be edited to no arguments at all; leave one, or say no."
            return Sign.STAY
        preview, verdict = self._judge.preview(given)
        if verdict.startswith(("deny", "error")):
            self.problem = verdict
            return Sign.STAY
        return Revised(given, preview, verdict)

    def lines(self, width: int, height: int) -> list[Line]:
        what = f"edit {self.main}" if self.main else "edit the arguments"
        rows = self.field.lines(width, rows=max(3, height - 6))
        return [*head([("title", what)], width), *rows, *note(self.problem, width)]

    def keys(self) -> list[tuple[str, str]]:
        return [("enter", "judge and show"), ("ctrl-j", "new line"), ("ctrl-g", "editor"), ("esc", "back")]


class ResultForm:
    """The result of a call that somebody else ran."""

    def __init__(self) -> None:
        self.field = TextField(several=True)
        self.error = False

    @property
    def editor(self) -> Editor:
        return Editor(self.field.text, ".txt")

    def take(self, text: str) -> Step:
        self.field = TextField(text, several=True)
        return Sign.STAY

    def press(self, key: str, now: float, data: str) -> Step:
        if key == "enter":
            return Answered(Supply(self.field.text, self.error))
        if key == "escape":
            return Sign.CLOSE
        if key == "c-g":
            return self.editor
        if key == "tab":
            self.error = not self.error
        else:
            self.field.press(key, data)
        return Sign.STAY

    def lines(self, width: int, height: int) -> list[Line]:
        state: Line = [("warn", "it failed")] if self.error else [("good", "it worked")]
        return [
            *head([("title", "result"), ("dim", " · "), *state], width),
            *self.field.lines(width, rows=max(3, height - 6)),
        ]

    def keys(self) -> list[tuple[str, str]]:
        turn = "it worked" if self.error else "it failed"
        return [("enter", "send"), ("tab", turn), ("ctrl-j", "new line"), ("ctrl-g", "editor"), ("esc", "back")]
