"""Options that several commands take, written once, and how a record of options (`turn.Turn`) becomes them.

`turn_options` gives a command function the options of a record on its signature and hands them over as the record.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from hitl_cli.errors import UsageError
from hitl_cli.records import Struct

Result = TypeVar("Result")
BREAKS = tuple(f"{phase}:{step}" for phase in ("before", "after") for step in ("model", "tool", "finish"))


def one_of(*allowed: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        for item in value if isinstance(value, list | tuple) else [value]:
            if item is not None and item not in allowed:
                raise typer.BadParameter(f"{item!r} is none of {', '.join(allowed)}")
        return value

    return check


def _positive(value: Any) -> Any:
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter("must be more than 0")
    return value


def _length(value: str | None) -> str | None:
    from hitl_cli.times import duration

    if value is not None:
        try:
            duration(value)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return value


def moment(option: str, text: str, read: Callable[[str, float], float]) -> float:
    """The value of a time option, read by a function of `times`; raises UsageError that names the option."""
    try:
        return read(text, time.time())
    except ValueError as error:
        raise UsageError(f"{option}: {error}.") from None


FORMATS = ("text", "json", "stream-json")
Output = Annotated[
    str | None,
    typer.Option("--output", help=", ".join(FORMATS) + ".", callback=one_of(*FORMATS), metavar="FORMAT"),
]
Session = Annotated[str, typer.Argument(help="A session; the beginning of its id is enough.")]
Store = Annotated[str | None, typer.Option("--store", help="Another store of sessions.", metavar="PATH")]
Json = Annotated[bool, typer.Option("--json", help="One JSON array.")]

MODES = ("default", "accept-edits", "plan", "dont-ask", "bypass")


def turn_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """`command`, each of whose parameters that is a record (`turn: Turn`) is replaced by the options of that record."""
    own = inspect.signature(command, eval_str=True).parameters
    hinted: dict[str, Any] = {name: p.annotation for name, p in own.items()}
    records: dict[str, Any] = {
        name: hint for name, hint in hinted.items() if isinstance(hint, type) and issubclass(hint, Struct)
    }
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for name, p in own.items() if name not in records]
    for record in records.values():
        hints, empty = get_type_hints(record, localns=globals(), include_extras=True), record()
        parameters += [
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, default=getattr(empty, option), annotation=hints[option]
            )
            for option in record.__struct_fields__
        ]

    @functools.wraps(command)
    def run(**given: Any) -> Result:
        made = {name: record(**{f: given.pop(f) for f in record.__struct_fields__}) for name, record in records.items()}
        return command(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__
    return run
