"""agno, AG-01 to AG-20: a run pauses, lists what it requires, and goes on when that is given."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import (
    Approval,
    Context,
    InvalidAnswers,
    RunEnded,
    SqliteStore,
    StoreError,
    Suspended,
    always,
    approve,
    edit,
    gate,
    never,
    reject,
    reply,
    result,
    tool,
    user_tools,
)
from hitl_cli.errors import UsageError
from hitl_cli.interrupts import dump
from hitl_cli.loop.verdicts import home_place
from hitl_cli.mcp import Server, Servers
from hitl_cli.records import replace
from tests.seeds.stage import Stage, asks, ids, outcome, results


@tool(user_fields=["to"])
def mail(subject: str, to: str) -> str:
    """Send a mail."""
    return f"{subject} to {to}"


async def test_AG_01_a_run_pauses_is_given_what_it_requires_and_goes_on_until_it_pauses_no_more(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), mail]
    agent = stage.agent([("deploy", {})], [("mail", {"subject": "hi"})], "done", tools=tools)
    run, given = await stage.run(agent), {"approval": approve(), "question": reply({"to": "ann"})}
    paused = []
    while isinstance(run, Suspended):
        paused.append([interrupt.kind for interrupt in run.pending])
        run = await stage.resume(agent, run, {i.id: given[i.kind] for i in run.pending})
    assert (paused, run.text) == ([["approval"], ["question"]], "done")


async def test_AG_02_only_what_is_still_required_is_listed(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True)]
    agent = stage.agent([("deploy", {}), ("drop", {})], "done", tools=tools)
    run = await stage.run(agent)
    first, second = run.pending
    run = await stage.resume(agent, run, {first.id: approve()})
    assert run.pending == (second,)
    assert (await agent.load(run.session)).pending == (second,)


async def test_AG_03_a_body_that_needs_confirmation_is_not_entered_before_the_verdict(stage: Stage) -> None:
    run = await stage.run(stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)]))
    assert (outcome(run), stage.ran) == ("Suspended", [])


async def test_AG_04_a_confirmed_body_runs_exactly_once(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    paused = await stage.run(agent)
    run = await stage.resume(agent, paused, {ids(paused)[0]: approve()})
    with pytest.raises(InvalidAnswers, match="already answered"):
        await stage.resume(agent, paused, {ids(paused)[0]: approve()})
    assert (run.text, stage.ran) == ("done", ["deploy"])


@pytest.mark.parametrize("note", ["wrong account", ""])
async def test_AG_05_a_rejected_body_does_not_run_and_the_model_sees_the_note(note: str, stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    await stage.resume(agent, run, {ids(run)[0]: reject(note)})
    [told] = results(agent)
    assert stage.ran == []
    assert told.startswith("! Rejected: the user refused this call of deploy.")
    assert told.endswith(note or "nothing was changed.")


async def test_AG_06_after_a_rejection_the_model_may_try_another_tool_that_pauses_in_turn(stage: Stage) -> None:
    tools = [stage.works("drop", approve=True), stage.works("archive", approve=True)]
    agent = stage.agent([("drop", {})], [("archive", {})], "done", tools=tools)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reject("archive it instead")})
    assert results(agent)[0].endswith("archive it instead")
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (run.text, stage.ran) == ("done", ["archive"])


@pytest.mark.parametrize("answer", [approve(), reject(), edit({"x": "b"})], ids=["confirm", "reject", "edit"])
async def test_AG_07_confirming_what_needs_no_confirmation_is_an_error(answer: Any, stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.external(), asks]
    agent = stage.agent([("deploy", {}), ("out", {}), ("asks", {})], tools=tools)
    run = await stage.run(agent)
    await stage.resume(agent, run, {"1.1.0:approval": approve()})
    with pytest.raises(InvalidAnswers, match="already answered"):
        await stage.resume(agent, run, {"1.1.0:approval": answer})
    if answer != reject():  # any call may be refused
        for other in ("1.1.1:external", "1.1.2:ask"):
            with pytest.raises(InvalidAnswers, match="does not answer this"):
                await stage.resume(agent, run, {other: answer})


async def test_AG_08_the_gated_tools_of_a_kit_are_named_and_names_are_case_sensitive(stage: Stage) -> None:
    kit = [stage.works("drop"), stage.works("look")]
    assert gate(kit, ["drop"]) == [replace(kit[0], approve=True), kit[1]]  # the same as on the decorator
    with pytest.warns(UserWarning, match="no tool is named 'Drop'"):
        missed = gate(kit, ["Drop"])
    run = await stage.run(stage.agent([("drop", {})], "done", tools=missed))
    assert (outcome(run), stage.ran) == ("Completed", ["drop"])
    run = await stage.run(stage.agent([("drop", {})], tools=gate(kit, ["drop"])))
    assert (outcome(run), stage.ran) == ("Suspended", ["drop"])


async def test_AG_09_tools_of_the_kit_that_are_not_named_run_straight(stage: Stage) -> None:
    kit = gate([stage.works("drop"), stage.works("look")], ["drop"])
    run = await stage.run(stage.agent([("look", {}), ("drop", {})], tools=kit))
    assert ([i.call.name for i in run.pending], stage.ran) == (["drop"], ["look"])


SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk")

@server.tool()
def look(x: str) -> str:
    "Look at something."
    return f"looked at {x}"

@server.tool()
def drop(x: str) -> str:
    "Throw something away."
    return f"dropped {x}"

server.run("stdio")
"""


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_AG_10_the_tools_of_a_server_are_gated_by_name_in_the_same_way(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(SERVER)
    servers = Servers([Server("desk", sys.executable, (str(tmp_path / "desk.py"),))], home_place(), tmp_path / "out")
    tools, problems = await servers.connect()
    assert not problems
    look, drop = "mcp__desk__look", "mcp__desk__drop"
    policy = {look: never, drop: always}
    agent = stage.agent([(look, {"x": "a"}), (drop, {"x": "a"})], "done", tools=tools, policy=policy)
    run = await stage.run(agent)
    assert [interrupt.call.name for interrupt in run.pending] == [drop]
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (run.text, results(agent)) == ("done", ["looked at a", "dropped a"])
    await servers.close()


PROCESS = """
import asyncio, sys
sys.path.insert(0, {root!r})
from hitl_cli import Agent, SqliteStore, approve, tool
from tests.agent.told import Driver, Told

@tool(approve=True)
def deploy(x: str = "") -> str:
    "Deploy."
    return f"deployed {{x}}"

session, path, store = sys.argv[1:]
model = Told("done")
agent = Agent(model, [deploy], store=SqliteStore(store))
[waiting] = asyncio.run(agent.load(session)).pending
run = asyncio.run(Driver(path == "streaming").resume(agent, session, {{waiting.id: approve()}}))
print(waiting.call.input, model.results, run.text)
"""


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_AG_11_a_paused_run_is_found_by_its_id_in_another_process(
    stage: Stage, path: str, tmp_path: Path
) -> None:
    run = await stage.run(stage.agent([("deploy", {"x": "web"})], tools=[stage.works("deploy", approve=True)]))
    code = PROCESS.format(root=str(Path(__file__).parents[2]))
    command = [sys.executable, "-c", code, run.session, path, str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("{'x': 'web'} [('deployed web', False)] done\n", "")


class Full(SqliteStore):
    """A store on a disk that is full while `full` is set."""

    full = False

    def append(self, *arguments: Any) -> Any:
        if self.full:
            raise StoreError("disk full")
        return super().append(*arguments)


@pytest.mark.parametrize("kept", ["sqlite"])
@pytest.mark.parametrize("how", ["answer", "resume", "stop"])
async def test_AG_11_what_could_not_be_stored_leaves_the_run_paused(how: str, stage: Stage, tmp_path: Path) -> None:
    store = Full(tmp_path / "full.db")
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)], store=store)
    run = await stage.run(agent)
    answers = {ids(run)[0]: approve()}
    store.full = True
    with pytest.raises(StoreError):
        await {
            "answer": lambda: agent.answer(run, answers),
            "resume": lambda: stage.resume(agent, run, answers),
            "stop": lambda: agent.stop(run),
        }[how]()
    store.full = False
    assert ((await agent.load(run)).pending, stage.ran) == (run.pending, [])
    run = await stage.resume(agent, run, answers)
    assert (run.text, stage.ran) == ("done", ["deploy"])
    store.close()


async def test_AG_12_a_run_goes_on_by_its_id_or_by_the_run_itself_and_one_of_them_is_needed(stage: Stage) -> None:
    texts = []
    for by in (lambda run: run.session, lambda run: run):
        agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
        run = await stage.run(agent)
        for nothing in (None, ""):
            with pytest.raises(UsageError, match="Name a session by its id, or give the run"):
                await stage.driver.resume(agent, nothing, {ids(run)[0]: approve()})  # type: ignore[arg-type]
        run = await stage.driver.resume(agent, by(run), {ids(run)[0]: approve()})
        texts.append((run.text, results(agent)))
    assert texts == [("done", ["deploy done"])] * 2


@pytest.mark.parametrize("path", ["all three"])
def test_AG_13_blocking_async_and_streamed_runs_require_the_same_and_end_the_same(stage: Stage) -> None:
    def agent() -> Any:
        return stage.agent([("deploy", {"x": "web"})], "done", tools=[stage.works("deploy", approve=True)])

    def seen(paused: Any, run: Any) -> Any:
        return [{**dump(i), "since": 0} for i in paused.pending], run.text, run.usage

    def blocking() -> Any:
        one = agent()
        paused = one.sync.run("go")
        return seen(paused, one.sync.resume(paused, {ids(paused)[0]: approve()}))

    async def awaited() -> Any:
        one = agent()
        paused = await one.run("go")
        return seen(paused, await one.resume(paused, {ids(paused)[0]: approve()}))

    async def streamed() -> Any:
        one = agent()
        [paused] = [event.run async for event in one.stream("go") if isinstance(event, RunEnded)]
        events = one.stream_resume(paused, {ids(paused)[0]: approve()})
        [run] = [event.run async for event in events if isinstance(event, RunEnded)]
        return seen(paused, run)

    first = blocking()
    assert first[1] == "done"
    assert first == asyncio.run(awaited()) == asyncio.run(streamed())


@tool(approve=True)
def watch(symbol: str, ctx: Context) -> str:
    """Put a share on the list."""
    ctx.state["watched"] = [*ctx.state.get("watched", []), symbol]
    return "watching " + ", ".join(ctx.state["watched"])


async def test_AG_14_the_session_state_survives_the_pause_and_is_added_to_afterwards(stage: Stage) -> None:
    agent = stage.agent([("watch", {"symbol": "AAA"})], [("watch", {"symbol": "BBB"})], tools=[watch])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert outcome(run) == "Suspended"
    assert run.state == (await agent.load(run.session)).state == {"watched": ["AAA"]}
    other = stage.agent("done", tools=[watch], store=stage.elsewhere())
    run = await stage.resume(other, run, {ids(run)[0]: approve()})
    assert (run.text, run.state) == ("done", {"watched": ["AAA", "BBB"]})


async def test_AG_15_the_instructions_hold_the_state_as_it_is_at_each_request(stage: Stage) -> None:
    agent = stage.agent(
        [("watch", {"symbol": "AAA"})],
        "done",
        tools=[watch],
        instructions="Watched: {watched}. Say {nothing} else.",
        policy={"watch": never},
    )
    await stage.run(agent)
    assert [request.system for request in agent.model.requests] == [
        "Watched: {watched}. Say {nothing} else.",
        "Watched: ['AAA']. Say {nothing} else.",
    ]


async def test_AG_16_injected_parameters_are_hidden_and_a_forged_value_is_dropped(stage: Stage) -> None:
    @tool
    def by_name(x: str, ctx) -> str:  # type: ignore[no-untyped-def]
        """Take the context by its name."""
        return f"{x} in {ctx.session}"

    @tool
    def by_type(x: str, about: Context) -> str:
        """Take the context by its type."""
        return f"{x} in {about.session}"

    calls = [("by_name", {"x": "a", "ctx": "forged"}), ("by_type", {"x": "b", "about": {"session": "forged"}})]
    agent = stage.agent(calls, "done", tools=[by_name, by_type])
    run = await stage.run(agent)
    assert [list(spec.schema["properties"]) for spec in agent.model.requests[0].tools] == [["x"], ["x"]]
    assert results(agent) == [f"a in {run.session}", f"b in {run.session}"]


@pytest.mark.parametrize("flagged", [True, False])
@pytest.mark.parametrize("answer", [None, approve(), reject()], ids=["undecided", "confirmed", "rejected"])
async def test_AG_17_a_call_needs_confirmation_while_it_is_flagged_and_undecided(
    flagged: bool, answer: Any, stage: Stage
) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=flagged)])
    run = await stage.run(agent)
    if isinstance(run, Suspended) and answer:
        run = await stage.resume(agent, run, {ids(run)[0]: answer})
    needs = [i for i in (await agent.load(run.session)).pending if isinstance(i, Approval)]
    assert bool(needs) == (flagged and answer is None)


GATES = {"question": {"user_fields": ["x"]}, "approval": {"approve": True}, "external": {"external": True}}
GIVEN = {"question": reply({"x": "a"}), "approval": approve(), "external": result("done elsewhere")}
SOME = [c for n in (1, 2, 3) for c in combinations(GATES, n)]


async def kinds_of(stage: Stage, gates: tuple[str, ...]) -> list[str]:
    """The kinds of what one call waits for, in turn."""
    options = {name: value for kind in gates for name, value in GATES[kind].items()}  # type: ignore[attr-defined]
    agent = stage.agent([("work", {})], "done", tools=[stage.works("work", **options)])
    run, kinds = await stage.run(agent), []
    while isinstance(run, Suspended):
        [waiting] = run.pending
        assert str(run).startswith(f"waiting for 1 {waiting.kind}")
        kinds.append(waiting.kind)
        run = await stage.resume(agent, run, {waiting.id: GIVEN[waiting.kind]})
    assert run.text == "done"
    return kinds


@pytest.mark.parametrize("line", GATES)
async def test_AG_18_a_call_is_resolved_when_its_line_is(line: str, stage: Stage) -> None:
    assert await kinds_of(stage, (line,)) == [line]


async def test_AG_18_a_call_with_choices_is_resolved_when_they_are_made(stage: Stage) -> None:
    options = [{"label": "red"}, {"label": "blue"}]
    question = {"question": "Which colour?", "header": "Colour", "options": options}
    agent = stage.agent([("ask_user", {"questions": [question]})], "done", tools=user_tools())
    run = await stage.run(agent)
    assert [i.kind for i in run.pending] == ["question"]
    run = await stage.resume(agent, run, {ids(run)[0]: reply({"Which colour?": ["red"]})})
    assert (run.text, (await agent.load(run.session)).pending) == ("done", ())


@pytest.mark.parametrize("gates", SOME, ids="+".join)
async def test_AG_19_a_pause_names_the_one_thing_that_it_waits_for_now(gates: tuple[str, ...], stage: Stage) -> None:
    """Different: a call with several gates waits for one at a time, so no kind needs to be picked for display."""
    assert sorted(await kinds_of(stage, gates)) == sorted(gates)


@pytest.mark.parametrize("gates", [gates for gates in SOME if len(gates) > 1], ids="+".join)
async def test_AG_20_one_tool_may_have_several_gates_and_their_order_is_fixed(
    gates: tuple[str, ...], stage: Stage
) -> None:
    """Different: combining them is no error. Input comes first, so that the reviewer sees the final arguments."""
    assert await kinds_of(stage, gates) == [kind for kind in ("question", "approval", "external") if kind in gates]
