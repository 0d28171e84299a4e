"""Vibes, VB-01 to VB-26: calls that are put off end the run as requests, and a resume brings their results."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import (
    Context,
    InvalidAnswers,
    NotCompleted,
    Recorded,
    RunEnded,
    Suspended,
    approve,
    edit,
    external_tool,
    gate,
    park,
    reject,
    result,
    tool,
)
from hitl_cli.journal import Began
from tests.seeds.stage import Stage, ids, outcome, results


async def test_VB_01_a_tool_that_requires_approval_does_not_run_and_unwrap_raises(stage: Stage) -> None:
    run = await stage.run(stage.agent([("delete", {"x": "a"})], tools=[stage.works("delete", approve=True)]))
    assert (outcome(run), stage.ran) == ("Suspended", [])
    with pytest.raises(NotCompleted) as raised:
        run.unwrap()
    assert raised.value.run is run


@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_VB_02_the_flag_may_depend_on_the_context_and_on_the_arguments_of_each_call(
    kind: str, stage: Stage
) -> None:
    def needs(input: Any, context: Any) -> bool:
        return bool(context != "admin" and input["x"] != "draft")

    async def needs_async(input: Any, context: Any) -> bool:
        return needs(input, context)

    tools = [stage.works("delete", approve=needs if kind == "plain" else needs_async)]
    calls = [("delete", {"x": "draft"}), ("delete", {"x": "book"})]
    run = await stage.run(stage.agent(calls, tools=tools), context="guest")
    assert (ids(run), stage.ran) == (["1.1.1:approval"], ["delete draft"])
    run = await stage.run(stage.agent(calls, "done", tools=tools), context="admin")
    assert (run.text, stage.ran[1:]) == ("done", ["delete draft", "delete book"])


async def test_VB_03_the_error_has_the_requests_and_says_how_many_of_which_tools(stage: Stage) -> None:
    tools = [stage.works("delete", approve=True), stage.works("send", approve=True), stage.external()]
    run = await stage.run(stage.agent([(t.name, {}) for t in tools], tools=tools))
    with pytest.raises(NotCompleted, match=r"waiting for 2 approvals \(delete, send\), 1 external result \(out\)") as e:
        run.unwrap()
    assert e.value.run.pending == run.pending


async def test_VB_04_each_request_has_id_tool_and_arguments_and_two_calls_of_one_tool_are_two(stage: Stage) -> None:
    delete = stage.works("delete", approve=lambda input, context: True)
    calls = [("delete", {"x": "a"}), ("send", {"x": "b"}), ("delete", {"x": "c"})]
    agent = stage.agent(calls, "done", tools=[delete, stage.works("send", approve=True)], rules=stage.rules("? delete"))
    run = await stage.run(agent)
    assert [(i.id, i.call.name, i.call.input) for i in run.pending] == [
        ("1.1.0:approval", "delete", {"x": "a"}),
        ("1.1.1:approval", "send", {"x": "b"}),
        ("1.1.2:approval", "delete", {"x": "c"}),
    ]


async def test_VB_05_ungated_calls_of_the_turn_run_once_and_their_results_are_kept(stage: Stage) -> None:
    agent = stage.agent(
        [("look", {}), ("delete", {}), ("look", {"x": "again"})],
        "done",
        tools=[stage.works("look"), stage.works("delete", approve=True)],
    )
    run = await stage.run(agent)
    assert stage.ran == ["look", "look again"]
    await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert results(agent) == ["look done", "delete done", "look again done"]
    assert stage.ran == ["look", "look again", "delete"]


async def test_VB_06_resume_goes_on_to_the_final_result(stage: Stage) -> None:
    agent = stage.agent([("delete", {})], "It is gone.", tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (outcome(run), run.unwrap().text) == ("Completed", "It is gone.")


@pytest.mark.parametrize(
    ("value", "told"),
    [("deleted by hand", "deleted by hand"), ({"rows": 3, "who": "Zoë"}, '{"rows": 3, "who": "Zoë"}'), (7, "7")],
    ids=["text", "object", "number"],
)
async def test_VB_07_a_result_takes_the_place_of_the_body(value: Any, told: str, stage: Stage) -> None:
    agent = stage.agent([("delete", {})], "done", tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: result(value)})
    assert (run.text, stage.ran, results(agent)) == ("done", [], [told])


async def test_VB_08_overridden_arguments_run_once_and_the_original_ones_never(stage: Stage) -> None:
    agent = stage.agent([("delete", {"x": "all"})], "done", tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"x": "one"})})
    assert (run.text, stage.ran) == ("done", ["delete one"])


@pytest.mark.parametrize(
    "answer",
    [{"edit": {"input": {"x": "one"}}, "result": {"output": "done"}}, {}, {"result": {}}, {"edit": {}}],
    ids=["both", "neither", "a result without output", "an edit without input"],
)
async def test_VB_09_exactly_one_of_result_and_override_is_expected(answer: Any, stage: Stage) -> None:
    """Stricter: with both it is not known what was meant, and with neither nothing was said."""
    agent = stage.agent([("delete", {"x": "all"})], tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    before = await stage.recorded(run)
    with pytest.raises(InvalidAnswers):
        await stage.resume(agent, run, {ids(run)[0]: answer})
    assert (await stage.recorded(run), stage.ran) == (before, [])


async def test_VB_10_a_result_for_an_id_that_does_not_wait_is_refused(stage: Stage) -> None:
    """Stricter: a result that belongs to nothing is somebody's mistake, and the rest of the set may be one too."""
    agent = stage.agent([("delete", {})], tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="nothing with this id waits"):
        await stage.resume(agent, run, {ids(run)[0]: approve(), "call_unknown": result("x")})
    assert ((await agent.load(run.session)).pending, stage.ran) == (run.pending, [])


async def test_VB_11_a_tool_that_is_gone_at_the_resume_is_an_error_for_the_model(stage: Stage) -> None:
    agent = stage.agent([("delete", {})], tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    later = stage.agent("done", store=stage.elsewhere())
    run = await stage.resume(later, run, {ids(run)[0]: approve()})
    assert (run.text, results(later)) == ("done", ["! There is no tool 'delete'. Nothing was run."])


async def test_VB_11_a_tool_that_raises_is_an_error_for_the_model(stage: Stage) -> None:
    @tool(approve=True)
    def delete() -> str:
        """Fail."""
        raise PermissionError("not yours")

    agent = stage.agent([("delete", {})], "done", tools=[delete])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (run.text, results(agent)) == ("done", ["! PermissionError: not yours"])


@pytest.mark.parametrize("answer", [result("rejected"), reject("rejected")], ids=["as a result", "with the verb"])
async def test_VB_12_a_refusal_may_be_said_as_a_result_and_there_is_a_verb_for_it(answer: Any, stage: Stage) -> None:
    agent = stage.agent([("delete", {})], "done", tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: answer})
    assert (run.text, stage.ran) == ("done", [])
    assert results(agent)[0].endswith("rejected")


SCHEMA = {
    "type": "object",
    "title": "Position",
    "properties": {"accuracy": {"type": "string", "enum": ["high", "low"], "x-unit": "metres"}},
    "additionalProperties": False,
}


async def test_VB_13_external_tools_are_made_of_name_description_and_schema_and_all_are_gated(stage: Stage) -> None:
    tools = [external_tool("locate", "Where the device is.", SCHEMA), external_tool("photo", "Take a photo.", {})]
    agent = stage.agent([("locate", {"accuracy": "high"}), ("photo", {})], tools=tools)
    run = await stage.run(agent)
    assert [(i.kind, i.call.name) for i in run.pending] == [("external", "locate"), ("external", "photo")]
    offered = [(spec.name, spec.description, spec.schema) for spec in agent.model.requests[0].tools]
    assert offered == [("locate", "Where the device is.", SCHEMA), ("photo", "Take a photo.", {})]


async def test_VB_14_the_client_works_the_results_out_at_the_same_time_and_resumes_once(stage: Stage) -> None:
    agent = stage.agent([("locate", {"x": "a"}), ("photo", {"x": "b"})], "done", tools=externals(stage))
    run = await stage.run(agent)
    together = asyncio.Barrier(2)

    async def work(call: Any) -> Any:
        await together.wait()  # neither ends before both have begun
        return result(f"{call.name} of {call.input['x']}")

    outputs = await asyncio.gather(*(work(i.call) for i in run.pending))
    run = await stage.resume(agent, run, dict(zip(ids(run), outputs, strict=True)))
    assert (run.text, results(agent)) == ("done", ["locate of a", "photo of b"])


def externals(stage: Stage) -> list[Any]:
    return [stage.external("locate"), stage.external("photo")]


async def test_VB_15_only_tools_that_were_called_are_requested(stage: Stage) -> None:
    run = await stage.run(stage.agent([("photo", {})], tools=externals(stage)))
    assert [i.call.name for i in run.pending] == ["photo"]


async def test_VB_16_an_external_call_has_nothing_to_run_with_other_arguments(stage: Stage) -> None:
    agent = stage.agent([("photo", {}), ("delete", {})], tools=[*externals(stage), stage.works("delete", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="edit does not answer this external; use result, reject"):
        await stage.resume(agent, run, {"1.1.0:external": edit({"x": "b"})})
    run = await stage.resume(agent, run, {"1.1.1:approval": edit({"x": "b"})})  # one with a body of its own has
    assert (ids(run), stage.ran) == (["1.1.0:external"], ["delete b"])


async def test_VB_17_a_wrapper_gates_every_tool_of_a_kit_and_keeps_the_bodies(stage: Stage) -> None:
    agent = stage.agent([("a", {}), ("b", {})], "done", tools=gate([stage.works("a"), stage.works("b")]))
    run = await stage.run(agent)
    assert (len(run.pending), stage.ran) == (2, [])
    run = await stage.resume(agent, run, {id: approve() for id in ids(run)})
    assert (run.text, stage.ran) == ("done", ["a", "b"])


async def test_VB_18_a_resume_adds_no_message_of_the_user(stage: Stage) -> None:
    agent = stage.agent("hello", [("delete", {})], "done", tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent, "hi")
    run = await stage.run(agent, "delete it", run.session)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    _, before, after = (request.messages for request in agent.model.requests)
    assert after[: len(before)] == before
    assert [[block["type"] for block in message["content"]] for message in after[len(before) :]] == [
        ["tool_use"],
        ["tool_result"],
    ]
    assert sum(isinstance(entry, Began) for entry in await stage.history(run)) == 2


async def test_VB_19_a_resumed_run_may_wait_again(stage: Stage) -> None:
    tools = [stage.works("delete", approve=True), stage.works("send", approve=True)]
    agent = stage.agent([("delete", {})], [("send", {})], "done", tools=tools)
    run, waits = await stage.run(agent), []
    while isinstance(run, Suspended):
        waits.append([i.call.name for i in run.pending])
        run = await stage.resume(agent, run, {id: approve() for id in ids(run)})
    assert (waits, run.text) == ([["delete"], ["send"]], "done")


async def test_VB_20_the_count_of_steps_goes_on_over_the_pause(stage: Stage) -> None:
    """Different: a resume does not begin to count anew, or a limit would hold for nothing."""
    tools = [stage.works("delete", approve=True)]
    agent = stage.agent([("delete", {"x": "a"})], [("delete", {"x": "b"})], "never", tools=tools, max_steps=2)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert ids(run) == ["1.2.0:approval"]
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (outcome(run), run.why, stage.ran) == ("Stopped", "steps", ["delete a", "delete b"])


PROCESS = """
import asyncio, sys
sys.path.insert(0, {root!r})
from hitl_cli import Agent, SqliteStore, approve, tool
from tests.agent.told import Driver, Told

@tool(approve=True)
def delete(x: str = "") -> str:
    "Delete."
    return f"deleted {{x}}"

session, id, path, store = sys.argv[1:]
agent = Agent(Told("done"), [delete], store=SqliteStore(store))
print(asyncio.run(Driver(path == "streaming").resume(agent, session, {{id: approve()}})).text)
"""


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_VB_21_two_texts_are_all_that_another_process_needs(stage: Stage, path: str, tmp_path: Path) -> None:
    run = await stage.run(stage.agent([("delete", {"x": "a"})], tools=[stage.works("delete", approve=True)]))
    code = PROCESS.format(root=str(Path(__file__).parents[2]))
    command = [sys.executable, "-c", code, run.session, ids(run)[0], path, str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("done\n", "")


async def test_VB_22_what_the_run_depends_on_is_given_again_at_the_resume(stage: Stage) -> None:
    @tool(approve=True)
    def delete(ctx: Context) -> str:
        """Delete from the database at hand."""
        return f"deleted from {ctx.context}"

    for given, told in ((None, "deleted from None"), ("test db", "deleted from test db")):
        agent = stage.agent([("delete", {})], "done", tools=[delete])
        run = await stage.run(agent, context="live db")
        await stage.resume(agent, run, {ids(run)[0]: approve()}, context=given)
        assert results(agent) == [told]


@pytest.mark.parametrize("kind", ["plain", "async"])
@pytest.mark.parametrize("answers", [True, False])
async def test_VB_23_a_handler_may_answer_while_the_run_goes_on(kind: str, answers: bool, stage: Stage) -> None:
    seen: list[Any] = []

    def handles(run: Suspended) -> Any:
        seen.append(run.pending)
        return {i.id: approve() for i in run.pending} if answers else None

    async def handles_async(run: Suspended) -> Any:
        return handles(run)

    tools = [stage.works("delete", approve=True)]
    handler = handles if kind == "plain" else handles_async
    run = await stage.run(stage.agent([("delete", {})], "done", tools=tools), responder=handler)
    assert (outcome(run), len(stage.ran)) == (("Completed", 1) if answers else ("Suspended", 0))
    assert len(seen) == 1
    assert [(i.id, i.call.name) for i in seen[0]] == [("1.1.0:approval", "delete")]
    if isinstance(run, Suspended):
        assert seen == [run.pending]  # the handler saw what a caller sees


async def test_VB_24_answers_given_go_before_the_runs_handler_and_that_before_the_agents(stage: Stage) -> None:
    log: list[str] = []

    def handler(name: str) -> Any:
        def handles(run: Suspended) -> Any:
            log.append(name)
            return {i.id: reject(name) for i in run.pending}

        return handles

    def agent() -> Any:
        tools = [stage.works("delete", approve=True)]
        return stage.agent([("delete", {})], "done", tools=tools, responder=handler("agent"))

    assert (await stage.run(agent())).text == "done"
    assert (await stage.run(agent(), responder=handler("run"))).text == "done"
    one = agent()
    run = await stage.run(one, responder=park)
    assert (outcome(run), log) == ("Suspended", ["agent", "run"])
    run = await stage.resume(one, run, {ids(run)[0]: approve()}, responder=handler("run"))
    assert (run.text, stage.ran, log) == ("done", ["delete"], ["agent", "run"])


@pytest.mark.parametrize("input", [{"x": 3}, {"y": "one"}, {"x": None}], ids=str)
async def test_VB_25_overridden_arguments_must_fit_the_tool(input: Any, stage: Stage) -> None:
    """Stricter: whoever overrides is told what is wrong; a body never gets arguments that it did not declare."""
    agent = stage.agent([("delete", {"x": "all"})], tools=[stage.works("delete", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="the new input does not fit the tool"):
        await stage.resume(agent, run, {ids(run)[0]: edit(input)})
    assert ((await agent.load(run.session)).pending, stage.ran) == (run.pending, [])


@pytest.mark.parametrize("path", ["streaming"])
@pytest.mark.parametrize("name", ["delete", "out"])
async def test_VB_26_a_streamed_run_waits_as_any_other(name: str, stage: Stage) -> None:
    """Stricter: a gate that only holds where nobody watches would be none."""
    agent = stage.agent([(name, {})], "done", tools=[stage.works("delete", approve=True), stage.external()])
    run = await stage.run(agent)
    assert (outcome(run), stage.ran) == ("Suspended", [])
    shown = [e for e in stage.events if isinstance(e, Recorded) and type(e.entry).__name__ == "Raised"]
    assert [[i["id"] for i in e.entry.interrupts] for e in shown] == [ids(run)]
    assert isinstance(stage.events[-1], RunEnded)
