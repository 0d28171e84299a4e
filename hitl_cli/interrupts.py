"""What a turn can wait for, and what may be said to it.

An interrupt is a value with an id and only the fields of its kind. An answer is plain data. Both are JSON in and out, so
a console, another process, a host program and a file of answers all go through `answers.check` and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from hitl_cli import records
from hitl_cli.journal import Call, Grant, Json
from hitl_cli.permissions.rule import Suggestion as Suggestion  # a floor below: the policy makes them
from hitl_cli.records import Struct, field


class Preview(Struct, frozen=True):
    """What a person is shown of a call: the whole of it, never a part.

    kind   command  `body` is the command text
           diff     `body` is a unified diff against `path` as it is now
           text     `body` is whatever best shows the call (pretty JSON for tools nobody knows)
    purpose          the model's own words about why, if it gave any; never mixed with facts
    about            what the tool is for, in its author's words
    before           SHA-256 in hex of the file that a diff was made against, "" for a new file, None for other kinds
    """

    kind: Literal["command", "diff", "text"]
    title: str
    body: str
    path: str = ""
    purpose: str = ""
    before: str | None = None
    about: str = ""


class Approval(Struct, frozen=True, kw_only=True):
    """May this call run? `digest` binds the answer to tool, arguments, folder and file content.

    `source`: "rules" (the verdict), "tool" (its body wants it), "uncertain" (it was cut off and may have run), or the id
    of the middleware that wants it. `part`: the part of the call that decided, as text.
    """

    id: str
    call: Call
    reason: str
    suggested: tuple[Suggestion, ...] = ()
    safety: bool = False
    digest: str = ""
    preview: Preview | None = None
    trace: tuple[str, ...] = ()  # the explanation, one line a part
    source: str = "rules"
    part: str = ""
    expires: float | None = None
    since: float = 0.0
    kind: Literal["approval"] = "approval"


class Choice(Struct, frozen=True):
    label: str
    description: str = ""


class Field(Struct, frozen=True):
    """One thing to fill in. `value` is what the model proposed, None when the person must give it.

    The form waits until every `required` field has a value. A field with `choices` takes a list of their labels, one
    unless `multiple`; with `free` also a text of one's own.
    """

    name: str
    type: Literal["str", "int", "float", "bool", "list", "dict"] = "str"
    description: str = ""
    value: Json = None
    header: str = ""
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    free: bool = False
    required: bool = True


class Question(Struct, frozen=True, kw_only=True):
    """A tool needs input: a form of fields (`fields`), or one typed question of the tool's own (`payload`).

    The reply to a form is an object from field name to value; one to a typed question is a value that fits `schema`
    (JSON schema; `type` is its name for people). `memo` is which question of the asking code this is. The values of a form
    become arguments of the call, or one argument named `under`.
    """

    id: str
    call: Call
    fields: tuple[Field, ...] = ()
    under: str = ""
    payload: Json = None
    type: str = "str"
    schema: Mapping[str, Json] = field(default_factory=dict)
    memo: str = ""
    expires: float | None = None
    since: float = 0.0
    kind: Literal["question"] = "question"


class External(Struct, frozen=True, kw_only=True):
    """Somebody else runs this call and reports its result."""

    id: str
    call: Call
    silent: bool = False
    expires: float | None = None
    since: float = 0.0
    kind: Literal["external"] = "external"


class Review(Struct, frozen=True, kw_only=True):
    """A middleware asks. `hook`: before_agent, around_model, around_tool or after_agent."""

    id: str
    middleware: str
    hook: str
    payload: Json
    type: str = "str"
    schema: Mapping[str, Json] = field(default_factory=dict)
    memo: str = ""
    call: Call | None = None
    expires: float | None = None
    since: float = 0.0
    kind: Literal["review"] = "review"


class Breakpoint(Struct, frozen=True, kw_only=True):
    id: str
    step: Literal["model", "tool", "finish"]
    phase: Literal["before", "after"]
    call: Call | None = None
    expires: float | None = None
    since: float = 0.0
    kind: Literal["breakpoint"] = "breakpoint"


Interrupt = Approval | Question | External | Review | Breakpoint


class Approve(Struct, frozen=True):
    rules: tuple[Grant, ...] = ()


class Edit(Struct, frozen=True):
    input: Mapping[str, Json]
    rules: tuple[Grant, ...] = ()


class Reject(Struct, frozen=True):
    reason: str = ""
    rules: tuple[Grant, ...] = ()


class Reply(Struct, frozen=True):
    value: Json


class Supply(Struct, frozen=True):
    """The result of a call that somebody else ran (or that a person knows to have run)."""

    output: Json
    error: bool = False


class Proceed(Struct, frozen=True):
    pass


Answer = Approve | Edit | Reject | Reply | Supply | Proceed
# What each is called in JSON.
VERBS: dict[type[Answer], str] = {
    Approve: "approve",
    Edit: "edit",
    Reject: "reject",
    Reply: "reply",
    Supply: "result",
    Proceed: "proceed",
}
_ANSWERS = {verb: cls for cls, verb in VERBS.items()}
_INTERRUPTS: dict[str, type[Interrupt]] = {cls.__name__.lower(): cls for cls in get_args(Interrupt)}
ORDER = tuple(_INTERRUPTS)  # the order in which what waits is listed


def dump(interrupt: Interrupt) -> dict[str, Json]:
    """An interrupt as a JSON object: `kind`, `id`, and the fields of its kind that are set."""
    return {"kind": interrupt.kind, **records.dump(interrupt)}


def load(data: Mapping[str, Json]) -> Interrupt:
    """The interrupt that `data` describes; ValueError when it is none. A `since` that is no time is left out."""
    cls = _INTERRUPTS.get(str(data.get("kind"))) if isinstance(data, Mapping) else None
    if cls is None:
        raise ValueError(f"an interrupt must be an object whose kind is one of {', '.join(ORDER)}")
    return records.load(cls, {k: v for k, v in data.items() if k != "since" or isinstance(v, int | float)})


def dump_answer(answer: Answer) -> dict[str, Json]:
    """An answer as the JSON object that `load_answer` reads, e.g. `{"reject": {"reason": "keep it"}}`."""
    return {VERBS[type(answer)]: records.dump(answer)}


def load_answer(data: Json) -> Answer:
    """The answer that `data` describes; ValueError says what is wrong with it.

    `{"approve": {"rules"?, "scope"?, "until"?}}`, `{"edit": {"input", "rules"?}}`, `{"reject": {"reason"?, "rules"?}}`,
    `{"reply": {"value"}}`, `{"result": {"output", "error"?}}`, `{"proceed": {}}`. A rule is `{"decision", "rule",
    "scope"?, "until"?}` or just its text; `scope` and `until` beside the rules hold for those that name none.
    """
    if not isinstance(data, Mapping) or len(data) != 1:
        raise ValueError(f"an answer is an object with one of the keys {', '.join(_ANSWERS)}")
    ((verb, body),) = data.items()
    if verb not in _ANSWERS:
        raise ValueError(f"an answer is one of {', '.join(_ANSWERS)}, not {verb!r}")
    if not isinstance(body, Mapping):
        raise ValueError(f"what {verb} says must be an object")
    cls, body = _ANSWERS[verb], dict(body)
    if "rules" in cls.__struct_fields__:
        shared = {name: body.pop(name) for name in ("scope", "until") if name in body}
        if not isinstance(body.get("rules", ()), list | tuple):
            raise ValueError(f"{verb}.rules must be a list")
        decision = "deny" if verb == "reject" else "allow"
        records.load(Grant, _rule("", decision, shared), verb)  # also where no rule is given that they hold for
        body["rules"] = [_rule(rule, decision, shared) for rule in body.get("rules", ())]
    return records.load(cls, body, verb)


def _rule(rule: Json, decision: str, shared: Mapping[str, Json]) -> dict[str, Json]:
    given = {"rule": rule} if isinstance(rule, str) else rule
    if not isinstance(given, Mapping):
        raise ValueError("a rule is a text or an object")
    return {"decision": decision, **shared, **given}


Rules = Iterable[Grant | Suggestion | str]


def approve(rules: Rules = (), scope: str = "session", until: float | None = None) -> Approve:
    """Yes, once; with `rules` (their text is enough) also from now on, as wide as `scope` and as long as `until`.

    >>> approve(["Bash(git log:*)"], scope="user").rules
    (Grant(decision='allow', rule='Bash(git log:*)', scope='user', until=None),)
    """
    return Approve(_grants(rules, "allow", scope, until))


def edit(input: Mapping[str, Json], rules: Rules = (), scope: str = "session") -> Edit:
    """Yes, with this input in place of the model's. The whole input is replaced, not merged.

    >>> edit({"command": "ls"}).input
    {'command': 'ls'}
    """
    return Edit(dict(input), _grants(rules, "allow", scope, None))


def reject(reason: str = "", rules: Rules = (), scope: str = "session") -> Reject:
    """No; the model is told the reason. `rules` are deny rules.

    >>> reject("use the test database")
    Reject(reason='use the test database', rules=())
    """
    return Reject(reason, _grants(rules, "deny", scope, None))


def reply(value: Json) -> Reply:
    """The answer to a question or a review.

    >>> reply({"to": "ann@example.org"})
    Reply(value={'to': 'ann@example.org'})
    """
    return Reply(value)


def result(output: Json, error: bool = False) -> Supply:
    """What came of a call that somebody else ran.

    >>> result("3 rows")
    Supply(output='3 rows', error=False)
    """
    return Supply(output, error)


def proceed() -> Proceed:
    """Go on past a breakpoint.

    >>> proceed()
    Proceed()
    """
    return Proceed()


def _grants(rules: Rules, decision: Any, scope: Any, until: float | None) -> tuple[Grant, ...]:
    if isinstance(rules, str):
        raise TypeError("rules is a list of rules, not one text")
    texts = [text for r in rules for text in (r.rules if isinstance(r, Suggestion) else (r,))]
    return tuple(r if isinstance(r, Grant) else Grant(decision, r, scope, until) for r in texts)
