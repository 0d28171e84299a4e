"""One thing to fill in: a choice with arrows and numbers, or text that is checked as it is entered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from hitl_cli import schema
from hitl_cli.interrupts import Choice, Field
from hitl_cli.journal import Json
from hitl_cli.ui.approval.field import TextField
from hitl_cli.ui.approval.forms import Sign, note, window
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
    """One of several, or some of them, or words of one's own where the question allows them.

    `values` are what the choices mean, by default a list of their labels; `named` makes one's own words, which begin as
    `draft`, an object with them under that name.
    """

    def __init__(self, field: Field, values: Sequence[Json] | None = None, named: str = "", draft: str = "") -> None:
        self.field, self.values, self.named, self.draft = field, values, named, draft
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
        """Where several can be chosen: take the row or let go of it; on the last one, write words of one's own."""
        if self.field.multiple and self.at == len(self.labels):
            self.own = TextField(self.draft, several=True)
        elif self.field.multiple:
            self.picked ^= {self.at}

    def _enter(self) -> Sign | tuple[Json]:
        if self.at == len(self.labels):
            self.own = TextField(self.draft, several=True)
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
            return ({self.named: own.text} if self.named else [*chosen, own.text.strip()],)
        else:
            own.press(key, data)
        return Sign.STAY

    def lines(self, width: int, height: int) -> list[Line]:
        blocks: list[list[Line]] = []
        own = [Choice(f"{self.named or 'something else'} …")] if self.field.free else []
        for index, choice in enumerate([*self.field.choices, *own]):
            if self.own and index == len(self.labels):
                blocks.append(self.own.lines(width, f"› {index + 1} ", max(3, height - 8)))
                break
            here = index == self.at
            box = (
                ("[x] " if index in self.picked else "[ ] ") if self.field.multiple and index < len(self.labels) else ""
            )
            margin: Line = [("pick", "› ") if here else ("", "  "), ("key", f"{index + 1} "), ("", box)]
            line = literal(choice.label.replace("\n", " "), "pick" if here else "")
            if choice.description:
                line += [("", "  "), *literal(choice.description.replace("\n", " "), "dim")]
            blocks.append(hang(line, width, margin))
        return window(blocks, self.at, height - 8) + note(self.problem, width)

    def keys(self) -> list[tuple[str, str]]:
        if self.own:
            return [("enter", "take it"), ("esc", "back")]
        mark = [("space", "choose")] if self.field.multiple else []
        return [("enter", "send" if self.field.multiple else "take it"), ("↑↓", "move"), *mark, ("esc", "back")]


class Write:
    """A value typed as text, checked against the field's type, or against a JSON schema."""

    def __init__(self, field: Field, shape: Mapping[str, Any] | None = None) -> None:
        self.field, self.shape = field, shape
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
            text = self.text.text
            return (parse(self.field.type, text) if self.shape is None else _fitting(text, self.shape),)
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


_KINDS = {"string": "str", "integer": "int", "number": "float", "array": "list", "object": "dict"}


def entry_of(shape: Mapping[str, Any], payload: Json) -> Entry:
    """The field for one value of a schema: choices for its named values, with text for an object of one text beside them."""
    if shape.get("type") == "boolean":
        return entry(Field("", "bool"))
    variants = [shape, *shape.get("anyOf", ())]
    options = [option for variant in variants for option in variant.get("enum", ())]
    named = [
        names[0] for v in variants if v.get("type") == "object" and len(names := list(v.get("properties", ()))) == 1
    ]
    if not options:
        kind = _KINDS.get(shape["type"]) if list(shape) == ["type"] else None
        return Write(Field("", kind)) if kind else Write(Field(""), shape)  # type: ignore[arg-type]  # a Field.type
    field = Field("", choices=tuple(Choice(shown(option)) for option in options), free=bool(named))
    draft = payload.get("text") if isinstance(payload, Mapping) else None
    return Choose(field, options, named[0] if named else "", draft if isinstance(draft, str) else "")


def _fitting(text: str, shape: Mapping[str, Any]) -> Json:
    """`text` as the value of a schema that it stands for: itself where a text fits, else what it says as JSON."""
    readings: list[Json] = [text]
    with suppress(json.JSONDecodeError, RecursionError):
        readings.append(json.loads(text))
    faults = [schema.problem(value, shape) for value in readings]
    if None in faults:
        return readings[faults.index(None)]
    raise ValueError(f"That does not fit: {faults[-1]}. Write a text, or JSON.")


def shown(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
