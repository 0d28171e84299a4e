"""What a session is: its journal folded, entry by entry.

`State.fold` takes one entry and only ever looks at what it holds, so a long session costs what its entries cost, once.
Everything that the loop decides, a listing shows or a person is asked follows from this; nothing here decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hitl_cli import interrupts, records
from hitl_cli.answers import filled
from hitl_cli.interrupts import Answer, Approval, Approve, Edit, Interrupt, Question, Reject, Reply, Review, Supply
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    Grant,
    Json,
    Judged,
    ModelReply,
    Raised,
    Replied,
    Result,
    Returned,
    Settings,
    Settled,
    Started,
    Usage,
    Who,
    exact,
)
from hitl_cli.records import Struct, field, replace


class CallState(Struct):
    """How far one call of the current reply has come.

    call      as it stands: with a person's values and edits in it
    filled    the person's form is complete (or was not needed)
    decided   the last verdict that was recorded
    approved  digests that a person said yes to
    running   a body was started and neither returned nor stopped at a question of its own
    returned  what the body returned, or what somebody else supplied
    refused   who said no to it, and why
    asked     the body has had an answer to a question of its own
    """

    call: Call
    filled: bool = False
    edited: bool = False
    decided: str = ""
    approved: set[str] = field(default_factory=set)
    running: bool = False
    asked: bool = False
    returned: Result | None = None
    refused: tuple[Reject, Who] | None = None
    settled: Result | None = None


class State(Struct):
    session: str = ""
    seq: int = 0
    turn: int = 0
    step: int = 0
    open: bool = False  # a turn has begun and not ended
    ended: Ended | None = None  # how the last turn ended
    carried: Began | None = None  # the message of a turn that waits before it begins
    answer: str | None = None  # what the after-agent hooks made of the answer
    settings: Settings | None = None
    mode: str = ""
    model: str = ""
    title: str = ""
    reply: ModelReply | None = None
    calls: dict[str, CallState] = field(default_factory=dict)
    pending: dict[str, Interrupt] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)  # id without ~n -> times raised, in this turn
    touched: set[str] = field(default_factory=set)  # calls and steps that were asked about, in this turn
    memo: dict[str, Json] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)  # interrupt -> what was said, and by whom
    grants: list[Grant] = field(default_factory=list)
    # accepted rules that are to outlive the session and are not known to be written yet, with the call they belong to
    unwritten: list[tuple[Grant, Call]] = field(default_factory=list)
    once: set[str] = field(default_factory=set)  # calls approved as they were, for the policy `once`
    values: dict[str, Json] = field(default_factory=dict)  # session state
    refusals: dict[str, int] = field(default_factory=dict)
    denied: list[Mapping[str, Json]] = field(default_factory=list)
    usage: Usage = Usage()  # of the session
    spent: Usage = Usage()  # of the turn

    @property
    def unfinished(self) -> bool:
        """A turn was begun that neither ended nor is known to wait for nobody."""
        return self.open or self.carried is not None

    @property
    def uncertain(self) -> list[CallState]:
        """Calls whose body was started and about whose fate nobody is asked yet."""
        asked = {id.partition(":")[0] for id in self.pending if ":uncertain" in id}
        return [c for c in self.calls.values() if c.running and c.settled is None and c.call.id not in asked]

    def ordered(self) -> tuple[Interrupt, ...]:
        """What waits, in the order of kinds, then as raised."""
        return tuple(sorted(self.pending.values(), key=lambda i: interrupts.ORDER.index(i.kind)))

    def next_id(self, base: str) -> str:
        return f"{base}~{times + 1}" if (times := self.raised.get(base, 0)) else base

    def fold_all(self, entries: Iterable[Entry]) -> State:
        for entry in entries:
            self.fold(entry)
        return self

    def fold(self, entry: Entry) -> None:
        self.seq += 1
        if type(entry) in _OF_A_TURN:
            self.open = self.turn > 0 and self.carried is None  # a turn given up may be taken up again
        _FOLDS[type(entry)](self, entry)


def _began(state: State, entry: Began) -> None:
    state.turn, state.step, state.open = entry.turn, 0, True
    state.settings, state.mode, state.model = entry.settings, entry.settings.mode, entry.settings.model
    state.title = state.title or " ".join(entry.text.split())[:80]
    if state.carried is None:
        _clear(state)
    state.carried = None
    state.reply, state.answer = None, None


def _clear(state: State) -> None:
    """Forget what only the turn before had."""
    for kept in (state.calls, state.raised, state.touched, state.memo, state.refusals, state.denied):
        kept.clear()
    state.spent = Usage()


def _replied(state: State, entry: Replied) -> None:
    state.step, state.reply = entry.step, entry.reply
    state.calls = {call.id: CallState(call) for call in entry.calls}
    _spend(state, entry.reply.usage)


def _judged(state: State, entry: Judged) -> None:
    if call := state.calls.get(entry.call):
        call.decided = entry.decision
        if entry.decision == "deny":
            _deny(state, call.call, entry.who, entry.part, entry.help, entry.rule, entry.layer)


def _deny(state: State, call: Call, who: Who, part: str, help: str, rule: str = "", layer: str = "") -> None:
    by = f"{who.kind} {who.detail}".strip()
    entry = {"call": call.id, "tool": call.name, "part": part, "by": by, "rule": rule, "layer": layer, "help": help}
    state.denied.append(entry)


def _raised(state: State, entry: Raised) -> None:
    if "began" in entry.carry:
        if state.carried is None:
            _clear(state)
        state.carried = records.load(Began, entry.carry["began"])
        state.open = False
    if "answer" in entry.carry:
        state.answer = entry.carry["answer"]
    _spend(state, entry.usage)
    for data in entry.interrupts:
        interrupt = interrupts.load(data)
        base = interrupt.id.partition("~")[0]
        target, _, gate = base.partition(":")
        state.pending[interrupt.id] = interrupt
        state.raised[base] = state.raised.get(base, 0) + 1
        state.touched.add(target)
        if gate == "ask" or (isinstance(interrupt, Approval) and interrupt.source == "tool"):
            state.calls[target].running = False  # the body stopped of its own will


def _answered(state: State, entry: Answered) -> None:
    for id, data in entry.answers.items():
        interrupt, answer = state.pending.pop(id), interrupts.load_answer(data)
        state.answered[id] = f"{next(iter(data))} by {entry.who.kind} {entry.who.detail}".strip()
        if isinstance(answer, Approve | Edit | Reject) and interrupt.call:
            state.grants.extend(grant for grant in answer.rules if grant.scope == "session")
            state.unwritten.extend((grant, interrupt.call) for grant in answer.rules if grant.scope != "session")
        if interrupt.call and (call := state.calls.get(interrupt.call.id)):
            _apply(state, call, interrupt, answer, entry)
        if isinstance(answer, Reply) and isinstance(interrupt, Question | Review) and interrupt.memo:
            state.memo[interrupt.memo] = answer.value


def _apply(state: State, call: CallState, interrupt: Interrupt, answer: Answer, entry: Answered) -> None:
    if isinstance(answer, Approve | Edit) and isinstance(interrupt, Approval):
        call.approved.add(str(entry.digests.get(interrupt.id, interrupt.digest)))
        if isinstance(answer, Edit):
            call.edited, call.call = True, replace(interrupt.call, input=answer.input)
        elif interrupt.source == "uncertain":
            call.running = False
        if not call.edited:
            state.once.add(exact(call.call.name, call.call.input))
    elif isinstance(answer, Reject):
        call.refused = answer, entry.who
        approval = interrupt if isinstance(interrupt, Approval) else None
        part = "running it again" if call.running else approval.part if approval else ""
        help = ", ".join(approval.suggested[0].rules) if approval and approval.suggested else ""
        _deny(state, call.call, entry.who, part, help)
    elif isinstance(answer, Supply):
        text = answer.output if isinstance(answer.output, str) else json.dumps(answer.output, ensure_ascii=False)
        call.returned, call.running = Result(text, not answer.error, "external"), False
    elif isinstance(answer, Reply) and isinstance(interrupt, Question) and interrupt.fields:
        _fill(state, call, filled(interrupt, answer.value))
    elif isinstance(answer, Reply) and isinstance(interrupt, Question):
        call.asked = True


def _fill(state: State, call: CallState, form: Question) -> None:
    values = {f.name: f.value for f in form.fields if f.value is not None}
    if any(f.required and f.value is None for f in form.fields):
        state.pending[form.id] = form  # some of it was filled in; the rest still waits
        state.answered.pop(form.id)
        return
    call.filled = True
    given = {form.under: values} if form.under else values
    call.call = replace(call.call, input={**(call.call.input or {}), **given})


def _started(state: State, entry: Started) -> None:
    state.calls[entry.call].running = True


def _returned(state: State, entry: Returned) -> None:
    call = state.calls[entry.call]
    call.returned, call.running = entry.result, False
    if entry.state is not None:
        state.values = dict(entry.state)


def _settled(state: State, entry: Settled) -> None:
    call = state.calls[entry.call]
    call.settled, call.running = entry.result, False
    if entry.result.kind == "refused":
        key = exact(call.call.name, call.call.input)
        state.refusals[key] = state.refusals.get(key, 0) + 1
    for id in [i.id for i in state.pending.values() if i.call and i.call.id == entry.call]:
        state.answered[id] = "closed with its call"
        del state.pending[id]


def _changed(state: State, entry: Changed) -> None:
    value: Any = entry.value
    _spend(state, entry.usage)
    if entry.what in ("title", "mode", "model"):
        setattr(state, entry.what, value)
    elif entry.what == "settings":
        state.settings = records.load(Settings, value)
        state.mode, state.model = state.settings.mode, state.settings.model
    elif entry.what == "rules":
        state.grants.extend(records.load(Grant, grant) for grant in value)
    elif entry.what == "saved":
        _written(state, [records.load(Grant, grant) for grant in value])
    elif entry.what == "unsaved":
        grant = records.load(Grant, value["grant"])
        _written(state, [grant])
        state.grants.append(replace(grant, scope="session"))
    elif entry.what == "state":
        state.values = {**state.values, **value}


def _written(state: State, grants: list[Grant]) -> None:
    state.unwritten = [(grant, call) for grant, call in state.unwritten if grant not in grants]


def _ended(state: State, entry: Ended) -> None:
    state.turn, state.open, state.ended, state.carried = max(state.turn, entry.turn), False, entry, None
    for id in state.pending:
        state.answered[id] = f"closed: the turn was {entry.status}"
    state.pending.clear()


def _spend(state: State, usage: Usage) -> None:
    state.usage += usage
    state.spent += usage


_FOLDS: dict[type, Any] = {
    Began: _began,
    Replied: _replied,
    Judged: _judged,
    Raised: _raised,
    Answered: _answered,
    Started: _started,
    Returned: _returned,
    Settled: _settled,
    Changed: _changed,
    Ended: _ended,
}
_OF_A_TURN = _FOLDS.keys() - {Began, Changed, Ended}
