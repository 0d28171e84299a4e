"""Haystack, HS-18 to HS-29: when a person is asked, what is remembered of it, and policies written down."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Agent, Context, Middleware, Texts, always, approve, edit, never, once, reject, tool
from hitl_cli.policies import dump_policies, load_policies
from hitl_cli.records import asdict
from hitl_cli.ui.plain import PlainConsole
from tests.seeds.stage import Stage, ids, outcome, results


async def prompts(stage: Stage, agent: Agent, *answers: Any) -> int:
    """How often a person was asked until the turn was over; `answers` are given in turn, the last one again and again."""
    run, given = await stage.run(agent), list(answers)
    asked = 0
    while outcome(run) == "Suspended":
        asked += len(run.pending)
        answer = given.pop(0) if len(given) > 1 else given[0]
        run = await stage.resume(agent, run, dict.fromkeys(ids(run), answer))
    assert run.text == "done"
    return asked


def calling(*inputs: str) -> list[Any]:
    """One call of `copy` in each reply, then the end."""
    return [*([("copy", {"x": x})] for x in inputs), "done"]


async def test_HS_18_always_asks_even_for_a_call_confirmed_before(stage: Stage) -> None:
    agent = stage.agent(*calling("a", "a"), tools=[stage.works("copy")], policy={"copy": always})
    assert (await prompts(stage, agent, approve()), stage.ran) == (2, ["copy a", "copy a"])


async def test_HS_19_never_switches_off_the_gate_that_a_tool_declares(stage: Stage) -> None:
    agent = stage.agent(*calling("a"), tools=[stage.works("copy", approve=True)], policy={"copy": never})
    assert (await prompts(stage, agent, reject()), stage.ran) == (0, ["copy a"])


@pytest.mark.parametrize(("second", "asked"), [("a", 1), ("b", 2)], ids=["the same call", "another value"])
async def test_HS_20_once_asks_about_a_call_until_that_very_call_was_confirmed(
    second: str, asked: int, stage: Stage
) -> None:
    agent = stage.agent(*calling("a", second), tools=[stage.works("copy")], policy={"*": once})
    assert (await prompts(stage, agent, approve()), stage.ran) == (asked, ["copy a", f"copy {second}"])


@pytest.mark.parametrize("first", [reject(), edit({"x": "z"})], ids=["rejected", "modified"])
async def test_HS_21_only_a_confirmation_is_remembered(first: Any, stage: Stage) -> None:
    agent = stage.agent(*calling("a", "a"), tools=[stage.works("copy")], policy={"copy": once})
    assert await prompts(stage, agent, first, approve()) == 2


async def test_HS_21_the_modified_call_is_not_remembered_either(stage: Stage) -> None:
    agent = stage.agent(*calling("a", "z"), tools=[stage.works("copy")], policy={"copy": once})
    assert await prompts(stage, agent, edit({"x": "z"}), approve()) == 2


async def test_HS_22_every_confirmed_call_is_remembered_not_only_the_latest(stage: Stage) -> None:
    """Different: A, B, A asks twice, as the document's words have it; "once" should not depend on what came between."""
    agent = stage.agent(*calling("a", "b", "a"), tools=[stage.works("copy")], policy={"copy": once})
    assert (await prompts(stage, agent, approve()), len(stage.ran)) == (2, 3)


async def test_HS_22_the_order_of_the_arguments_does_not_matter_and_their_values_do(stage: Stage) -> None:
    @tool
    def pay(to: str, sum: int | bool) -> str:
        """Pay."""
        return "paid"

    inputs = [{"to": "ann", "sum": 1}, {"sum": 1, "to": "ann"}, {"to": "ann", "sum": True}]
    agent = stage.agent(*([("pay", input)] for input in inputs), "done", tools=[pay], policy={"pay": once})
    assert await prompts(stage, agent, approve()) == 2


ANOTHER = """
import asyncio, sys
sys.path.insert(0, {root!r})
from hitl_cli import Agent, SqliteStore, once, tool
from tests.agent.told import Driver, Told

@tool
def copy(x: str = "") -> str:
    "Copy."
    return f"copied {{x}}"

session, path, store = sys.argv[1:]
agent = Agent(Told([("copy", {{"x": "a"}})], "done"), [copy], policy={{"copy": once}}, store=SqliteStore(store))
print(type(asyncio.run(Driver(path == "streaming").run(agent, "again", session))).__name__)
"""


@pytest.mark.parametrize("kept", ["sqlite"])
@pytest.mark.parametrize(("first", "then"), [(approve(), "Completed"), (reject(), "Suspended")])
async def test_HS_23_what_was_confirmed_once_is_known_to_another_process(
    first: Any, then: str, stage: Stage, path: str, tmp_path: Path
) -> None:
    """Different: the memory lies in the session and not in the policy, so a restart does not lose it."""
    agent = stage.agent(*calling("a"), tools=[stage.works("copy")], policy={"copy": once})
    run = await stage.run(agent)
    await stage.resume(agent, run, {ids(run)[0]: first})
    code = ANOTHER.format(root=str(Path(__file__).parents[2]))
    command = [sys.executable, "-c", code, run.session, path, str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (then, "")


class Recording:
    """A policy and a console in one object: it asks about what is large, and notes what it is told."""

    def __init__(self, *says: Any) -> None:
        self.says, self.log = list(says), list[Any]()

    def should_ask(self, call: Any, past: Any) -> Any:
        self.log.append(("should_ask", call.name, call.input["x"], past.approved(call)))
        return always(call, past) if len(call.input["x"]) > 1 else never(call, past)

    def answers(self, run: Any) -> Any:
        [asked], answer = run.pending, self.says.pop(0)
        self.log.append(("answer", asked.call.input["x"], type(answer).__name__))
        return {asked.id: answer}


async def test_HS_24_a_policy_of_ones_own_decides_by_name_and_arguments_and_learns_what_was_said(stage: Stage) -> None:
    own = Recording(approve(), reject())
    agent = stage.agent(
        *calling("a", "aa", "bb"),
        tools=[stage.works("copy")],
        policy={"copy": own.should_ask},
        responder=own.answers,
    )
    run = await stage.run(agent)
    assert (run.text, stage.ran) == ("done", ["copy a", "copy aa"])
    told = [entry for entry in own.log if entry[0] == "answer" or entry[3]]
    assert told == [("answer", "aa", "Approve"), ("should_ask", "copy", "aa", True), ("answer", "bb", "Reject")]
    assert [entry[2] for entry in own.log if entry[0] == "should_ask" and not entry[3]] == ["a", "a", "aa", "bb"]


async def test_HS_25_the_policy_is_asked_then_the_person_then_the_policy_knows(stage: Stage) -> None:
    own = Recording(approve())
    tools = [stage.works("copy")]
    agent = stage.agent(*calling("aa"), tools=tools, policy={"copy": own.should_ask}, responder=own.answers)
    await stage.run(agent)
    assert own.log == [
        ("should_ask", "copy", "aa", False),
        ("answer", "aa", "Approve"),
        ("should_ask", "copy", "aa", True),
    ]
    assert stage.ran == ["copy aa"]


async def test_HS_25_where_the_policy_says_no_the_person_is_left_alone(stage: Stage) -> None:
    own = Recording()
    tools = [stage.works("copy", approve=True)]
    agent = stage.agent(*calling("a"), tools=tools, policy={"copy": own.should_ask}, responder=own.answers)
    await stage.run(agent)
    assert {entry[0] for entry in own.log} == {"should_ask"}


@pytest.mark.parametrize("said", [True, False, "ask", 1], ids=repr)
async def test_HS_24_a_policy_that_says_what_is_no_decision_runs_nothing(said: Any, stage: Stage) -> None:
    agent = stage.agent(*calling("a"), tools=[stage.works("copy")], policy={"copy": lambda call, past: said})
    run = await stage.run(agent)
    assert (run.text, stage.ran) == ("done", [])
    assert results(agent)[0].endswith(f"its policy said {said!r}, which is neither a Decision nor None")


@pytest.mark.parametrize("policy_is", ["plain", "async"])
@pytest.mark.parametrize("responder_is", ["plain", "async"])
async def test_HS_26_plain_and_async_code_decide_alike(policy_is: str, responder_is: str, stage: Stage) -> None:
    async def async_policy(call: Any, past: Any) -> Any:
        return once(call, past)

    def plain(run: Any) -> Any:
        return {id: approve() for id in ids(run)}

    async def responds(run: Any) -> Any:
        return plain(run)

    agent = stage.agent(
        *calling("a", "b", "a"),
        tools=[stage.works("copy")],
        policy={"copy": once if policy_is == "plain" else async_policy},
        responder=plain if responder_is == "plain" else responds,
    )
    run = await stage.run(agent)
    decided = [(d.decision, d.call) for d in await stage.history(run) if type(d).__name__ == "Judged"]
    assert decided == [("ask", "1.1.0"), ("ask", "1.2.0"), ("allow", "1.3.0")]


class Connection:
    """Something that can be neither copied nor stored."""

    def __reduce__(self) -> Any:
        raise TypeError("a connection cannot be copied")

    __copy__ = __deepcopy__ = __reduce__


async def test_HS_27_what_belongs_to_a_run_reaches_all_code_as_the_same_object_and_is_not_kept(stage: Stage) -> None:
    seen: list[Any] = []

    class Watches(Middleware):
        id = "watches"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            seen.append(ctx.context)
            return await next(call)

    def wanted(input: Any, context: Any) -> bool:
        seen.append(context)
        return True

    @tool(approve=wanted)
    def query(ctx: Context) -> str:
        """Query."""
        seen.append(ctx.context)
        return "rows"

    connection = Connection()
    agent = stage.agent([("query", {})], [("query", {})], "done", tools=[query], middleware=[Watches()])
    run = await stage.run(agent, context=connection)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()}, context=connection)
    assert len(seen) >= 4
    assert all(one is connection for one in seen)
    seen.clear()
    await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert set(seen) == {None}


def test_HS_28_policy_wording_and_console_can_be_written_down_and_come_back_equal() -> None:
    texts = Texts(reject="No {tool_name}.", feedback=" {feedback}", modify="{tool_name}: {final_tool_params}")
    policy, console = {"deploy": once, "*": never}, PlainConsole()
    written = json.dumps(
        {
            "policy": dump_policies(policy),
            "texts": asdict(texts),
            "console": dataclasses.asdict(console),
        }
    )
    read = json.loads(written)
    assert load_policies(read["policy"]) == policy
    assert Texts(**read["texts"]) == texts
    assert PlainConsole(**read["console"]) == console


async def test_HS_28_what_comes_back_asks_under_the_same_policy_with_the_same_wording(stage: Stage) -> None:
    policy = load_policies(json.loads(json.dumps(dump_policies({"copy": always}))))
    texts = Texts(**json.loads(json.dumps(asdict(Texts(reject="No {tool_name} today.")))))
    agent = stage.agent(*calling("a"), tools=[stage.works("copy")], policy=policy, texts=texts)
    run = await stage.run(agent)
    await stage.resume(agent, run, {ids(run)[0]: reject()})
    assert results(agent) == ["! No copy today."]


def test_HS_29_a_map_of_policies_is_json_with_tuples_as_lists() -> None:
    policies = {"deploy": once, ("copy", "move"): always, "*": never}
    written = dump_policies(policies)
    assert written == {"deploy": "once", '["copy", "move"]': "always", "*": "never"}
    back = load_policies(json.loads(json.dumps(written)))
    assert (back, list(back)) == (policies, list(policies))


@pytest.mark.parametrize("name", ["[odd", "[]", '["a"]'])
def test_HS_29_a_name_that_begins_with_a_bracket_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="bracket"):
        dump_policies({name: once})


@pytest.mark.parametrize(
    ("data", "why"),
    [({"[odd": "once"}, "line 1"), ({"[1]": "once"}, "no list of names"), ({"deploy": "perhaps"}, "no policy perhaps")],
)
def test_HS_29_what_is_no_map_of_policies_is_refused(data: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        load_policies(data)
