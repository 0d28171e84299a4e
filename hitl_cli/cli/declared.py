"""How a command says what it takes: on the parameters of its function, once.

    def show(session: Annotated[str, Argument("A session.")], as_json: Annotated[bool, Option("--json")] = False) -> int

A parameter that is a record (`turn: Turn`) stands for one option a field, declared the same way, and is handed over as the
record. Two read this: `quick`, a line without mistakes, and `typed`, which has typer tell everything else.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, get_args, get_origin, get_type_hints

from hitl_cli.records import Struct

Check = Callable[[Any], object]  # raises ValueError with what is wrong with one value
REQUIRED = inspect.Parameter.empty


class Option(Struct, frozen=True):
    """`names`: every spelling, with blanks between them."""

    names: str
    help: str = ""
    metavar: str | None = None
    check: Check | None = None
    hidden: bool = False


class Argument(Struct, frozen=True):
    help: str = ""


class Parameter(Struct, frozen=True):
    """`hint`: its type without what is said about it; `default` is REQUIRED where it has none."""

    name: str
    said: Option | Argument
    hint: Any
    default: Any

    @property
    def many(self) -> bool:
        return any(get_origin(hint) is list for hint in self._alternatives())

    @property
    def kind(self) -> Any:
        """The type of one value."""
        [kind] = [hint for hint in self._alternatives() if hint is not types.NoneType]
        return get_args(kind)[0] if self.many else kind

    def _alternatives(self) -> tuple[Any, ...]:
        return get_args(self.hint) if isinstance(self.hint, types.UnionType) else (self.hint,)


class Command:
    """A function as a command: what it takes, and the call with what was given of that."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.records: dict[str, type[Struct]] = {}
        self.parameters: list[Parameter] = []
        hints = get_type_hints(function, include_extras=True)
        for name, parameter in inspect.signature(function).parameters.items():
            hint = hints[name]
            if isinstance(hint, type) and issubclass(hint, Struct):
                self.records[name] = hint
                fields, empty = get_type_hints(hint, include_extras=True), hint()
                self.parameters += [_parameter(f, fields[f], getattr(empty, f)) for f in hint.__struct_fields__]
            else:
                self.parameters.append(_parameter(name, hint, parameter.default))

    def __call__(self, **given: Any) -> Any:
        made = {
            name: record(**{field: given.pop(field) for field in record.__struct_fields__ if field in given})
            for name, record in self.records.items()
        }
        return self.function(**given, **made)


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    plain, said = get_args(hint)
    return Parameter(name, said, plain, default)


class Entry(Struct, frozen=True):
    """Where a command lives, a module of `cli` and a function in it; and what its own help says first, so that the list of
    all commands loads none of them."""

    module: str
    function: str
    says: str = ""

    def load(self) -> Command:
        return Command(getattr(import_module(f"hitl_cli.cli.{self.module}"), self.function))


class Group(Struct, frozen=True):
    says: str
    commands: Mapping[str, Entry]
