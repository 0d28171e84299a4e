"""What a body is promised: fresh state, one key, a rerun only where that is harmless, live output, its folder."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Agent, Context, approve, tool
from hitl_cli.journal import Returned, Settled, Started
from hitl_cli.outcome import Completed, ToolOutput
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Driver, Told, ids


def test_a_call_sees_what_an_earlier_one_of_its_message_wrote(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        def produce(ctx: Context) -> str:
            """Produce."""
            ctx.state["made"] = 7
            return "made"

        @tool(approve=True)
        def consume(ctx: Context) -> str:
            """Consume."""
            return f"got {ctx.state.get('made')}"

        model = Told([("produce", {}), ("consume", {})], "done")
        agent = Agent(model, [produce, consume], store=store)
        run = await driver.run(agent, "go")
        await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert model.results[1] == ("got 7", False)

    asyncio.run(story())


def test_bodies_that_run_together_do_not_lose_each_others_state(store: SqliteStore) -> None:
    async def story() -> None:
        both = asyncio.Barrier(2)

        @tool
        async def put(key: str, ctx: Context) -> str:
            """Put."""
            ctx.state.pop("old", None)
            ctx.state[key] = True
            await both.wait()
            return "ok"

        @tool
        async def seed(ctx: Context) -> str:
            """Seed."""
            ctx.state.update(old=1, kept=2)
            return "ok"

        model = Told([("seed", {})], [("put", {"key": "a"}), ("put", {"key": "b"})], "done")
        run = await Agent(model, [put, seed], store=store, concurrency=2).run("go")
        assert run.state == {"kept": 2, "a": True, "b": True}

    asyncio.run(story())


def test_state_that_is_no_json_is_the_calls_error(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        def bad(ctx: Context) -> str:
            """Bad."""
            ctx.state["x"] = object()
            return "ok"

        model = Told([("bad", {})], "done")
        run = await driver.run(Agent(model, [bad], store=store), "go")
        assert (run.state, model.results[0][1]) == ({}, True)
        assert "must be JSON" in model.results[0][0]

    asyncio.run(story())


@pytest.mark.parametrize("flag", ["idempotent", "read_only"])
def test_harmless_bodies_that_were_cut_off_run_again_unasked(flag: str, store: SqliteStore) -> None:
    async def story() -> None:
        keys: list[str] = []

        @tool(**{flag: True})
        async def fetch(ctx: Context) -> str:
            """Fetch."""
            keys.append(ctx.key)
            if len(keys) == 1:
                await asyncio.Event().wait()
            return "fetched"

        events = Agent(Told([("fetch", {})]), [fetch], store=store).stream("go")
        async for event in events:
            if isinstance(getattr(event, "entry", None), Started):
                break
        while not keys:
            await asyncio.sleep(0)
        await events.aclose()
        [head] = store.heads()
        model = Told("done")
        run = await Agent(model, [fetch], store=store).recover(head.session)
        assert isinstance(run, Completed)
        assert (len(keys), len(set(keys)), model.results) == (2, 1, [("fetched", False)])

    asyncio.run(story())


def test_a_provider_that_uses_an_id_twice_gets_another_key(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        keys: list[str] = []

        @tool
        def note(ctx: Context) -> str:
            """Note."""
            keys.append(ctx.key)
            return "ok"

        model = Told([("note", {})], "one", [("note", {})], "two")
        agent = Agent(model, [note], store=store)
        run = await driver.run(agent, "go")
        await driver.run(agent, "again", run.session)
        assert keys == [f"{run.session}:1.1.0", f"{run.session}:2.1.0"]
        used = [b["id"] for m in model.requests[-1].messages for b in m["content"] if b["type"] == "tool_use"]
        assert used == ["use_0", "call_2_1_0"]

    asyncio.run(story())


def test_live_output_is_shown_and_not_stored(store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        def talks(ctx: Context) -> str:
            """Talk."""
            ctx.progress("half")
            return "whole"

        @tool
        async def talks_too(ctx: Context) -> str:
            """Talk."""
            ctx.progress("one")
            return "two"

        driver = Driver(True)
        agent = Agent(Told([("talks", {}), ("talks_too", {})], "done"), [talks, talks_too], store=store)
        run = await driver.run(agent, "go")
        shown = [(e.call, e.text) for e in driver.events if isinstance(e, ToolOutput)]
        assert shown == [("1.1.0", "half"), ("1.1.1", "one")]
        history = (await agent.load(run.session)).history
        assert "half" not in repr(history)

    asyncio.run(story())


def test_a_result_and_its_state_are_one_commit_and_come_before_anything_reads_them(store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        def put(ctx: Context) -> str:
            """Put."""
            ctx.state["x"] = 1
            return "ok"

        agent = Agent(Told([("put", {})], "done"), [put], store=store)
        run = await agent.run("go")
        returned = [r.entry for r in (await agent.load(run.session)).history if isinstance(r.entry, Returned)]
        assert [(r.call, r.state, r.result.content) for r in returned] == [("1.1.0", {"x": 1}, "ok")]

    asyncio.run(story())


def test_plain_bodies_run_in_threads_and_async_ones_in_the_loop(store: SqliteStore) -> None:
    async def story() -> None:
        where: dict[str, str] = {}

        @tool
        def plain() -> str:
            """Plain."""
            where["plain"] = threading.current_thread().name
            return "ok"

        @tool
        async def loop() -> str:
            """Loop."""
            where["loop"] = threading.current_thread().name
            return "ok"

        here = threading.current_thread().name
        await Agent(Told([("plain", {}), ("loop", {})], "done"), [plain, loop], store=store).run("go")
        assert (where["loop"], where["plain"] == here) == (here, False)

    asyncio.run(story())


def test_a_tool_that_cannot_say_what_it_touches_is_not_run(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        from hitl_cli.tooldef import Tool

        def fail(*arguments: Any) -> Any:
            raise OSError("no such folder")

        async def run(input: Any, ctx: Any) -> Any:
            raise AssertionError("never reached")

        tools = [
            Tool(name="a", description="", schema={"type": "object"}, run=run, accesses=fail),
            Tool(name="b", description="", schema={"type": "object"}, run=run, digest=fail),
            Tool(name="c", description="", schema={"type": "object"}, run=run, form=fail),
            Tool(name="d", description="", schema={"type": "object"}, run=run, preview=fail, approve=True),
        ]
        model = Told([("a", {}), ("b", {}), ("c", {}), ("d", {"x": 1})], "done")
        agent = Agent(model, tools, store=store)
        run_ = await driver.run(agent, "go")
        [asked] = run_.pending  # type: ignore[union-attr]
        assert '"x": 1' in asked.preview.body  # type: ignore[union-attr]
        history = (await agent.load(run_.session)).history
        settled = [r.entry for r in history if isinstance(r.entry, Settled)]
        assert [(s.result.kind, "no such folder" in s.result.content) for s in settled] == [("error", True)] * 3

    asyncio.run(story())


def test_sessions_of_one_agent_run_side_by_side(tmp_path: Path) -> None:
    async def story() -> None:
        meet = asyncio.Barrier(3)

        @tool
        async def wait(ctx: Context) -> str:
            """Meet the others."""
            await meet.wait()
            return ctx.session

        store = SqliteStore(tmp_path / "store.db")
        calls: list[Any] = [[("wait", {})]] * 3 + ["done"] * 3
        agent = Agent(Told(*calls), [wait], store=store)
        runs = await asyncio.gather(*[agent.run("go") for _ in range(3)])
        assert len({run.session for run in runs}) == 3
        assert all(isinstance(run, Completed) for run in runs)
        await agent.close()

    asyncio.run(story())
