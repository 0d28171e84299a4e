"""Options that several commands take, written once, and checks of their values."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

from hitl_cli.cli.declared import Argument, Check, Option
from hitl_cli.errors import UsageError

BREAKS = tuple(f"{phase}:{step}" for phase in ("before", "after") for step in ("model", "tool", "finish"))
MODES = ("default", "accept-edits", "plan", "dont-ask", "bypass")
FORMATS = ("text", "json", "stream-json")


def one_of(*allowed: str) -> Check:
    def check(value: str) -> None:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}")

    return check


def positive(value: float) -> None:
    if not 0 < value < float("inf"):
        raise ValueError("must be more than 0")


def not_empty(value: str) -> None:
    if not value:
        raise ValueError("must not be empty")


def moment(option: str, text: str, read: Callable[[str, float], float]) -> float:
    """The value of a time option, read by a function of `times`; raises UsageError that names the option."""
    try:
        return read(text, time.time())
    except ValueError as error:
        raise UsageError(f"{option}: {error}.") from None


def json_object(takes: str, text: str) -> dict[str, Any]:
    """The value of an option that `takes` a JSON object, as a message says it; raises UsageError with that."""
    import json

    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{takes}: {error}.") from None
    if not isinstance(value, dict):
        raise UsageError(f"{takes}.")
    return value


Version = Annotated[bool, Option("--version", "Print the version.")]
Output = Annotated[str | None, Option("--output", ", ".join(FORMATS) + ".", "FORMAT", one_of(*FORMATS))]
Session = Annotated[str, Argument("A session; the beginning of its id is enough.")]
Store = Annotated[str | None, Option("--store", "Another store of sessions.", "PATH")]
Json = Annotated[bool, Option("--json", "One JSON array.")]
