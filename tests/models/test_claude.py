"""Claude's service through the real SDK, against the local server of this folder."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hitl_cli.errors import ModelError, ModelUnavailable
from hitl_cli.journal import ModelReply, Usage
from hitl_cli.models import CallDelta, Request, Retrying, TextDelta, ThinkingDelta, ToolSpec, open_model, preload
from hitl_cli.models.claude import Claude
from hitl_cli.models.retry import Patience
from tests.models.server import Server, ask, call, say

QUICK = Patience(waits=(0.01,) * 5, longest=1, connect=2, silence=5)
HELLO = Request("Be brief.", [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}])
BASH = ToolSpec("Bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
READ = ToolSpec("Read", "Reads a file.", {"type": "object", "properties": {"file_path": {"type": "string"}}})


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    """Points the SDK at a server, through the variable that people use."""
    return lambda server: monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)


def talk(*requests: Request, model: str = "claude-opus-4-8", patience: Patience = QUICK) -> list[list[Any]]:
    """Everything that streams for each request, with one client, an error as its last item."""

    async def run() -> list[list[Any]]:
        claude, heard = Claude(model, patience=patience), []
        for request in requests:
            items: list[Any] = []
            heard.append(items)
            try:
                async for item in claude.stream(request):
                    items.append(item)
            except ModelError as error:
                items.append(error)
        await claude.close()
        return heard

    return asyncio.run(run())


def shown(items: Sequence[Any]) -> tuple[str, str]:
    """Class and words of the error at the end."""
    return type(items[-1]).__name__, str(items[-1])


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
            Usage(1, 3),
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


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, "ModelError", "The model's service refused the request (400: because)."),
        (401, "ModelError", "The model's service did not accept the key (401: because)."),
        (402, "ModelError", "The account at the model's service cannot pay for this (402: because)."),
        (403, "ModelError", "The key may not do this (403: because)."),
        (404, "ModelError", "The model's service knows no model claude-opus-4-8 (404: because)."),
        (413, "ModelError", "The conversation is longer than the model can read (413: because)."),
    ],
)
def test_a_final_answer_is_told_at_once_and_the_next_request_goes_through(at, status, kind, words) -> None:
    with Server([{"status": status, "message": "because"}, say("Fine.")]) as server:
        at(server)
        first, second = talk(HELLO, HELLO)
    assert (shown(first)[0], shown(first)[1].split("\n")[0]) == (kind, words)
    assert len(first) == 1
    assert shown(first)[1].count("\n") == 1  # what to do next
    assert second[-1].text == "Fine."


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (429, "The model's service has had too many requests (429: busy)"),
        (500, "The model's service has a problem (500: busy)"),
        (503, "The model's service has a problem (503: busy)"),
        (529, "The model's service is overloaded (529: busy)"),
    ],
)
def test_a_passing_trouble_is_waited_out_visibly(at, status, why) -> None:
    with Server([{"status": status, "message": "busy"}] * 2 + [say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert items[:2] == [Retrying(0.01, why), Retrying(0.01, why)]
    assert items[-1].text == "Fine."


def test_a_trouble_that_does_not_pass_is_to_be_tried_later(at) -> None:
    with Server([{"status": 529, "message": "busy"}] * 6 + [say("Fine.")]) as server:
        at(server)
        first, second = talk(HELLO, HELLO)
    assert len(first) == 6
    assert shown(first) == (
        "ModelUnavailable",
        "The model's service is overloaded (529: busy) (tried 6 times).\n"
        "  Try again in a while. The session is kept: hitl -c continues it.",
    )
    assert first[-1].exit_code == 75
    assert second[-1].text == "Fine."


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"retry-after": "0.03"}, 0.03),
        ({"retry-after-ms": "40", "retry-after": "7"}, 0.04),
        ({"retry-after": "Mon, 30 Nov 2026 09:59:59 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, 0.01),
    ],
)
def test_the_wait_is_the_one_the_service_names(at, headers, waited) -> None:
    with Server([{"status": 429, "message": "busy", "headers": headers}, say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert [item.after_s for item in items if isinstance(item, Retrying)] == [waited]


def test_nobody_waits_for_an_hour(at) -> None:
    with Server([{"status": 429, "message": "busy", "headers": {"retry-after": "3600"}}]) as server:
        at(server)
        [items] = talk(HELLO)
    assert shown(items) == (
        "ModelUnavailable",
        "The model's service has had too many requests (429: busy).\n"
        "  It may be asked again in 3600 s. The session is kept: hitl -c continues it.",
    )


def test_a_service_that_says_not_to_retry_is_not_asked_again(at) -> None:
    with Server([{"status": 500, "message": "broken", "headers": {"x-should-retry": "false"}}]) as server:
        at(server)
        [items] = talk(HELLO)
    assert (len(items), shown(items)[0]) == (1, "ModelUnavailable")


def test_an_error_inside_the_stream_is_the_error_it_names(at) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    invalid = {"type": "error", "error": {"type": "invalid_request_error", "message": "no such thing"}}
    with Server([{"events": [overloaded]}, say("Fine."), {"events": [invalid]}]) as server:
        at(server)
        first, second = talk(HELLO, HELLO)
    assert first[0] == Retrying(0.01, "The model's service is overloaded (529: Overloaded)")
    assert first[-1].text == "Fine."
    assert shown(second)[1].startswith("The model's service refused the request (400: no such thing).")


def test_a_connection_cut_after_half_a_tool_input_leaves_nothing_half_done_and_is_tried_again(at) -> None:
    cut = ask(call("Bash", {"command": "rm -rf build"}), cut=4)
    with Server([cut, say("Fine.")] + [cut] * 4) as server:
        at(server)
        first, second = talk(HELLO, HELLO)
    assert [type(item).__name__ for item in first[:3]] == ["CallDelta", "CallDelta", "Retrying"]
    assert first[-1].text == "Fine."
    assert shown(second)[0] == "ModelUnavailable"
    assert "was cut" in str(second[-1])
    assert not any(isinstance(item, ModelReply) for item in second)


def test_a_cut_after_text_was_shown_is_final_so_that_nothing_is_said_twice(at) -> None:
    with Server([say("Hello, you.", cut=4), say("Fine.")]) as server:
        at(server)
        first, second = talk(HELLO, HELLO)
    assert first[:-1] == [TextDelta("Hello")]
    assert shown(first)[0] == "ModelUnavailable"
    assert second[-1].text == "Fine."


def test_a_stream_that_ends_without_its_end_is_no_reply(at) -> None:
    with Server([{"body": ""}, {"body": "<html>Welcome</html>"}, say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert items[:2] == [Retrying(0.01, "The model's reply broke off")] * 2
    assert items[-1].text == "Fine."


def test_an_address_where_no_such_service_is_says_so(at) -> None:
    page = {"body": "<html>Welcome</html>", "headers": {"content-type": "text/html"}}
    with Server([page]) as server:
        at(server)
        [items] = talk(HELLO)
    assert len(items) == 1
    assert shown(items) == (
        "ModelError",
        f"What answers at {server.url} is no Messages service: it sent text/html where a stream belongs.\n"
        "  Check ANTHROPIC_BASE_URL.",
    )


def test_half_a_character_that_a_model_wrote_does_not_stop_the_session(at) -> None:
    with Server([ask(call("Bash", {}) | {"raw": '{"command": "echo \\ud800"}'}), say("Fine.")]) as server:
        at(server)
        [first] = talk(HELLO)
        reply = {"role": "assistant", "content": list(first[-1].blocks)}
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "\udcff"}]}
        [second] = talk(Request("", [*HELLO.messages, reply, result]))
    assert first[-1].blocks == (call("Bash", {"command": "echo \ud800"}),)
    assert second[-1].text == "Fine."
    assert server.requests[1]["messages"][1]["content"] == [call("Bash", {"command": "echo ?"})]


@pytest.mark.parametrize(
    "body",
    [
        "event: message_start\ndata: {not json\n\n",
        "event: message_start\ndata: [1, 2]\n\n",
        'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta"}}\n\n',
        "event: message_start\ndata: \udcff\udcfe\n\n",
        'event: message_start\ndata: {"type": "message_start"}\n\n',
    ],
)
def test_garbage_is_an_error_in_words(at, body) -> None:
    with Server([{"body": body}] * 3 + [say("Fine.")]) as server:
        at(server)
        first, second = talk(HELLO, HELLO)
    assert shown(first)[0] == "ModelError"
    assert shown(first)[1].startswith(f"What came from the model's service at {server.url} cannot be read:")
    assert "(tried 3 times)" in shown(first)[1]
    assert second[-1].text == "Fine."


def test_an_empty_reply_to_a_person_is_an_error_but_after_results_it_is_the_end(at) -> None:
    empty = {"blocks": [], "stop": "end_turn"}
    ran = [
        {"role": "assistant", "content": [call("Bash", {"command": "ls"})]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]},
    ]
    with Server([empty] * 4) as server:
        at(server)
        first, second = talk(HELLO, Request("", [*HELLO.messages, *ran]))
    assert shown(first) == (
        "ModelError",
        "The model's reply was empty (tried 3 times).\n  Say it in other words, or try again.",
    )
    assert second == [ModelReply((), "end", Usage(10, 1, cost=75 / 1_000_000), "claude-opus-4-8")]


def test_a_slow_first_byte_is_waited_for_and_silence_is_not(at) -> None:
    impatient = Patience(waits=(0.01,), silence=0.3)
    with Server(
        [say("Slow.", wait=0.15), say("Never.", wait=60), say("Fine."), *[say("Never.", wait=60)] * 2]
    ) as server:
        at(server)
        first, second, third = talk(HELLO, HELLO, HELLO, patience=impatient)
    assert first[-1].text == "Slow."
    assert second[0] == Retrying(0.01, "The model's service was silent for 0.3 s")
    assert second[-1].text == "Fine."
    assert shown(third)[0] == "ModelUnavailable"


def test_silence_in_the_middle_of_a_reply_is_noticed(at) -> None:
    with Server([say("Hello, you.", hang=4)]) as server:
        at(server)
        [items] = talk(HELLO, patience=Patience(waits=(0.01,), silence=0.2))
    assert items[0] == TextDelta("Hello")
    assert shown(items)[1].startswith("The model's service was silent for 0.2 s.")


def test_no_server_is_a_network_error(at) -> None:
    with Server([]) as server:
        at(server)
    [items] = talk(HELLO)
    assert [type(item).__name__ for item in items] == ["Retrying"] * 3 + ["ModelUnavailable"]
    assert shown(items)[1].startswith(f"No connection to the model's service at {server.url} (")


def test_an_address_that_takes_no_connections_is_given_up_soon(monkeypatch) -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{full.getsockname()[1]}")
        [items] = talk(HELLO, patience=Patience(waits=(0.01,), connect=0.1))
    assert [type(item).__name__ for item in items] == ["Retrying", "ModelUnavailable"]
    assert shown(items)[1].startswith("No connection to the model's service at http://127.0.0.1:")


def test_cancelling_in_mid_stream_closes_the_connection_and_the_client_still_works(at) -> None:
    async def run(server: Server) -> ModelReply:
        claude, begun = Claude("claude-opus-4-8", patience=QUICK), asyncio.Event()

        async def listen() -> None:
            async for _ in claude.stream(HELLO):
                begun.set()

        task = asyncio.create_task(listen())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.left.wait, 5)
        items = [item async for item in claude.stream(HELLO)]
        await claude.close()
        return items[-1]

    with Server([say("Hello, you.", hang=4), say("Fine.")]) as server:
        at(server)
        assert asyncio.run(run(server)).text == "Fine."


def test_without_a_key_three_lines_say_what_to_do(at, monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Server([say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert shown(items)[0] == "ModelError"
    lines = str(items[-1]).split("\n")
    assert len(lines) == 3
    assert "hitl demo" in lines[1]
    assert "ANTHROPIC_API_KEY" in lines[2]
    assert server.requests == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ANTHROPIC_BASE_URL", "nonsense", "The model's service has the address nonsense/, which is none."),
        (
            "ANTHROPIC_BASE_URL",
            "ftp://127.0.0.1",
            "The model's service has the address ftp://127.0.0.1, which is none.",
        ),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:abc", "The model's service cannot be set up: Invalid port: 'abc'."),
        ("ANTHROPIC_API_KEY", "a\nsecret", "The key for the model's service holds a blank, a line break"),
        ("ANTHROPIC_API_KEY", "ключ", "The key for the model's service holds a blank, a line break"),
    ],
)
def test_a_wrong_environment_is_told_at_once_and_never_with_the_key(at, monkeypatch, name, value, told) -> None:
    with Server([say("Fine.")]) as server:
        at(server)
        monkeypatch.setenv(name, value)
        [items] = talk(HELLO)
    assert len(items) == 1
    assert shown(items)[0] == "ModelError"
    assert shown(items)[1].startswith(told)
    assert "secret" not in shown(items)[1]
    assert server.requests == []


def test_a_token_serves_as_well_as_a_key(at, monkeypatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a-token")
    with Server([say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert items[-1].text == "Fine."
    assert server.headers[0]["authorization"] == "Bearer a-token"


def test_a_model_of_another_server_has_no_price_and_a_modest_window(at) -> None:
    with Server([say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO, model="local-model:7b")
    assert items[-1].usage == Usage(10, 1)
    assert (Claude("local-model:7b").window, server.requests[0]["max_tokens"]) == (200_000, 8_192)


def test_a_preloaded_model_answers(at) -> None:
    async def run() -> str:
        model = open_model("claude-opus-4-8")
        preload(model)
        items = [item async for item in model.stream(HELLO)]
        await model.close()
        return items[-1].text

    with Server([say("Fine.")]) as server:
        at(server)
        assert asyncio.run(run()) == "Fine."


def test_naming_a_model_loads_no_sdk() -> None:
    code = (
        "import sys; from hitl_cli.models import open_model; open_model('claude-x'); print('anthropic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_server_runs_as_a_program_and_plays_a_script(at, monkeypatch, tmp_path: Path) -> None:
    script = tmp_path / "story.toml"
    script.write_text(
        "format = 1\n[[turn]]\n[[turn.reply]]\nerror = { status = 529, retry_after = 0, times = 1 }\n"
        'calls = [{ name = "a", tool = "Bash", input = { command = "ls" } }]\n'
        '[[turn.reply]]\nwhen = "a ok"\ntext = "Seen."\n'
    )
    port, log = tmp_path / "port", tmp_path / "log"
    command = [sys.executable, str(Path(__file__).with_name("server.py")), "--script", str(script)]
    program = subprocess.Popen([*command, "--port-file", str(port), "--log", str(log)])
    try:
        while not port.exists():
            assert program.poll() is None
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port.read_text()}")
        [first] = talk(HELLO)
        reply = {"role": "assistant", "content": list(first[-1].blocks)}
        id = first[-1].blocks[0]["id"]
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "a"}]}
        [second] = talk(Request("", [*HELLO.messages, reply, result]))
    finally:
        program.terminate()
        program.wait()
    assert isinstance(first[0], Retrying)
    assert second[-1].text == "Seen."
    assert len([json.loads(line) for line in log.read_text().splitlines()]) == 3


def test_unavailable_is_a_kind_of_model_error_with_its_own_code() -> None:
    assert (ModelError.exit_code, ModelUnavailable.exit_code) == (1, 75)
