"""llm4s, LS-01 to LS-14, LS-22 and LS-23: what a turn waits for, and how it is answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hitl_cli import (
    Context,
    InvalidAnswers,
    Middleware,
    NothingToRecover,
    NotSuspended,
    SessionBusy,
    SessionPending,
    UnknownSession,
    approve,
    edit,
    proceed,
    reject,
    reply,
    tool,
)
from hitl_cli.interrupts import dump, load
from hitl_cli.journal import Answered, Result
from tests.seeds.stage import Reviews, Stage, asks, ids, outcome, results


async def test_LS_01_a_waiting_turn_lists_all_that_it_waits_for_each_with_its_own_id(stage: Stage) -> None:
    tools = [stage.works("held"), stage.works("look"), asks, stage.works("deploy", approve=True)]
    agent = stage.agent([(t.name, {}) for t in tools], tools=tools, middleware=[Reviews("look")])
    run = await stage.run(agent, break_before={"tool"})
    run = await stage.resume(agent, run, {f"1.1.{n}:before_tool": proceed() for n in (1, 2, 3)})
    assert outcome(run) == "Suspended"
    assert [(interrupt.kind, interrupt.id) for interrupt in run.pending] == [
        ("approval", "1.1.3:approval"),
        ("question", "1.1.2:ask"),
        ("review", "1.1.1:around_tool.reviews"),
        ("breakpoint", "1.1.0:before_tool"),
    ]
    assert stage.ran == []


async def test_LS_02_an_approval_names_who_wants_it(stage: Stage) -> None:
    class Careful(Middleware):
        id = "careful"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            if call.name == "look" and not ctx.approved:
                ctx.needs_approval("looking costs money")
            return await next(call)

    @tool
    def large(n: int, ctx: Context) -> str:
        """Do much."""
        if n > 10 and not ctx.approved:
            ctx.needs_approval(f"{n} is a lot")
        return f"did {n}"

    agent = stage.agent(
        [("large", {"n": 3}), ("large", {"n": 30}), ("look", {}), ("deploy", {})],
        "done",
        tools=[large, stage.works("look"), stage.works("deploy", approve=True)],
        middleware=[Careful()],
    )
    run = await stage.run(agent)
    assert sorted((i.call.id, i.source, i.reason) for i in run.pending) == [
        ("1.1.1", "tool", "30 is a lot"),
        ("1.1.2", "careful", "looking costs money"),
        ("1.1.3", "rules", "no rule covers deploy"),
    ]
    run = await stage.resume(agent, run, {id: approve() for id in ids(run)})
    assert results(agent) == ["did 3", "did 30", "look done", "deploy done"]


async def test_LS_03_approve_runs_the_call(stage: Stage) -> None:
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (run.text, stage.ran, results(agent)) == ("done", ["deploy a"], ["deploy a done"])


async def test_LS_04_reject_does_not_run_it_and_the_model_reads_why(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reject("use the test stage")})
    [told] = results(agent)
    assert (run.text, stage.ran) == ("done", [])
    assert told.startswith("! Rejected: ")
    assert told.endswith("use the test stage")


async def test_LS_05_edit_runs_the_new_arguments_and_they_stand_in_the_history(stage: Stage) -> None:
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"x": "b"})})
    assert stage.ran == ["deploy b"]
    assert run.messages[1]["content"][0]["input"] == {"x": "b"}


async def test_LS_05_an_edited_call_is_checked_again_from_scratch(stage: Stage) -> None:
    class NeverProd(Middleware):
        id = "never-prod"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            return Result("not there", False, "refused") if call.input["x"] == "prod" else await next(call)

    tools = [stage.works("deploy", approve=True)]
    rules = stage.rules("- deploy(x:live)")
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=tools, middleware=[NeverProd()], rules=rules)
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match=r"denied: .*deploy\(x:live\)"):
        await stage.resume(agent, run, {ids(run)[0]: edit({"x": "live"})})
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"x": "prod"})})
    assert (run.text, stage.ran) == ("done", [])
    assert "not there" in results(agent)[0]


@pytest.mark.parametrize("first", ["approval", "question"])
async def test_LS_06_an_approval_that_comes_too_late_is_an_error_and_asks_nobody(first: str, stage: Stage) -> None:
    @tool
    def greedy(ctx: Context) -> str:
        """Want an approval every time."""
        if first == "question":
            ctx.ask("sure?", str)
        ctx.needs_approval("I always ask")
        return "never"

    agent = stage.agent([("greedy", {})], "done", tools=[greedy])
    run = await stage.run(agent)
    [asked] = run.pending
    assert asked.kind == first
    run = await stage.resume(agent, run, {asked.id: approve() if first == "approval" else reply("yes")})
    assert run.text == "done"
    [told] = results(agent)
    assert told.startswith("! ")
    assert "I always ask" in told


async def test_LS_07_a_tool_asks_a_typed_question_and_goes_on_with_the_answer(stage: Stage) -> None:
    agent = stage.agent([("asks", {})], "done", tools=[asks])
    run = await stage.run(agent)
    [asked] = run.pending
    assert (asked.kind, asked.call.name) == ("question", "asks")
    assert (asked.payload, asked.type, asked.schema) == ("How many?", "int", {"type": "integer"})
    assert load(json.loads(json.dumps(dump(asked)))) == asked
    run = await stage.resume(agent, run, {asked.id: reply(3)})
    assert results(agent) == ["3 of them"]


async def test_LS_08_an_answer_that_a_tools_question_cannot_take_is_that_calls_error(stage: Stage) -> None:
    agent = stage.agent([("asks", {})], "done", tools=[asks])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reply("many")})
    assert run.text == "done"
    [told] = results(agent)
    assert told.startswith("! Invalid answer for 'asks': ")


@pytest.mark.parametrize(
    ("kind", "bad", "good"),
    [
        ("approval", {"approve": {"rule": "deploy"}}, approve()),
        ("review", reply("several"), reply(3)),
        ("breakpoint", {"proceed": {"now": True}}, proceed()),
    ],
)
async def test_LS_09_an_answer_that_cannot_be_read_is_refused_and_the_right_one_works_afterwards(
    kind: str, bad: Any, good: Any, stage: Stage
) -> None:
    class Counts(Middleware):
        id = "counts"

        async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
            if kind == "review":
                ctx.ask("how many?", int)
            return await next(request)

    tools = [stage.works("deploy", approve=True)]
    agent = stage.agent([("deploy", {})], "done", tools=tools, middleware=[Counts()])
    run = await stage.run(agent, break_before={"model"} if kind == "breakpoint" else ())
    [asked] = run.pending
    assert asked.kind == kind
    before = await stage.recorded(run)
    with pytest.raises(InvalidAnswers):
        await stage.resume(agent, run, {asked.id: bad})
    assert await stage.recorded(run) == before
    await stage.resume(agent, run, {asked.id: good})
    answers = [entry.answers for entry in await stage.history(run) if isinstance(entry, Answered)]
    assert [list(given) for given in answers] == [[asked.id]]


async def test_LS_10_any_part_of_the_answers_may_be_given_and_the_rest_keeps_its_ids(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True)]
    agent = stage.agent([("deploy", {}), ("drop", {})], "done", tools=tools)
    run = await stage.run(agent)
    deploy, drop = ids(run)
    with pytest.raises(InvalidAnswers, match="no answer"):
        await stage.resume(agent, run, {})
    run = await stage.resume(agent, run, {deploy: approve()})
    assert (ids(run), stage.ran) == ([drop], ["deploy"])
    run = await stage.resume(agent, run, {drop: approve()})
    assert (run.text, stage.ran) == ("done", ["deploy", "drop"])


async def test_LS_11_all_problems_of_an_answer_set_are_reported_together(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True)]
    agent = stage.agent([("deploy", {}), ("drop", {})], tools=tools)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {"1.1.0:approval": approve()})
    before = await stage.recorded(run)
    bad = {"1.1.0:approval": approve(), "nope": approve(), "1.1.1:approval": edit({"x": 1})}
    with pytest.raises(InvalidAnswers) as refused:
        await stage.resume(agent, run, bad)
    problems = refused.value.problems
    assert list(problems) == list(bad)
    assert problems["1.1.0:approval"].startswith("already answered: approve")
    assert problems["nope"].startswith("nothing with this id waits")
    assert "not of type 'string'" in problems["1.1.1:approval"]
    assert await stage.recorded(run) == before


async def test_LS_12_answered_calls_run_at_once_and_results_are_in_call_order(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True)]
    agent = stage.agent([("deploy", {}), ("drop", {})], "done", tools=tools)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {"1.1.1:approval": approve()})
    assert (stage.ran, len(agent.model.requests)) == (["drop"], 1)
    run = await stage.resume(agent, run, {"1.1.0:approval": approve()})
    assert (stage.ran, results(agent)) == (["drop", "deploy"], ["deploy done", "drop done"])


async def test_LS_13_while_something_waits_run_and_recover_are_refused_with_its_ids(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    for attempt in (stage.run(agent, "more", run.session), stage.recover(agent, run)):
        with pytest.raises(SessionPending) as refused:
            await attempt
        assert refused.value.ids == ("1.1.0:approval",)


async def test_LS_14_resume_and_recover_are_refused_where_there_is_nothing_for_them(stage: Stage) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    @tool
    async def waits() -> str:
        """Wait."""
        inside.set()
        await leave.wait()
        return "ok"

    agent = stage.agent("done", [("waits", {})], "done", tools=[waits])
    run = await stage.run(agent)
    with pytest.raises(NotSuspended):
        await stage.resume(agent, run, {"x": approve()})
    with pytest.raises(NothingToRecover):
        await stage.recover(agent, run)
    with pytest.raises(UnknownSession):
        await stage.resume(agent, "nowhere", {"x": approve()})
    with pytest.raises(UnknownSession):
        await stage.recover(agent, "nowhere")
    running = asyncio.create_task(agent.run("more", run.session))
    await inside.wait()
    with pytest.raises(SessionBusy):
        await stage.resume(agent, run, {"x": approve()})
    leave.set()
    assert (await running).text == "done"


async def test_LS_22_what_cannot_run_and_what_raises_is_an_error_result(stage: Stage) -> None:
    seen: list[str] = []

    class Sees(Middleware):
        id = "sees"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            seen.append(call.name)
            return await next(call)

    @tool
    def fails() -> str:
        """Fail."""
        raise LookupError("no such table")

    tools = [stage.works("look"), fails]
    agent = stage.agent([("look", {"x": 3}), ("nothing", {}), ("fails", {})], "done", tools=tools, middleware=[Sees()])
    run = await stage.run(agent)
    assert (run.text, seen, stage.ran) == ("done", ["fails"], [])
    told = results(agent)
    assert "x: 3 is not of type 'string'" in told[0]
    assert "There is no tool 'nothing'" in told[1]
    assert told[2] == "! LookupError: no such table"


@pytest.mark.parametrize(("options", "limit"), [({"max_steps": 1}, 1), ({}, 50)], ids=["1", "50 unless given"])
async def test_LS_23_a_turn_ends_at_its_limit_of_steps_and_the_session_stays_usable(
    options: dict[str, int], limit: int, stage: Stage
) -> None:
    agent = stage.agent(*[[("look", {})]] * (limit + 1), tools=[stage.works("look")], **options)
    run = await stage.run(agent)
    assert (outcome(run), run.why, len(agent.model.requests)) == ("Stopped", "steps", limit)
    assert len(stage.ran) == limit
    assert (await stage.run(stage.agent("well"), "more", run.session)).text == "well"
