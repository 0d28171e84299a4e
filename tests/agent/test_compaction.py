"""A conversation summed up: asked for, by itself before the window is full, and what of it must stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_cli import Agent, approve, tool
from hitl_cli.errors import HitlError, ModelError, SessionPending
from hitl_cli.journal import Began, Changed, ModelReply, Recorded, Replied, Usage, Who
from hitl_cli.loop.context import PICTURE, Context, tokens
from hitl_cli.middleware import Middleware
from hitl_cli.outcome import Completed, Notice, Suspended
from hitl_cli.store.memory import MemoryStore
from tests.agent.told import Told, said

SUMMARY = "Summary of the conversation so far:\n\n"


@tool
def look(at: str) -> str:
    "Look at something."
    return f"this is {at}"


@tool(approve=True)
def act(on: str) -> str:
    "Act on something."
    return f"acted on {on}"


class Small(Told):
    window = 1000


def text(words: str, used: int = 15) -> ModelReply:
    return ModelReply(({"type": "text", "text": words},), "end", Usage(used - 5, 5, cost=0.01))


def calls(name: str, input: dict[str, Any], used: int = 15) -> ModelReply:
    return ModelReply(said([(name, input)]).blocks, "tool_use", Usage(used - 5, 5, cost=0.01))


def shape(messages: Any) -> list[tuple[str, list[str]]]:
    """Messages as (role, [text of each block, or its type])."""
    return [(m["role"], [b.get("text") or b.get("content") or b["type"] for b in m["content"]]) for m in messages]


async def all_of(events: Any) -> list[Any]:
    return [event async for event in events]


def test_a_summary_that_is_asked_for_stands_for_what_was_said():
    model = Told("Hello.", text("We greeted."), "Again.")
    agent = Agent(model, [look])
    run = agent.sync.run("Hi")
    shown: list[Any] = []
    agent.sync.compact(run.session, "the greeting", show=shown.append)
    asked = model.requests[1].messages
    assert shape(asked)[:2] == [("user", ["Hi"]), ("assistant", ["Hello."])]
    assert asked[-1]["_ask"] == "summary"
    assert asked[-1]["content"][-1]["text"].endswith("to be kept: the greeting")
    entry = shown[-1].entry
    assert entry == Changed("summary", "We greeted.", Who("program"), Usage(10, 5, cost=0.01))
    agent.sync.run("More", run.session)
    assert shape(model.requests[2].messages) == [("user", [SUMMARY + "We greeted.", "More"])]
    agent.sync.close()


def test_writing_a_summary_counts_in_what_the_session_costs():
    agent = Agent(Told(text("Hello."), text("We greeted.", 115)))
    run = agent.sync.run("Hi")
    agent.sync.compact(run.session)
    assert agent.sync.load(run.session).usage == Usage(120, 10, cost=0.02)
    agent.sync.close()


@pytest.mark.parametrize(
    "reply", [ModelError("no"), text("  "), ModelReply(({"type": "text", "text": "cu"},), "length")]
)
def test_a_summary_that_fails_leaves_the_conversation_as_it_was(reply: Any):
    agent = Agent(Told("Hello.", reply))
    run = agent.sync.run("Hi")
    before = agent.sync.load(run.session)
    with pytest.raises(ModelError):
        agent.sync.compact(run.session)
    assert agent.sync.load(run.session) == before
    agent.sync.close()


def test_there_is_nothing_to_sum_up_before_an_answer_nor_right_after_a_summary():
    agent = Agent(Told("Hello.", "We greeted."))
    session = agent.store.create()
    with pytest.raises(HitlError, match="nothing to sum up"):
        agent.sync.compact(session)
    agent.sync.run("Hi", session)
    agent.sync.compact(session)
    with pytest.raises(HitlError, match="nothing to sum up"):
        agent.sync.compact(session)
    agent.sync.close()


def test_while_something_waits_nothing_is_summed_up():
    agent = Agent(Told([("act", {"on": "x"})], "Done."), [act])
    run = agent.sync.run("Go")
    assert isinstance(run, Suspended)
    with pytest.raises(SessionPending):
        agent.sync.compact(run.session)
    assert isinstance(agent.sync.resume(run, {run.pending[0].id: approve()}), Completed)
    agent.sync.close()


def test_before_the_window_is_full_the_turns_before_are_summed_up_and_the_message_stays():
    model = Small(text("Hello.", 950), text("We greeted."), text("Fine."))
    agent = Agent(model)
    run = agent.sync.run("Hi")
    events = list(agent.sync.stream("How are you?", run.session))
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert notices == ["The conversation fills 95% of the model's window; summing it up."]
    assert shape(model.requests[1].messages)[:2] == [("user", ["Hi"]), ("assistant", ["Hello."])]
    assert shape(model.requests[2].messages) == [("user", [SUMMARY + "We greeted.", "How are you?"])]
    entries = [event.entry for event in events if isinstance(event, Recorded)]
    assert [type(e) for e in entries][:3] == [Began, Changed, Replied]
    assert entries[1].who == Who("program", "window")
    agent.sync.close()


def test_in_the_middle_of_a_turn_the_message_and_the_last_step_stay():
    model = Small(
        calls("look", {"at": "one"}),
        calls("look", {"at": "two"}, 950),
        text("One was looked at."),
        text("Both seen."),
    )
    agent = Agent(model, [look])
    run = agent.sync.run("Look at both").unwrap()
    assert run.text == "Both seen."
    summed, last = model.requests[2].messages, model.requests[3].messages
    assert shape(summed)[:2] == [("user", ["Look at both"]), ("assistant", ["tool_use"])]
    assert shape(summed)[2][1][0] == "this is one"
    assert shape(last) == [
        ("user", [SUMMARY + "One was looked at.", "Look at both"]),
        ("assistant", ["tool_use"]),
        ("user", ["this is two"]),
    ]
    assert last[1]["content"][0]["id"] == last[2]["content"][0]["tool_use_id"]
    assert agent.sync.load(run.session).messages[:3] == last
    agent.sync.close()


def test_a_first_step_that_fills_the_window_is_not_summed_up_since_nothing_came_before():
    model = Small(calls("look", {"at": "one"}, 950), text("Seen."))
    agent = Agent(model, [look])
    assert agent.sync.run("Look").unwrap().text == "Seen."
    assert len(model.requests) == 2
    agent.sync.close()


def test_a_turn_goes_on_as_it_is_where_no_summary_can_be_had():
    model = Small(text("Hello.", 950), ModelError("no"), calls("look", {"at": "x"}, 950), text("Fine."))
    agent = Agent(model, [look])
    run = agent.sync.run("Hi")
    events = list(agent.sync.stream("More", run.session))
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert notices[1:] == ["It was not summed up, and goes on as it is: no"]
    assert shape(model.requests[2].messages) == [("user", ["Hi"]), ("assistant", ["Hello."]), ("user", ["More"])]
    agent.sync.close()


def test_decisions_rules_and_state_outlive_a_summary():
    model = Told([("act", {"on": "x"})], "Done.", "Acted on x.", [("act", {"on": "y"})], "Done again.")
    store = MemoryStore()
    agent = Agent(model, [act], mode="default", store=store)
    run = agent.sync.run("Go")
    agent.sync.resume(run, {run.pending[0].id: approve(rules=("act",))})
    agent.sync.compact(run.session)
    assert agent.sync.run("Once more", run.session).unwrap().text == "Done again."
    agent.sync.close()


def test_a_turn_that_failed_can_be_taken_up_after_a_summary():
    model = Told("Hello.", [("look", {"at": "one"})], ModelError("cut"), "They greeted.", "Seen.")
    agent = Agent(model, [look])
    run = agent.sync.run("Hi")
    with pytest.raises(ModelError):
        agent.sync.run("Look", run.session)
    agent.sync.compact(run.session)
    assert agent.sync.recover(run.session).unwrap().text == "Seen."
    assert shape(model.requests[-1].messages) == [
        ("user", [SUMMARY + "They greeted.", "Look"]),
        ("assistant", ["tool_use"]),
        ("user", ["this is one"]),
    ]
    agent.sync.close()


def test_a_stop_while_the_summary_is_written_ends_the_turn_and_keeps_the_conversation():
    async def scenario() -> None:
        writing = asyncio.Event()

        async def slow(request: Any) -> ModelReply:
            writing.set()
            await asyncio.sleep(60)
            raise AssertionError

        model = Small(text("Hello.", 950), slow, text("Fine."))
        agent = Agent(model)
        run = await agent.run("Hi")
        task = asyncio.ensure_future(agent.run("More", run.session))
        await writing.wait()
        await agent.stop(run.session)
        assert (await task).why == "interrupted"
        entries = [recorded.entry for recorded in (await agent.load(run.session)).history]
        assert not any(isinstance(entry, Changed) for entry in entries)
        await agent.close()

    asyncio.run(scenario())


def test_a_conversation_too_long_for_the_model_that_took_over_is_summed_up_with_shortened_results():
    @tool
    def recite() -> str:
        "Say very much."
        return "word " * 2000

    first = Agent(Told([("recite", {})], text("Recited.", 2500)), [recite], store=(store := MemoryStore()))
    run = first.sync.run("Recite")
    model = Small(text("It was recited."), "Fine.")
    second = Agent(model, [recite], store=store)
    assert second.sync.run("And now?", run.session).unwrap().text == "Fine."
    (result,) = model.requests[0].messages[2]["content"]
    assert result["content"].endswith("word \n[9,000 more characters are left out]")
    assert shape(model.requests[1].messages) == [("user", [SUMMARY + "It was recited.", "And now?"])]
    second.sync.close()


def test_hooks_around_the_model_see_the_request_for_a_summary_too():
    class Masks(Middleware):
        id = "masks"

        async def around_model(self, request: Any, next: Any, ctx: Any) -> Any:
            seen.append(request.messages[-1].get("_ask", ""))
            return await next(request)

    seen: list[str] = []
    agent = Agent(Told("Hello.", "We greeted."), middleware=[Masks()])
    run = agent.sync.run("Hi")
    agent.sync.compact(run.session)
    assert seen == ["", "summary"]
    agent.sync.close()


def test_how_full_the_window_is_says_what_was_counted_and_what_is_estimated():
    agent = Agent(Small(calls("look", {"at": "one"}, 500), text("Seen.", 600)), [look], instructions="Be brief." * 4)
    session = agent.store.create()
    empty = agent.sync.context(session)
    assert (empty.measured, empty.instructions, empty.conversation) == (0, 9, 0)
    assert empty.used == empty.instructions + empty.tools
    agent.sync.run("Look", session)
    full = agent.sync.context(session)
    assert (full.measured, full.since, full.used, full.percent) == (600, 0, 600, 60)
    agent.sync.close()
    assert Context(1000, 1, 2, 3, 0, 3).used == 6
    assert tokens([{"type": "image", "source": {"data": "x" * 10_000}}]) == PICTURE
