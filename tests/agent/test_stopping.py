"""Turns that end early: stopped, cancelled, failed, expired; and how each is taken up again, or not."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Any

import pytest

from hitl_cli import Agent, Middleware, approve, deny_all, external_tool, park, proceed, reject, result, tool
from hitl_cli.errors import (
    InvalidAnswers,
    ModelUnavailable,
    NothingToRecover,
    NotSuspended,
    SessionBusy,
    SessionPending,
    UnknownSession,
    UsageError,
)
from hitl_cli.journal import Answered, Changed, Ended, ModelReply, Who
from hitl_cli.models import Request, TextDelta
from hitl_cli.outcome import Completed, RunEnded, Stopped, Suspended
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Driver, Told, ids


def slow(log: list[Any], started: asyncio.Event) -> Any:
    @tool
    async def slow() -> str:
        """Never end."""
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        return ""

    return slow


@tool
def quick() -> str:
    """Be quick."""
    return "quick"


@tool(approve=True)
def deploy(env: str) -> str:
    """Deploy."""
    return f"deployed {env}"


def test_stopping_a_parked_turn_closes_its_calls(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("deploy", {"env": "a"}), ("out", {}), ("quick", {})], "next")
        agent = Agent(model, [deploy, external_tool("out", "", {}), quick], store=store)
        run = await driver.run(agent, "go")
        assert len(run.pending) == 2
        stopped = await agent.stop(run.session)
        assert isinstance(stopped, Stopped)
        assert (stopped.why, len(model.requests)) == ("interrupted", 1)
        assert (await agent.load(run.session)).pending == ()
        assert await agent.stop(run.session) is None
        run = await driver.run(agent, "more", run.session)
        blocks = model.requests[-1].messages[2]["content"]
        assert [(b["tool_use_id"], b["_kind"]) for b in blocks[:3]] == [
            ("use_0", "interrupted"),
            ("use_1", "interrupted"),
            ("use_2", "ran"),
        ]
        assert [m["role"] for m in model.requests[-1].messages] == ["user", "assistant", "user"]
        with pytest.raises(NothingToRecover):
            await driver.recover(agent, run.session)

    asyncio.run(story())


def test_stopping_a_live_turn_gives_its_watcher_a_stopped_run(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []
        started = asyncio.Event()
        agent = Agent(Told([("quick", {}), ("slow", {})]), [quick, slow(log, started)], store=store)
        session = store.create()
        task = asyncio.create_task(driver.run(agent, "go", session))
        await started.wait()
        assert (await agent.load(session)).status == "running"
        with pytest.raises(SessionBusy):
            await agent.run("again", session)
        stopped = await agent.stop(session)
        run = await task
        assert isinstance(run, Stopped)
        assert (run.why, run, log) == ("interrupted", stopped, ["cancelled"])
        kinds = [b["_kind"] for b in run.messages[-1]["content"]]
        assert kinds == ["ran", "interrupted"]

    asyncio.run(story())


def test_cancelling_a_run_closes_its_calls_and_recover_takes_it_up(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []
        started = asyncio.Event()
        model = Told([("quick", {}), ("slow", {})], "done", "next")
        agent = Agent(model, [quick, slow(log, started)], store=store)
        session = store.create()
        task = asyncio.create_task(driver.run(agent, "go", session))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert log == ["cancelled"]
        assert (await agent.load(session)).status == "idle"
        run = await driver.recover(agent, session, break_before={"model"})
        assert ids(run) == ["1.2:before_model"]
        run = await driver.resume(agent, session, {"1.2:before_model": proceed()})
        assert run.text == "done"
        assert [k for _, k in model.results] == [False, True]
        run = await driver.run(agent, "more", session)
        assert run.text == "next"

    asyncio.run(story())


def test_a_plain_body_does_not_hold_up_a_stop(store: SqliteStore) -> None:
    async def story() -> None:
        inside, leave = threading.Event(), threading.Event()

        @tool
        def blocks() -> str:
            """Block."""
            inside.set()
            leave.wait(10)
            return "late"

        agent = Agent(Told([("blocks", {})]), [blocks], store=store)
        session = store.create()
        task = asyncio.create_task(agent.run("go", session))
        await asyncio.to_thread(inside.wait)
        await agent.stop(session)
        leave.set()
        run = await task
        assert "had part of its effect" in run.messages[-1]["content"][0]["content"]

    asyncio.run(story())


def test_a_stopped_answer_is_kept_as_far_as_it_came(store: SqliteStore) -> None:
    async def story() -> None:
        model = Told("next")
        said = asyncio.Event()

        async def stream(request: Request) -> Any:
            yield TextDelta("I would ")
            said.set()
            await asyncio.Event().wait()

        agent = Agent(Told(), [], store=store)
        agent.model.stream = stream  # type: ignore[method-assign, assignment]
        session = store.create()
        task = asyncio.create_task(agent.run("go", session))
        await said.wait()
        await asyncio.sleep(0)
        await agent.stop(session)
        run = await task
        assert (run.text, type(run)) == ("I would ", Stopped)
        run = await Agent(model, [], store=store).run("more", session)
        sent = model.requests[0].messages
        assert [m["role"] for m in sent] == ["user", "assistant", "user"]
        assert [b["text"] for b in sent[2]["content"]] == [
            "(The user stopped the answer above before it was complete.)",
            "more",
        ]

    asyncio.run(story())


def test_a_failed_request_leaves_a_session_to_recover_or_to_go_on_with(driver: Driver, store: SqliteStore) -> None:
    async def story(recover: bool) -> None:
        model = Told([("deploy", {"env": "a"})], ModelUnavailable("Overloaded."), "done")
        agent = Agent(model, [deploy], store=store)
        run = await driver.run(agent, "go")
        with pytest.raises(ModelUnavailable, match="Overloaded"):
            await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        loaded = await agent.load(run.session)
        assert (loaded.status, loaded.pending) == ("failed", ())
        other = Agent(model, [deploy], store=store)
        if recover:
            run = await driver.recover(other, run.session)
        else:
            run = await driver.run(other, "try again", run.session)
        assert (run.text, model.results) == ("done", [("deployed a", False)])

    asyncio.run(story(True))
    asyncio.run(story(False))


def test_states_in_which_there_is_nothing_to_answer_or_recover(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        agent = Agent(Told("done", [("deploy", {"env": "a"})]), [deploy], store=store)
        run = await driver.run(agent, "go")
        with pytest.raises(NotSuspended):
            await driver.resume(agent, run.session, {"1.1.0:approval": approve()})
        with pytest.raises(NothingToRecover):
            await driver.recover(agent, run.session)
        for method in (driver.resume(agent, "nope", {"x": approve()}), driver.recover(agent, "nope")):
            with pytest.raises(UnknownSession):
                await method
        run = await driver.run(agent, "more", run.session)
        with pytest.raises(SessionPending, match=r"2\.1\.0:approval"):
            await driver.recover(agent, run.session)

    asyncio.run(story())


def test_responders_run_first_come_from_the_run_then_from_the_agent(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        seen = []

        def yes(name: str, answer: Any) -> Any:
            def respond(run: Suspended) -> Any:
                seen.append((name, ids(run)))
                return {i.id: answer for i in run.pending} if answer else None

            return respond

        async def slowly(run: Suspended) -> Any:
            return yes("async", approve())(run)

        def agent() -> Agent:
            return Agent(
                Told([("deploy", {"env": "a"})], "done"), [deploy], store=store, responder=yes("agent", approve())
            )

        assert isinstance(await driver.run(agent(), "go"), Completed)
        assert isinstance(await driver.run(agent(), "go", responder=slowly), Completed)
        assert isinstance(await driver.run(agent(), "go", responder=yes("none", None)), Suspended)
        assert isinstance(await driver.run(agent(), "go", responder=park), Suspended)
        assert [name for name, _ in seen] == ["agent", "async", "none"]

    asyncio.run(story())


def test_where_nobody_is_there_the_model_is_told_so_and_which_rule_would_help(
    driver: Driver, store: SqliteStore
) -> None:
    async def story() -> None:
        model = Told([("deploy", {"env": "a"})], "done")
        run = await driver.run(Agent(model, [deploy], store=store, responder=deny_all), "go")
        [(text, failed)] = model.results
        assert failed
        assert text == (
            "Rejected: deploy needs an answer of the user and nobody is there to give it. It was not run."
            " The rule that would allow it: deploy."
        )
        assert run.denied == (
            {
                "call": "1.1.0",
                "tool": "deploy",
                "part": 'deploy {"env": "a"}',
                "by": "none",
                "rule": "",
                "layer": "",
                "help": "deploy",
            },
        )

    asyncio.run(story())


def test_a_question_that_expired_is_refused_as_that(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploy], store=store, expires=0.05)
        run = await driver.run(agent, "go")
        await asyncio.sleep(0.06)
        with pytest.raises(InvalidAnswers, match="expired"):
            await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        with pytest.raises(SessionPending):
            await driver.run(agent, "more", run.session)
        run = await driver.recover(agent, run.session)
        assert run.text == "done"
        assert model.results == [
            (
                "Expired: nobody answered in time whether deploy may run. It was not run;"
                " this was not a refusal by the user. The rule that would allow it: deploy.",
                True,
            )
        ]
        answers = [r.entry for r in (await agent.load(run.session)).history if isinstance(r.entry, Answered)]
        assert [a.who for a in answers] == [Who("expiry")]

    asyncio.run(story())


def test_a_breakpoint_that_expired_ends_the_turn(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        agent = Agent(Told("done"), [], store=store, expires=0.02, break_before={"model"})
        run = await driver.run(agent, "go")
        await asyncio.sleep(0.03)
        run = await driver.recover(agent, run.session)
        assert (isinstance(run, Stopped) and run.why) == "expired"

    asyncio.run(story())


def test_changes_of_mode_title_and_summary(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told("one", "two", [("quick", {})], "three")
        agent = Agent(model, [quick], store=store)
        run = await driver.run(agent, "first words")
        await agent.change(run.session, Changed("summary", "They said one."))
        await agent.change(run.session, Changed("title", "Numbers"))
        run = await driver.run(agent, "second", run.session)
        assert [b["text"] for b in model.requests[-1].messages[0]["content"]] == [
            "Summary of the conversation so far:\n\nThey said one.",
            "second",
        ]
        await agent.change(run.session, Changed("mode", "default"))
        with pytest.raises(ValueError, match="no mode"):
            await agent.change(run.session, Changed("mode", "reckless"))
        run = await driver.run(agent, "third", run.session)
        assert ids(run) == ["3.1.0:approval"]
        loaded = await agent.load(run.session)
        assert (loaded.title, loaded.mode, loaded.settings and loaded.settings.mode) == (
            "Numbers",
            "default",
            "default",
        )
        with pytest.raises(SessionPending):
            await agent.change(run.session, Changed("summary", "no"))

    asyncio.run(story())


def test_bypass_is_not_restored(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        calls = [[("deploy", {"env": "a"})], "done"]
        run = await driver.run(Agent(Told(*calls), [deploy], store=store, mode="bypass"), "go")
        assert isinstance(run, Completed)
        run = await driver.run(Agent(Told(*calls), [deploy], store=store), "again", run.session)
        assert isinstance(run, Suspended)

    asyncio.run(story())


def test_a_session_whose_folder_is_gone_keeps_its_request(store: SqliteStore, tmp_path: Any) -> None:
    async def story() -> None:
        from hitl_cli.access import Place
        from hitl_cli.errors import Incompatible

        folder = tmp_path / "work"
        folder.mkdir()
        place = Place(str(folder), (str(folder),), "/")
        agent = Agent(Told([("deploy", {"env": "a"})], "done"), [deploy], store=store, place=place)
        run = await agent.run("go")
        folder.rmdir()
        with pytest.raises(Incompatible, match="is gone"):
            await agent.resume(run.session, {ids(run)[0]: approve()})
        assert (await agent.load(run.session)).pending == run.pending
        folder.mkdir()
        assert (await agent.resume(run.session, {ids(run)[0]: approve()})).text == "done"

    asyncio.run(story())


def test_several_bodies_run_at_once_when_allowed(store: SqliteStore) -> None:
    async def story(concurrency: int) -> int:
        inside, most = 0, 0

        @tool
        async def work() -> str:
            """Work."""
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            for _ in range(5):
                await asyncio.sleep(0)
            inside -= 1
            return "ok"

        model = Told([("work", {})] * 5, "done")
        run = await Agent(model, [work], store=store, concurrency=concurrency).run("go")
        assert isinstance(run, Completed)
        return most

    assert asyncio.run(story(1)) == 1
    assert asyncio.run(story(3)) == 3


def test_a_sibling_that_fails_does_not_undo_the_others(store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        def fails() -> str:
            """Fail."""
            raise OSError("disk")

        model = Told([("quick", {}), ("fails", {}), ("quick", {})], "done")
        await Agent(model, [quick, fails], store=store, concurrency=3).run("go")
        assert model.results == [("quick", False), ("OSError: disk", True), ("quick", False)]

    asyncio.run(story())


def test_the_blocking_face_has_the_same_methods(store: SqliteStore) -> None:
    agent = Agent(
        Told([("deploy", {"env": "a"})], [("out", {})], "done"), [deploy, external_tool("out", "", {})], store=store
    )
    run = agent.sync.run("go")
    assert isinstance(run, Suspended)
    events = list(agent.sync.stream_resume(run.session, {ids(run)[0]: reject()}))
    assert isinstance(events[-1], RunEnded)
    assert agent.sync.load(run.session).status == "suspended"
    run = agent.sync.resume(run.session, {ids(events[-1].run)[0]: result("x")})
    assert run.unwrap().text == "done"
    with pytest.raises(NothingToRecover):
        agent.sync.recover(run.session)
    assert agent.sync.stop(run.session) is None
    agent.sync.close()
    agent.sync.close()


def test_replies_that_are_cut_or_refused_say_so(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        cut = ModelReply(({"type": "text", "text": "half"},), "length")
        paused = ModelReply(({"type": "text", "text": "wait"},), "pause")
        agent = Agent(Told(cut, paused, "done"), [], store=store)
        run = await driver.run(agent, "go")
        ended = [r.entry for r in (await agent.load(run.session)).history if isinstance(r.entry, Ended)]
        assert (run.text, [e.why for e in ended]) == ("half", ["length"])
        run = await driver.run(agent, "more", run.session)
        assert run.text == "done"

    asyncio.run(story())


def test_ctrl_c_in_a_blocking_run_closes_its_calls(store: SqliteStore) -> None:
    inside = threading.Event()

    @tool
    async def waits() -> str:
        """Wait."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    def press() -> None:
        inside.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    agent = Agent(Told([("waits", {})], "next"), [waits], store=store)
    session = store.create()
    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        agent.sync.run("go", session)
    loaded = agent.sync.load(session)
    assert (loaded.status, loaded.messages[-1]["content"][0]["_kind"]) == ("idle", "interrupted")
    assert agent.sync.run("more", session).text == "next"
    agent.sync.close()


def test_answers_can_be_recorded_without_going_on(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploy], store=store)
        run = await driver.run(agent, "go")
        loaded = await agent.answer(run, {ids(run)[0]: approve()}, who=Who("person", "tty2"))
        assert (loaded.status, loaded.pending, len(model.requests)) == ("interrupted", (), 1)
        run = await driver.recover(agent, run)
        assert (run.text, model.results) == ("done", [("deployed a", False)])
        with pytest.raises(UsageError, match="Name a session"):
            await driver.recover(agent, "")

    asyncio.run(story())


def test_a_stop_keeps_what_a_body_had_returned(store: SqliteStore) -> None:
    async def story() -> None:
        class After(Middleware):
            id = "after"

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                out = await next(call)
                ctx.ask("fine?", str)
                return out

        agent = Agent(Told([("quick", {})]), [quick], store=store, middleware=[After()])
        run = await agent.run("go")
        stopped = await agent.stop(run)
        assert stopped is not None
        assert stopped.messages[-1]["content"][0]["content"] == "quick"

    asyncio.run(story())


def test_rules_of_the_session_are_checked_before_they_are_recorded(store: SqliteStore) -> None:
    async def story() -> None:
        agent = Agent(Told("hi", [("deploy", {"env": "a"})], "done"), [deploy], store=store)
        run = await agent.run("go")
        for bad in ([{"decision": "allow", "rule": "deploy("}], [{"rule": "deploy"}], "deploy"):
            with pytest.raises(ValueError, match=r"."):
                await agent.change(run, Changed("rules", bad))
        await agent.change(run, Changed("rules", [{"decision": "allow", "rule": "deploy"}]))
        assert (await agent.run("more", run)).text == "done"

    asyncio.run(story())
