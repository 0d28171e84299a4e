"""What the scripted model says next, from the messages alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hitl_cli.errors import ModelError, ModelUnavailable
from hitl_cli.journal import ModelReply, Usage
from hitl_cli.models import CallDelta, Request, Retrying, TextDelta, ThinkingDelta
from hitl_cli.models.retry import Patience
from hitl_cli.models.scripted import Scripted

STORY = """format = 1
delay = 0
chunk = 0
[[turn]]
[[turn.reply]]
text = "I will test."
usage = { input = 10, output = 5 }
calls = [{ name = "test", tool = "Bash", input = { command = "make test" } }]
[[turn.reply]]
when = "test refused"
text = "Then not."
[[turn.reply]]
when = "test edited"
text = "You changed it."
[[turn.reply]]
when = "test interrupted"
text = "You stopped it."
[[turn.reply]]
when = "test error"
text = "It failed."
[[turn.reply]]
when = "test ok"
has = "FAILED"
calls = [
  { name = "fix", tool = "Edit", input = { file_path = "a" } },
  { name = "again", tool = "Bash", input = { command = "make test" } },
]
[[turn.reply]]
when = "test approved"
text = "Approved, and it passed."
[[turn.reply]]
when = "again ok"
text = "Now it passes."
[[turn]]
[[turn.reply]]
when = "again ok"
text = "As before."
[[turn.reply]]
text = "Goodbye."
"""


@pytest.fixture
def model(tmp_path: Path):
    def make(text: str = STORY, **patience: Any) -> Scripted:
        (tmp_path / "story.toml").write_text(text)
        return Scripted(tmp_path / "story.toml", patience=Patience(waits=(0.01,) * 5, **patience))

    return make


def user(text: str, turn: int | None = None) -> dict[str, Any]:
    note = {} if turn is None else {"_turn": turn}
    return {"role": "user", "content": [{"type": "text", "text": text}], **note}


def results(reply: ModelReply, *results: dict[str, Any]) -> list[dict[str, Any]]:
    """The reply and the results of its calls, as the transcript holds them."""
    ids = [block["id"] for block in reply.blocks if block["type"] == "tool_use"]
    blocks = [{"type": "tool_result", "tool_use_id": id, **result} for id, result in zip(ids, results, strict=True)]
    return [{"role": "assistant", "content": list(reply.blocks)}, {"role": "user", "content": blocks}]


def hear(model: Scripted, messages: list[dict[str, Any]]) -> list[Any]:
    async def run() -> list[Any]:
        return [item async for item in model.stream(Request("", messages))]

    return asyncio.run(run())


def reply(model: Scripted, messages: list[dict[str, Any]]) -> ModelReply:
    return hear(model, messages)[-1]


def test_a_reply_streams_and_comes_whole(model) -> None:
    items = hear(model(STORY.replace("chunk = 0", "chunk = 8")), [user("Go")])
    call = {"type": "tool_use", "id": "script_1_0_0_test", "name": "Bash", "input": {"command": "make test"}}
    assert items == [
        TextDelta("I will t"),
        TextDelta("est."),
        CallDelta("Bash", 24),
        ModelReply(({"type": "text", "text": "I will test."}, call), "tool_use", Usage(10, 5), "script"),
    ]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"content": "no", "is_error": True, "_kind": "refused"}, "Then not."),
        ({"content": "stopped", "is_error": True, "_kind": "interrupted"}, "You stopped it."),
        ({"content": "boom", "is_error": True, "_kind": "error"}, "It failed."),
        ({"content": "boom", "is_error": True}, "It failed."),
        ({"content": "boom", "is_error": True, "_kind": "ran"}, "It failed."),
        ({"content": "FAILED", "_kind": "ran", "_answer": "edited"}, "You changed it."),
        ({"content": "passed", "_kind": "ran", "_answer": "approved"}, "Approved, and it passed."),
        ({"content": "passed", "_kind": "external"}, ""),
    ],
)
def test_the_next_reply_is_the_first_that_fits_the_outcome(model, result: dict[str, Any], said: str) -> None:
    scripted = model()
    first = reply(scripted, [user("Go")])
    assert reply(scripted, [user("Go"), *results(first, result)]).text == said


def test_a_result_is_searched_in_its_blocks_too(model) -> None:
    scripted = model()
    content = [{"type": "text", "text": "1 FAILED"}]
    second = reply(scripted, [user("Go"), *results(reply(scripted, [user("Go")]), {"content": content})])
    assert [block["name"] for block in second.blocks] == ["Edit", "Bash"]


def test_another_process_goes_on_where_the_messages_stand(model) -> None:
    messages = [user("Go")]
    messages += results(reply(model(), messages), {"content": "FAILED"})
    messages += results(reply(model(), messages), {"content": "ok"}, {"content": "passed"})
    assert reply(model(), messages).text == "Now it passes."
    messages += [{"role": "assistant", "content": [{"type": "text", "text": "Now it passes."}]}]
    assert reply(model(), messages) == ModelReply((), "end", Usage(), "script")
    assert reply(model(), [*messages, user("And?")]).text == "As before."


def test_a_call_that_was_never_made_fits_no_outcome(model) -> None:
    assert reply(model(), [user("Go"), user("And?")]).text == "Goodbye."


def test_after_the_last_turn_the_script_is_over(model) -> None:
    assert reply(model(), [user("1"), user("2"), user("3")]).text == "The script is over."


def test_the_note_of_the_turn_counts_where_there_is_one(model) -> None:
    shortened = [user("A summary of what went before"), user("And?", turn=2)]
    assert reply(model(), shortened).text == "Goodbye."


def test_results_and_the_next_message_of_the_person_may_be_one_message(model) -> None:
    """So it stands in the transcript of a turn that was stopped."""
    messages = [user("Go")]
    messages += results(reply(model(), messages), {"content": "FAILED"})
    messages += results(reply(model(), messages), {"content": "ok"}, {"content": "passed"})
    messages[-1]["content"].append({"type": "text", "text": "And?"})
    assert reply(model(), messages).text == "As before."
    numbered = [messages[0] | {"_turn": 1}, *messages[1:-1], messages[-1] | {"_turn": 2}]
    assert reply(model(), numbered).text == "As before."


def test_a_paused_reply_and_what_followed_it_may_be_one_message(model) -> None:
    scripted = model(
        """format = 1
delay = 0
[[turn]]
[[turn.reply]]
text = "Wait."
stop = "pause"
[[turn.reply]]
text = "On."
calls = [{ name = "a", tool = "Bash", input = { command = "ls" } }]
[[turn.reply]]
when = "a ok"
text = "Seen."
"""
    )
    first = reply(scripted, [user("Go")])
    paused = [user("Go"), {"role": "assistant", "content": list(first.blocks)}]
    second = reply(scripted, paused)
    joined, result = results(second, {"content": "x"})
    joined["content"] = [*first.blocks, *joined["content"]]
    assert (first.stop, second.text) == ("pause", "On.")
    assert reply(scripted, [user("Go"), joined, result]).text == "Seen."


def test_a_summary_is_no_turn(model) -> None:
    ask = user("Sum it up") | {"_ask": "summary"}
    assert reply(model(), [user("Go"), ask]).text == "A conversation of 1 messages."


def test_thinking_broken_input_and_exact_pieces_are_said_as_written(model) -> None:
    text = """format = 1
delay = 0
[[turn]]
[[turn.reply]]
thinking = "Hm."
chunks = ["a", "bc"]
calls = [{ name = "x", tool = "Bash", raw = '{"comm' }]
stop = "length"
"""
    broken = {"type": "tool_use", "id": "script_1_0_0_x", "name": "Bash", "input": {}, "raw": '{"comm'}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    assert hear(model(text), [user("Go")]) == [
        ThinkingDelta("Hm."),
        TextDelta("a"),
        TextDelta("bc"),
        CallDelta("Bash", 6),
        ModelReply((thought, {"type": "text", "text": "abc"}, broken), "length", Usage(), "script"),
    ]


def failing(error: str) -> str:
    first = f'[[turn]]\n[[turn.reply]]\ntext = "Hi."\nerror = {error}\n'
    return f'format = 1\ndelay = 0\n{first}[[turn]]\n[[turn.reply]]\ntext = "On."\n'


def test_an_error_that_passes_is_waited_out_visibly(model) -> None:
    items = hear(model(failing("{ status = 529, retry_after = 0.02, times = 2 }")), [user("Go")])
    assert items[:2] == [Retrying(0.02, "The model's service is overloaded (529)")] * 2
    assert items[-1].text == "Hi."


def test_an_error_that_stays_ends_as_it_would_with_the_real_service(model) -> None:
    with pytest.raises(ModelUnavailable, match=r"The model's service is overloaded \(529\) \(tried 6 times\)\."):
        hear(model(failing("{ status = 529 }")), [user("Go")])
    with pytest.raises(ModelError, match=r"did not accept the key \(401: expired\)\.") as caught:
        hear(model(failing('{ status = 401, message = "expired" }')), [user("Go")])
    assert type(caught.value) is ModelError


def test_a_cut_comes_after_the_text_and_the_session_goes_on(model) -> None:
    scripted = model(failing("{ cut = true }"))
    heard: list[Any] = []

    async def run() -> None:
        async for item in scripted.stream(Request("", [user("Go")])):
            heard.append(item)

    with pytest.raises(ModelUnavailable, match="cut in mid-reply"):
        asyncio.run(run())
    assert heard == [TextDelta("Hi.")]
    assert reply(scripted, [user("Go"), user("Once more")]).text == "On."


def test_a_stall_can_be_cancelled(model) -> None:
    async def run() -> list[Any]:
        heard: list[Any] = []
        spoken = asyncio.Event()

        async def listen() -> None:
            async for item in model(failing("{ stall = 3600 }")).stream(Request("", [user("Go")])):
                heard.append(item)
                spoken.set()

        task = asyncio.create_task(listen())
        await spoken.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return heard

    assert asyncio.run(run()) == [TextDelta("Hi.")]
