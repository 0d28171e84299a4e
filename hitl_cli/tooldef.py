"""How a tool is declared: what the model is told, what a call would touch, what a person is shown, and its body.

A tool never asks for permission and never prints. It states accesses, and the loop judges them; it returns a `Result`,
and a failure is a result too. Built-in tools, `@tool` functions, external tools and MCP tools are all this one record.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, overload

from hitl_cli import schema
from hitl_cli.access import Access, Place, ToolUse
from hitl_cli.interrupts import Field, Preview
from hitl_cli.journal import Json, Recorded, Result
from hitl_cli.records import Struct, replace

Input = Mapping[str, Json]
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


class Context(Protocol):
    """What a running body may know and do."""

    session: str
    call: str  # our id of the call
    key: str  # idempotency key
    place: Place
    state: dict[str, Json]  # session state; changes are kept when the body returns
    context: Any  # what the program passed to run(); never stored
    history: Sequence[Recorded]  # the journal so far: e.g. which files were read

    @property
    def approved(self) -> bool:
        """A person has approved this very call."""

    def ask(self, question: Json, type: Any = str, key: str | None = None) -> Any:
        """Ask a person; the body restarts from its top with the answer. Raises a private BaseException the first time.

        Ask before acting: what stands before `ask` runs twice. `key` tells apart questions of the same words.
        """

    def needs_approval(self, reason: str) -> None:
        """Have a person approve this call first; an error when it is approved already (see `approved`)."""

    def progress(self, text: str) -> None:
        """Show output while the body runs (live only, never stored)."""


class Tool(Struct, frozen=True, kw_only=True):
    """
    schema     JSON schema (object) of the arguments; it serves the model and the validation alike
    run        body: (input, context) -> Result, async, or plain (it then runs in a thread); None for external tools
    accesses   (input, place) -> what the call would touch, links resolved; default: one ToolUse
    preview    (input, place) -> the whole call as a person is shown it; default: pretty JSON
    digest     (input, place) -> extra text the approval is bound to (a file's content hash); default: ""
    check      (input, place, history) -> why the call would fail whatever a person said, "" when it may work; then nobody
               is asked. It must tell the model nothing that it has not seen
    approve    whether a call asks in mode `declared`: bool, or (input, context object) -> bool, also async
    user_fields  arguments that a person fills in; hidden from the model. ("*",): a person may review all of them
    form       (input) -> fields a person fills in; the body finds them in input["answers"]. No fields: not asked
    hidden     parameters that the program injects; a value the model gives for one is dropped
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    run: Callable[[Input, Context], Awaitable[Result] | Result] | None = None
    accesses: Callable[[Input, Place], Sequence[Access]] | None = None
    preview: Callable[[Input, Place], Preview] | None = None
    digest: Callable[[Input, Place], str] | None = None
    check: Callable[[Input, Place, Sequence[Recorded]], str] | None = None
    approve: bool | Callable[..., Any] = False
    user_fields: tuple[str, ...] = ()
    form: Callable[[Input], Sequence[Field]] | None = None
    hidden: tuple[str, ...] = ()
    external: bool = False
    silent: bool = False
    serial: bool = False
    idempotent: bool = False
    read_only: bool = False
    instructions: str = ""  # added to the system text while the tool is on offer
    function: Callable[..., Any] | None = None  # the plain function of an @tool

    def states(self, input: Input, place: Place) -> Sequence[Access]:
        return self.accesses(input, place) if self.accesses else (ToolUse(self.name, input),)

    def shows(self, input: Input, place: Place) -> Preview:
        if self.preview:
            return self.preview(input, place)
        about = self.description.partition("\n")[0]
        return Preview("text", self.name, json.dumps(input, indent=2, ensure_ascii=False), about=about)

    @property
    def offered(self) -> Mapping[str, Json]:
        """The schema as the model sees it: without what a person fills in."""
        if not self.user_fields:
            return self.schema
        kept = {name: s for name, s in self.schema.get("properties", {}).items() if name not in self.user_fields}
        return {
            **self.schema,
            "properties": kept,
            "required": [n for n in self.schema.get("required", ()) if n in kept],
        }

    def given(self, input: Input) -> Input:
        """The model's arguments without those that are not the model's to give."""
        return {name: value for name, value in input.items() if name not in self.user_fields + self.hidden}

    def fields(self, input: Input) -> tuple[Field, ...]:
        """What a person is asked to fill in before the call is judged."""
        if self.form:
            return tuple(self.form(input))
        if not self.user_fields:
            return ()
        return tuple(self._field(name, property, input) for name, property in self.schema["properties"].items())

    def _field(self, name: str, property: Mapping[str, Json], input: Input) -> Field:
        kind: Any = _TYPES.get(str(property.get("type")), "str")
        theirs = name in self.user_fields
        value = None if theirs else input.get(name, property.get("default"))
        required = theirs or name in self.schema.get("required", ())
        return Field(name, kind, property.get("description", ""), value, required=required)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(**options: Any) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: its name, its docstring, a schema from its signature.

    A parameter annotated `Context`, or named `ctx`, is injected and hidden from the model. What the function returns is
    what the model is told (text as it is, other values as JSON); what it raises is an error result. `options` are fields
    of `Tool`: approve, user_fields, external, serial, idempotent, read_only, accesses, preview, name, description, …

    >>> @tool(approve=True)
    ... def deploy(env: str, ctx: Context) -> str:
    ...     "Deploy to an environment."
    ...     return f"deployed to {env}"
    >>> deploy.name, deploy.approve, list(deploy.schema["properties"])
    ('deploy', True, ['env'])
    """
    if function is None:
        return lambda decorated: _declare(decorated, options)
    return _declare(function, options)


def _declare(function: Callable[..., Any], options: dict[str, Any]) -> Tool:
    hidden = _injected(function)
    hints = schema.hints_of(function, {"Context": Context}, hidden)

    def bound(input: Input, ctx: Context) -> dict[str, Any]:
        arguments = {name: schema.as_type(value, hints.get(name, Any)) for name, value in input.items()}
        return arguments | dict.fromkeys(hidden, ctx)

    async def in_loop(input: Input, ctx: Context) -> Result:
        return as_result(await function(**bound(input, ctx)))

    def in_thread(input: Input, ctx: Context) -> Result:
        return as_result(function(**bound(input, ctx)))

    found: dict[str, Any] = {
        "name": function.__name__,
        "description": schema.summary_of(function),
        "schema": schema.of_function(function, hints, hidden),
        "run": None if options.get("external") else in_loop if inspect.iscoroutinefunction(function) else in_thread,
    }
    fields = options.get("user_fields", ())
    given = {**options, "user_fields": (fields,) if isinstance(fields, str) else tuple(fields)}
    made = Tool(**{**found, **given, "hidden": hidden, "function": function})
    unknown = [name for name in made.user_fields if name != "*" and name not in made.schema["properties"]]
    if unknown:
        raise ValueError(f"{made.name} has no parameter {', '.join(unknown)} for a person to fill in")
    return made


def _injected(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.annotation in (Context, "Context") or p.name == "ctx")


def as_result(value: Any) -> Result:
    """What a function returned, as a result: text and Results as they are, other values as JSON."""
    if isinstance(value, Result):
        return value
    if isinstance(value, str):
        return Result(value)
    return Result(json.dumps(value, ensure_ascii=False, default=str))


def gate(tools: Iterable[Tool], names: Iterable[str] | None = None) -> list[Tool]:
    """The same tools, those named (all, when none are) asking before they run; their bodies are kept.

    >>> [t.approve for t in gate([external_tool("a", "", {}), external_tool("b", "", {})], ["b"])]
    [False, True]
    """
    tools = list(tools)
    chosen = {t.name for t in tools} if names is None else set(names)
    for missing in sorted(chosen - {t.name for t in tools}):
        warnings.warn(f"gate: no tool is named {missing!r}, so it gates nothing", stacklevel=2)
    return [replace(t, approve=True) if t.name in chosen else t for t in tools]


def external_tool(name: str, description: str, schema: Mapping[str, Json], *, silent: bool = False) -> Tool:
    """A tool that somebody else runs: a call suspends the turn, and `result(...)` answers it.

    >>> external_tool("query", "Run SQL", {"type": "object"}).external
    True
    """
    return Tool(name=name, description=description, schema=schema, external=True, silent=silent)
