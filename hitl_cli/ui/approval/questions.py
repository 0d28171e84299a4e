"""Questions as forms: one field after another.

With several fields the last page lists what was given, so nothing is sent before all of it was seen together.
"""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.interrupts import Field, Question, Reply, Review
from hitl_cli.journal import Json
from hitl_cli.ui.approval.body import brief
from hitl_cli.ui.approval.entries import Entry, entry, entry_of, shown
from hitl_cli.ui.approval.forms import Sign, Step, head
from hitl_cli.ui.approval.terms import Answered
from hitl_cli.ui.lines import hang, literal
from hitl_cli.ui.theme import Line


class QuestionForm:
    """The fields one after another; `bare` when the reply is the one field's value itself, not an object of fields."""

    def __init__(self, fields: Sequence[Field], *, bare: bool = False, entries: Sequence[Entry] | None = None) -> None:
        self.fields = fields
        self.bare = bare
        self.entries = entries or [entry(field) for field in fields]
        self.values: dict[str, Json] = {}
        self.at = 0  # len(fields) on the last page

    def press(self, key: str, now: float, data: str) -> Step:
        if self.at == len(self.fields):
            return self._last(key)
        taken = self.entries[self.at].press(key, data)
        if isinstance(taken, Sign):
            if taken is Sign.CLOSE and self.at:
                self.at -= 1
                return Sign.STAY
            return taken
        self.values[self.fields[self.at].name] = taken[0]
        if len(self.fields) == 1:
            return Answered(Reply(taken[0] if self.bare else dict(self.values)))
        left = [index for index, field in enumerate(self.fields) if field.name not in self.values]
        self.at = left[0] if left else len(self.fields)
        return Sign.STAY

    def _last(self, key: str) -> Step:
        if key == "enter":
            return Answered(Reply({field.name: self.values[field.name] for field in self.fields}))
        if key.isdecimal() and 1 <= int(key) <= len(self.fields):
            self.at = int(key) - 1
        elif key == "escape":
            self.at = len(self.fields) - 1
        else:
            return Sign.STRAY
        return Sign.STAY

    def lines(self, width: int, height: int) -> list[Line]:
        if self.at == len(self.fields):
            return self._summary(width)
        field = self.fields[self.at]
        count = f"{self.at + 1} of {len(self.fields)}  " if len(self.fields) > 1 else ""
        asked: Line = [("dim", count), *literal(heading(field), "title")]
        if field.type != "str" and not field.choices and field.type != "bool":
            asked.append(("dim", f"  ({field.type})"))
        current = self.entries[self.at]
        title = head(asked, width) if count or heading(field) else []
        return [*title, *current.lines(width, height)]

    def _summary(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for index, field in enumerate(self.fields):
            value = self.values[field.name]
            said = ", ".join(map(str, value)) if field.choices else shown(value)
            line: Line = [*literal(heading(field), "dim"), ("", "  "), *literal(said.replace("\n", " "), "code")]
            lines += hang(line, width, [("", "  "), ("key", f"{index + 1} ")])
        return lines

    def keys(self) -> list[tuple[str, str]]:
        if self.at == len(self.fields):
            return [("enter", "send"), ("1-9", "change one"), ("esc", "back")]
        return self.entries[self.at].keys()


def heading(field: Field) -> str:
    """What a field asks, in one line."""
    words = brief(field.description) or field.name
    head = field.header or ("" if field.choices else field.name)
    return (f"{head}: {words}" if head and head not in words else words).replace("\n", " ")


def form(interrupt: Question | Review) -> QuestionForm:
    """The form of a question or of a review."""
    if isinstance(interrupt, Question) and interrupt.fields:
        return QuestionForm(interrupt.fields)
    shape = interrupt.schema or {"type": _NAMES.get(interrupt.type, "string")}
    return QuestionForm([Field("")], bare=True, entries=[entry_of(shape, interrupt.payload)])


_NAMES = {"int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
