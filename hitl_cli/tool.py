"""How a tool is declared: what the model is told, what a call would touch, what a person is shown, and its body.

A tool never asks for permission and never prints. It states accesses, and the loop judges them; it returns a `Result`,
and a failure is a result too. Built-in tools, `@tool` functions, external tools and MCP tools are all this one record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hitl_cli.access import Access, Place, ToolUse
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Json, Recorded, Result

Input = Mapping[str, Json]


class Context(Protocol):
    """What a running body may know and do."""

    session: str
    call: str  # our id of the call
    key: str  # idempotency key
    place: Place
    state: dict[str, Json]  # session state; changes are kept when the body returns
    context: Any  # what the program passed to run(); never stored
    approved: bool
    history: Sequence[Recorded]  # the journal so far: e.g. which files were read

    def ask(self, question: str, type: type = str, key: str | None = None) -> Any:
        """Ask a person; the body restarts from its top with the answer. Raises a private BaseException the first time."""

    def progress(self, text: str) -> None:
        """Show output while the body runs (live only, never stored)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """
    schema     JSON schema (object) of the arguments; it serves the model and the validation alike
    run        async body: (input, context) -> Result; None for external tools
    accesses   (input, place) -> what the call would touch, links resolved; default: one ToolUse
    preview    (input, place) -> the whole call as a person is shown it; default: pretty JSON
    digest     (input, place) -> extra text the approval is bound to (a file's content hash); default: ""
    approve    whether a call asks in mode `declared`: bool, or (input, context object) -> bool, also async
    user_fields  arguments that a person fills in; hidden from the model
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    run: Callable[[Input, Context], Awaitable[Result]] | None = None
    accesses: Callable[[Input, Place], Sequence[Access]] | None = None
    preview: Callable[[Input, Place], Preview] | None = None
    digest: Callable[[Input, Place], str] | None = None
    approve: bool | Callable[..., Any] = False
    user_fields: tuple[str, ...] = ()
    external: bool = False
    silent: bool = False
    serial: bool = False
    idempotent: bool = False
    read_only: bool = False
    instructions: str = ""  # added to the system text while the tool is on offer
    function: Callable[..., Any] | None = field(default=None, compare=False)  # the plain function of an @tool

    def states(self, input: Input, place: Place) -> Sequence[Access]:
        return self.accesses(input, place) if self.accesses else (ToolUse(self.name, input),)
