"""AgentScope, AS-01 to AS-30: a turn pauses for a permission or for a call that runs elsewhere, and goes on with answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_cli import (
    InvalidAnswers,
    Middleware,
    NotSuspended,
    Place,
    RunEnded,
    SessionPending,
    always,
    approve,
    edit,
    gate,
    proceed,
    reject,
    reply,
    result,
    tool,
)
from hitl_cli.interrupts import dump, load
from hitl_cli.journal import Answered, Began, Judged, Raised, Recorded, Replied, Result, Returned, Settled, Started
from tests.agent.told import Driver
from tests.seeds.stage import Stage, ids, outcome, results


@pytest.mark.parametrize(
    ("call", "comes_out"), [("asks", "Suspended"), ("out", "Suspended"), ("plain", "Completed"), (None, "Completed")]
)
async def test_AS_01_a_turn_pauses_for_a_permission_or_an_external_call_and_for_nothing_else(
    call: str | None, comes_out: str, stage: Stage
) -> None:
    replies = [[(call, {})], "done"] if call else ["done"]
    tools = [stage.works("asks", approve=True), stage.external(), stage.works("plain")]
    run = await stage.run(stage.agent(*replies, tools=tools))
    assert outcome(run) == comes_out


async def test_AS_02_a_parked_turn_is_told_apart_from_every_end_and_nothing_further_runs(stage: Stage) -> None:
    tools = [stage.works("asks", approve=True, serial=True), stage.works("later", serial=True)]
    agent = stage.agent([("asks", {}), ("later", {})], "done", tools=tools)
    run = await stage.run(agent)
    assert (outcome(run), run.text, stage.ran, len(agent.model.requests)) == ("Suspended", "", [], 1)
    assert (await agent.load(run.session)).status == "suspended"
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (outcome(run), stage.ran, (await agent.load(run.session)).status) == ("Completed", ["asks", "later"], "idle")


async def test_AS_03_the_request_has_the_turn_the_calls_their_input_and_the_rules_on_offer(stage: Stage) -> None:
    agent = stage.agent([("deploy", {"x": "web"})], tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    [raised] = [entry for entry in await stage.history(run) if isinstance(entry, Raised)]
    [asked] = raised.interrupts
    assert (asked["id"], asked["kind"]) == ("1.1.0:approval", "approval")  # turn 1, its first request, its first call
    assert asked["call"] == {"id": "1.1.0", "name": "deploy", "input": {"x": "web"}, "provider_id": "use_0"}
    assert [offer["rule"] for offer in asked["suggested"]] == ["deploy"]
    assert [dump(interrupt) for interrupt in run.pending] == [asked]
    assert load(asked) == run.pending[0]


@pytest.mark.parametrize("path", ["streaming"])
@pytest.mark.parametrize("call", ["asks", "out"])
async def test_AS_04_the_pause_is_on_record_before_anyone_sees_it(call: str, stage: Stage) -> None:
    tools = [stage.works("asks", approve=True), stage.external()]
    events = stage.agent([(call, {})], tools=tools).stream("go")
    async for event in events:
        if isinstance(event, Recorded) and isinstance(event.entry, Raised):
            break
    await events.aclose()
    [head] = stage.elsewhere().heads(pending=True)
    other = stage.agent("done", tools=tools, store=stage.elsewhere())
    [waiting] = (await other.load(head.session)).pending
    assert dump(waiting) == event.entry.interrupts[0]
    run = await stage.resume(other, head.session, {waiting.id: result("x") if call == "out" else approve()})
    assert run.text == "done"


async def test_AS_05_a_changed_input_is_what_runs_and_what_the_transcript_shows(stage: Stage) -> None:
    """Stricter: the name of the call cannot be changed, for a person confirmed another tool than would run."""
    agent = stage.agent([("deploy", {"x": "prod"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    [id] = ids(run)
    with pytest.raises(InvalidAnswers, match="unknown fields: name"):
        await stage.resume(agent, run, {id: {"edit": {"input": {"x": "test"}, "name": "other"}}})
    run = await stage.resume(agent, run, {id: edit({"x": "test"})})
    assert stage.ran == ["deploy test"]
    shown = agent.model.requests[1].messages[1]["content"][0]
    assert (shown["name"], shown["input"]) == ("deploy", {"x": "test"})


async def test_AS_06_a_confirmed_call_runs_inside_the_resume_and_reasoning_goes_on(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.external()]
    agent = stage.agent([("deploy", {}), ("out", {})], "done", tools=tools)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {"1.1.0:approval": approve()})
    assert (stage.ran, len(agent.model.requests)) == (["deploy"], 1)  # one call of the message has no result yet
    run = await stage.resume(agent, run, {"1.1.1:external": result("x")})
    first, second = (request.messages for request in agent.model.requests)
    assert second[:1] == first
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert [block["type"] for block in second[-1]["content"]] == ["tool_result", "tool_result"]
    assert sum(isinstance(entry, Began) for entry in await stage.history(run)) == 1


async def test_AS_07_a_denied_call_is_an_error_that_the_model_sees(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True)]
    agent = stage.agent([("deploy", {}), ("drop", {})], "another route", tools=tools)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {id: reject("not today") for id in ids(run)})
    assert (run.text, stage.ran) == ("another route", [])
    for told, name in zip(results(agent), ("deploy", "drop"), strict=True):
        assert told.startswith("! Rejected: ")
        assert name in told
        assert "not today" in told


@pytest.mark.parametrize("rule", ["copy", "copy(x:a*)"], ids=["as it was suggested", "made narrower by hand"])
async def test_AS_08_accepted_rules_settle_later_calls(rule: str, stage: Stage) -> None:
    tools = [stage.works("copy", approve=True), stage.works("move", approve=True)]
    agent = stage.agent([("copy", {"x": "a"})], [("copy", {"x": "ab"}), ("move", {"x": "a"})], "done", tools=tools)
    run = await stage.run(agent)
    assert run.pending[0].suggested[0].rule == "copy"
    run = await stage.resume(agent, run, {ids(run)[0]: approve([rule])})
    assert (ids(run), stage.ran) == (["1.2.1:approval"], ["copy a", "copy ab"])


async def test_AS_08_an_accepted_rule_holds_for_later_calls_of_the_same_message(stage: Stage) -> None:
    copy = stage.works("copy", approve=True, serial=True)
    agent = stage.agent([("copy", {"x": "a"}), ("copy", {"x": "b"})], "done", tools=[copy])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve(["copy"])})
    assert (outcome(run), stage.ran) == ("Completed", ["copy a", "copy b"])


async def test_AS_08_accepted_rules_settle_what_else_is_waiting(stage: Stage) -> None:
    tools = [stage.works(name, approve=True) for name in ("copy", "move", "drop")]
    agent = stage.agent([("copy", {}), ("move", {}), ("drop", {})], tools=tools)
    run = await stage.run(agent)
    assert len(run.pending) == 3
    run = await stage.resume(agent, run, {"1.1.0:approval": approve(["move"])})
    assert (ids(run), stage.ran) == (["1.1.2:approval"], ["copy", "move"])


async def test_AS_08_a_denial_grants_nothing(stage: Stage) -> None:
    """The rules of a refusal are deny rules: "never again" is said with the same word as "no"."""
    agent = stage.agent([("copy", {})], [("copy", {})], "done", tools=[stage.works("copy", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="deny rules only"):
        await stage.resume(agent, run, {ids(run)[0]: {"reject": {"rules": [{"decision": "allow", "rule": "copy"}]}}})
    run = await stage.resume(agent, run, {ids(run)[0]: reject(rules=["copy"])})
    assert (run.text, stage.ran) == ("done", [])
    assert results(agent)[0].startswith("! Denied: ")


@pytest.mark.parametrize("path", ["both"])
async def test_AS_09_the_two_entry_points_are_equivalent_and_a_resumed_stream_has_only_what_is_new(
    stage: Stage,
) -> None:
    async def played(driver: Driver) -> tuple[list[Any], list[Any]]:
        agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert run.text == "done"
        return await stage.history(run), driver.events

    blocking, _ = await played(Driver(False))
    streamed, events = await played(Driver(True))
    assert [type(entry) for entry in blocking] == [type(entry) for entry in streamed]
    recorded = [event for event in events if isinstance(event, Recorded)]
    assert [r.seq for r in recorded] == list(range(len(streamed) - len(recorded) + 1, len(streamed) + 1))
    order = [type(r.entry).__name__ for r in recorded]
    assert order == ["Answered", "Started", "Returned", "Settled", "Replied", "Ended"]
    assert isinstance(events[-1], RunEnded)


@pytest.mark.parametrize("again", ["1.1.0:approval", "1.9.0:approval"], ids=["answered before", "never raised"])
async def test_AS_10_an_answer_when_nothing_waits_is_an_error_and_changes_nothing(again: str, stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    await stage.resume(agent, run, {ids(run)[0]: approve()})
    before = await stage.recorded(run)
    with pytest.raises((InvalidAnswers, NotSuspended)):
        await stage.resume(agent, run, {again: approve()})
    assert (await stage.recorded(run), stage.ran) == (before, ["deploy"])


async def test_AS_11_an_answer_set_with_an_id_that_does_not_wait_is_refused_whole(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    before = await stage.recorded(run)
    with pytest.raises(InvalidAnswers) as refused:
        await stage.resume(agent, run, {ids(run)[0]: approve(), "1.1.7:approval": approve(), "call_x": approve()})
    assert refused.value.ids == ("1.1.7:approval", "call_x")
    assert ((await agent.load(run.session)).pending, stage.ran) == (run.pending, [])
    assert await stage.recorded(run) == before


@pytest.mark.parametrize("text", ["something else", ""])
async def test_AS_12_a_message_to_a_parked_session_is_refused_and_says_what_is_awaited(text: str, stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True), stage.external()]
    agent = stage.agent([("deploy", {}), ("drop", {}), ("out", {})], tools=tools)
    run = await stage.run(agent)
    with pytest.raises(SessionPending, match="waits for 2 approvals, 1 external: ") as refused:
        await stage.run(agent, text, run.session)
    assert refused.value.ids == tuple(ids(run))


async def test_AS_13_each_kind_of_answer_fits_only_its_own_kind_of_wait(stage: Stage) -> None:
    """One answer fits two: a result may also be given in place of an approval, by whoever ran the call elsewhere."""
    agent = stage.agent([("deploy", {}), ("out", {})], tools=[stage.works("deploy", approve=True), stage.external()])
    run = await stage.run(agent)
    approval, external = ids(run)
    for id, answer in [
        (external, approve()),
        (external, edit({"x": "y"})),
        (approval, reply("yes")),
        (approval, proceed()),
        (external, proceed()),
        (external, reply("x")),
    ]:
        with pytest.raises(InvalidAnswers, match="does not answer this"):
            await stage.resume(agent, run, {id: answer})
    assert (await agent.load(run.session)).pending == run.pending
    run = await stage.resume(agent, run, {approval: result("done by hand")})
    assert (ids(run), stage.ran) == ([external], [])


async def test_AS_14_what_still_waits_after_a_part_of_the_answers_is_not_raised_again(stage: Stage) -> None:
    agent = stage.agent([("deploy", {}), ("out", {})], tools=[stage.works("deploy", approve=True), stage.external()])
    run = await stage.run(agent)
    before = len(await stage.history(run))
    run = await stage.resume(agent, run, {"1.1.0:approval": approve()})
    after = (await stage.history(run))[before:]
    assert [type(entry) for entry in after] == [Answered, Started, Returned, Settled]
    assert (ids(run), len(agent.model.requests)) == (["1.1.1:external"], 1)


async def test_AS_15_serial_calls_go_one_by_one_and_what_follows_a_wait_is_not_even_judged(stage: Stage) -> None:
    tools = [stage.works("first", serial=True), stage.works("asks", serial=True, approve=True)]
    tools.append(stage.works("third", serial=True, approve=True))
    agent = stage.agent([("first", {}), ("asks", {}), ("third", {})], tools=tools)

    async def judged() -> list[str]:
        return [entry.tool for entry in await stage.history(run) if isinstance(entry, Judged)]

    run = await stage.run(agent)
    assert (ids(run), stage.ran, await judged()) == (["1.1.1:approval"], ["first"], ["first", "asks"])
    run = await stage.resume(agent, run, {"1.1.1:approval": approve()})
    assert (ids(run), stage.ran) == (["1.1.2:approval"], ["first", "asks"])
    assert await judged() == ["first", "asks", "third"]


async def test_AS_16_calls_that_may_run_together_are_all_judged_and_the_allowed_ones_finish(stage: Stage) -> None:
    @tool
    def fails() -> str:
        """Fail."""
        raise OSError("no disk")

    names = ["plain", "fails", "asks", "also", "plain", "later"]
    tools = [stage.works("plain"), fails, stage.works("asks", approve=True), stage.works("also", approve=True)]
    tools.append(stage.works("later", serial=True))
    agent = stage.agent([(name, {}) for name in names], "done", tools=tools, concurrency=4)
    run = await stage.run(agent)
    assert (ids(run), stage.ran) == (["1.1.2:approval", "1.1.3:approval"], ["plain", "plain"])
    run = await stage.resume(agent, run, {id: approve() for id in ids(run)})
    assert results(agent) == [
        "plain done",
        "! OSError: no disk",
        "asks done",
        "also done",
        "plain done",
        "later done",
    ]


async def test_AS_17_a_call_that_a_rule_on_offer_would_cover_is_not_asked_about_as_well(stage: Stage) -> None:
    tools = [stage.works("copy", approve=True), stage.works("move", approve=True)]
    agent = stage.agent([("copy", {"x": "a"}), ("copy", {"x": "b"}), ("move", {})], tools=tools)
    run = await stage.run(agent)
    assert ids(run) == ["1.1.0:approval", "1.1.2:approval"]
    judged = [entry.call for entry in await stage.history(run) if isinstance(entry, Judged)]
    assert judged == ["1.1.0", "1.1.2"]  # the held call is undecided


async def test_AS_17_what_no_rule_could_settle_is_always_asked_about(stage: Stage) -> None:
    calls = [("copy", {"x": "a"}), ("copy", {"x": "b"})]
    agent = stage.agent(calls, tools=[stage.works("copy")], rules=stage.rules("? copy"))
    run = await stage.run(agent)
    assert ids(run) == ["1.1.0:approval", "1.1.1:approval"]
    assert all(interrupt.safety for interrupt in run.pending)


@pytest.mark.parametrize(("rules", "prompts"), [(["copy"], 1), ([], 2)], ids=["with the rule", "without it"])
async def test_AS_18_a_held_call_runs_with_the_rule_and_asks_without_it(
    rules: list[str], prompts: int, stage: Stage
) -> None:
    copy = stage.works("copy", approve=True)
    agent = stage.agent([("copy", {"x": "a"}), ("copy", {"x": "b"})], "done", tools=[copy])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve(rules)})
    while outcome(run) == "Suspended":
        run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    asked = [entry for entry in await stage.history(run) if isinstance(entry, Raised)]
    assert (len(asked), stage.ran) == (prompts, ["copy a", "copy b"])


@pytest.mark.parametrize(
    ("name", "input"),
    [("nothing", {}), ("deploy", '{"x": '), ("deploy", {"x": 3}), ("deploy", {"y": "z"})],
    ids=["unknown tool", "unparsable input", "wrong type", "unknown argument"],
)
async def test_AS_19_what_cannot_be_run_is_an_error_and_asks_nobody(name: str, input: Any, stage: Stage) -> None:
    agent = stage.agent([(name, input)], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    assert (outcome(run), stage.ran) == ("Completed", [])
    assert [told[:2] for told in results(agent)] == ["! "]
    assert not [entry for entry in await stage.history(run) if isinstance(entry, Raised | Judged)]


async def test_AS_20_an_edited_call_is_validated_again_and_not_asked_about_again(stage: Stage) -> None:
    """Stricter: an edit that does not fit is refused when it is given. The person repairs it, not the model."""
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="3 is not of type 'string'"):
        await stage.resume(agent, run, {ids(run)[0]: edit({"x": 3})})
    assert (await agent.load(run.session)).pending == run.pending
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"x": "b"})})
    assert (outcome(run), stage.ran) == ("Completed", ["deploy b"])


async def test_AS_21_the_request_for_an_external_call_has_the_same_shape_and_no_rules(stage: Stage) -> None:
    run = await stage.run(stage.agent([("out", {"x": "sql"})], tools=[stage.external()]))
    [asked] = run.pending
    assert (asked.id, asked.kind, asked.call.id) == ("1.1.0:external", "external", "1.1.0")
    assert (asked.call.name, asked.call.input) == ("out", {"x": "sql"})
    assert "suggested" not in dump(asked)


@pytest.mark.parametrize(
    ("output", "told"), [("3 rows", "3 rows"), ([{"n": 1}, {"n": 2}], '[{"n": 1}, {"n": 2}]')], ids=["text", "several"]
)
async def test_AS_22_an_external_result_reaches_the_model_and_the_tools_own_body_is_not_entered(
    output: Any, told: str, stage: Stage
) -> None:
    agent = stage.agent([("query", {})], "done", tools=[stage.works("query", external=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: result(output)})
    assert (run.text, results(agent), stage.ran) == ("done", [told], [])


@pytest.mark.parametrize("order", [[[0, 1]], [[0], [1]], [[1], [0]]], ids=["at once", "in order", "second first"])
async def test_AS_23_external_results_may_fail_and_come_one_at_a_time(order: list[list[int]], stage: Stage) -> None:
    agent = stage.agent([("out", {"x": "a"}), ("out", {"x": "b"})], "done", tools=[stage.external()])
    run = await stage.run(agent)
    answers = [result("rows"), result("no such table", error=True)]
    for numbers in order:
        assert len(agent.model.requests) == 1
        run = await stage.resume(agent, run, {f"1.1.{n}:external": answers[n] for n in numbers})
    assert (run.text, results(agent)) == ("done", ["rows", "! no such table"])


@pytest.mark.parametrize("yes", [True, False], ids=["approved", "denied"])
async def test_AS_24_a_gated_external_tool_waits_for_the_approval_first(yes: bool, stage: Stage) -> None:
    agent = stage.agent([("out", {})], "done", tools=gate([stage.external()]))
    run = await stage.run(agent)
    kinds = [interrupt.kind for interrupt in run.pending]
    run = await stage.resume(agent, run, {ids(run)[0]: approve() if yes else reject()})
    while outcome(run) == "Suspended":
        kinds += [interrupt.kind for interrupt in run.pending]
        run = await stage.resume(agent, run, {ids(run)[0]: result("x")})
    assert kinds == (["approval", "external"] if yes else ["approval"])


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
async def test_AS_25_an_approval_and_an_external_result_may_be_awaited_together(order: list[int], stage: Stage) -> None:
    agent = stage.agent(
        [("deploy", {}), ("out", {})], "done", tools=[stage.works("deploy", approve=True), stage.external()]
    )
    run = await stage.run(agent)
    answers = [("1.1.0:approval", approve()), ("1.1.1:external", result("x"))]
    for n in order:
        run = await stage.resume(agent, run, dict([answers[n]]))
    assert (run.text, results(agent)) == ("done", ["deploy done", "x"])


async def test_AS_26_stopping_a_parked_turn_closes_its_calls_without_asking_the_model(stage: Stage) -> None:
    agent = stage.agent(
        [("deploy", {}), ("out", {})], "next", tools=[stage.works("deploy", approve=True), stage.external()]
    )
    run = await stage.run(agent)
    stopped = await agent.stop(run.session)
    assert (outcome(stopped), stopped.why, len(agent.model.requests)) == ("Stopped", "interrupted", 1)
    settled = [entry.result.kind for entry in await stage.history(run) if isinstance(entry, Settled)]
    assert settled == ["interrupted", "interrupted"]
    assert await agent.stop(run.session) is None  # nothing runs or waits: no effect
    run = await stage.run(agent, "more", run.session)
    assert run.text == "next"


async def test_AS_27_cancelling_a_run_gives_every_call_a_result(stage: Stage) -> None:
    inside = asyncio.Event()

    @tool
    async def slow() -> str:
        """Never end."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    tools = [stage.works("quick"), stage.external(), slow]
    agent = stage.agent([(t.name, {}) for t in tools], "next", tools=tools)
    session = stage.store.create()
    going = asyncio.create_task(stage.run(agent, "go", session))
    await inside.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    run = await stage.run(agent, "more", session)
    sent = agent.model.requests[-1].messages
    called = [block["id"] for block in sent[1]["content"]]
    answered = [block for block in sent[2]["content"] if block["type"] == "tool_result"]
    assert (run.text, [block["tool_use_id"] for block in answered]) == ("next", called)
    assert [block["_kind"] for block in answered] == ["ran", "interrupted", "interrupted"]


async def test_AS_28_mode_folders_and_accepted_rules_are_part_of_the_saved_session(stage: Stage, tmp_path: Any) -> None:
    folders = (str(tmp_path), str(tmp_path / "more"))
    place = Place(folders[0], folders, str(tmp_path / "home"))
    tools = [stage.works("deploy")]
    agent = stage.agent([("deploy", {})], "done", tools=tools, mode="default", place=place)
    run = await stage.run(agent)
    await stage.resume(agent, run, {ids(run)[0]: approve(["deploy"])})
    other = stage.agent([("deploy", {})], "again", tools=tools, store=stage.elsewhere())
    loaded = await other.load(run.session)
    assert loaded.settings
    assert (loaded.settings.mode, loaded.settings.cwd, loaded.settings.add_dirs) == ("default", folders[0], folders[1:])
    assert [(grant.decision, grant.rule) for grant in loaded.grants] == [("allow", "deploy")]
    run = await stage.run(other, "more", run.session)
    assert (run.text, stage.ran) == ("again", ["deploy", "deploy"])


async def test_AS_29_code_around_a_call_sees_confirmed_calls_too_and_may_still_refuse(stage: Stage) -> None:
    seen: list[tuple[str, bool]] = []

    class Wary(Middleware):
        id = "wary"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            seen.append((call.name, ctx.approved))
            return Result("not while it rains", False, "refused") if call.name == "deploy" else await next(call)

    tools = [stage.works("deploy", approve=True), stage.works("look")]
    agent = stage.agent([("deploy", {}), ("look", {})], "done", tools=tools, middleware=[Wary()])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (seen, stage.ran) == ([("look", False), ("deploy", True)], ["look"])
    assert results(agent) == ["! not while it rains", "look done"]


@pytest.mark.parametrize("path", ["both"])
async def test_AS_30_both_paths_stop_at_the_same_calls_with_the_same_request(stage: Stage) -> None:
    seen = []
    for streaming in (False, True):
        tools = [stage.works("asks", approve=True), stage.external(), stage.works("plain")]
        agent = stage.agent([("plain", {}), ("asks", {}), ("out", {})], tools=tools, policy={"plain": always})
        run = await Driver(streaming).run(agent, "go")
        seen.append([{**dump(interrupt), "since": 0} for interrupt in run.pending])
        entries = [type(entry) for entry in await stage.history(run)]
        assert entries == [Began, Replied, *[Judged, Raised] * 3]
    assert seen[0] == seen[1]
    assert stage.ran == []
