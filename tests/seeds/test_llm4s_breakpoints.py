"""llm4s, LS-25 to LS-42: breakpoints before and after a request to the model, a call, and the end of the turn."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_cli import (
    InvalidAnswers,
    Middleware,
    UnknownStep,
    approve,
    edit,
    proceed,
    reject,
    reply,
    result,
    tool,
)
from hitl_cli.interrupts import dump
from hitl_cli.journal import Ended
from tests.seeds.stage import Reviews, Stage, asks, ids, outcome, results

EVERY = ("model", "tool", "finish")


class Guard(Middleware):
    """Looks at every answer."""

    id = "guard"

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def after_agent(self, text: str, ctx: Any) -> None:
        self.seen.append(text)


def around(*steps: str) -> dict[str, Any]:
    """Breakpoints before and after `steps`."""
    return {"break_before": set(steps), "break_after": set(steps)}


async def freed(stage: Stage, agent: Any, run: Any, **options: Any) -> Any:
    """All that is held goes on."""
    return await stage.resume(agent, run, {id: proceed() for id in ids(run)}, **options)


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize("step", EVERY)
async def test_LS_25_each_step_is_held_in_each_phase(step: str, phase: str, stage: Stage) -> None:
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], **{f"break_{phase}": {step}})
    run = await stage.run(agent)
    [held] = run.pending
    assert (held.kind, held.step, held.phase) == ("breakpoint", step, phase)


async def test_LS_26_before_the_model_it_has_not_been_called(stage: Stage) -> None:
    agent = stage.agent("done", break_before={"model"})
    run = await stage.run(agent)
    assert len(agent.model.requests) == 0
    run = await freed(stage, agent, run)
    assert (run.text, len(agent.model.requests)) == ("done", 1)


async def test_LS_27_after_the_model_its_message_is_stored_and_its_calls_and_its_answer_wait(stage: Stage) -> None:
    guard = Guard()
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], middleware=[guard])
    run = await stage.run(agent, break_after={"model"})
    assert run.messages[-1]["content"][0]["name"] == "look"
    assert stage.ran == []
    run = await freed(stage, agent, run, break_after={"model"})
    assert (ids(run), stage.ran) == (["1.2:after_model"], ["look"])
    assert run.messages[-1]["content"] == [{"type": "text", "text": "done"}]
    assert guard.seen == []
    run = await freed(stage, agent, run, break_after={"model"})
    assert (run.text, guard.seen) == ("done", ["done"])


async def test_LS_28_calls_are_held_before_they_run_and_released_one_by_one(stage: Stage) -> None:
    agent = stage.agent([("look", {"x": "a"}), ("look", {"x": "b"})], "done", tools=[stage.works("look")])
    run = await stage.run(agent, break_before={"tool"})
    assert (ids(run), stage.ran) == (["1.1.0:before_tool", "1.1.1:before_tool"], [])
    run = await stage.resume(agent, run, {"1.1.1:before_tool": proceed()}, break_before={"tool"})
    assert (ids(run), stage.ran, len(agent.model.requests)) == (["1.1.0:before_tool"], ["look b"], 1)
    run = await freed(stage, agent, run, break_before={"tool"})
    assert (run.text, stage.ran) == ("done", ["look b", "look a"])


async def test_LS_29_after_the_calls_their_results_are_recorded_and_the_model_waits(stage: Stage) -> None:
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], break_after={"tool"})
    run = await stage.run(agent)
    assert run.messages[-1]["content"][0]["content"] == "look done"
    assert len(agent.model.requests) == 1
    run = await freed(stage, agent, run)
    assert (run.text, len(agent.model.requests)) == ("done", 2)


async def test_LS_30_before_the_finish_the_answer_is_stored_but_not_yet_looked_at_or_reported(stage: Stage) -> None:
    guard = Guard()
    agent = stage.agent("done", middleware=[guard], break_before={"finish"})
    run = await stage.run(agent)
    assert (run.text, guard.seen) == ("", [])
    assert run.messages[-1]["content"] == [{"type": "text", "text": "done"}]
    run = await freed(stage, agent, run)
    assert (run.text, guard.seen) == ("done", ["done"])


async def test_LS_31_after_the_finish_the_answer_was_looked_at_and_the_turn_ends_once_let_go(stage: Stage) -> None:
    guard = Guard()
    agent = stage.agent("done", middleware=[guard], break_after={"finish"})
    run = await stage.run(agent)
    assert (outcome(run), guard.seen) == ("Suspended", ["done"])
    assert not [entry for entry in await stage.history(run) if isinstance(entry, Ended)]
    run = await freed(stage, agent, run)
    assert (outcome(run), run.text, guard.seen) == ("Completed", "done", ["done"])


async def test_LS_32_a_hold_names_its_step_and_phase_and_the_call_that_has_not_run(stage: Stage) -> None:
    agent = stage.agent([("look", {"x": "a"})], "done", tools=[stage.works("look")], **around("tool"))
    run = await stage.run(agent)
    before = dump(run.pending[0])
    run = await freed(stage, agent, run)
    after = dump(run.pending[0])
    call = {"id": "1.1.0", "name": "look", "input": {"x": "a"}, "provider_id": "use_0"}
    rest = {"kind", "id", "since"}
    assert {k: v for k, v in before.items() if k not in rest} == {"step": "tool", "phase": "before", "call": call}
    assert {k: v for k, v in after.items() if k not in rest} == {"step": "tool", "phase": "after"}


@pytest.mark.parametrize(("phase", "entered"), [("before", 0), ("after", 1)])
async def test_LS_33_proceed_goes_on_with_the_breakpoint_still_set_and_nothing_runs_twice(
    phase: str, entered: int, stage: Stage
) -> None:
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], **{f"break_{phase}": {"tool"}})
    run = await stage.run(agent)
    assert len(stage.ran) == entered
    run = await freed(stage, agent, run)
    assert (run.text, len(stage.ran)) == ("done", 1)


async def test_LS_34_a_breakpoint_takes_no_other_answer(stage: Stage) -> None:
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], break_before={"tool"})
    run = await stage.run(agent)
    [id] = ids(run)
    for answer in (approve(), reject(), edit({"x": "y"}), reply("go"), reply(True), result("x"), {"approve": {}}):
        with pytest.raises(InvalidAnswers):
            await stage.resume(agent, run, {id: answer})
    run = await stage.resume(agent, run, {id: proceed()})
    assert (run.text, stage.ran) == ("done", ["look"])


class AsksIn(Middleware):
    """Asks once in the hook it is told to."""

    id = "asker"

    def __init__(self, hook: str) -> None:
        self.hook = hook

    async def before_agent(self, text: str, ctx: Any) -> None:
        self._ask("before_agent", ctx)

    async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
        self._ask("around_model", ctx)
        return await next(request)

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        self._ask("around_tool", ctx)
        return await next(call)

    async def after_agent(self, text: str, ctx: Any) -> None:
        self._ask("after_agent", ctx)

    def _ask(self, hook: str, ctx: Any) -> None:
        if hook == self.hook:
            ctx.ask("go on?", str)


@pytest.mark.parametrize(
    ("asks_in", "step", "kinds"),
    [
        ("approval", "tool", "breakpoint approval breakpoint"),
        ("question", "tool", "breakpoint question breakpoint"),
        ("around_tool", "tool", "breakpoint review breakpoint"),
        ("before_agent", "model", "review breakpoint breakpoint"),
        ("around_model", "model", "breakpoint review breakpoint"),
        ("after_agent", "finish", "breakpoint review breakpoint"),
    ],
)
async def test_LS_35_a_step_that_asks_is_held_once_before_its_first_run_and_once_after_it(
    asks_in: str, step: str, kinds: str, stage: Stage
) -> None:
    tools = {"approval": stage.works("work", approve=True), "question": asks}
    name = "asks" if asks_in == "question" else "work"
    replies = [[(name, {})], "done"] if step == "tool" else ["done"]
    tool = tools.get(asks_in) or stage.works("work")
    agent = stage.agent(*replies, tools=[tool], middleware=[AsksIn(asks_in)], **around(step))
    run = await stage.run(agent)
    seen = []
    answers = {"breakpoint": proceed(), "approval": approve(), "question": reply(3), "review": reply("yes")}
    while outcome(run) == "Suspended":
        [waiting] = run.pending
        seen.append(waiting.kind)
        run = await stage.resume(agent, run, {waiting.id: answers[waiting.kind]})
    assert (seen, run.text, len(agent.model.requests)) == (kinds.split(), "done", len(replies))


@pytest.mark.parametrize(
    ("asks_in", "step"), [("approval", "tool"), ("around_model", "model"), ("after_agent", "finish")]
)
async def test_LS_35_a_breakpoint_set_after_a_step_has_asked_holds_what_comes_after_it_only(
    asks_in: str, step: str, stage: Stage
) -> None:
    work = stage.works("work", approve=asks_in == "approval")
    replies = [[("work", {})], "done"] if step == "tool" else ["done"]
    agent = stage.agent(*replies, tools=[work], middleware=[AsksIn(asks_in)])
    run = await stage.run(agent)
    answer = approve() if asks_in == "approval" else reply("yes")
    run = await stage.resume(agent, run, {ids(run)[0]: answer}, **around(step))
    assert ids(run) == [f"1.1:after_{step}"]


async def test_LS_36_breakpoints_belong_to_whoever_runs_and_are_not_stored(stage: Stage) -> None:
    agent = stage.agent([("look", {})], tools=[stage.works("look")], break_before={"model"})
    run = await stage.run(agent, break_before={"tool"})
    run = await freed(stage, agent, run, break_before={"tool"})
    assert ids(run) == ["1.1.0:before_tool"]
    plain = stage.agent("done", tools=[stage.works("look")], store=stage.elsewhere())
    run = await freed(stage, plain, run)
    assert (run.text, stage.ran) == ("done", ["look"])


async def test_LS_37_a_breakpoint_on_a_step_that_does_not_exist_is_refused_before_anything_is_touched(
    stage: Stage,
) -> None:
    agent = stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)])
    with pytest.raises(UnknownStep, match="end, start"):
        await stage.run(agent, break_before={"start", "end", "tool"})
    assert stage.store.heads() == []
    run = await stage.run(agent)
    before = await stage.recorded(run)
    for attempt in (
        stage.resume(agent, run, {ids(run)[0]: approve()}, break_after={"tools"}),
        stage.recover(agent, run, break_after={"tools"}),
    ):
        with pytest.raises(UnknownStep, match="tools"):
            await attempt
    assert await stage.recorded(run) == before
    with pytest.raises(UnknownStep, match="nowhere"):
        stage.agent(break_before={"nowhere"})


@pytest.mark.parametrize(("step", "target"), [("model", "1.1"), ("tool", "1.1.0"), ("finish", "1.1")])
async def test_LS_38_a_step_with_both_is_held_twice_and_run_once(step: str, target: str, stage: Stage) -> None:
    guard = Guard()
    replies = [[("look", {})], "done"] if step == "tool" else ["done"]
    agent = stage.agent(*replies, tools=[stage.works("look")], middleware=[guard], **around(step))
    run = await stage.run(agent)
    seen = []
    while outcome(run) == "Suspended":
        seen += ids(run)
        run = await freed(stage, agent, run)
    assert seen == [f"{target}:before_{step}", f"1.1:after_{step}"]
    assert (stage.ran, guard.seen, len(agent.model.requests)) == (["look"] * (step == "tool"), ["done"], len(replies))


async def test_LS_39_a_hold_and_an_approval_wait_together_and_are_answered_together(stage: Stage) -> None:
    tools = [stage.works("look"), stage.works("deploy", approve=True)]
    agent = stage.agent([("look", {}), ("deploy", {})], "done", tools=tools)
    run = await stage.run(agent, break_before={"tool"})
    run = await stage.resume(agent, run, {"1.1.1:before_tool": proceed()}, break_before={"tool"})
    assert ids(run) == ["1.1.1:approval", "1.1.0:before_tool"]
    run = await stage.resume(agent, run, {"1.1.1:approval": approve(), "1.1.0:before_tool": proceed()})
    assert (run.text, stage.ran) == ("done", ["look", "deploy"])


async def test_LS_40_holds_cost_nothing_of_the_limit(stage: Stage) -> None:
    """Different: the limit counts requests to the model, which cost money; to stop and look must not end a turn."""
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], max_steps=2, **around(*EVERY))
    run = await stage.run(agent)
    held = 0
    while outcome(run) == "Suspended":
        held += 1
        run = await freed(stage, agent, run)
    assert (outcome(run), run.text, held) == ("Completed", "done", 8)


async def test_LS_41_of_calls_that_run_together_one_may_be_held_while_the_others_finish(stage: Stage) -> None:
    """Cut: there is no graph with nodes of one's own. What a fan-out of a graph gives holds for the calls of a message:
    siblings run and are recorded, the hold shows its input, and what joins them, the next request, waits."""
    agent = stage.agent([("look", {"x": "a"}), ("look", {"x": "b"})], "done", tools=[stage.works("look")])
    run = await stage.run(agent, break_before={"tool"})
    run = await stage.resume(agent, run, {"1.1.0:before_tool": proceed()}, break_before={"tool"})
    [held] = run.pending
    assert held.call.input == {"x": "b"}
    assert (stage.ran, len(agent.model.requests)) == (["look a"], 1)
    [recorded] = run.messages[-1]["content"]
    assert recorded["content"] == "look a done"
    run = await freed(stage, agent, run, break_after={"tool"})
    assert [dump(hold).get("call") for hold in run.pending] == [None]  # after it, there is nothing to show
    run = await freed(stage, agent, run)
    assert results(agent) == ["look a done", "look b done"]


async def test_LS_42_a_cancelled_run_is_taken_up_by_recover_and_held_where_it_had_not_been(stage: Stage) -> None:
    inside = asyncio.Event()

    @tool
    async def slow() -> str:
        """Never end."""
        stage.ran.append("slow")
        inside.set()
        await asyncio.Event().wait()
        return ""

    steps = {"break_before": {"model", "tool"}}
    agent = stage.agent([("look", {}), ("slow", {})], "done", tools=[stage.works("look"), slow])
    run = await stage.run(agent, **steps)
    run = await freed(stage, agent, run, **steps)
    assert ids(run) == ["1.1.0:before_tool", "1.1.1:before_tool"]
    going = asyncio.create_task(freed(stage, agent, run, **steps))
    await inside.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    run = await stage.recover(agent, run, **steps)
    assert (ids(run), len(agent.model.requests)) == (["1.2:before_model"], 1)  # not the calls, which had passed
    run = await freed(stage, agent, run, **steps)
    assert (run.text, stage.ran) == ("done", ["look", "slow"])
    assert [told.partition(":")[0] for told in results(agent)] == ["look done", "! Interrupted"]


@pytest.mark.parametrize("path", ["streaming"])
async def test_LS_42_what_was_cut_off_in_mid_air_is_not_held_again(stage: Stage) -> None:
    steps = {"break_before": {"tool"}, "break_after": {"tool"}}
    tools = [stage.works("look"), stage.hangs_once("slow")]
    agent = stage.agent([("look", {}), ("slow", {})], "done", tools=tools)
    run = await stage.run(agent, **steps)
    events = agent.stream_resume(run.session, {id: proceed() for id in ids(run)}, **steps)
    async for event in events:
        if type(event).__name__ == "ToolOutput":
            break
    await events.aclose()
    run = await stage.recover(agent, run, **steps)
    assert (ids(run), stage.ran) == (["1.1:after_tool"], ["look", "slow", "slow"])
    run = await freed(stage, agent, run)
    assert results(agent) == ["look done", "slow done"]


async def test_LS_42_a_question_around_a_held_call_is_kept_through_the_holds(stage: Stage) -> None:
    asking = [Reviews("look")]
    agent = stage.agent([("look", {})], "done", tools=[stage.works("look")], middleware=asking, **around("tool"))
    run = await stage.run(agent)
    run = await freed(stage, agent, run)
    run = await stage.resume(agent, run, {ids(run)[0]: reply("yes")})
    run = await freed(stage, agent, run)
    assert (run.text, stage.ran) == ("done", ["look"])
