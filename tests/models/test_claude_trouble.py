"""Everything that can go wrong between here and Claude's service: told in words, waited out where that helps."""

from __future__ import annotations

import asyncio
import socket

import pytest

from hitl_cli.journal import ModelReply, Usage
from hitl_cli.models import Request, Retrying, TextDelta
from hitl_cli.models.claude import Claude
from hitl_cli.models.retry import Patience
from tests.models.server import Server, ask, call, say
from tests.models.talking import HELLO, QUICK, shown, talk


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


def test_an_address_that_takes_no_connections_is_given_up_soon(at, monkeypatch) -> None:
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
