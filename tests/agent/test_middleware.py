"""Middleware: order, questions in each hook by replay, refusing, blocking, guardrail reviews."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from hitl_cli import Agent, Block, Context, Middleware, approve, edit, guardrail_review, reject, reply, tool
from hitl_cli.errors import AskSwallowed, Incompatible, InvalidAnswers
from hitl_cli.interrupts import Approval, Review
from hitl_cli.journal import Result
from hitl_cli.middleware import in_order
from hitl_cli.outcome import Blocked, Completed, Suspended
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Driver, Told, ids


def deploys(log: list[Any]) -> Any:
    @tool(approve=True)
    def deploy(env: str) -> str:
        """Deploy."""
        log.append(env)
        return f"deployed {env}"

    return deploy


class Asks(Middleware):
    """Asks once in the hook it is told to."""

    def __init__(self, id: str, hook: str, log: list[str] | None = None) -> None:
        self.id, self.hook, self.log = id, hook, log if log is not None else []

    def _ask(self, hook: str, ctx: Any) -> Any:
        self.log.append(f"{self.id} {hook}")
        return ctx.ask(f"{hook}?", str) if hook == self.hook else None

    async def before_agent(self, text: str, ctx: Any) -> str | None:
        said = self._ask("before_agent", ctx)
        return f"{text} ({said})" if said else None

    async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
        self._ask("around_model", ctx)
        return await next(request)

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        self._ask("around_tool", ctx)
        return await next(call)

    async def after_agent(self, text: str, ctx: Any) -> str | None:
        said = self._ask("after_agent", ctx)
        return said if said and said != "ok" else None


def test_a_middleware_asks_in_each_hook(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []
        hooks = ["before_agent", "around_model", "around_tool", "after_agent"]
        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploys(log)], store=store, middleware=[Asks(h, h) for h in hooks], mode="bypass")
        run = await driver.run(agent, "go")
        seen = []
        while isinstance(run, Suspended):
            [asked] = run.pending
            assert isinstance(asked, Review)
            seen.append((asked.id, asked.middleware, asked.hook, asked.payload, asked.call and asked.call.id))
            requests = len(model.requests)
            if asked.hook == "before_agent":
                assert run.messages == []
            if asked.hook == "around_tool":
                assert log == []
            run = await driver.resume(agent, run.session, {asked.id: reply("ok")})
            assert len(model.requests) >= requests
        assert seen == [
            ("1:before_agent.before_agent", "before_agent", "before_agent", "before_agent?", None),
            ("1.1:around_model.around_model", "around_model", "around_model", "around_model?", None),
            ("1.1.0:around_tool.around_tool", "around_tool", "around_tool", "around_tool?", "1.1.0"),
            ("1.2:around_model.around_model", "around_model", "around_model", "around_model?", None),
            ("1.2:after_agent.after_agent", "after_agent", "after_agent", "after_agent?", None),
        ]
        assert isinstance(run, Completed)
        assert (run.text, log, run.messages[0]["content"][0]["text"]) == ("done", ["a"], "go (ok)")

    asyncio.run(story())


def test_a_reviewer_may_replace_the_answer(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told("rude", "next")
        agent = Agent(model, [], store=store, middleware=[Asks("m", "after_agent")])
        run = await driver.run(agent, "go")
        assert run.text == ""
        assert run.messages[-1]["content"][0]["text"] == "rude"
        run = await driver.resume(agent, run.session, {ids(run)[0]: reply("polite")})
        assert (run.text, run.messages[-1]["content"]) == ("polite", [{"type": "text", "text": "polite"}])
        run = await driver.run(agent, "more", run.session)
        assert model.requests[-1].messages[1]["content"][0]["text"] == "polite"

    asyncio.run(story())


def test_answers_are_kept_while_the_stack_runs_again_from_its_outermost(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[str] = []
        stack = [Asks("outer", "around_tool", log), Asks("inner", "around_tool", log)]
        model = Told([("deploy", {"env": "a"}), ("deploy", {"env": "b"})], "done")
        agent = Agent(model, [deploys([])], store=store, middleware=stack, mode="bypass")
        run = await driver.run(agent, "go")
        assert ids(run) == ["1.1.0:around_tool.outer", "1.1.1:around_tool.outer"]
        run = await driver.resume(agent, run.session, {"1.1.1:around_tool.outer": reply("x")})
        assert ids(run) == ["1.1.0:around_tool.outer", "1.1.1:around_tool.inner"]
        run = await driver.resume(agent, run.session, {i: reply("x") for i in ids(run)})
        run = await driver.resume(agent, run.session, {i: reply("x") for i in ids(run)})
        assert isinstance(run, Completed)
        tools = [line for line in log if line.endswith("around_tool")]
        assert tools.count("outer around_tool") == 6
        assert tools.count("inner around_tool") == 4

    asyncio.run(story())


def test_an_answer_outlives_the_other_gates_of_its_call(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        prompts = []

        class Careful(Asks):
            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                ctx.ask("first?", str)
                if not ctx.approved:
                    ctx.needs_approval("careful")
                return await next(call)

        @tool
        def body(ctx: Context) -> str:
            """Ask too."""
            return str(ctx.ask("body?", str))

        model = Told([("body", {})], "done")
        agent = Agent(model, [body], store=store, middleware=[Careful("careful", "")])
        run = await driver.run(agent, "go")
        while isinstance(run, Suspended):
            [asked] = run.pending
            prompts.append((asked.kind, getattr(asked, "source", "")))
            run = await driver.resume(
                agent, run.session, {asked.id: approve() if isinstance(asked, Approval) else reply("x")}
            )
        assert prompts == [("review", ""), ("approval", "careful"), ("question", "")]

    asyncio.run(story())


def test_a_question_after_the_body_does_not_run_it_again(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []

        class After(Middleware):
            id = "after"

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                result = await next(call)
                return Result(f"{result.content} {ctx.ask('fine?', str)}")

        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploys(log)], store=store, middleware=[After()], mode="bypass")
        run = await driver.run(agent, "go")
        assert log == ["a"]
        await driver.resume(agent, run.session, {ids(run)[0]: reply("yes")})
        assert (log, model.results) == (["a"], [("deployed a yes", False)])

    asyncio.run(story())


def test_a_question_after_the_request_counts_what_was_spent(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        class After(Middleware):
            id = "after"

            async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
                reply = await next(request)
                ctx.ask("fine?", str)
                return reply

        model = Told("one", "two")
        agent = Agent(model, [], store=store, middleware=[After()])
        run = await driver.run(agent, "go")
        assert (run.usage.input, len(run.messages)) == (10, 1)
        run = await driver.resume(agent, run.session, {ids(run)[0]: reply("yes")})
        assert (run.text, run.usage.input, len(model.requests)) == ("two", 20, 2)

    asyncio.run(story())


def test_a_middleware_refuses_a_call_that_was_approved(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        log: list[Any] = []

        class Never(Middleware):
            id = "never"

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                if call.input["env"] == "prod":
                    return Result("never prod", False, "refused")
                return await next(call)

        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploys(log)], store=store, middleware=[Never()])
        run = await driver.run(agent, "go")
        await driver.resume(agent, run.session, {ids(run)[0]: edit({"env": "prod"})})
        assert log == []
        assert "never prod" in model.results[0][0]

    asyncio.run(story())


def test_what_a_middleware_changes_is_judged_before_it_runs(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        from hitl_cli.records import replace

        log: list[Any] = []

        class Rewrites(Middleware):
            id = "rewrites"

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                return await next(replace(call, input={"env": "prod"}))

        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploys(log)], store=store, middleware=[Rewrites()])
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        [asked] = run.pending
        assert (asked.id, asked.call and asked.call.input, log) == ("1.1.0:approval~2", {"env": "prod"}, [])
        await driver.resume(agent, run.session, {asked.id: approve()})
        assert log == ["prod"]

    asyncio.run(story())


def test_hooks_may_be_plain_functions(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        class Plain(Middleware):
            id = "plain"

            def before_agent(self, text: str, ctx: Any) -> str:  # type: ignore[override]
                return text.upper()

            def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:  # type: ignore[override]
                ctx.ask("sure?", bool)
                return next(call)

        model = Told([("deploy", {"env": "a"})], "done")
        agent = Agent(model, [deploys([])], store=store, middleware=[Plain()])
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        run = await driver.resume(agent, run.session, {ids(run)[0]: reply("y")})
        assert (run.text, model.requests[0].messages[0]["content"][0]["text"]) == ("done", "GO")
        assert model.results == [("deployed a", False)]

    asyncio.run(story())


def test_order_ids_and_their_mistakes() -> None:
    def made(id: str, before: list[str] = [], after: list[str] = []) -> Middleware:  # noqa: B006
        m = Middleware()
        m.id, m.before, m.after = id, before, after
        return m

    assert [m.id for m in in_order([made("a"), made("b", before=["a"]), made("c", after=["d"]), made("d")])] == [
        "b",
        "a",
        "d",
        "c",
    ]
    for bad in ([made("a"), made("a")], [made("no spaces")], [made("x" * 65)], [made("a", ["b"]), made("b", ["a"])]):
        with pytest.raises(ValueError, match=r"middleware|order"):
            in_order(bad)


def test_answers_that_do_not_fit_a_review_are_refused(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        class Bool(Middleware):
            id = "bool"

            async def before_agent(self, text: str, ctx: Any) -> str | None:
                return f"{text} {ctx.ask('how many?', int)}"

        model = Told("done")
        agent = Agent(model, [], store=store, middleware=[Bool()])
        run = await driver.run(agent, "go")
        id = ids(run)[0]
        for bad in (reply("many"), approve(), reject()):
            with pytest.raises(InvalidAnswers):
                await driver.resume(agent, run.session, {id: bad})
        with pytest.raises(Incompatible, match="bool"):
            await driver.resume(Agent(model, [], store=store), run.session, {id: reply(3)})
        run = await driver.resume(agent, run.session, {id: reply("3")})
        assert run.messages[0]["content"][0]["text"] == "go 3"

    asyncio.run(story())


def test_a_middleware_that_catches_the_pause_fails_the_run(driver: Driver, store: SqliteStore) -> None:
    async def story(hook: str) -> None:
        class Sly(Middleware):
            id = "sly"

            def _ask(self, name: str, ctx: Any) -> None:
                if name == hook:
                    with contextlib.suppress(BaseException):
                        ctx.ask("?", str)

            async def before_agent(self, text: str, ctx: Any) -> None:
                self._ask("before_agent", ctx)

            async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
                self._ask("around_model", ctx)
                return await next(request)

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                self._ask("around_tool", ctx)
                return await next(call)

            async def after_agent(self, text: str, ctx: Any) -> None:
                self._ask("after_agent", ctx)

        model = Told([("deploy", {"env": "a"})], "done", "done")
        agent = Agent(model, [deploys([])], store=store, middleware=[Sly()], mode="bypass")
        with pytest.raises(AskSwallowed):
            await driver.run(agent, "go")
        for head in store.heads():
            assert head.pending == ()

    for hook in ("before_agent", "around_model", "around_tool", "after_agent"):
        asyncio.run(story(hook))


def guard(limit: int) -> tuple[list[str], Callable[[str], str | None]]:
    seen: list[str] = []

    def judge(text: str) -> str | None:
        seen.append(text)
        return f"too long, said {len(seen)} times" if len(text) > limit else None

    return seen, judge


@pytest.mark.parametrize("phase", ["input", "output"])
@pytest.mark.parametrize("verdict", ["allow", {"edit": "a very much longer text"}, "block"])
def test_a_reviewer_decides_about_what_a_guard_refuses(
    phase: str, verdict: Any, driver: Driver, store: SqliteStore
) -> None:
    async def story() -> None:
        seen, judge = guard(10)
        first, second = ("a long message", "short") if phase == "input" else ("short", "a long answer")
        model = Told(second, "next")
        agent = Agent(model, [], store=store, middleware=[guardrail_review("length", judge, [phase])])
        run = await driver.run(agent, first)
        [asked] = run.pending
        assert isinstance(asked, Review)
        text = first if phase == "input" else second
        assert asked.payload == {
            "phase": phase,
            "guardrail": "length",
            "reason": "too long, said 1 times",
            "text": text,
        }
        run = await driver.resume(agent, run.session, {asked.id: reply(verdict)})
        assert seen == [text]
        if verdict == "block":
            assert isinstance(run, Blocked)
            assert (run.by, run.messages, run.usage.input) == ("length", [], 0 if phase == "input" else 10)
        else:
            said = run.messages[0 if phase == "input" else -1]["content"][0]["text"]
            assert said == (text if verdict == "allow" else verdict["edit"])
        after = await driver.run(agent, "x", run.session)
        assert isinstance(after, Completed)
        assert len(after.messages) == (2 if verdict == "block" else 4)

    asyncio.run(story())


def test_a_guard_that_accepts_asks_nobody(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        seen, judge = guard(10)
        agent = Agent(Told("short"), [], store=store, middleware=[guardrail_review("length", judge)])
        assert isinstance(await driver.run(agent, "hi"), Completed)
        assert seen == ["hi", "short"]

    asyncio.run(story())


def test_a_block_from_around_a_call_ends_the_turn_without_a_trace(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        class Stop(Middleware):
            id = "stop"

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                raise Block("stop", "not this")

        agent = Agent(Told([("deploy", {"env": "a"})]), [deploys([])], store=store, middleware=[Stop()], mode="bypass")
        run = await driver.run(agent, "go")
        assert isinstance(run, Blocked)
        assert (run.by, run.reason, run.messages) == ("stop", "not this", [])

    asyncio.run(story())


def test_a_question_through_a_context_of_another_place_fails_the_run(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        kept: list[Any] = []

        class Keeps(Middleware):
            id = "keeps"

            async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
                kept.append(ctx)
                return await next(request)

            async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
                kept[0].ask("?", str)
                return await next(call)

        agent = Agent(Told([("deploy", {"env": "a"})]), [deploys([])], store=store, middleware=[Keeps()], mode="bypass")
        with pytest.raises(AskSwallowed, match="not its own"):
            await driver.run(agent, "go")
        assert [h.status for h in store.heads()] == ["failed"]

    asyncio.run(story())
