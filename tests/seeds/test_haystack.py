"""Haystack, HS-01 to HS-17 and HS-36 to HS-40: what a person says to a call, and what becomes of it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import (
    Context,
    InvalidAnswers,
    Middleware,
    Texts,
    always,
    approve,
    edit,
    never,
    reject,
    result,
    tool,
)
from hitl_cli.interrupts import Approve, Edit, Reject, dump_answer, load_answer
from hitl_cli.journal import Answered, Grant, Judged, Replied, Settled, Started, dump
from hitl_cli.ui.plain import PlainConsole
from tests.seeds.stage import Stage, asks, ids, outcome, results


@pytest.mark.parametrize(
    ("said", "means", "unset"),
    [
        (approve(), Approve, {"rules": ()}),
        (reject(), Reject, {"reason": "", "rules": ()}),
        (edit({"x": "b"}), Edit, {"rules": ()}),
    ],
    ids=["confirm", "reject", "modify"],
)
def test_HS_01_a_person_confirms_rejects_or_modifies_and_need_not_say_more(
    said: Any, means: type, unset: dict[str, Any]
) -> None:
    assert isinstance(said, means)
    assert {name: getattr(said, name) for name in unset} == unset
    assert reject("not now").reason == "not now"
    assert edit({"x": "b"}).input == {"x": "b"}


@pytest.mark.parametrize("answer", [{"escalate": {}}, {"confirm": {}}, "perhaps", None], ids=json.dumps)
async def test_HS_02_an_answer_of_no_known_kind_is_refused_and_nothing_runs(answer: Any, stage: Stage) -> None:
    """Stricter: whatever is not known to be a yes must not count as one."""
    agent = stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers):
        await stage.resume(agent, run, {ids(run)[0]: answer})
    assert ((await agent.load(run.session)).pending, stage.ran) == (run.pending, [])


@pytest.mark.parametrize(
    "answer",
    [reject(3), edit({"x": {1}}), result(b"x"), approve([Grant("allow", 7)])],
    ids=lambda a: type(a).__name__,  # type: ignore[arg-type]
)
async def test_HS_02_what_could_not_be_written_down_is_refused_as_well(answer: Any, stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers):
        await stage.resume(agent, run, {ids(run)[0]: answer})
    assert ((await agent.load(run.session)).pending, stage.ran) == (run.pending, [])
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (run.text, stage.ran) == ("done", ["deploy"])


@pytest.mark.parametrize(
    ("answer", "verb", "said"),
    [
        (approve(), "approve", ""),
        (reject("not on a Friday"), "reject", "not on a Friday"),
        (edit({"x": "b"}), "edit", {"x": "b"}),
    ],
    ids=["approve", "reject", "edit"],
)
async def test_HS_03_a_decision_has_the_tool_the_call_whether_it_runs_the_reason_and_the_final_input(
    answer: Any, verb: str, said: Any, stage: Stage
) -> None:
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: answer})
    history = await stage.history(run)
    [judged] = [entry for entry in history if isinstance(entry, Judged)]
    [answered] = [entry for entry in history if isinstance(entry, Answered)]
    [(id, decision)] = answered.answers.items()
    assert (judged.tool, judged.call, judged.decision) == ("deploy", "1.1.0", "ask")
    assert (id, list(decision)) == ("1.1.0:approval", [verb])
    assert (decision[verb].get("reason") or decision[verb].get("input") or "") == said
    assert [entry.input for entry in history if isinstance(entry, Started)] == {
        "approve": [{"x": "a"}],
        "reject": [],
        "edit": [{"x": "b"}],
    }[verb]


@pytest.mark.parametrize(
    "answer",
    [approve(), reject(), edit({}), reject("no", ["deploy"]), edit({"x": [1, {"y": None}]}, ["deploy"], "user")],
    ids=["approve", "reject", "edit", "reject with all", "edit with all"],
)
def test_HS_04_a_decision_is_json_both_ways(answer: Any) -> None:
    assert load_answer(json.loads(json.dumps(dump_answer(answer)))) == answer


@pytest.mark.parametrize("hook", ["before_agent", "around_model", "after_agent"])
async def test_HS_05_an_approval_belongs_around_a_tool_and_is_refused_at_any_other_point(
    hook: str, stage: Stage
) -> None:
    async def wants(self: Any, value: Any, *rest: Any) -> Any:
        rest[-1].needs_approval("I confirm everything")

    confirms = type("Confirms", (Middleware,), {"id": "confirms", hook: wants})
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy")], middleware=[confirms()])
    with pytest.raises(RuntimeError, match=f"an approval is asked for around a tool call, not in {hook}"):
        await stage.run(agent)
    assert not [h for h in stage.store.heads() if h.pending]


@pytest.mark.parametrize("policy", [always, never], ids=["always", "never"])
def test_HS_05_a_policy_put_where_middleware_belongs_is_refused_when_the_agent_is_made(
    policy: Any, stage: Stage
) -> None:
    with pytest.raises(TypeError, match="Middleware"):
        stage.agent("hello", middleware=[policy])


async def test_HS_06_a_name_beats_a_tuple_beats_the_star(stage: Stage) -> None:
    names = ["named", "paired", "other"]
    tools = [stage.works(name) for name in names]
    calls = [(name, {}) for name in names]
    policy = {"*": never, ("named", "paired"): always, ("paired", "other"): never, "named": never}
    run = await stage.run(stage.agent(calls, tools=tools, policy=policy))
    assert [interrupt.call.name for interrupt in run.pending] == ["paired"]  # in two tuples: the first one counts
    assert stage.ran == ["named", "other"]


async def test_HS_06_where_no_key_fits_the_call_runs_unasked(stage: Stage) -> None:
    agent = stage.agent([("free", {})], "done", tools=[stage.works("free")], policy={"deploy": always})
    assert (outcome(await stage.run(agent)), stage.ran) == ("Completed", ["free"])


async def test_HS_07_a_call_of_a_tool_that_does_not_exist_is_not_asked_about(stage: Stage) -> None:
    shown = io.StringIO()
    console = PlainConsole(io.StringIO("y\n"), shown)
    agent = stage.agent([("nothing", {})], "done", policy={"*": always}, responder=console)
    run = await stage.run(agent)
    assert (run.text, shown.getvalue()) == ("done", "")
    assert results(agent) == ["! There is no tool 'nothing'. Nothing was run."]


@pytest.mark.parametrize(("replies", "policy"), [(["done"], {"*": always}), ([[("look", {})], "done"], {})])
async def test_HS_08_without_calls_or_without_policies_nothing_changes(
    replies: list[Any], policy: dict[Any, Any], stage: Stage
) -> None:
    bare = await stage.run(stage.agent(*replies, tools=[stage.works("look")]))
    run = await stage.run(stage.agent(*replies, tools=[stage.works("look")], policy=policy))
    assert (run.messages, run.text, run.usage) == (bare.messages, bare.text, bare.usage)
    kinds = [[type(entry) for entry in await stage.history(one)] for one in (run, bare)]
    assert kinds[0] == kinds[1]


async def test_HS_09_the_reviewer_sees_the_models_arguments_and_not_what_is_injected(stage: Stage) -> None:
    @tool
    def sign_in(ctx: Context) -> str:
        """Sign in."""
        ctx.state["token"] = "tok-12345"
        return "signed in"

    @tool(approve=True)
    def upload(file: str, ctx: Context) -> str:
        """Upload a file."""
        stage.ran.append(f"{file} with {ctx.state['token']}")
        return "uploaded"

    shown = io.StringIO()
    agent = stage.agent([("sign_in", {})], [("upload", {"file": "a.txt"})], "done", tools=[sign_in, upload])
    run = await stage.run(agent, responder=PlainConsole(io.StringIO("y\n"), shown))
    assert (run.text, stage.ran) == ("done", ["a.txt with tok-12345"])
    assert "a.txt" in shown.getvalue()
    assert "tok-12345" not in shown.getvalue()


async def test_HS_10_a_modified_call_gets_exactly_the_new_input_and_the_model_is_told(stage: Stage) -> None:
    @tool(approve=True)
    def order(item: str = "nothing", count: int = 1) -> str:
        """Order something."""
        stage.ran.append(f"{count} {item}")
        return "ordered"

    agent = stage.agent([("order", {"item": "tea", "count": 12})], "done", tools=[order])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"item": "coffee"})})
    assert stage.ran == ["1 coffee"]  # `count` was left out of the new input: it is gone, not merged
    assert results(agent) == [
        'Note: the user changed the input of order before it ran. It ran with {"item": "coffee"}.\nordered'
    ]


@pytest.mark.parametrize("input", [{}, {"x": "a"}], ids=["empty", "equal"])
async def test_HS_11_a_modification_that_changes_nothing_is_a_confirmation(input: Any, stage: Stage) -> None:
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: edit(input)})
    assert (stage.ran, results(agent)) == (["deploy a"], ["deploy a done"])


async def test_HS_12_a_rejected_call_does_not_run_and_the_model_gets_an_error_that_names_it(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reject()})
    assert (run.text, stage.ran) == ("done", [])
    assert results(agent) == [
        "! Rejected: the user refused this call of deploy. It was not run and nothing was changed."
    ]


@pytest.mark.parametrize(("reason", "told"), [("use staging", True), ("", False), ("  \n", False)])
async def test_HS_13_a_reason_is_added_and_a_blank_one_is_none(reason: str, told: bool, stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    await stage.resume(agent, run, {ids(run)[0]: reject(reason)})
    assert results(agent)[0].endswith(" The user's reason: use staging") == told
    assert ("reason" in results(agent)[0]) == told


async def test_HS_14_the_three_wordings_are_the_programs_to_choose(stage: Stage) -> None:
    texts = Texts(
        reject="No {tool_name} today.", feedback=" Because: {feedback}", modify="{tool_name} got {final_tool_params}."
    )
    tools = [stage.works("deploy", approve=True)]
    agent = stage.agent([("deploy", {"x": "a"}), ("deploy", {"x": "b"})], "done", tools=tools, texts=texts)
    run = await stage.run(agent)
    first, *_ = ids(run)
    run = await stage.resume(agent, run, {first: reject("it rains")})
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"x": "c"})})
    assert results(agent) == ["! No deploy today. Because: it rains", 'deploy got {"x": "c"}.\ndeploy c done']


@pytest.mark.parametrize(
    "texts",
    [{"reject": "{reason}"}, {"feedback": "{}"}, {"modify": "{tool_name.x}"}, {"reject": '{"no": 1}'}, {"reject": "{"}],
    ids=str,
)
def test_HS_14_a_wording_that_could_not_be_filled_in_is_refused_when_it_is_made(texts: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(texts))} takes .* and no other placeholder"):
        Texts(**texts)


async def test_HS_15_after_a_mixed_answer_the_transcript_has_every_result_in_the_order_of_the_calls(
    stage: Stage,
) -> None:
    """Different: results keep the order of the calls, whatever was said to each, as the model's service wants them."""
    tools = [stage.works(name, approve=True) for name in ("drop", "copy", "move")]
    agent = stage.agent([(t.name, {"x": "a"}) for t in tools], "done", tools=tools)
    run = await stage.run(agent)
    answers = dict(zip(ids(run), (reject("keep it"), edit({"x": "b"}), approve()), strict=True))
    run = await stage.resume(agent, run, answers)
    assert stage.ran == ["copy b", "move a"]
    _, assistant, told = agent.model.requests[1].messages
    uses = [block["id"] for block in assistant["content"]]
    assert [block["tool_use_id"] for block in told["content"]] == uses
    assert [(block["name"], block["input"]["x"]) for block in assistant["content"]] == [
        ("drop", "a"),
        ("copy", "b"),
        ("move", "a"),
    ]
    assert [text.partition(":")[0] for text in results(agent)] == ["! Rejected", "Note", "move a done"]


async def test_HS_16_decisions_about_two_calls_of_one_tool_land_each_on_its_own(stage: Stage) -> None:
    tools = [stage.works("copy", approve=True)]
    agent = stage.agent([("copy", {"x": "a"}), ("copy", {"x": "b"})], "done", tools=tools, policy={"copy": always})
    run = await stage.run(agent)
    first, second = ids(run)
    for wrong in ({second: reject(), "copy": approve()}, {second: reject(), "use_0": approve()}):
        with pytest.raises(InvalidAnswers, match="nothing with this id waits"):
            await stage.resume(agent, run, wrong)
    run = await stage.resume(agent, run, {second: reject("once is enough"), first: approve()})
    assert stage.ran == ["copy a"]
    assert [told[:8] for told in results(agent)] == ["copy a d", "! Reject"]


@pytest.mark.parametrize(
    ("answer", "counts_as"),
    [
        (reject(), "reject"),
        (edit({"x": "b"}), "edit"),
        (edit({"x": "a"}), "approve"),
        (edit({}), "approve"),
        (approve(), "approve"),
    ],
    ids=["reject", "modify", "modify to the same", "modify to nothing", "confirm"],
)
async def test_HS_17_what_was_decided_is_told_by_its_effect(answer: Any, counts_as: str, stage: Stage) -> None:
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: answer})
    [answered] = [entry for entry in await stage.history(run) if isinstance(entry, Answered)]
    assert [list(said) for said in answered.answers.values()] == [[counts_as]]


async def test_HS_36_policies_for_different_tools_work_side_by_side(stage: Stage) -> None:
    async def only_large(call: Any, past: Any) -> Any:
        return always(call, past) if len(call.input["x"]) > 1 else never(call, past)

    tools = [stage.works("copy"), stage.works("move")]
    calls = [("copy", {"x": "a"}), ("copy", {"x": "aa"}), ("move", {"x": "a"})]
    agent = stage.agent(calls, "done", tools=tools, policy={"copy": only_large, "move": always})
    run = await stage.run(agent)
    assert (ids(run), stage.ran) == (["1.1.1:approval", "1.1.2:approval"], ["copy a"])
    run = await stage.resume(agent, run, {"1.1.1:approval": approve(), "1.1.2:approval": reject()})
    assert stage.ran == ["copy a", "copy aa"]


async def test_HS_37_a_confirmed_call_sees_what_an_earlier_call_of_the_message_left(stage: Stage) -> None:
    @tool
    def produce(ctx: Context) -> str:
        """Find out the number."""
        ctx.state["number"] = 42
        return "found"

    @tool(approve=True)
    def consume(ctx: Context) -> str:
        """Use the number."""
        return f"used {ctx.state.get('number')}"

    agent = stage.agent([("produce", {}), ("consume", {})], "done", tools=[produce, consume])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert results(agent) == ["found", "used 42"]


async def test_HS_38_rejected_calls_do_not_count_as_executed(stage: Stage) -> None:
    tools = [stage.works("copy", approve=True), stage.works("look")]
    calls = [("copy", {"x": "a"}), ("copy", {"x": "b"}), ("look", {}), ("copy", {"x": "c"})]
    agent = stage.agent(calls, "done", tools=tools, policy={"copy": always})
    run = await stage.run(agent)
    answers = dict(zip(ids(run), (approve(), reject(), edit({"x": "d"})), strict=True))
    run = await stage.resume(agent, run, answers)
    history = await stage.history(run)
    names = names_of(history)
    executed = Counter(names[e.call] for e in history if isinstance(e, Settled) and e.result.kind == "ran")
    assert executed == Counter(words.split()[0] for words in stage.ran) == {"copy": 2, "look": 1}
    assert [denied["call"] for denied in run.denied] == ["1.1.1"]


def names_of(history: list[Any]) -> dict[str, str]:
    """The tool of each call."""
    return {call.id: call.name for entry in history if isinstance(entry, Replied) for call in entry.calls}


async def test_HS_39_a_request_that_is_repeated_after_a_rejection_is_asked_about_again(stage: Stage) -> None:
    deploy = stage.works("deploy", approve=True)
    agent = stage.agent(*[[("deploy", {})]] * 3, "never said", tools=[deploy], max_steps=2)
    run, prompts = await stage.run(agent), 0
    while outcome(run) == "Suspended":
        prompts += 1
        run = await stage.resume(agent, run, {ids(run)[0]: reject()})
    assert (prompts, outcome(run), run.why, stage.ran) == (2, "Stopped", "steps", [])


async def test_HS_40_each_confirmation_leaves_one_decision_and_never_what_belongs_to_the_request(stage: Stage) -> None:
    tools = [stage.works("send", approve=True), stage.works("drop", approve=True), stage.works("look")]
    agent = stage.agent([(t.name, {}) for t in tools], "done", tools=tools)
    context = {"password": "hunter2"}
    run = await stage.run(agent, context=context)
    run = await stage.resume(agent, run, dict(zip(ids(run), (approve(), reject()), strict=True)), context=context)
    history = await stage.history(run)
    asked = [entry for entry in history if isinstance(entry, Judged) and entry.decision == "ask"]
    assert [(entry.tool, entry.call) for entry in asked] == [("send", "1.1.0"), ("drop", "1.1.1")]
    [answered] = [entry for entry in history if isinstance(entry, Answered)]
    assert [(id, *said) for id, said in answered.answers.items()] == [
        ("1.1.0:approval", "approve"),
        ("1.1.1:approval", "reject"),
    ]
    assert "hunter2" not in json.dumps([dump(entry) for entry in history])


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_HS_40_decisions_that_are_printed_do_not_tell_secrets(stage: Stage, tmp_path: Path) -> None:
    token = "ghp_" + "x" * 36
    agent = stage.agent([("send", {"x": token})], "done", tools=[stage.works("send", approve=True)])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    log = [sys.executable, "-m", "hitl_cli", "log", "--json", "--store", str(tmp_path / "store.db")]
    told = subprocess.run(log, capture_output=True, text=True, cwd=tmp_path)
    assert (told.returncode, token in told.stdout) == (0, False)
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert [(row["tool"], row["call"], row["decision"]) for row in rows] == [
        ("send", "1.1.0", "ask"),
        ("send", "1.1.0", "approve"),
    ]


async def test_HS_40_the_question_a_tool_asks_is_no_confirmation(stage: Stage) -> None:
    run = await stage.run(stage.agent([("asks", {})], tools=[asks]))
    assert not [e for e in await stage.history(run) if isinstance(e, Judged) and e.decision == "ask"]
