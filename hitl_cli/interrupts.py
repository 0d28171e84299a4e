"""What a turn can wait for, what may be said to it, and whether an answer fits.

An interrupt is a value with an id and only the fields of its kind. An answer is plain data. Both are JSON in and out, so
a console, another process, a host program and a file of answers all go through `check` and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hitl_cli.journal import Call, Grant, Json


@dataclass(frozen=True, slots=True)
class Preview:
    """What a person is shown of a call: the whole of it, never a part.

    kind   command  `body` is the command text
           diff     `body` is a unified diff against `path` as it is now
           text     `body` is whatever best shows the call (pretty JSON for tools nobody knows)
    purpose          the model's own words about why, if it gave any; never mixed with facts
    before           SHA-256 in hex of the file that a diff was made against, "" for a new file, None for other kinds
    """

    kind: Literal["command", "diff", "text"]
    title: str
    body: str
    path: str = ""
    purpose: str = ""
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rule on offer: its literal text, what it would cover in words, and where it is saved unless a person differs."""

    rule: str
    covers: str = ""
    scope: Literal["session", "project", "user"] = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """May this call run? `digest` binds the answer to tool, arguments, folder and file content."""

    id: str
    call: Call
    reason: str
    suggested: tuple[Suggestion, ...] = ()
    safety: bool = False
    digest: str = ""
    preview: Preview | None = None
    trace: tuple[str, ...] = ()  # the explanation, one line a part
    source: str = "rules"  # "rules", "tool", or the id of the middleware that wants it
    expires: float | None = None
    since: float = 0.0
    kind: Literal["approval"] = "approval"


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in. `value` is what the model proposed, None when the person must give it."""

    name: str
    type: Literal["str", "int", "float", "bool", "list", "dict"] = "str"
    description: str = ""
    value: Json = None
    header: str = ""
    choices: tuple[Choice, ...] = ()
    multiple: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A tool needs input: a form of fields (`fields`), or one typed question of the tool's own (`payload`)."""

    id: str
    call: Call
    fields: tuple[Field, ...] = ()
    payload: Json = None
    type: str = "str"
    expires: float | None = None
    since: float = 0.0
    kind: Literal["question"] = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """Somebody else runs this call and reports its result."""

    id: str
    call: Call
    silent: bool = False
    expires: float | None = None
    since: float = 0.0
    kind: Literal["external"] = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A middleware asks. `hook`: before_agent, around_model, around_tool or after_agent."""

    id: str
    middleware: str
    hook: str
    payload: Json
    type: str = "str"
    call: Call | None = None
    expires: float | None = None
    since: float = 0.0
    kind: Literal["review"] = "review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakpoint:
    id: str
    step: Literal["model", "tool", "finish"]
    phase: Literal["before", "after"]
    call: Call | None = None
    expires: float | None = None
    since: float = 0.0
    kind: Literal["breakpoint"] = "breakpoint"


Interrupt = Approval | Question | External | Review | Breakpoint


@dataclass(frozen=True, slots=True)
class Approve:
    rules: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    input: Mapping[str, Json] = field(default_factory=dict)
    rules: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    reason: str = ""
    rules: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    value: Any = None


@dataclass(frozen=True, slots=True)
class Supply:
    """The result of a call that somebody else ran (or that a person knows to have run)."""

    output: Json = ""
    error: bool = False


@dataclass(frozen=True, slots=True)
class Proceed:
    pass


Answer = Approve | Edit | Reject | Reply | Supply | Proceed
