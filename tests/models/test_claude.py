"""What Claude's service says, put together as it was meant, and what goes back to it."""

from __future__ import annotations

from hitl_cli.journal import ModelReply, Usage
from hitl_cli.models import CallDelta, Request, TextDelta, ThinkingDelta, ToolSpec
from tests.models.server import Server, ask, call, say
from tests.models.talking import HELLO, talk

BASH = ToolSpec("Bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
READ = ToolSpec("Read", "Reads a file.", {"type": "object", "properties": {"file_path": {"type": "string"}}})


def test_a_text_streams_in_pieces_and_comes_whole_with_its_price(at) -> None:
    usage = {
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 40,
    }
    with Server([say("Hello, you.", usage=usage)]) as server:
        at(server)
        [items] = talk(HELLO)
    cost = (100 * 5 + 20 * 25 + 40 * 6.25 + 1000 * 0.5) / 1_000_000
    assert items == [
        TextDelta("Hello"),
        TextDelta(", you."),
        ModelReply(
            ({"type": "text", "text": "Hello, you."},), "end", Usage(100, 20, 1000, 40, cost), "claude-opus-4-8"
        ),
    ]


def test_several_calls_of_one_message_keep_their_order_and_inputs(at) -> None:
    calls = [
        call("Bash", {"command": "ls"}, "toolu_a"),
        call("Read", {"file_path": "ä.txt"}, "toolu_b"),
        call("Todo", {}),
    ]
    with Server([ask(*calls, text="I look.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert items[-1].blocks == ({"type": "text", "text": "I look."}, *calls)
    assert items[-1].stop == "tool_use"
    assert [item for item in items if isinstance(item, CallDelta)][:3] == [
        CallDelta("Bash", 0),
        CallDelta("Bash", 8),
        CallDelta("Bash", 17),
    ]


def test_the_request_carries_system_tools_and_four_cache_marks(at) -> None:
    messages = [
        {"role": "user", "_turn": 1, "content": [{"type": "text", "text": "List it"}]},
        {"role": "assistant", "content": [call("Bash", {"command": "ls"})]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a", "_kind": "ran"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "There is a."}]},
        {"role": "user", "_turn": 2, "content": [{"type": "text", "text": "Thanks"}]},
    ]
    with Server([say("Done.")]) as server:
        at(server)
        talk(Request("Be brief.", messages, [BASH, READ], max_tokens=500))
    mark = {"cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}
    assert server.requests == [
        {
            "model": "claude-opus-4-8",
            "max_tokens": 500,
            "stream": True,
            "system": [{"type": "text", "text": "Be brief.", **mark}],
            "tools": [
                {"name": "Bash", "description": "Runs a command.", "input_schema": BASH.schema},
                {"name": "Read", "description": "Reads a file.", "input_schema": READ.schema, **mark},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "List it"}]},
                {"role": "assistant", "content": [call("Bash", {"command": "ls"})]},
                {"role": "user", "content": [result | mark]},
                {"role": "assistant", "content": [{"type": "text", "text": "There is a."}]},
                {"role": "user", "content": [{"type": "text", "text": "Thanks", **mark}]},
            ],
        }
    ]


def test_thinking_comes_with_its_signature_and_goes_back_unchanged(at) -> None:
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"}
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    with Server(
        [{"blocks": [thought, hidden, call("Bash", {"command": "ls"})], "stop": "tool_use"}, say("Done.")]
    ) as server:
        at(server)
        [items] = talk(HELLO, model="claude-opus-5-5")
        reply = {"role": "assistant", "content": list(items[-1].blocks)}
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}
        talk(Request("", [*HELLO.messages, reply, result]), model="claude-opus-5-5")
    assert items[:2] == [ThinkingDelta("Let m"), ThinkingDelta("e see.")]
    assert items[-1].blocks[:2] == (thought, hidden)
    assert server.requests[1]["messages"][1]["content"] == [thought, hidden, call("Bash", {"command": "ls"})]
    assert server.requests[0]["thinking"] == {"type": "adaptive", "display": "summarized"}


def test_thinking_that_the_service_will_not_have_back_is_left_out_once_and_the_session_goes_on(at) -> None:
    thought = {"type": "thinking", "thinking": "Of another model.", "signature": "other"}
    messages = [*HELLO.messages, {"role": "assistant", "content": [thought, {"type": "text", "text": "Hi."}]}]
    messages.append({"role": "user", "content": [{"type": "text", "text": "Go on"}]})
    refusal = {
        "status": 400,
        "type": "invalid_request_error",
        "message": "messages.1: thinking blocks cannot be modified",
    }
    with Server([refusal, say("Gladly.")]) as server:
        at(server)
        [items] = talk(Request("", messages))
    assert items[-1].text == "Gladly."
    assert server.requests[1]["messages"][1]["content"] == [{"type": "text", "text": "Hi."}]


def test_blocks_nobody_knows_are_kept_and_go_back_unchanged_and_unknown_events_are_passed_over(at) -> None:
    strange = {"type": "hologram", "data": {"x": [1, 2]}}
    with Server(
        [{"blocks": [strange, {"type": "text", "text": "See?"}], "stop": "novel_reason"}, say("Done.")]
    ) as server:
        at(server)
        [items] = talk(HELLO)
        reply = {"role": "assistant", "content": list(items[-1].blocks)}
        talk(Request("", [*HELLO.messages, reply, {"role": "user", "content": [{"type": "text", "text": "Yes"}]}]))
    assert (items[-1].blocks, items[-1].stop) == ((strange, {"type": "text", "text": "See?"}), "end")
    assert server.requests[1]["messages"][1]["content"][0] == strange


def test_a_block_that_could_not_be_read_whole_is_kept_but_never_sent_back(at) -> None:
    start = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}}
    told = [
        start,
        {"type": "weather", "sky": "blue"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "hologram", "data": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "hologram_delta", "data": "…"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Here."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    with Server([{"events": told}, say("Done.")]) as server:
        at(server)
        [items] = talk(HELLO)
        reply = {"role": "assistant", "content": list(items[-1].blocks)}
        talk(Request("", [*HELLO.messages, reply, {"role": "user", "content": [{"type": "text", "text": "Yes"}]}]))
    assert items == [
        TextDelta("Here."),
        ModelReply(
            ({"type": "hologram", "data": "", "_partial": True}, {"type": "text", "text": "Here."}),
            "end",
            Usage(1, 3, cost=8e-05),  # nobody knows `m`: the price of the model that was asked
            "m",
        ),
    ]
    assert server.requests[1]["messages"][1]["content"] == [{"type": "text", "text": "Here."}]


def test_each_reason_to_stop_is_told(at) -> None:
    reasons = ["end_turn", "stop_sequence", "max_tokens", "model_context_window_exceeded", "refusal", "pause_turn"]
    with Server([say("So.", stop=reason) for reason in reasons]) as server:
        at(server)
        heard = talk(*[HELLO] * len(reasons))
    assert [items[-1].stop for items in heard] == ["end", "end", "length", "length", "refusal", "pause"]


def test_a_call_cut_by_the_length_limit_keeps_what_was_typed_and_has_no_input(at) -> None:
    cut = call("Write", {}) | {"raw": '{"file_path": "a", "content": "hal'}
    unbegun = call("Write", {}, "toolu_2") | {"raw": ""}
    with Server([ask(cut, stop="max_tokens"), ask(unbegun, stop="max_tokens"), ask(cut | {"raw": "[1]"})]) as server:
        at(server)
        heard = talk(HELLO, HELLO, HELLO)
    assert [(items[-1].blocks, items[-1].stop) for items in heard] == [
        ((cut | {"input": {}},), "length"),
        ((unbegun | {"input": {}},), "length"),
        ((call("Write", {}) | {"raw": "[1]"},), "tool_use"),
    ]


def test_a_call_without_arguments_has_an_empty_input(at) -> None:
    with Server([ask(call("Todo", {}) | {"raw": ""})]) as server:
        at(server)
        [items] = talk(HELLO)
    assert items[-1].blocks == (call("Todo", {}),)


def test_a_refused_reply_holds_no_calls(at) -> None:
    with Server([ask(call("Bash", {"command": "ls"}), text="I must", stop="refusal")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert (items[-1].blocks, items[-1].stop) == (({"type": "text", "text": "I must"},), "refusal")
