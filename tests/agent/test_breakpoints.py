"""Breakpoints before and after model, tool and finish steps, and the limits of a turn."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from hitl_cli import Agent, Middleware, approve, proceed, reply, tool
from hitl_cli.errors import InvalidAnswers, UnknownStep, UsageError
from hitl_cli.interrupts import Breakpoint
from hitl_cli.outcome import Completed, Stopped, Suspended
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Driver, Told, ids


class Guard(Middleware):
    id = "guard"

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def after_agent(self, text: str, ctx: Any) -> str | None:
        self.seen.append(text)
        return None


def look(log: list[Any], **options: Any) -> Any:
    @tool(**options)
    def look(n: int) -> str:
        """Look."""
        log.append(n)
        return f"saw {n}"

    return look


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize("step", ["model", "tool", "finish"])
def test_each_step_is_held_in_each_phase(step: str, phase: str, driver: Driver, store: SqliteStore) -> None:
    async def story() -> Any:
        log: list[Any] = []
        guard = Guard()
        model = Told([("look", {"n": 1})], "done")
        agent = Agent(model, [look(log)], store=store, middleware=[guard], **{f"break_{phase}": {step}})
        run = await driver.run(agent, "go")
        [held] = run.pending
        assert isinstance(held, Breakpoint)
        assert (held.step, held.phase) == (step, phase)
        assert bool(held.call) == (step == "tool" and phase == "before")
        at_hold = (held.id, len(model.requests), list(log), len(guard.seen), run.text)
        for wrong in (approve(), reply("yes")):
            with pytest.raises(InvalidAnswers):
                await driver.resume(agent, run.session, {held.id: wrong})
        free = Agent(model, [look(log)], store=store, middleware=[guard])
        run = await driver.resume(free, run.session, {held.id: proceed()})
        assert isinstance(run, Completed)
        assert (log, guard.seen, run.text, len(model.requests)) == ([1], ["done"], "done", 2)
        return at_hold

    assert (
        asyncio.run(story())
        == {
            ("model", "before"): ("1.1:before_model", 0, [], 0, ""),
            ("model", "after"): ("1.1:after_model", 1, [], 0, ""),
            ("tool", "before"): ("1.1.0:before_tool", 1, [], 0, ""),
            ("tool", "after"): ("1.1:after_tool", 1, [1], 0, ""),
            ("finish", "before"): ("1.2:before_finish", 2, [1], 0, ""),
            ("finish", "after"): ("1.2:after_finish", 2, [1], 1, ""),
        }[step, phase]
    )


def test_every_hold_of_a_turn_in_order_and_only_requests_count(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        steps = {"model", "tool", "finish"}
        agent = Agent(Told([("look", {"n": 1})], "done"), [look([])], store=store, max_steps=2)
        run = await driver.run(agent, "go", break_before=steps, break_after=steps)
        seen = []
        while isinstance(run, Suspended):
            seen += ids(run)
            answers = {i: proceed() for i in ids(run)}
            run = await driver.resume(agent, run.session, answers, break_before=steps, break_after=steps)
        assert seen == [
            "1.1:before_model",
            "1.1:after_model",
            "1.1.0:before_tool",
            "1.1:after_tool",
            "1.2:before_model",
            "1.2:after_model",
            "1.2:before_finish",
            "1.2:after_finish",
        ]
        assert isinstance(run, Completed)

    asyncio.run(story())


def test_calls_are_held_one_by_one_and_released_one_by_one(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []
        model = Told([("look", {"n": 1}), ("look", {"n": 2})], "done")
        agent = Agent(model, [look(log)], store=store, break_before={"tool"})
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {"1.1.1:before_tool": proceed()})
        assert (ids(run), log, len(model.requests)) == (["1.1.0:before_tool"], [2], 1)
        run = await driver.resume(agent, run.session, {"1.1.0:before_tool": proceed()})
        assert (run.text, log) == ("done", [2, 1])

    asyncio.run(story())


def test_a_before_hold_holds_only_the_first_run_of_a_step(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []
        agent = Agent(Told([("look", {"n": 1})], "done"), [look(log, approve=True)], store=store)
        run = await driver.run(agent, "go")
        run = await driver.resume(
            agent, run.session, {ids(run)[0]: approve()}, break_before={"tool"}, break_after={"tool"}
        )
        assert (ids(run), log) == (["1.1:after_tool"], [1])
        await agent.stop(run.session)
        agent = Agent(Told([("look", {"n": 2})], "done"), [look(log, approve=True)], store=store, break_before={"tool"})
        run = await driver.run(agent, "more", run.session)
        assert ids(run) == ["2.1.0:before_tool"]
        run = await driver.resume(agent, run.session, {"2.1.0:before_tool": proceed()})
        assert ids(run) == ["2.1.0:approval"]
        run = await driver.resume(agent, run.session, {"2.1.0:approval": approve()})
        assert (run.text, log) == ("done", [1, 2])

    asyncio.run(story())


def test_all_kinds_wait_together_in_the_order_of_kinds(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        from hitl_cli import Context, external_tool

        @tool
        def asks(ctx: Context) -> str:
            """Ask."""
            return str(ctx.ask("well?", str))

        class Reviews(Middleware):
            id = "reviews"

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                if call.name == "look":
                    ctx.ask("fine?", str)
                return await next(call)

        log: list[Any] = []

        @tool(approve=True)
        def gated() -> str:
            """Gated."""
            return "ok"

        @tool
        def held() -> str:
            """Held."""
            return "ok"

        calls = [("held", {}), ("look", {"n": 1}), ("out", {}), ("asks", {}), ("gated", {})]
        agent = Agent(
            Told(calls, "done"),
            [held, look(log), external_tool("out", "", {"type": "object"}), asks, gated],
            store=store,
            middleware=[Reviews()],
            concurrency=3,
        )
        run = await driver.run(agent, "go", break_before={"tool"})
        answers = {f"1.1.{n}:before_tool": proceed() for n in range(1, 5)}
        run = await driver.resume(agent, run.session, answers, break_before={"tool"})
        assert [i.kind for i in run.pending] == ["approval", "question", "external", "review", "breakpoint"]
        both = {"1.1.4:approval": approve(), "1.1.0:before_tool": proceed()}
        run = await driver.resume(agent, run.session, both)
        assert [i.kind for i in run.pending] == ["question", "external", "review"]

    asyncio.run(story())


def test_unknown_steps_are_refused_before_the_session_is_touched(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        agent = Agent(Told("done"), [], store=store)
        with pytest.raises(UnknownStep, match="end, start"):
            await driver.run(agent, "go", break_before={"start", "end", "model"})
        with pytest.raises(UnknownStep):
            Agent(Told(), [], store=store, break_after={"tools"})
        assert store.heads() == []

    asyncio.run(story())


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"max_steps": 1}, "steps"),
        ({"max_tokens": 15}, "tokens"),
        ({"max_cost": 0.0}, "cost"),
        ({"max_tokens": 16}, ""),
    ],
)
def test_limits_end_the_turn_and_leave_the_session_usable(
    limits: dict[str, Any], why: str, driver: Driver, store: SqliteStore
) -> None:
    async def story() -> None:
        model = Told([("look", {"n": 1})], "done", "next")
        run = await driver.run(Agent(model, [look([])], store=store, **limits), "go")
        if limits.get("max_cost") == 0.0:
            assert len(model.requests) == 0
        assert ((isinstance(run, Stopped) and run.why) or "") == why
        run = await driver.run(Agent(Told("next"), [look([])], store=store), "more", run.session)
        assert run.text == "next"

    asyncio.run(story())


def test_a_limit_of_cost_is_refused_for_a_model_that_does_not_say_what_it_costs(
    driver: Driver, store: SqliteStore
) -> None:
    async def story() -> None:
        limited = Agent(Told([("look", {"n": 1})], "done"), [look([], approve=True)], store=store, max_cost=2.5)
        run = await driver.run(limited, "go")
        unknown = Told("done")
        unknown.priced = False
        problem = re.escape("The price of told is not known, so the limit of $2.5 (max_cost) cannot hold it.")
        with pytest.raises(UsageError, match=problem):
            Agent(unknown, max_cost=2.5)
        other = Agent(unknown, [look([], approve=True)], store=store)  # the limits are the session's
        with pytest.raises(UsageError, match=problem):
            await driver.resume(other, run.session, {ids(run)[0]: approve()})
        assert unknown.requests == []
        assert (await driver.resume(limited, run.session, {ids(run)[0]: approve()})).text == "done"

    asyncio.run(story())


def test_the_limit_counts_on_over_a_pause(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("look", {"n": 1})], [("look", {"n": 2})], "done")
        run = await driver.run(Agent(model, [look([], approve=True)], store=store, max_steps=2), "go")
        while isinstance(run, Suspended):
            other = Agent(model, [look([], approve=True)], store=store)  # the limits are the session's
            run = await driver.resume(other, run.session, {ids(run)[0]: approve()})
        assert (isinstance(run, Stopped) and run.why, len(model.requests)) == ("steps", 2)

    asyncio.run(story())
