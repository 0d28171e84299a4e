"""The loop with the program's own tools: plans, files and commands, judged by rules, in a folder of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Agent, approve, deny_all, edit, reject, reply
from hitl_cli.access import Place
from hitl_cli.interrupts import Approval, Question
from hitl_cli.journal import Changed, Grant, Settings
from hitl_cli.outcome import Completed, Stopped
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Source
from hitl_cli.store.memory import MemoryStore
from hitl_cli.tools import Jobs, builtin
from hitl_cli.tools.ask_user import ask_user_tool
from hitl_cli.tools.plan import plan_tool
from tests.agent.told import Told, ids


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "work"
    folder.mkdir()
    return Place(str(folder), (str(folder),), str(tmp_path))


def command_tools(place: Place) -> list[Any]:
    from hitl_cli import accesses
    from hitl_cli.tooldef import Tool

    async def run(input: Any, ctx: Any) -> Any:
        import subprocess

        from hitl_cli.journal import Result

        done = subprocess.run(["bash", "-c", input["command"]], cwd=place.cwd, capture_output=True, text=True)
        return Result(done.stdout or "(nothing)", done.returncode == 0)

    shape = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    states = lambda input, place: accesses.accesses_of("Bash", input, place)  # noqa: E731
    return [Tool(name="Bash", description="", schema=shape, run=run, accesses=states, serial=True)]


def bash(*commands: str) -> Any:
    return [("Bash", {"command": c}) for c in commands]


def rules(place: Place, **by: list[str]) -> Policy:
    made = [parse(text, Decision[name.upper()], Source("user", "rules.toml", 3)) for name in by for text in by[name]]
    return Policy(made, place)


def test_rules_settle_commands_and_the_rest_asks_with_rules_on_offer(place: Place) -> None:
    async def story() -> None:
        model = Told(bash("echo one", "touch made", "make deploy", "rm made"), "done")
        policy = rules(place, allow=["Bash(touch:*)"], deny=["Bash(rm:*)"])
        agent = Agent(model, command_tools(place), rules=policy, mode="default")
        run = await agent.run("go")
        [asked] = run.pending  # type: ignore[union-attr]
        assert isinstance(asked, Approval)
        assert asked.call.input == {"command": "make deploy"}
        assert "Bash(make deploy)" in [s.rule for s in asked.suggested]
        run = await agent.resume(run.session, {asked.id: reject("not today")})
        assert isinstance(run, Completed)
        texts = [text for text, _ in model.results]
        assert texts[0] == "one\n"
        assert "not today" in texts[2]
        assert texts[3].startswith("Denied: the rule Bash(rm:*) does not allow this call of Bash.")
        assert (Path(place.cwd) / "made").exists()
        assert [(d["tool"], d["by"], d["rule"], d["layer"]) for d in run.denied] == [
            ("Bash", "program", "", ""),
            ("Bash", "rule Bash(rm:*) (rules.toml:3)", "Bash(rm:*)", "user"),
        ]

    asyncio.run(story())


def test_an_approved_plan_leaves_plan_mode(place: Place) -> None:
    async def story() -> None:
        model = Told([("Plan", {"plan": "1. touch"})], bash("touch made"), "done")
        agent = Agent(model, [plan_tool(), *command_tools(place)], place=place, mode="plan")
        run = await agent.run("go")
        [asked] = run.pending  # type: ignore[union-attr]
        assert asked.call
        assert asked.call.name == "Plan"
        run = await agent.resume(run.session, {asked.id: approve()})
        assert (await agent.load(run.session)).mode == "default"
        [asked] = run.pending  # type: ignore[union-attr]
        assert asked.call
        assert asked.call.name == "Bash"
        changed = [r.entry for r in (await agent.load(run.session)).history if isinstance(r.entry, Changed)]
        assert [(c.what, c.value) for c in changed] == [("mode", "default")]

    asyncio.run(story())


def test_a_tool_cannot_choose_another_mode(place: Place) -> None:
    async def story() -> None:
        from hitl_cli import tool
        from hitl_cli.journal import Result

        @tool(read_only=True)
        def sly() -> Result:
            """Want more."""
            return Result("ok", data={"mode": "bypass"})

        agent = Agent(Told([("sly", {})], "done"), [sly], place=place, mode="plan")
        run = await agent.run("go")
        assert (await agent.load(run.session)).mode == "plan"

    asyncio.run(story())


def test_the_question_tool_parks_like_an_approval(place: Place) -> None:
    async def story() -> None:
        options = [{"label": "Red"}, {"label": "Blue"}]
        model = Told([("AskUser", {"questions": [{"question": "Which?", "options": options}]})], "done")
        agent = Agent(model, [ask_user_tool()], place=place, mode="default")
        run = await agent.run("go")
        [asked] = run.pending  # type: ignore[union-attr]
        assert isinstance(asked, Question)
        run = await agent.resume(run.session, {asked.id: reply({"q1": "Green, please"})})
        assert model.results == [("Which?\nGreen, please", False)]

    asyncio.run(story())


def test_flag_rules_of_a_session_hold_when_it_goes_on_elsewhere(place: Place) -> None:
    async def story() -> None:
        store = MemoryStore()
        settings = Settings("told", "default", place.cwd, rules=(Grant("allow", "Bash(touch:*)"),))
        model = Told(bash("make x", "touch made"), "done")
        agent = Agent(model, command_tools(place), place=place, store=store, settings=settings, mode="default")
        run = await agent.run("go")
        other = Agent(model, command_tools(place), place=place, store=store, mode="declared")
        run = await other.resume(run.session, {ids(run)[0]: reject()})
        assert isinstance(run, Completed)
        assert [failed for _, failed in model.results] == [True, False]

    asyncio.run(story())


def test_headless_a_call_refused_again_and_again_ends_the_turn(place: Place) -> None:
    async def story() -> None:
        model = Told(*[bash("make deploy")] * 5)
        run = await Agent(model, command_tools(place), place=place, mode="default", responder=deny_all).run("go")
        assert isinstance(run, Stopped)
        assert (run.why, len(model.requests), len(run.denied)) == ("refusals", 3, 3)
        assert run.denied[0]["help"] == "Bash(make deploy)"

    asyncio.run(story())


def test_in_mode_dont_ask_the_refusal_names_the_rule_that_would_help(place: Place) -> None:
    async def story() -> None:
        model = Told(bash("make deploy"), "done")
        run = await Agent(model, command_tools(place), place=place, mode="dont-ask").run("go")
        [(text, failed)] = model.results
        assert failed
        assert "the mode dont-ask does not allow" in text
        assert "The rule that would allow it: Bash(make deploy)" in text
        assert run.denied[0]["by"] == "mode dont-ask"

    asyncio.run(story())


def test_safety_asks_are_never_held_behind_an_offer(place: Place) -> None:
    async def story() -> None:
        from hitl_cli.records import replace

        [tool] = command_tools(place)
        model = Told(bash("make a", "$CMD a"), "done")
        agent = Agent(model, [replace(tool, serial=False)], place=place, mode="default")
        run = await agent.run("go")
        assert [i.safety for i in run.pending] == [False, True]  # type: ignore[union-attr]

    asyncio.run(story())


def test_an_edited_command_is_judged_again(place: Place) -> None:
    async def story() -> None:
        from hitl_cli.errors import InvalidAnswers

        model = Told(bash("make deploy"), "done")
        policy = rules(place, deny=["Bash(rm:*)"])
        agent = Agent(model, command_tools(place), rules=policy, mode="default")
        run = await agent.run("go")
        with pytest.raises(InvalidAnswers, match="denied"):
            await agent.resume(run.session, {ids(run)[0]: edit({"command": "true && rm x"})})
        run = await agent.resume(run.session, {ids(run)[0]: edit({"command": "echo safe"})})
        assert "safe" in model.results[0][0]

    asyncio.run(story())


def test_a_session_reads_its_own_kept_outputs_unasked_and_nobody_elses(tmp_path: Path, place: Place) -> None:
    outputs = tmp_path / "state" / "outputs"
    store = MemoryStore()
    mine, other = store.create(), store.create()
    for session in (mine, other):
        (outputs / session).mkdir(parents=True)
        (outputs / session / "1.1.0.txt").write_text(f"of {session}\n")
    model = Told(*([("Read", {"file_path": str(outputs / s / "1.1.0.txt")})] for s in (mine, other)))
    tools = builtin(place, outputs, jobs=Jobs())
    agent = Agent(model, tools, mode="default", place=place, store=store, outputs=str(outputs))
    run = agent.sync.run("Read both", mine)
    assert model.results == [(f"     1\tof {mine}", False)]
    assert [(i.call.name, i.call.id) for i in run.pending] == [("Read", "1.2.0")]
    assert "no rule covers reading" in run.pending[0].reason
    agent.sync.close()
