"""Questions as forms: choices with arrows and numbers, typed fields that are checked as they are entered.

A form is a pure machine like the others of the panel. With several fields the last page lists what was given, so nothing is
sent before all of it was seen together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hitl_cli.interrupts import Choice, Field, Question, Reply, Review
from hitl_cli.journal import Json
from hitl_cli.ui.approval.field import TextField
from hitl_cli.ui.approval.forms import Sign, Step, note
from hitl_cli.ui.approval.terms import Answered
from hitl_cli.ui.lines import hang, literal
from hitl_cli.ui.theme import Line

_TRUE = ("true", "yes", "y", "1", "on", "t")
_FALSE = ("false", "no", "n", "0", "off", "f")


def parse(type: str, text: str) -> Json:
    """`text` as a value of a field's type; ValueError says what to write instead."""
    match type:
        case "bool":
            if text.strip().lower() not in _TRUE + _FALSE:
                raise ValueError("Write yes or no.")
            return text.strip().lower() in _TRUE
        case "int" | "float":
            try:
                return int(text) if type == "int" else float(text)
            except ValueError:
                raise ValueError(f"Write {'a whole number' if type == 'int' else 'a number'}.") from None
        case "str":
            return text
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        value = None
    wanted = {"list": (list, 'a JSON list, such as ["a", "b"]'), "dict": (dict, 'a JSON object, such as {"a": 1}')}
    kind, words = wanted.get(type, (object, "JSON, a text in quotes"))
    if not isinstance(value, kind) or (value is None and text.strip() != "null"):
        raise ValueError(f"Write {words}.")
    return value


class Entry(Protocol):
    """One field on the screen. `press` gives `Sign.CLOSE` for Esc and a one-element tuple when a value was taken."""

    def press(self, key: str, data: str) -> Sign | tuple[Json]: ...

    def lines(self, width: int, height: int) -> list[Line]: ...

    def keys(self) -> list[tuple[str, str]]: ...


class Choose:
    """One of several, or some of them; `own` words where the question allows them. `values` are what the choices mean."""

    def __init__(self, field: Field, values: Sequence[Json] | None = None) -> None:
        self.field = field
        self.values = values
        self.labels = [c.label for c in field.choices]
        given = field.value if isinstance(field.value, list | tuple) else ()
        self.picked = {index for index, label in enumerate(self.labels) if label in given}
        self.at = min(self.picked, default=0)
        self.own: TextField | None = None
        self.problem = ""

    def press(self, key: str, data: str) -> Sign | tuple[Json]:
        if self.own:
            return self._write(self.own, key, data)
        count = len(self.labels) + self.field.free
        self.problem = ""
        if key in ("up", "down"):
            self.at = (self.at + (1 if key == "down" else -1)) % count
        elif key.isdecimal() and 1 <= int(key) <= count:
            self.at = int(key) - 1
            self._toggle()
        elif key == " ":
            self._toggle()
        elif key == "enter":
            return self._enter()
        else:
            return Sign.CLOSE if key == "escape" else Sign.STRAY
        return Sign.STAY

    def _toggle(self) -> None:
        if self.field.multiple and self.at < len(self.labels):
            self.picked ^= {self.at}

    def _enter(self) -> Sign | tuple[Json]:
        if self.at == len(self.labels):
            self.own = TextField()
            return Sign.STAY
        if not self.field.multiple:
            return (self.values[self.at] if self.values else [self.labels[self.at]],)
        if not self.picked:
            self.problem = "Nothing is chosen yet: space chooses, enter sends."
            return Sign.STAY
        return ([self.labels[index] for index in sorted(self.picked)],)

    def _write(self, own: TextField, key: str, data: str) -> Sign | tuple[Json]:
        if key == "escape":
            self.own = None
        elif key == "enter" and own.text.strip():
            chosen = [self.labels[index] for index in sorted(self.picked)] if self.field.multiple else []
            return ([*chosen, own.text.strip()],)
        else:
            own.press(key, data)
        return Sign.STAY

    def lines(self, width: int, height: int) -> list[Line]:
        lines: list[Line] = []
        for index, choice in enumerate(
            [*self.field.choices, *([Choice("something else …")] if self.field.free else [])]
        ):
            if self.own and index == len(self.labels):
                return lines + self.own.lines(width, f"› {index + 1} ")
            here = index == self.at
            box = (
                ("[x] " if index in self.picked else "[ ] ") if self.field.multiple and index < len(self.labels) else ""
            )
            margin: Line = [("pick", "› ") if here else ("", "  "), ("key", f"{index + 1} "), ("", box)]
            line = literal(choice.label.replace("\n", " "), "pick" if here else "")
            if choice.description:
                line += [("", "  "), *literal(choice.description.replace("\n", " "), "dim")]
            lines += hang(line, width, margin, [("", " " * (4 + len(box)))])
        return lines + note(self.problem, width)

    def keys(self) -> list[tuple[str, str]]:
        if self.own:
            return [("enter", "take it"), ("esc", "back")]
        mark = [("space", "choose")] if self.field.multiple else []
        return [("enter", "send" if self.field.multiple else "take it"), ("↑↓", "move"), *mark, ("esc", "back")]


class Write:
    """A value typed as text, checked against the field's type."""

    def __init__(self, field: Field) -> None:
        self.field = field
        value = field.value
        text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.text = TextField(text, several=True)
        self.problem = ""

    def press(self, key: str, data: str) -> Sign | tuple[Json]:
        if key == "escape":
            return Sign.CLOSE
        if key != "enter":
            self.text.press(key, data)
            self.problem = ""
            return Sign.STAY
        try:
            return (parse(self.field.type, self.text.text),)
        except ValueError as error:
            self.problem = str(error)
            return Sign.STAY

    def lines(self, width: int, height: int) -> list[Line]:
        return [*self.text.lines(width, rows=max(3, height - 8)), *note(self.problem, width)]

    def keys(self) -> list[tuple[str, str]]:
        return [("enter", "take it"), ("ctrl-j", "new line"), ("esc", "back")]


def entry(field: Field) -> Entry:
    if field.choices:
        return Choose(field)
    if field.type == "bool":
        yes = field.value is not False
        choices = (Choice("yes"), Choice("no")) if yes else (Choice("no"), Choice("yes"))
        return Choose(Field(field.name, "str", field.description, choices=choices), [yes, not yes])
    return Write(field)


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
        head: Line = [("dim", count), *literal(_heading(field), "title")]
        if field.type != "str" and not field.choices and field.type != "bool":
            head.append(("dim", f"  ({field.type})"))
        current = self.entries[self.at]
        title = hang(head, width, [("", "  ")], [("", "  ")]) if count or _heading(field) else []
        return [*title, *current.lines(width, height)]

    def _summary(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for index, field in enumerate(self.fields):
            value = self.values[field.name]
            said = ", ".join(map(str, value)) if field.choices else shown(value)
            line: Line = [*literal(_heading(field), "dim"), ("", "  "), *literal(said.replace("\n", " "), "code")]
            lines += hang(line, width, [("", "  "), ("key", f"{index + 1} ")], [("", "    ")])
        return lines

    def keys(self) -> list[tuple[str, str]]:
        if self.at == len(self.fields):
            return [("enter", "send"), ("1-9", "change one"), ("esc", "back")]
        return self.entries[self.at].keys()


def shown(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _heading(field: Field) -> str:
    words = field.description or field.name
    head = field.header or (field.name if field.description and field.name != field.description else "")
    return f"{head}: {words}".replace("\n", " ") if head and head not in words else words.replace("\n", " ")


def form(interrupt: Question | Review) -> QuestionForm:
    """The form of a question or of a review."""
    if isinstance(interrupt, Question) and interrupt.fields:
        return QuestionForm(interrupt.fields)
    return _typed(interrupt.type, interrupt.schema)


def _typed(type: str, schema: Mapping[str, Any]) -> QuestionForm:
    """One value that fits a JSON schema, as far as a form can say it; the door checks the rest."""
    options = schema.get("enum")
    if isinstance(options, list | tuple) and options:
        field = Field("", choices=tuple(Choice(shown(option)) for option in options))
        return QuestionForm([field], bare=True, entries=[Choose(field, list(options))])
    names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
    kind = names.get(str(schema.get("type", "")), type if type in names.values() else "json" if schema else "str")
    return QuestionForm([Field("", kind)], bare=True)  # type: ignore[arg-type]  # "json": any value
