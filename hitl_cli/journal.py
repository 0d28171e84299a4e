"""The records of a session, in the order things happened; everything else is a fold of them.

A session is an append-only list of entries. What comes next, what waits, what the model sees and what the screen shows
are pure functions of that list. Entries are small, frozen and JSON both ways (`dump`, `load`); `V` is written with each,
older ones pass through upgraders, newer ones are `StateTooNew`.

Ids are ours and readable: a call is `turn.step.index` (`1.2.0`), an interrupt is the call or step plus its gate
(`1.2.0:approval`, `~2` when a gate asks again). A provider's own id is kept beside it and never relied upon.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from hitl_cli import records
from hitl_cli.errors import StateTooNew
from hitl_cli.records import Struct, field

V = 1
Json = Any  # what json.loads returns


class _Whole(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry or a part of one; what it does not know was not written by this version."""


class _Entry(_Whole, frozen=True, tag_field="type", tag=str.lower):
    """Its `type` is the name of its class."""


class Usage(_Whole, frozen=True):
    """Tokens of requests made, and their price in US dollars where the model's price is known."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None and other.cost is None else (self.cost or 0.0) + (other.cost or 0.0)
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            cost,
        )


class Call(_Whole, frozen=True):
    """One tool call the model asked for.

    `input` is None when the model's text was not a JSON object; `raw` is then that text. `provider_id` is the id the
    model's service gave it, only ever used to talk back to that service.
    """

    id: str
    name: str
    input: Mapping[str, Json] | None
    raw: str = ""
    provider_id: str = ""


def exact(name: str, input: Mapping[str, Json] | None) -> str:
    """A text that is equal for equal calls, whatever the order of their arguments."""
    return f"{name} {json.dumps(input, sort_keys=True, ensure_ascii=False, default=str)}"


Stop = Literal["end", "tool_use", "length", "refusal", "pause", "interrupted"]


class ModelReply(_Whole, frozen=True):
    """A whole answer of a model: `blocks` in the shape of the Messages protocol, kept unchanged so that they can be
    sent back (text, thinking, tool_use). A tool_use block whose input was not valid JSON carries it as text in `raw`."""

    blocks: tuple[Mapping[str, Json], ...]
    stop: Stop
    usage: Usage = Usage()
    model: str = ""

    @property
    def text(self) -> str:
        return "".join(b["text"] for b in self.blocks if b.get("type") == "text")


class Who(_Whole, frozen=True):
    """Who decided or answered: kind, and the detail that a person reading the log needs (terminal, rule at file:line)."""

    kind: Literal["person", "rule", "flag", "mode", "floor", "policy", "program", "expiry", "none"]
    detail: str = ""


class Grant(_Whole, frozen=True):
    """A rule accepted with an answer: decision, text, how wide and how long (`until`: seconds since the epoch)."""

    decision: Literal["allow", "ask", "deny"]
    rule: str
    scope: Literal["session", "project", "user"] = "session"
    until: float | None = None


class Result(_Whole, frozen=True):
    """What the model is told about a call: text, or blocks of the Messages protocol (images). `data` is for screens."""

    content: str | tuple[Mapping[str, Json], ...]
    ok: bool = True
    kind: Literal["ran", "error", "refused", "interrupted", "external"] = "ran"
    data: Mapping[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Blocks that are no text are named by their type."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(block.get("text", f"[{block.get('type', 'block')}]")) for block in self.content)


class Settings(_Whole, frozen=True):
    """What a session was started or continued with; holds when it is continued from elsewhere (bypass is not restored)."""

    model: str
    mode: str
    cwd: str
    add_dirs: tuple[str, ...] = ()
    rules: tuple[Grant, ...] = ()  # of flags
    max_steps: int = 50
    max_tokens: int | None = None
    max_cost: float | None = None


class Began(_Entry, frozen=True):
    """A turn: the person's message. `content` holds further blocks of the message (images, file texts)."""

    turn: int
    text: str
    settings: Settings
    content: tuple[Mapping[str, Json], ...] = ()


class Replied(_Entry, frozen=True):
    """A whole reply of the model and the calls in it, with our ids, in order."""

    turn: int
    step: int
    reply: ModelReply
    calls: tuple[Call, ...] = ()


class Judged(_Entry, frozen=True):
    """A decision about a call before its effect: this is the line of `hitl log`."""

    call: str
    decision: Literal["allow", "ask", "deny"]
    who: Who
    reason: str
    digest: str = ""
    rule: str = ""
    layer: str = ""
    part: str = ""  # the part of the call that decided, as text
    help: str = ""  # the rule that would have allowed it, when it was refused
    tool: str = ""
    what: str = ""  # the call in short, as text: its main argument


class Raised(_Entry, frozen=True):
    """Questions put to a person; committed before anyone sees them. `usage` is what the step spent so far.

    `carry` keeps what no other entry holds yet: `began` (a dumped Began: the message that a before-agent question waits
    with) or `answer` (the text that the after-agent hooks let through, while a breakpoint holds the end of the turn).
    """

    interrupts: tuple[Mapping[str, Json], ...]  # `interrupts.dump` of each: this record does not know their classes
    usage: Usage = Usage()
    carry: Mapping[str, Json] = field(default_factory=dict)


class Answered(_Entry, frozen=True):
    """One accepted set of answers, whole, with the rules accepted in it: id of interrupt -> `interrupts.dump_answer`.

    `digests` has, for each edited call, the digest that its new input was accepted under.
    """

    answers: Mapping[str, Mapping[str, Json]]
    who: Who
    digests: Mapping[str, Json] = field(default_factory=dict)


class Started(_Entry, frozen=True):
    """A body is about to run; `key` is its idempotency key, the same over approval, question, retry and recover."""

    call: str
    key: str
    input: Mapping[str, Json] = field(default_factory=dict)


class Returned(_Entry, frozen=True):
    """What a body returned, and the session state after it (None: unchanged)."""

    call: str
    result: Result
    state: Mapping[str, Json] | None = None


class Settled(_Entry, frozen=True):
    """The one result of a call, as the model will see it."""

    call: str
    result: Result


class Changed(_Entry, frozen=True):
    """Something of the session itself changed.

    title, mode, model   the new text
    settings             dumped Settings: flags given where the session is continued, for this turn and those to come
    rules                a list of dumped Grants that hold for the session
    summary              a text that stands for what was said before (`transcript.earlier`) when the model is asked;
                         `usage` is what writing it has cost
    state                keys of the session state to set
    add_dirs, memory     whatever the terminal keeps there
    saved                a list of dumped Grants, accepted rules that are now in their files
    unsaved              {"grant", "why"}: an accepted rule that could not be written to its file and holds for the session
    """

    what: Literal[
        "title", "mode", "model", "settings", "rules", "summary", "state", "add_dirs", "memory", "saved", "unsaved"
    ]
    value: Json
    who: Who = Who("person")
    usage: Usage = Usage()


class Ended(_Entry, frozen=True):
    """The end of a turn.

    completed    `text` is the answer where an after-agent hook replaced it, else None
    blocked      `by` names the guardrail
    stopped      `why` is steps, tokens, cost, refusals, expired or interrupted
    failed, interrupted   the turn was given up and can be taken up again by `recover`
    """

    turn: int
    status: Literal["completed", "blocked", "stopped", "failed", "interrupted"]
    reason: str = ""
    usage: Usage = Usage()
    why: str = ""
    by: str = ""
    text: str | None = None


Entry = Began | Replied | Judged | Raised | Answered | Started | Returned | Settled | Changed | Ended


class Recorded(Struct, frozen=True):
    """An entry as stored: `seq` counts from 1 without gaps per session, `at` is seconds since the epoch."""

    seq: int
    at: float
    entry: Entry


_TYPES: dict[str, type[Any]] = {
    cls.__name__.lower(): cls
    for cls in (Began, Replied, Judged, Raised, Answered, Started, Returned, Settled, Changed, Ended)
}
# UPGRADERS[n] turns a dumped entry of version n + 1 into one of version n + 2; pure, never edited once released.
UPGRADERS: list[Callable[[dict[str, Json]], dict[str, Json]]] = []


def type_of(entry: Entry) -> str:
    return type(entry).__name__.lower()


def dump(entry: Entry) -> dict[str, Json]:
    """An entry as a JSON object, with its `type` and format version `v`."""
    return {"v": V, "type": type_of(entry), **records.dump(entry)}


def load(data: Mapping[str, Json]) -> Entry:
    """The entry that `data` describes, brought up to date; ValueError when it is none, StateTooNew when it is newer."""
    data = dict(data)
    version = data.pop("v", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError("an entry needs its format version `v`")
    if version > V:
        raise StateTooNew(f"This session was written by a newer hitl (format {version}).\n  Update hitl to use it.")
    for upgrade in UPGRADERS[version - 1 :]:
        data = upgrade(data)
    cls = _TYPES.get(str(data.pop("type", "")))
    if cls is None:
        raise ValueError("an entry needs a known `type`")
    entry: Entry = records.load(cls, data)
    return entry
