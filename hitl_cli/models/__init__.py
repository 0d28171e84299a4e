"""A model turns a request into a reply, streaming on the way. Claude's service and the scripted model both do.

Keys that begin with `_` are notes of our own on a message or on one of its blocks; a model that talks to a service takes
them off before sending. They let a model see what the wording alone could not tell:

    user message      `_turn`    the number of the turn that this message begins (absent on messages of tool results)
                      `_ask`     "summary" on a request for a summary of the conversation, which is no turn of its own
    tool_result block `_kind`    `Result.kind` of the result: ran, error, refused, interrupted, external
                      `_answer`  "approved" or "edited" when a person said so before the call ran; absent otherwise
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hitl_cli.errors import UsageError
from hitl_cli.journal import Json, ModelReply
from hitl_cli.records import Struct

DEFAULT = "claude-opus-5-5"  # when nobody names one: the newest that its maker recommends for coding


class ToolSpec(Struct, frozen=True):
    name: str
    description: str
    schema: Mapping[str, Json]


class Request(Struct, frozen=True):
    """`messages` in the shape of the Messages protocol: roles user and assistant, content always a list of blocks;
    every tool_use is followed by its tool_result in the next user message."""

    system: str
    messages: Sequence[Mapping[str, Json]]
    tools: Sequence[ToolSpec] = ()
    max_tokens: int | None = None


class TextDelta(Struct, frozen=True):
    text: str


class ThinkingDelta(Struct, frozen=True):
    text: str


class CallDelta(Struct, frozen=True):
    """The model is writing a tool call: its name once known, and how many characters of input have come."""

    name: str
    characters: int


class Retrying(Struct, frozen=True):
    """The service could not answer; the next attempt starts in `after_s` seconds."""

    after_s: float
    why: str


Delta = TextDelta | ThinkingDelta | CallDelta | Retrying


class Model(Protocol):
    """`name` as given by the person (`claude-…`, `script:FILE`).

    A model each of whose replies says what it cost has `priced = True`; of another no limit of cost is accepted.
    """

    name: str

    def stream(self, request: Request) -> AsyncIterator[Delta | ModelReply]:
        """Deltas, then exactly one ModelReply as the last item.

        Raises ModelError (final) or ModelUnavailable (try later) with a message fit for a person. Cancelling the
        iteration stops the request at once.
        """

    async def close(self) -> None: ...

    @property
    def window(self) -> int:
        """How many tokens a request may hold."""


def open_model(name: str, *, cwd: Path | None = None) -> Model:
    """The model that a person named: `script:FILE` (a relative FILE is taken from `cwd`), else a model of the service.

    Nothing heavy is loaded and nothing is connected yet. Raises SettingsError (script file) or UsageError (name).
    """
    kind, colon, rest = name.partition(":")
    if colon and kind == "script":
        from hitl_cli.models.scripted import Scripted

        return Scripted((cwd or Path.cwd()) / Path(rest).expanduser())
    if not name or colon or any(c.isspace() for c in name):
        raise UsageError(
            f"There is no model {name!r}.\n  Name one of the service (claude-…) or a script (script:FILE)."
        )
    from hitl_cli.models.claude import Claude

    return Claude(name)


def unless_priced(model: Model, max_cost: float | None) -> None:
    """UsageError for a limit of cost that nothing holds: of this model it is not known what its replies cost."""
    if max_cost is not None and not getattr(model, "priced", False):
        raise UsageError(
            f"The price of {model.name} is not known, so the limit of ${max_cost:g} (max_cost) cannot hold it.\n"
            "  Name another model, or limit it with --max-tokens (max_tokens) instead."
        )


def preload(model: Model) -> None:
    """Begin, in the background, whatever the first request would otherwise wait for."""
    from hitl_cli.models.claude import Claude

    if isinstance(model, Claude):
        model.preload()
