"""Calls that ask: paused, approved, edited, refused, remembered; the same blocking and streamed, in memory and on disk."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from hitl_cli import Agent, Context, Texts, always, approve, edit, never, once, reject, result
from hitl_cli.errors import InvalidAnswers, NotSuspended, SessionPending
from hitl_cli.interrupts import Approval
from hitl_cli.journal import Answered, Changed, Grant, Judged, Recorded, Settled, Started, Who
from hitl_cli.outcome import Completed, NotCompleted, Suspended
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.tooldef import Tool, tool
from tests.agent.told import Driver, Told, ids


@dataclass
class World:
    """What the tools of these tests did."""

    done: list[Any] = field(default_factory=list)

    def tools(self, **options: Any) -> list[Tool]:
        @tool(approve=True, **options)
        def deploy(env: str, force: bool = False) -> str:
            """Deploy to an environment.

            Args:
                env: where to
            """
            self.done.append((env, force))
            return f"deployed {env}"

        @tool
        async def look(what: str) -> str:
            """Look at something."""
            self.done.append(what)
            return f"saw {what}"

        return [deploy, look]


def two() -> list[Any]:
    return [("deploy", {"env": "a"}), ("deploy", {"env": "b"})]


def test_a_call_that_asks_waits_with_all_that_a_person_needs(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, world.tools(), store=store)
        run = await driver.run(agent, "go")
        assert isinstance(run, Suspended)
        [asked] = run.pending
        assert isinstance(asked, Approval)
        assert (asked.id, asked.call.name, asked.call.input) == ("1.1.0:approval", "deploy", {"env": "a"})
        assert (asked.reason, [s.rule for s in asked.suggested]) == ("no rule covers deploy", ["deploy"])
        assert str(run) == "waiting for 1 approval (deploy)"
        assert (world.done, len(model.requests)) == ([], 1)
        with pytest.raises(NotCompleted, match="deploy"):
            run.unwrap()
        run = await driver.resume(agent, run.session, {asked.id: approve()})
        assert isinstance(run.unwrap(), Completed)
        assert (run.text, world.done, model.results) == ("done", [("a", False)], [("deployed a", False)])
        assert [m["role"] for m in model.requests[-1].messages] == ["user", "assistant", "user"]

    asyncio.run(story())


def test_an_answer_is_taken_once(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, world.tools(), store=store)
        run = await driver.run(agent, "go")
        await driver.resume(agent, run.session, {ids(run)[0]: approve()}, who=Who("person", "tty1"))
        before = (await agent.load(run.session)).history
        with pytest.raises(InvalidAnswers, match="already answered: approve by person tty1"):
            await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        with pytest.raises(NotSuspended):
            await driver.resume(agent, run.session, {"9.9.9:approval": approve()})
        assert (await agent.load(run.session)).history == before
        assert world.done == [("a", False)]

    asyncio.run(story())


def test_part_of_the_answers_leaves_the_rest_waiting(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told(two(), "done")
        agent = Agent(model, world.tools(), store=store, policy={"deploy": always})
        run = await driver.run(agent, "go")
        first, second = ids(run)
        run = await driver.resume(agent, run.session, {second: approve()})
        assert (ids(run), world.done, len(model.requests)) == ([first], [("b", False)], 1)
        run = await driver.resume(agent, run.session, {first: reject("not there")})
        assert isinstance(run, Completed)
        [(no, failed), yes] = model.results
        assert failed
        assert "Rejected: " in no
        assert "deploy" in no
        assert "not there" in no
        assert yes == ("deployed b", False)
        assert [d["by"] for d in run.denied] == ["program"]

    asyncio.run(story())


def test_a_bad_set_of_answers_is_refused_whole_with_every_problem(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told(two(), "done")
        agent = Agent(model, world.tools(), store=store, policy={"deploy": always})
        run = await driver.run(agent, "go")
        first, second = ids(run)
        bad = {first: edit({"env": 3}), second: approve(["deploy("]), "1.1": approve(), "1.1.0": {"maybe": {}}}
        before = (await agent.load(run.session)).history
        with pytest.raises(InvalidAnswers) as caught:
            await driver.resume(agent, run.session, bad)
        assert list(caught.value.problems) == [first, second, "1.1", "1.1.0"]
        assert "does not fit the tool: env" in caught.value.problems[first]
        with pytest.raises(InvalidAnswers, match="no answer"):
            await driver.resume(agent, run.session, {})
        with pytest.raises(SessionPending, match="2 approvals") as waits:
            await driver.run(agent, "more", run.session)
        assert waits.value.ids == (first, second)
        assert (await agent.load(run.session)).history == before
        assert world.done == []

    asyncio.run(story())


def test_an_edit_replaces_the_input_and_the_model_is_told(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a", "force": True})], "done")
        agent = Agent(model, world.tools(), store=store)
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: edit({"env": "test"})})
        assert isinstance(run, Completed)
        assert world.done == [("test", False)]
        shown = model.requests[-1].messages
        assert shown[1]["content"][0]["input"] == {"env": "test"}
        assert "changed the input of deploy" in model.results[0][0]
        assert '{"env": "test"}' in model.results[0][0]

    asyncio.run(story())


def test_an_edit_to_what_a_rule_denies_is_refused(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, world.tools(), store=store)
        rule = Rule(Decision.DENY, "deploy", "env:prod")
        agent.bench.rules = Policy([rule], agent.place)
        run = await driver.run(agent, "go")
        with pytest.raises(InvalidAnswers, match="denied"):
            await driver.resume(agent, run.session, {ids(run)[0]: edit({"env": "prod"})})
        assert world.done == []
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert (run.text, world.done) == ("done", [("a", False)])

    asyncio.run(story())


def test_an_edit_without_a_change_is_an_approval(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], [("deploy", {"env": "a"})], "done")
        agent = Agent(model, world.tools(), store=store, policy={"*": once})
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: edit({})})
        assert isinstance(run, Completed)
        assert world.done == [("a", False)] * 2
        assert model.results == [("deployed a", False)]

    asyncio.run(story())


def test_a_result_may_be_given_in_place_of_running(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, world.tools(), store=store)
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: result({"url": "x"})})
        assert (run.text, world.done, model.results) == ("done", [], [('{"url": "x"}', False)])

    asyncio.run(story())


def test_an_accepted_rule_settles_later_calls_and_other_processes(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], [("deploy", {"env": "b"})], "one", "two")
        agent = Agent(model, world.tools(), store=store)
        run = await driver.run(agent, "go")
        [asked] = run.pending
        run = await driver.resume(agent, run.session, {asked.id: approve([asked.suggested[0]])})
        assert (run.text, world.done) == ("one", [("a", False), ("b", False)])
        other = Agent(Told([("deploy", {"env": "c"})], "three"), world.tools(), store=store)
        run = await driver.run(other, "again", run.session)
        assert (run.text, world.done[-1]) == ("three", ("c", False))

    asyncio.run(story())


def test_a_call_that_a_rule_on_offer_covers_is_held_until_the_offer_is_answered(
    driver: Driver, store: SqliteStore
) -> None:
    async def story(rules: bool) -> tuple[int, list[Any]]:
        world, model = World(), Told(two(), "done")
        agent = Agent(model, world.tools(), store=store)
        run = await driver.run(agent, "go")
        assert len(run.pending) == 1
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve(["deploy"] if rules else [])})
        return (len(run.pending) if isinstance(run, Suspended) else 0), world.done

    assert asyncio.run(story(True)) == (0, [("a", False), ("b", False)])
    assert asyncio.run(story(False)) == (1, [("a", False)])


def test_rules_release_or_refuse_what_else_waits(driver: Driver, store: SqliteStore) -> None:
    async def story(answer: Any) -> Any:
        world, model = World(), Told([*two(), ("deploy", {"env": "c"})], "done")
        agent = Agent(model, world.tools(serial=False), store=store)
        agent.bench.own = {}
        run = await driver.run(agent, "go")
        held = len(run.pending)
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        run = await driver.resume(agent, run.session, {ids(run)[0]: answer})
        history = (await agent.load(run.session)).history
        who = [r.entry.who for r in history if isinstance(r.entry, Answered)]
        return held, world.done, who[-1], model.results, run.denied

    held, done, _, _, _ = asyncio.run(story(approve(["deploy"])))
    assert (held, done) == (1, [("a", False), ("b", False), ("c", False)])
    _, done, _, results, denied = asyncio.run(story(reject("never", ["deploy"])))
    assert done == [("a", False)]
    assert [failed for _, failed in results] == [False, True, True]
    assert "deploy" in results[2][0]
    assert len(denied) == 2


def test_a_deny_rule_wins_over_an_approval_given_before_it(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": "a"})], "done")
        run = await driver.run(Agent(model, world.tools(), store=store), "go")
        agent = Agent(model, world.tools(), store=store)
        agent.bench.rules = Policy([Rule(Decision.DENY, "deploy")], agent.place)
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert isinstance(run, Completed)
        assert world.done == []
        assert model.results[0][1]
        assert "Denied: the rule deploy does not allow this call of deploy." in model.results[0][0]

    asyncio.run(story())


def test_a_request_that_changed_is_asked_about_anew(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        content, done = ["one"], []

        async def run_it(input: Any, ctx: Context) -> Any:
            done.append(content[0])
            return await _ok()

        write = Tool(
            name="write",
            description="",
            schema={"type": "object"},
            run=run_it,
            approve=True,
            digest=lambda input, place: content[0],
        )
        model = Told([("write", {})], "done")
        agent = Agent(model, [write], store=store)
        run = await driver.run(agent, "go")
        content[0] = "two"
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert (ids(run), done) == (["1.1.0:approval~2"], [])
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert (run.text, done) == ("done", ["two"])

    asyncio.run(story())


async def _ok() -> Any:
    from hitl_cli.journal import Result

    return Result("ok")


def test_policies_by_name_tuple_and_star(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world = World()

        @tool
        def other() -> str:
            """Other."""
            world.done.append("other")
            return "ok"

        calls = [("deploy", {"env": "a"}), ("look", {"what": "x"}), ("other", {})]
        agent = Agent(
            Told(calls, "done"),
            [*world.tools(), other],
            store=store,
            policy={"*": always, ("look", "other"): once, "other": never},
        )
        run = await driver.run(agent, "go")
        assert (ids(run), world.done) == (["1.1.0:approval", "1.1.1:approval"], ["other"])

    asyncio.run(story())


def test_once_remembers_exact_inputs_that_were_approved_as_they_were(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world = World()
        asked = [({"env": "a"}, approve()), ({"env": "b"}, reject()), ({"env": "b"}, edit({"env": "c"}))]
        again = [{"force": False, "env": "a"}, {"env": "b"}]
        session = None
        for input, answer in [(*asked[0],), (*asked[1],), (*asked[2],)]:
            agent = Agent(Told([("deploy", input)], "done"), world.tools(), store=store, policy={"deploy": once})
            run = await driver.run(agent, "go", session)
            assert isinstance(run, Suspended)
            session = run.session
            await driver.resume(agent, session, {ids(run)[0]: answer})
        prompts = []
        for input in [{"env": "a"}, *again]:
            agent = Agent(Told([("deploy", input)], "done"), world.tools(), store=store, policy={"deploy": once})
            run = await driver.run(agent, "go", session)
            prompts.append(isinstance(run, Suspended))
            await agent.stop(run.session)
        assert prompts == [False, True, True]

    asyncio.run(story())


def test_a_predicate_says_which_calls_ask(driver: Driver, store: SqliteStore) -> None:
    async def admin(input: Any, context: Any) -> bool:
        return context != "admin"

    @tool(approve=admin)
    def drop(table: str) -> str:
        """Drop a table."""
        return f"dropped {table}"

    async def story() -> None:
        agent = Agent(Told([("drop", {"table": "t"})], "done"), [drop], store=store)
        assert isinstance(await driver.run(agent, "go", context="admin"), Completed)
        agent = Agent(Told([("drop", {"table": "t"})], "done"), [drop], store=store)
        assert isinstance(await driver.run(agent, "go", context="guest"), Suspended)

    asyncio.run(story())


def test_serial_calls_wait_for_the_one_before_and_neighbours_do_not(driver: Driver, store: SqliteStore) -> None:
    async def story(serial: bool) -> tuple[list[str], list[Any]]:
        world = World()

        @tool(serial=serial)
        def step(n: int) -> str:
            """Step."""
            world.done.append(n)
            return str(n)

        model = Told([("step", {"n": 1}), ("step", {"n": 2}), ("step", {"n": 3})], "done")
        agent = Agent(model, [step], store=store, policy={"step": lambda c, p: Decision(int(c.input["n"] == 2))})
        run = await driver.run(agent, "go")
        return ids(run), list(world.done)

    assert asyncio.run(story(True)) == (["1.1.1:approval"], [1])
    assert asyncio.run(story(False)) == (["1.1.1:approval"], [1, 3])


def test_the_decision_log_has_a_verdict_before_every_effect(store: SqliteStore) -> None:
    async def story() -> None:
        driver, world = Driver(True), World()
        agent = Agent(Told([("deploy", {"env": "a"}), ("look", {"what": "x"})], "done"), world.tools(), store=store)
        run = await driver.run(agent, "go")
        verdicts = [(e.call, e.decision, e.who.kind, e.tool) for e in driver.entries if isinstance(e, Judged)]
        assert verdicts == [("1.1.0", "ask", "mode", "deploy"), ("1.1.1", "allow", "mode", "look")]
        seen = list(driver.entries)
        await driver.resume(agent, run.session, {ids(run)[0]: approve()}, who=Who("person", "tty1"))
        seen += driver.entries
        history = (await agent.load(run.session)).history
        assert [r.entry for r in history] == seen
        assert [r.seq for r in history] == list(range(1, len(history) + 1))
        at = {(type(e).__name__, getattr(e, "call", "")): n for n, e in enumerate(seen)}
        assert at["Judged", "1.1.1"] < at["Started", "1.1.1"] < at["Returned", "1.1.1"] < at["Settled", "1.1.1"]
        assert at["Answered", ""] < at["Started", "1.1.0"]

    asyncio.run(story())


def test_wordings_can_be_replaced(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("deploy", {"env": "a"})], "done")
        texts = Texts(reject="No {tool_name}.", feedback=" Because {feedback}.")
        agent = Agent(model, World().tools(), store=store, texts=texts)
        run = await driver.run(agent, "go")
        await driver.resume(agent, run.session, {ids(run)[0]: reject("of rain")})
        assert model.results == [("No deploy. Because of rain.", True)]

    asyncio.run(story())


def test_rules_of_wider_scope_are_saved_before_the_call_runs(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []

        @tool(approve=True)
        def deploy() -> str:
            """Deploy."""
            log.append("ran")
            return "ok"

        agent = Agent(
            Told([("deploy", {})], "done"), [deploy], store=store, save_rules=lambda g, call: log.append((g, call.id))
        )
        run = await driver.run(agent, "go")
        await driver.resume(agent, run.session, {ids(run)[0]: approve(["deploy"], scope="user")})
        assert log == [([Grant("allow", "deploy", "user")], "1.1.0"), "ran"]

    asyncio.run(story())


def test_a_saved_rule_holds_at_once_and_later_only_as_long_as_it_is_kept(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world = World()
        model = Told([("deploy", {"env": "a"})], [("deploy", {"env": "b"})], "done", [("deploy", {"env": "c"})])
        agent = Agent(model, world.tools(), store=store, save_rules=lambda grants, call: None)
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve(["deploy"], scope="user")})
        assert (run.text, len(world.done)) == ("done", 2)
        without = Agent(model, world.tools(), store=store)  # as after the rule was taken out of its file
        assert isinstance(await driver.run(without, "again", run.session), Suspended)

    asyncio.run(story())


def test_a_rule_that_cannot_be_saved_holds_for_the_session_and_a_note_says_why(
    driver: Driver, store: SqliteStore
) -> None:
    def full(grants: Any, call: Any) -> None:
        raise OSError("No space left on device")

    async def story() -> None:
        world = World()
        agent = Agent(
            Told([("deploy", {"env": "a"})], [("deploy", {"env": "b"})], "done"),
            world.tools(),
            store=store,
            save_rules=full,
        )
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve(["deploy"], scope="user")})
        assert (run.text, len(world.done)) == ("done", 2)
        notes = [r.entry.value for r in (await agent.load(run.session)).history if isinstance(r.entry, Changed)]
        grant = {"decision": "allow", "rule": "deploy", "scope": "user"}
        assert notes == [{"grant": grant, "why": "No space left on device"}]

    asyncio.run(story())


def test_the_same_call_refused_three_times_ends_the_turn(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        world = World()
        agent = Agent(Told(*[[("deploy", {"env": "a"})] for _ in range(4)]), world.tools(), store=store)
        run = await driver.run(agent, "go", responder=lambda run: {i.id: reject() for i in run.pending})
        assert (type(run).__name__, getattr(run, "why", "")) == ("Stopped", "refusals")
        assert len(run.denied) == 3
        assert isinstance(await driver.run(Agent(Told("hi"), [], store=store), "next", run.session), Completed)

    asyncio.run(story())


def test_stopping_to_watch_at_the_question_keeps_it_on_record(store: SqliteStore) -> None:
    async def story() -> None:
        agent = Agent(Told([("deploy", {"env": "a"})], "done"), World().tools(), store=store)
        events = agent.stream("go")
        async for event in events:
            if isinstance(event, Recorded) and type(event.entry).__name__ == "Raised":
                break
        await events.aclose()
        [head] = store.heads(pending=True)
        other = Agent(Told("done"), World().tools(), store=store)
        loaded = await other.load(head.session)
        assert (loaded.status, [i.id for i in loaded.pending]) == ("suspended", ["1.1.0:approval"])
        run = await other.resume(head.session, {"1.1.0:approval": approve()})
        assert run.text == "done"

    asyncio.run(story())


def test_executed_calls_are_those_that_started(store: SqliteStore) -> None:
    async def story() -> None:
        world, model = World(), Told([("deploy", {"env": e}) for e in "abc"], "done")
        agent = Agent(model, world.tools(), store=store, policy={"deploy": always})
        run = await agent.run("go")
        first, second, third = ids(run)
        run = await agent.resume(run.session, {third: approve(), first: reject(), second: edit({"env": "B"})})
        history = [r.entry for r in (await agent.load(run.session)).history]
        assert [e.call for e in history if isinstance(e, Started)] == ["1.1.1", "1.1.2"]
        assert {e.call: e.result.kind for e in history if isinstance(e, Settled)} == {
            "1.1.0": "refused",
            "1.1.1": "ran",
            "1.1.2": "ran",
        }
        assert [failed for _, failed in model.results] == [True, False, False]

    asyncio.run(story())


def test_text_that_is_no_utf8_and_data_that_is_no_json_are_stored_as_near_as_can_be(
    driver: Driver, store: SqliteStore
) -> None:
    async def story() -> None:
        from hitl_cli.journal import Result

        seen = []

        @tool(approve=True)
        def odd(name: str) -> Result:
            """Odd."""
            seen.append(name)
            return Result("half \udcff", data={"place": {1, 2}})

        model = Told([("odd", {"name": "x\ud800"})], "done \ud800")
        run = await driver.run(Agent(model, [odd], store=store), "go \udcff")
        asked = run.pending[0]  # type: ignore[union-attr]
        assert asked.call
        assert asked.call.input == {"name": "x?"}
        run = await driver.resume(Agent(model, [odd], store=store), run.session, {asked.id: approve()})
        assert (run.text, seen, model.results) == ("done ?", ["x?"], [("half ?", False)])
        assert run.messages[0]["content"][0]["text"] == "go ?"

    asyncio.run(story())
