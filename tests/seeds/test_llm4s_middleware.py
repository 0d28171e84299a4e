"""llm4s, LS-43 to LS-55: code around a turn that asks a person, in each of its four places."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from hitl_cli import (
    Agent,
    AskSwallowed,
    InvalidAnswers,
    Middleware,
    Usage,
    approve,
    edit,
    reply,
)
from hitl_cli.journal import Result
from hitl_cli.records import replace
from tests.seeds.stage import Reviews, Stage, asks, ids, outcome, results

HOOKS = ("before_agent", "around_model", "around_tool", "after_agent")


class Around(Middleware):
    """Does `what` with its context in each hook that is named, and notes every hook it is entered in."""

    def __init__(self, id: str, *hooks: str, what: Callable[[Any], Any] | None = None, log: list[str] | None = None):
        self.id, self.hooks, self.log = id, hooks, log if log is not None else []
        self.what = what or (lambda ctx: ctx.ask(f"{self.id}?", str))

    def enter(self, hook: str, ctx: Any) -> Any:
        self.log.append(f"{hook} {self.id}")
        return self.what(ctx) if hook in self.hooks else None

    async def before_agent(self, text: str, ctx: Any) -> None:
        self.enter("before_agent", ctx)

    async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
        self.enter("around_model", ctx)
        return await next(request)

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        self.enter("around_tool", ctx)
        return await next(call)

    async def after_agent(self, text: str, ctx: Any) -> str | None:
        said = self.enter("after_agent", ctx)
        return None if said == "ok" else said


async def answered(stage: Stage, agent: Agent, run: Any, *, to: str = "ok") -> tuple[Any, list[str]]:
    """The run at its end, every question answered with `to`, and the ids of what was asked, in order."""
    asked = []
    while outcome(run) == "Suspended":
        asked += ids(run)
        answers = {i.id: approve() if i.kind == "approval" else reply(to) for i in run.pending}
        run = await stage.resume(agent, run, answers)
    return run, asked


async def test_LS_43_a_middleware_may_ask_in_each_of_the_four_hooks(stage: Stage) -> None:
    stack = [Around(f"in-{hook}", hook) for hook in HOOKS]
    agent = stage.agent([("work", {})], "done", tools=[stage.works("work")], middleware=stack)
    run, asked = await answered(stage, agent, await stage.run(agent))
    assert asked == [
        "1:before_agent.in-before_agent",
        "1.1:around_model.in-around_model",
        "1.1.0:around_tool.in-around_tool",
        "1.2:around_model.in-around_model",
        "1.2:after_agent.in-after_agent",
    ]
    assert (run.text, stage.ran) == ("done", ["work"])


@pytest.mark.parametrize("hook", HOOKS)
async def test_LS_44_a_review_names_middleware_hook_and_question_and_the_call_it_is_about(
    hook: str, stage: Stage
) -> None:
    question = {"ask": "really?", "choices": ["yes", "no"]}
    asking = Around("wary", hook, what=lambda ctx: ctx.ask(question, bool, key="really"))
    agent = stage.agent([("work", {"x": "a"})], "done", tools=[stage.works("work")], middleware=[asking])
    run = await stage.run(agent)
    [asked] = run.pending
    assert (asked.kind, asked.middleware, asked.hook, asked.payload) == ("review", "wary", hook, question)
    assert (asked.type, asked.schema) == ("bool", {"type": "boolean"})
    assert (asked.call and (asked.call.name, asked.call.input)) == (
        ("work", {"x": "a"}) if hook == "around_tool" else None
    )


async def test_LS_45_a_question_before_the_agent_leaves_nothing_of_the_turn_and_what_was_before(stage: Stage) -> None:
    agent = stage.agent("first", "second", middleware=[Around("wary", "before_agent")])
    run = await stage.run(agent, "one")
    assert (run.messages, (await agent.load(run.session)).messages) == ([], [])
    run = await stage.resume(agent, run, {ids(run)[0]: reply("ok")})
    earlier = run.messages
    run = await stage.run(agent, "two", run.session)
    assert (run.messages, len(agent.model.requests)) == (earlier, 1)
    run = await stage.resume(agent, run, {ids(run)[0]: reply("ok")})
    assert [m["content"][0]["text"] for m in run.messages] == ["one", "first", "two", "second"]


async def test_LS_46_a_question_before_the_request_means_no_request_was_made(stage: Stage) -> None:
    agent = stage.agent("done", middleware=[Around("wary", "around_model")])
    run = await stage.run(agent)
    assert (len(agent.model.requests), run.usage, len(run.messages)) == (0, Usage(), 1)
    run = await stage.resume(agent, run, {ids(run)[0]: reply("ok")})
    assert (run.text, len(agent.model.requests)) == ("done", 1)


async def test_LS_46_a_question_after_the_request_keeps_only_what_was_spent(stage: Stage) -> None:
    class After(Middleware):
        id = "after"

        async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
            said = await next(request)
            ctx.ask("fine?", str)
            return said

    agent = stage.agent("one", "two", middleware=[After()])
    run = await stage.run(agent)
    assert (len(agent.model.requests), run.usage, len(run.messages)) == (1, Usage(10, 5), 1)
    run = await stage.resume(agent, run, {ids(run)[0]: reply("ok")})
    assert (run.text, len(agent.model.requests), run.usage) == ("two", 2, Usage(20, 10))


async def test_LS_47_a_question_around_a_call_leaves_it_without_a_result_and_with_its_approval(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True)]
    agent = stage.agent([("deploy", {"x": "a"})], "done", tools=tools, middleware=[Reviews("deploy")])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: edit({"x": "b"})})
    assert (ids(run), stage.ran) == (["1.1.0:around_tool.reviews"], [])
    assert run.messages[-1]["role"] == "assistant"
    run = await stage.resume(agent, run, {ids(run)[0]: reply("ok")})
    assert (run.text, stage.ran) == ("done", ["deploy b"])  # no second approval


async def test_LS_47_arguments_that_code_around_a_call_changes_are_checked_again(stage: Stage) -> None:
    class Rewrites(Middleware):
        id = "rewrites"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            return await next(replace(call, input={"x": ctx.ask("what instead?", int)}))

    agent = stage.agent([("work", {"x": "a"})], "done", tools=[stage.works("work")], middleware=[Rewrites()])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reply(3)})
    assert (run.text, stage.ran) == ("done", [])
    assert "x: 3 is not of type 'string'" in results(agent)[0]


async def test_LS_47_an_approval_holds_for_the_arguments_it_was_given_for(stage: Stage) -> None:
    class Rewrites(Middleware):
        id = "rewrites"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            return await next(replace(call, input={"x": ctx.ask("where?", str)}))

    tools = [stage.works("deploy", approve=True)]
    agent = stage.agent([("deploy", {"x": "test"})], "done", tools=tools, middleware=[Rewrites()])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    run = await stage.resume(agent, run, {ids(run)[0]: reply("prod")})
    [asked] = run.pending
    assert (asked.kind, asked.call.input, stage.ran) == ("approval", {"x": "prod"}, [])
    run = await stage.resume(agent, run, {asked.id: approve()})
    assert (run.text, stage.ran) == ("done", ["deploy prod"])


async def test_LS_47_a_body_that_returned_is_not_entered_again(stage: Stage) -> None:
    """Different: the stack runs again, the body does not. What it did to the world is done, and its result is known."""

    class After(Middleware):
        id = "after"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            out = await next(call)
            return Result(f"{out.content}, {ctx.ask('fine?', str)}")

    agent = stage.agent([("work", {})], "done", tools=[stage.works("work")], middleware=[After()])
    run = await stage.run(agent)
    assert stage.ran == ["work"]
    run = await stage.resume(agent, run, {ids(run)[0]: reply("very")})
    assert (stage.ran, results(agent)) == (["work"], ["work done, very"])


@pytest.mark.parametrize(("said", "text"), [("ok", "rude"), ("polite", "polite")], ids=["kept", "replaced"])
async def test_LS_48_a_question_after_the_agent_keeps_the_answer_and_leaves_the_turn_open(
    said: str, text: str, stage: Stage
) -> None:
    agent = stage.agent("rude", "next", middleware=[Around("wary", "after_agent")])
    run = await stage.run(agent)
    assert (outcome(run), run.text) == ("Suspended", "")
    assert run.messages[-1]["content"] == [{"type": "text", "text": "rude"}]
    run = await stage.resume(agent, run, {ids(run)[0]: reply(said)})
    assert (outcome(run), run.text, len(agent.model.requests)) == ("Completed", text, 1)
    assert run.messages[-1]["content"] == [{"type": "text", "text": text}]
    await stage.run(agent, "more", run.session)
    assert agent.model.requests[-1].messages[1]["content"] == [{"type": "text", "text": text}]


@pytest.mark.parametrize("hook", HOOKS)
async def test_LS_49_the_whole_stack_of_a_hook_runs_again_from_its_outermost(hook: str, stage: Stage) -> None:
    log: list[str] = []
    outer, inner = Around("outer", log=log), Around("inner", hook, log=log)
    stack = [inner, outer] if hook == "after_agent" else [outer, inner]  # there, the innermost comes first
    agent = stage.agent([("work", {})], "done", tools=[stage.works("work")], middleware=stack)
    run = await stage.run(agent)
    log.clear()
    await stage.resume(agent, run, {ids(run)[0]: reply("ok")})
    assert log[:2] == [f"{hook} outer", f"{hook} inner"]


@pytest.mark.parametrize("hook", HOOKS)
async def test_LS_50_answers_are_kept_while_the_stack_runs_again(hook: str, stage: Stage) -> None:
    stack = [Around("one", hook), Around("two", hook)]
    replies = [[("work", {})], "done"] if hook == "around_tool" else ["done"]
    agent = stage.agent(*replies, tools=[stage.works("work")], middleware=stack)
    run, asked = await answered(stage, agent, await stage.run(agent))
    order = ["two", "one"] if hook == "after_agent" else ["one", "two"]
    assert [id.partition(":")[2] for id in asked] == [f"{hook}.{name}" for name in order]
    assert run.text == "done"


async def test_LS_51_an_answer_outlives_a_later_approval_and_the_tools_own_question(stage: Stage) -> None:
    class Careful(Middleware):
        id = "careful"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            ctx.ask("fine?", str)
            if not ctx.approved:
                ctx.needs_approval("and may it?")
            return await next(call)

    agent = stage.agent([("asks", {})], "done", tools=[asks], middleware=[Careful()])
    _, asked = await answered(stage, agent, await stage.run(agent), to="3")
    assert asked == ["1.1.0:around_tool.careful", "1.1.0:approval", "1.1.0:ask"]
    assert results(agent) == ["3 of them"]


async def test_LS_52_each_call_has_its_own_question_and_they_are_answered_one_at_a_time(stage: Stage) -> None:
    calls = [("work", {"x": "a"}), ("work", {"x": "b"})]
    agent = stage.agent(calls, "done", tools=[stage.works("work")], middleware=[Reviews("work")])
    run = await stage.run(agent)
    first, second = ids(run)
    assert [interrupt.call.input["x"] for interrupt in run.pending] == ["a", "b"]
    run = await stage.resume(agent, run, {second: reply("ok")})
    assert (ids(run), stage.ran) == ([first], ["work b"])
    run = await stage.resume(agent, run, {first: reply("ok")})
    assert (run.text, results(agent)) == ("done", ["work a done", "work b done"])


async def test_LS_53_a_middleware_may_ask_about_a_call_whose_own_question_was_answered(stage: Stage) -> None:
    """Different: what was answered is kept and read again, so there is nothing that asking twice could lose."""

    class Between(Middleware):
        id = "between"

        async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
            if ctx.state.get("told"):
                ctx.ask("now?", str)
            out = await next(call)
            return Result(f"{out.content}, {ctx.ask('fine?', str)}")

    agent = stage.agent([("asks", {})], "done", tools=[asks], middleware=[Between()])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reply(3)})
    assert ids(run) == ["1.1.0:around_tool.between"]
    run = await stage.resume(agent, run, {ids(run)[0]: reply("very")})
    assert (run.text, results(agent)) == ("done", ["3 of them, very"])


def swallows(ctx: Any) -> None:
    with contextlib.suppress(BaseException):
        ctx.ask("?", str)


def asks_what_cannot_be_written_down(ctx: Any) -> None:
    ctx.ask("?", {1, 2})


def borrows() -> Callable[[Any], None]:
    """Asks through the first context that it was ever given."""
    kept: list[Any] = []

    def what(ctx: Any) -> None:
        kept.append(ctx)
        if len(kept) > 1:
            kept[0].ask("?", str)

    return what


@pytest.mark.parametrize(
    ("what", "hooks", "error"),
    [
        (swallows, ("around_model",), AskSwallowed),
        (asks_what_cannot_be_written_down, ("around_model",), (TypeError, ValueError)),
        (None, ("around_model", "after_agent"), AskSwallowed),
    ],
    ids=["swallows its question", "asks for no type", "asks through another's context"],
)
async def test_LS_54_a_middleware_that_asks_wrongly_fails_the_run_and_the_session_can_be_taken_up(
    what: Callable[[Any], Any] | None, hooks: tuple[str, ...], error: Any, stage: Stage
) -> None:
    rogue = Around("rogue", *hooks, what=what or borrows())
    agent = stage.agent("done", middleware=[rogue])
    with pytest.raises(error):
        await stage.run(agent)
    [head] = stage.store.heads()
    assert (head.status, head.pending) == ("failed", ())
    run = await stage.recover(stage.agent("done", store=stage.elsewhere()), head.session)
    assert (outcome(run), run.text) == ("Completed", "done")


async def test_LS_55_middleware_are_entered_in_order_and_after_the_agent_in_reverse(stage: Stage) -> None:
    log: list[str] = []
    a, b, c = (Around(id, log=log) for id in "abc")
    a.after = ["c"]  # inside of c
    b.before = ["c"]  # outside of it
    agent = stage.agent("done", middleware=[a, b, c])
    await stage.run(agent)
    assert log == [
        *["before_agent b", "before_agent c", "before_agent a"],
        *["around_model b", "around_model c", "around_model a"],
        *["after_agent a", "after_agent c", "after_agent b"],
    ]


@pytest.mark.parametrize("stack", [["a", "a"], ["with space"], ["x" * 65], ["ä"], ["a.b"]])
def test_LS_55_ids_are_unique_and_well_formed(stack: list[str], stage: Stage) -> None:
    with pytest.raises(ValueError, match="middleware"):
        stage.agent(middleware=[Around(id) for id in stack])


def test_LS_55_an_order_that_contradicts_itself_is_refused(stage: Stage) -> None:
    a, b = Around("a"), Around("b")
    a.before, b.before = ["b"], ["a"]
    with pytest.raises(ValueError, match="contradicts"):
        stage.agent(middleware=[a, b])


async def test_LS_43_an_answer_that_no_question_of_a_middleware_takes_is_refused(stage: Stage) -> None:
    agent = stage.agent("done", middleware=[Around("wary", "around_model", what=lambda ctx: ctx.ask("how many?", int))])
    run = await stage.run(agent)
    for bad in (reply("many"), approve(), reply(None)):
        with pytest.raises(InvalidAnswers):
            await stage.resume(agent, run, {ids(run)[0]: bad})
    run = await stage.resume(agent, run, {ids(run)[0]: reply(3)})
    assert run.text == "done"
