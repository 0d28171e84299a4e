"""The gates of a call in their order: arguments, a person's input, external hand-over, questions from inside the body."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hitl_cli import Agent, Context, approve, edit, external_tool, gate, reject, reply, result, tool, user_tools
from hitl_cli.errors import AskSwallowed, InvalidAnswers
from hitl_cli.interrupts import Approval, External, Question
from hitl_cli.outcome import Completed, Suspended
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Driver, Told, ids

QUERY = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}


@tool(user_fields=["to"])
def send(to: str, subject: str, body: str = "") -> str:
    """Send a message.

    Args:
        to: who gets it
        subject: what it is about
    """
    return f"{subject} to {to}: {body}"


@tool(approve=True)
def deploy(env: str) -> str:
    """Deploy."""
    return f"deployed {env}"


def test_calls_that_cannot_be_run_are_errors_and_ask_nobody(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool(approve=True)
        def broken() -> str:
            """Raise."""
            raise LookupError("no such table")

        calls = [("nothing", {}), ("deploy", "{env: "), ("deploy", {"env": 3, "x": 1}), ("broken", {})]
        model = Told(calls, "done")
        agent = Agent(model, [deploy, broken], store=store, policy={"broken": lambda call, past: None}, mode="declared")
        run = await driver.run(agent, "go")
        assert ids(run) == ["1.1.3:approval"]
        await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        texts = [text for text, failed in model.results if failed]
        assert len(texts) == 4
        assert texts[0].startswith("There is no tool 'nothing'.")
        assert texts[1].startswith("The arguments of deploy are not a JSON object.")
        assert "env: 3 is not of type 'string'" in texts[2]
        assert "'x' was unexpected" in texts[2]
        assert texts[3] == "LookupError: no such table"

    asyncio.run(story())


def test_a_person_fills_in_what_is_hidden_from_the_model(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("send", {"subject": "Hi", "to": "forged@example.org"})], "done")
        agent = Agent(model, gate([send]), store=store)
        run = await driver.run(agent, "go")
        offered = model.requests[0].tools[0].schema
        assert (list(offered["properties"]), offered["required"]) == (["subject", "body"], ["subject"])
        [form] = run.pending
        assert isinstance(form, Question)
        assert [(f.name, f.value, f.description, f.required) for f in form.fields] == [
            ("to", None, "who gets it", True),
            ("subject", "Hi", "what it is about", True),
            ("body", "", "", False),
        ]
        with pytest.raises(InvalidAnswers, match="no such field"):
            await driver.resume(agent, run.session, {form.id: reply({"whom": "x"})})
        run = await driver.resume(agent, run.session, {form.id: reply({"body": "Bye"})})
        assert ids(run) == [form.id]
        run = await driver.resume(agent, run.session, {form.id: reply({"to": "ann"})})
        [asked] = run.pending
        assert isinstance(asked, Approval)
        assert asked.call.input == {"to": "ann", "subject": "Hi", "body": "Bye"}
        run = await driver.resume(agent, run.session, {asked.id: approve()})
        assert model.results == [("Hi to ann: Bye", False)]

    asyncio.run(story())


def test_a_person_may_review_everything_the_model_filled_in(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool(user_fields="*")
        def pay(amount: int, to: str) -> str:
            """Pay."""
            return f"{amount} to {to}"

        model = Told([("pay", {"amount": 3, "to": "x"})], "done")
        agent = Agent(model, [pay], store=store)
        run = await driver.run(agent, "go")
        [form] = run.pending
        assert [f.value for f in form.fields] == [3, "x"]
        reopened = await Agent(Told(), [pay], store=store).load(run.session)
        assert reopened.pending == run.pending
        with pytest.raises(InvalidAnswers, match="'much' is not a whole number"):
            await driver.resume(agent, run.session, {form.id: reply({"amount": "much"})})
        await driver.resume(agent, run.session, {form.id: reply({"amount": "5"})})
        assert model.results == [("5 to x", False)]

    asyncio.run(story())


def test_a_refused_form_is_a_refused_call(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("send", {"subject": "Hi"})], "done")
        agent = Agent(model, [send], store=store)
        run = await driver.run(agent, "go")
        await driver.resume(agent, run.session, {ids(run)[0]: reject("no mail today")})
        assert "no mail today" in model.results[0][0]

    asyncio.run(story())


def test_external_calls_are_run_by_somebody_else(driver: Driver, store: SqliteStore) -> None:
    async def story(order: list[int]) -> Any:
        @tool
        def look() -> str:
            """Look."""
            return "seen"

        query = external_tool("query", "Run SQL", QUERY)
        model = Told([("query", {"sql": "a"}), ("look", {}), ("query", {"sql": "b"})], "done")
        agent = Agent(model, [query, look], store=store)
        run = await driver.run(agent, "go")
        assert all(isinstance(i, External) for i in run.pending)
        assert str(run) == "waiting for 2 external results (query)"
        with pytest.raises(InvalidAnswers, match="does not answer this external"):
            await driver.resume(agent, run.session, {ids(run)[0]: edit({"sql": "c"})})
        for n in order:
            answer = result("no such table", error=True) if n else result([{"n": 1}])
            run = await driver.resume(agent, run.session, {f"1.1.{n}:external": answer})
        assert model.requests[0].tools[0].schema == QUERY
        return model.results

    wanted = [('[{"n": 1}]', False), ("seen", False), ("no such table", True)]
    assert asyncio.run(story([0, 2])) == wanted
    assert asyncio.run(story([2, 0])) == wanted


def test_a_gated_external_call_waits_twice(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        tools = gate([external_tool("query", "Run SQL", QUERY, silent=True)])
        model = Told([("query", {"sql": "a"})], "done")
        agent = Agent(model, tools, store=store)
        run = await driver.run(agent, "go")
        assert ids(run) == ["1.1.0:approval"]
        run = await driver.resume(agent, run.session, {"1.1.0:approval": approve()})
        assert (ids(run), str(run)) == (["1.1.0:external"], "")
        run = await driver.resume(agent, run.session, {"1.1.0:external": result("x")})
        assert isinstance(run, Completed)

    asyncio.run(story())


def test_gating_a_name_that_no_tool_has_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="'Deploy'"):
        gated = gate([deploy], ["Deploy"])
    assert [t.approve for t in gated] == [True]


def test_the_model_asks_for_a_form_of_its_own(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        fields = [
            {"name": "name", "description": "Your name"},
            {"name": "age", "type": "int"},
            {"name": "ok", "type": "bool"},
            {"name": "when", "type": "date"},
        ]
        model = Told([("get_user_input", {"fields": fields})], [("get_user_input", {"fields": []})], "done")
        agent = Agent(model, user_tools(), store=store)
        run = await driver.run(agent, "go")
        [form] = run.pending
        assert [(f.name, f.type) for f in form.fields] == [
            ("name", "str"),
            ("age", "int"),
            ("ok", "bool"),
            ("when", "str"),
        ]
        given = {"name": "Zoë", "age": "7", "ok": "Yes", "when": ""}
        run = await driver.resume(agent, run.session, {form.id: reply(given)})
        assert isinstance(run, Completed)
        told = model.requests[1].messages[-1]["content"][0]["content"]
        assert "Zoë" in told
        assert json.loads(told) == [
            {"name": "name", "value": "Zoë"},
            {"name": "age", "value": 7},
            {"name": "ok", "value": True},
            {"name": "when", "value": ""},
        ]
        assert model.results == [("[]", False)]
        assert "get_user_input" in model.requests[0].system
        assert user_tools("")[0].instructions == ""

    asyncio.run(story())


def question(**changes: Any) -> dict[str, Any]:
    options = [{"label": "Red"}, {"label": "Dark blue", "description": "like the sea"}]
    return {"question": "Which colour?", "header": "Colour", "options": options, **changes}


def test_the_model_asks_questions_with_choices(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        questions = [question(), question(question="Which rooms?", multi_select=True)]
        model = Told([("ask_user", {"questions": questions})], "done")
        agent = Agent(model, user_tools(), store=store)
        run = await driver.run(agent, "go")
        [asked] = run.pending
        for bad, why in [
            ({"Which colour?": ["Green"]}, "not on offer"),
            ({"Which colour?": ["Red", "Dark blue"]}, "one"),
        ]:
            with pytest.raises(InvalidAnswers, match=why):
                await driver.resume(agent, run.session, {asked.id: reply(bad)})
        run = await driver.resume(agent, run.session, {asked.id: reply({"Which colour?": "Red"})})
        assert ids(run) == [asked.id]
        run = await driver.resume(agent, run.session, {asked.id: reply({"Which rooms?": []})})
        assert json.loads(model.results[0][0]) == [
            {"question": "Which colour?", "selected": ["Red"]},
            {"question": "Which rooms?", "selected": []},
        ]

    asyncio.run(story())


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({"header": "x" * 12}, True),
        ({"header": "x" * 13}, False),
        ({"options": [{"label": "a"}]}, False),
        ({"options": [{"label": c} for c in "ab"]}, True),
        ({"options": [{"label": c} for c in "abcd"]}, True),
        ({"options": [{"label": c} for c in "abcde"]}, False),
        ({"options": [{"label": "one two three four five six"}, {"label": "b"}]}, False),
        ({"question": "Choose a colour"}, False),
    ],
)
def test_questions_keep_to_their_limits(changes: dict[str, Any], fits: bool) -> None:
    async def story() -> bool:
        model = Told([("ask_user", {"questions": [question(**changes)]})], "done")
        run = await Agent(model, user_tools()).run("go")
        return isinstance(run, Suspended)

    assert asyncio.run(story()) is fits


def test_a_body_asks_and_restarts_with_the_answers(driver: Driver, store: SqliteStore) -> None:
    async def story(sync: bool) -> Any:
        entered = []

        def ask(ctx: Context) -> str:
            entered.append(ctx.key)
            sure = ctx.ask("Sure?", bool)
            many = ctx.ask({"how": "many"}, int, key="many")
            again = ctx.ask("Sure?", bool)
            return f"{sure} {many} {again}"

        async def ask_async(ctx: Context) -> str:
            return ask(ctx)

        body = tool(name="body", approve=True)(ask if sync else ask_async)
        model = Told([("body", {})], "done")
        agent = Agent(model, [body], store=store)
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        asked = []
        for value in ["yes", 3, False]:
            agent = Agent(model, [body], store=store)
            [waiting] = run.pending
            assert isinstance(waiting, Question)
            asked.append((waiting.id, waiting.payload, waiting.type))
            run = await driver.resume(agent, run.session, {waiting.id: reply(value)})
        assert model.results == [("True 3 False", False)]
        assert len(entered) == 4
        assert len(set(entered)) == 1
        return asked

    wanted = [("1.1.0:ask", "Sure?", "bool"), ("1.1.0:ask~2", {"how": "many"}, "int"), ("1.1.0:ask~3", "Sure?", "bool")]
    assert asyncio.run(story(True)) == wanted
    assert asyncio.run(story(False)) == wanted


def test_a_reply_that_does_not_fit_a_tools_question_is_the_calls_error(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        def count(ctx: Context) -> str:
            """Count."""
            return str(ctx.ask("How many?", int))

        model = Told([("count", {})], "done")
        agent = Agent(model, [count], store=store)
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: reply("lots")})
        assert isinstance(run, Completed)
        [(text, failed)] = model.results
        assert failed
        assert text.startswith("Invalid answer for 'count'")

    asyncio.run(story())


def test_a_body_that_wants_an_approval_gets_one_and_no_second(driver: Driver, store: SqliteStore) -> None:
    async def story(careful: bool) -> Any:
        @tool
        def wipe(ctx: Context) -> str:
            """Wipe."""
            if not (careful and ctx.approved):
                ctx.needs_approval("it cannot be undone")
            return "wiped"

        model = Told([("wipe", {})], "done")
        agent = Agent(model, [wipe], store=store)
        run = await driver.run(agent, "go")
        [asked] = run.pending
        assert isinstance(asked, Approval)
        assert (asked.source, asked.reason) == ("tool", "it cannot be undone")
        run = await driver.resume(agent, run.session, {asked.id: approve()})
        assert isinstance(run, Completed)
        return model.results[0][1]

    assert asyncio.run(story(True)) is False
    assert asyncio.run(story(False)) is True


def test_code_that_catches_the_pause_fails_the_run(driver: Driver, store: SqliteStore) -> None:
    async def story(way: int) -> None:
        @tool
        def sly(ctx: Context) -> str:
            """Swallow."""
            try:
                ctx.ask("Sure?", bool)
            except BaseException as error:
                if way == 1:
                    raise ValueError("other") from error
            return "went on"

        agent = Agent(Told([("sly", {})], "done"), [sly], store=store)
        with pytest.raises(AskSwallowed, match=r"1\.1\.0:ask"):
            await driver.run(agent, "go")
        [head] = store.heads(limit=1)
        assert (head.status, head.pending) == ("failed", ())

    asyncio.run(story(0))
    asyncio.run(story(1))


def test_questions_inside_a_task_group_count_as_the_pause(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool
        async def both(ctx: Context) -> str:
            """Ask in a group."""

            async def one() -> None:
                ctx.ask("Sure?", bool)

            async with asyncio.TaskGroup() as group:
                group.create_task(one())
            return "asked"

        model = Told([("both", {})], "done")
        agent = Agent(model, [both], store=store)
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: reply(True)})
        assert model.results == [("asked", False)]

    asyncio.run(story())


def test_session_state_survives_pauses_and_fills_the_instructions(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        @tool(approve=True)
        def add(item: str, ctx: Context) -> str:
            """Add to the list."""
            ctx.state["list"] = [*ctx.state.get("list", []), item]
            return "added"

        model = Told([("add", {"item": "a"})], [("add", {"item": "b"})], "done")
        agent = Agent(model, [add], store=store, instructions="List: {list} {unknown}")
        run = await driver.run(agent, "go")
        run = await driver.resume(agent, run.session, {ids(run)[0]: approve()})
        assert run.state == {"list": ["a"]}
        other = Agent(model, [add], store=store, instructions="List: {list} {unknown}")
        assert (await other.load(run.session)).state == {"list": ["a"]}
        run = await driver.resume(other, run.session, {ids(run)[0]: approve()})
        assert run.state == {"list": ["a", "b"]}
        systems = [r.system for r in model.requests]
        assert systems == ["List: {list} {unknown}", "List: ['a'] {unknown}", "List: ['a', 'b'] {unknown}"]

    asyncio.run(story())


def test_what_the_program_injects_is_hidden_and_cannot_be_forged(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        marker, seen = object(), []

        @tool
        def who(ctx: Context) -> str:
            """Who."""
            seen.append(ctx.context)
            return ctx.call

        model = Told([("who", {"ctx": "forged"})], "done")
        agent = Agent(model, [who], store=store)
        await driver.run(agent, "go", context=marker)
        assert (seen, model.results, model.requests[0].tools[0].schema["properties"]) == (
            [marker],
            [("1.1.0", False)],
            {},
        )

    asyncio.run(story())


def test_a_tool_that_is_gone_is_an_error_result(driver: Driver, store: SqliteStore) -> None:
    async def story() -> None:
        model = Told([("deploy", {"env": "a"})], "done")
        run = await driver.run(Agent(model, [deploy], store=store), "go")
        run = await driver.resume(Agent(model, [], store=store), run.session, {ids(run)[0]: approve()})
        assert (run.text, model.results) == ("done", [("There is no tool 'deploy'. Nothing was run.", True)])

    asyncio.run(story())


def test_the_plain_function_of_a_tool_stays_reachable() -> None:
    assert deploy.function is not None
    assert deploy.function("x") == "deployed x"
