"""The judgement of the loop, entry by entry and without anything around it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hitl_cli import interrupts
from hitl_cli.interrupts import Approval, approve, dump_answer, edit, reject, result
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    Grant,
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
)
from hitl_cli.records import replace
from hitl_cli.state import State
from hitl_cli.steps import (
    AskModel,
    AskWhetherItRan,
    End,
    Expire,
    Finish,
    Judge,
    Options,
    Perform,
    Refuse,
    Rest,
    Settle,
    Step,
    Wait,
    batches,
    next_step,
)
from hitl_cli.tooldef import Tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def made(name: str, **options: Any) -> Tool:
    return Tool(name=name, description="", schema=SCHEMA, **options)


TOOLS = {t.name: t for t in (made("plain"), made("serial", serial=True), made("safe", read_only=True))}
OPTIONS = Options(TOOLS)
BEGAN = Began(1, "go", Settings("m", "default", "/", max_steps=3))


def call(index: int, name: str = "plain", **input: Any) -> Call:
    return Call(f"1.1.{index}", name, input)


def replied(*calls: Call, step: int = 1, stop: Any = "tool_use", text: str = "") -> Replied:
    return Replied(1, step, ModelReply(({"type": "text", "text": text},), stop, Usage(10, 5)), calls)


def raised(*ids: str, **changes: Any) -> Raised:
    made = [Approval(id=i, call=call(int(i.split(":")[0][-1])), reason="r", digest="d", **changes) for i in ids]
    return Raised(tuple(interrupts.dump(i) for i in made))


def answered(who: str = "person", **answers: Any) -> Answered:
    dumped = {f"1.1.{id[1:]}:approval": dump_answer(a) for id, a in answers.items()}
    return Answered(dumped, Who(who))  # type: ignore[arg-type]


def judged(n: int, decision: Any = "allow") -> Judged:
    return Judged(f"1.1.{n}", decision, Who("mode"), "r")


def settled(n: int, result: Result = Result("ok")) -> Settled:  # noqa: B008 - frozen
    return Settled(f"1.1.{n}", result)


def after(*entries: Entry, **more: Any) -> Step:
    return next_step(State().fold_all(entries), more.pop("options", OPTIONS), now=100.0, **more)


def test_the_steps_of_a_turn_without_calls() -> None:
    assert after() == Rest()
    assert after(BEGAN) == AskModel()
    assert after(BEGAN, replied(stop="end", text="done")) == Finish()
    assert after(BEGAN, replied(stop="end"), Ended(1, "completed")) == Rest()
    assert after(BEGAN, replied(stop="pause")) == AskModel()
    assert after(BEGAN, replied(stop="interrupted")) == AskModel()


def test_the_steps_of_a_call() -> None:
    story: list[Entry] = [BEGAN, replied(call(0))]
    assert isinstance(after(*story), Judge)
    assert isinstance(after(*story, judged(0)), Perform)
    story += [judged(0, "ask"), raised("1.1.0:approval")]
    assert after(*story) == Wait()
    assert isinstance(after(*story, answered(i0=approve())), Perform)
    assert isinstance(after(*story, answered(i0=edit({"n": 1}))), Perform)
    assert isinstance(after(*story, answered(i0=result("x"))), Perform)
    assert isinstance(after(*story, answered(i0=reject())), Refuse)
    story += [answered(i0=approve()), Started("1.1.0", "k"), Returned("1.1.0", Result("ok"))]
    assert isinstance(after(*story), Perform)  # the hooks around it have not seen its result yet
    assert after(*story, settled(0)) == AskModel()


def test_calls_that_cannot_run_are_settled_at_once() -> None:
    bad = [call(0, "gone"), replace(call(1), input=None, raw="{"), call(2, n="x")]
    for wrong in bad:
        step = after(BEGAN, replied(wrong))
        assert isinstance(step, Settle)
        assert (step.result.kind, step.result.ok) == ("error", False)


def test_batches_are_runs_of_calls_that_may_go_together() -> None:
    calls = [call(n, name) for n, name in enumerate(["plain", "safe", "serial", "serial", "plain", "gone"])]
    state = State().fold_all([BEGAN, replied(*calls)])
    assert [[c.call.id[-1] for c in batch] for batch in batches(state, TOOLS)] == [["0", "1"], ["2"], ["3"], ["4", "5"]]


def test_a_batch_is_judged_before_it_runs_and_the_next_one_waits() -> None:
    story: list[Entry] = [BEGAN, replied(call(0), call(1), call(2, "serial"))]
    step = after(*story, judged(0))
    assert isinstance(step, Judge)
    assert step.call.call.id == "1.1.1"
    story += [judged(0), judged(1, "ask"), raised("1.1.1:approval")]
    step = after(*story)
    assert isinstance(step, Perform)
    assert after(*story, busy={"1.1.0"}) == Wait()
    assert after(*story, settled(0)) == Wait()
    assert isinstance(after(*story, settled(0), settled(1)), Judge)


def test_no_more_bodies_than_allowed_run_at_once() -> None:
    story = [BEGAN, replied(call(0), call(1), call(2)), judged(0), judged(1), judged(2)]
    assert after(*story, busy={"1.1.0"}) == Wait()
    two = replace(OPTIONS, concurrency=2)
    step = after(*story, busy={"1.1.0"}, options=two)
    assert isinstance(step, Perform)
    assert step.call.call.id == "1.1.1"
    assert after(*story, busy={"1.1.0", "1.1.1"}, options=two) == Wait()


def test_a_held_call_is_left_alone() -> None:
    story = [BEGAN, replied(call(0), call(1)), judged(0, "ask"), raised("1.1.0:approval")]
    assert after(*story, held={"1.1.1"}) == Wait()
    assert isinstance(after(*story), Judge)


def test_a_body_that_was_cut_off_is_asked_about_unless_it_is_harmless() -> None:
    story = [
        BEGAN,
        replied(call(0), call(1, "safe")),
        judged(0),
        judged(1),
        Started("1.1.0", "k"),
        Started("1.1.1", "k"),
    ]
    assert isinstance(after(*story), AskWhetherItRan)
    assert isinstance(after(*story, settled(0)), Perform)
    waits = Approval(id="1.1.0:uncertain", call=call(0), reason="may have run", digest="d", source="uncertain")
    asked = [*story, Raised((interrupts.dump(waits),))]
    state = State().fold_all(asked)
    assert [c.call.id for c in state.uncertain] == ["1.1.1"]

    def said(answer: Any) -> Step:
        return after(
            *asked, Answered({"1.1.0:uncertain": dump_answer(answer)}, Who("person")), busy={"1.1.1"}, options=two
        )

    two = replace(OPTIONS, concurrency=2)
    assert isinstance(said(approve()), Perform)
    assert isinstance(said(result("it ran")), Perform)
    assert isinstance(said(reject()), Refuse)


def test_what_is_too_late_is_expired_first() -> None:
    story = [
        BEGAN,
        replied(call(0), call(1)),
        raised("1.1.0:approval", expires=100.0),
        raised("1.1.1:approval", expires=101.0),
    ]
    assert after(*story) == Expire(("1.1.0:approval",))


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"max_steps": 1}, "steps"),
        ({"max_tokens": 15}, "tokens"),
        ({"max_tokens": 16}, None),
        ({"max_cost": 0.0}, "cost"),
    ],
)
def test_limits(limits: dict[str, Any], why: str | None) -> None:
    began = replace(BEGAN, settings=replace(BEGAN.settings, **limits))
    step = after(began, replied(call(0)), settled(0))
    assert (step.ended.why if isinstance(step, End) else None) == why


def test_the_third_refusal_of_the_same_call_ends_the_turn() -> None:
    no = Result("no", False, "refused")
    twice = [BEGAN, replied(call(0, n=1), call(1, n=1), call(2, n=2)), settled(0, no), settled(1, no), settled(2, no)]
    assert after(*twice) == AskModel()
    step = after(BEGAN, replied(*[call(i, n=1) for i in range(3)]), *[settled(i, no) for i in range(3)])
    assert isinstance(step, End)
    assert step.ended.why == "refusals"


def test_a_turn_that_was_given_up_can_be_taken_up() -> None:
    story: list[Entry] = [BEGAN, replied(call(0)), settled(0), Ended(1, "failed", "overloaded")]
    state = State().fold_all(story)
    assert (state.unfinished, next_step(state, OPTIONS, 0.0)) == (False, Rest())
    state.fold(replied(step=2, stop="end"))
    assert (state.unfinished, next_step(state, OPTIONS, 0.0)) == (True, Finish())


def test_what_a_session_is_made_of() -> None:
    rule = Grant("allow", "plain", "session")
    answer = answered(i0=approve([rule]))
    state = State().fold_all(
        [
            BEGAN,
            replied(call(0)),
            judged(0, "ask"),
            raised("1.1.0:approval"),
            answer,
            Started("1.1.0", "k"),
            Returned("1.1.0", Result("ok"), {"a": 1}),
            settled(0),
            Changed("mode", "plan"),
            Changed("title", "Other"),
            Changed("rules", [{"decision": "deny", "rule": "serial"}]),
            Changed("state", {"b": 2}),
        ]
    )
    assert (state.seq, state.turn, state.step, state.mode, state.title) == (12, 1, 1, "plan", "Other")
    assert state.grants == [rule, Grant("deny", "serial")]
    assert (state.values, state.usage) == ({"a": 1, "b": 2}, Usage(10, 5))
    assert state.answered == {"1.1.0:approval": "approve by person"}
    assert state.once == {"plain {}"}
    state.fold_all([Ended(1, "completed"), replace(BEGAN, turn=2)])
    assert (state.spent, state.calls, state.denied, state.refusals) == (Usage(), {}, [], {})


def test_refusals_are_listed_with_who_and_what_would_help() -> None:
    suggested = (interrupts.Suggestion("plain", also=("serial",)),)
    story = [BEGAN, replied(call(0), call(1)), raised("1.1.0:approval", suggested=suggested, part="the part")]
    deny = Judged(
        "1.1.1", "deny", Who("rule", "x (f:3)"), "r", rule="x", layer="user", part="p", help="h", tool="plain"
    )
    state = State().fold_all([*story, answered("none", i0=reject()), deny])
    assert state.denied == [
        {
            "call": "1.1.0",
            "tool": "plain",
            "part": "the part",
            "by": "none",
            "rule": "",
            "layer": "",
            "help": "plain, serial",
        },
        {
            "call": "1.1.1",
            "tool": "plain",
            "part": "p",
            "by": "rule x (f:3)",
            "rule": "x",
            "layer": "user",
            "help": "h",
        },
    ]


def test_a_long_session_costs_what_its_entries_cost() -> None:
    entries: list[Entry] = [replace(BEGAN, settings=replace(BEGAN.settings, max_steps=10**6))]
    for step in range(1, 20_000):
        one = Call(f"1.{step}.0", "plain", {})
        entries += [Replied(1, step, ModelReply((), "tool_use"), (one,)), Settled(one.id, Result("ok"))]
    state = State()
    begun = time.perf_counter()
    state.fold_all(entries[:20_000])
    first = time.perf_counter() - begun
    begun = time.perf_counter()
    state.fold_all(entries[20_000:])
    second = time.perf_counter() - begun
    assert second < 5 * first + 0.1
    assert next_step(state, OPTIONS, 0.0) == AskModel()
