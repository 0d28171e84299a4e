"""A small service that speaks the Messages streaming protocol on the loopback, and misbehaves on demand.

In a test: `with Server([say("Hello."), {"status": 529}]) as server:` then use `server.url`. Each request takes the next
answer; after the last it says so. Requests are kept in `server.requests`. A request that the real service would refuse
(a call without its result, our own notes, empty text, too many cache marks) is refused here too, with 400.

As a program: `python tests/models/server.py --script FILE --port-file F [--log L]` serves the answers of a JSON file (a
list), or plays a script of the scripted model (.toml), until it is ended. Requests are appended to L as JSON lines.

An answer is a plain dict:
    blocks, stop, usage, model    a whole reply, streamed
    events                        these events instead
    body                          this text instead, as it stands
    status, type, message         an error answer; headers: a dict of further headers, of any answer
    wait                          seconds before the first byte
    cut                           the connection is cut after so many events
    hang                          silent for ever after so many events; `server.left` is set once the client has gone
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = dict[str, Any]


def say(text: str, **more: Any) -> Answer:
    """A reply of one text."""
    return {"blocks": [{"type": "text", "text": text}], "stop": "end_turn", **more}


def call(name: str, input: dict[str, Any], id: str = "toolu_1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def ask(*calls: dict[str, Any], text: str = "", **more: Any) -> Answer:
    """A reply that wants calls made."""
    first = [{"type": "text", "text": text}] if text else []
    return {"blocks": [*first, *calls], "stop": "tool_use", **more}


class Server:
    def __init__(self, answers: Sequence[Answer] | Callable[[dict[str, Any]], Answer], log: Path | None = None) -> None:
        self._answers = answers
        self._log = log
        self._next = 0
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.left = threading.Event()
        self.stopped = threading.Event()
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._http = _Quiet(("127.0.0.1", 0), Handler)
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()

    def serve(self) -> None:
        self._http.serve_forever()

    def answer_to(self, request: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            if self._log:
                with self._log.open("a") as log:
                    log.write(json.dumps(request) + "\n")
            wrong = problem(request)
            if wrong:
                return {"status": 400, "type": "invalid_request_error", "message": wrong}
            if callable(self._answers):
                return self._answers(request)
            self._next += 1
            return (
                self._answers[self._next - 1] if self._next <= len(self._answers) else say("There are no more answers.")
            )


class _Quiet(ThreadingHTTPServer):
    """Clients that go away are what is tested here, not an error."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = self.server_of.answer_to(request, {k.lower(): v for k, v in self.headers.items()})
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._answer(answer, request)

    def _answer(self, answer: Answer, request: dict[str, Any]) -> None:
        self._wait(answer.get("wait", 0))
        if "status" in answer:
            error = {"type": answer.get("type", "api_error"), "message": answer.get("message", "no")}
            body = json.dumps({"type": "error", "error": error}).encode()
            self._begin(answer["status"], "application/json", answer, {"content-length": str(len(body))})
            self.wfile.write(body)
            return
        self._begin(200, "text/event-stream; charset=utf-8", answer, {"transfer-encoding": "chunked"})
        if "body" in answer:
            self._chunk(answer["body"])
        else:
            for number, event in enumerate(answer.get("events") or events(answer, request["model"])):
                if number == answer.get("cut"):
                    self.close_connection = True
                    return
                if number == answer.get("hang"):
                    self._wait(3600)
                    return
                self._chunk(f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _begin(self, status: int, kind: str, answer: Answer, more: dict[str, str]) -> None:
        self.send_response_only(status)
        for name, value in {"content-type": kind, **more, **answer.get("headers", {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        if not data:
            return
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Wait, but see at once when the client goes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.server_of.stopped.is_set():
            ready, _, _ = select.select([self.connection], [], [], min(0.05, seconds))
            if ready:
                self.server_of.left.set()
                raise ConnectionResetError


def events(answer: Answer, model: str) -> Iterator[dict[str, Any]]:
    """The events of a whole reply, with a ping and text in two pieces, as the real service sends them."""
    usage = {"input_tokens": 10, "output_tokens": 1, **answer.get("usage", {})}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": answer.get("model", model),
        "content": [],
    }
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    yield {"type": "ping"}
    for index, block in enumerate(answer.get("blocks", [])):
        start, deltas = _streamed(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": answer.get("stop", "end_turn"), "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _streamed(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a block begins, and the deltas that complete it. A tool_use with `raw` sends that text as its input."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in _halves(block["text"])]
        case "thinking":
            parts = [{"type": "thinking_delta", "thinking": t} for t in _halves(block["thinking"])]
            signed = [{"type": "signature_delta", "signature": block["signature"]}]
            return {"type": "thinking", "thinking": "", "signature": ""}, parts + signed
        case "tool_use":
            typed = block.get("raw", json.dumps(block.get("input", {})))
            start = {key: value for key, value in block.items() if key != "raw"} | {"input": {}}
            return start, [{"type": "input_json_delta", "partial_json": t} for t in _halves(typed)]
    return block, []


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


def problem(request: dict[str, Any]) -> str:
    """What the real service would refuse in `request`, "" when nothing."""
    marks = json.dumps(request).count('"cache_control"')
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    open_calls: list[str] = []
    for number, message in enumerate(request["messages"]):
        if set(message) != {"role", "content"} or not message["content"]:
            return f"messages.{number}: a message has a role and content, nothing else"
        for block in message["content"]:
            if any(key.startswith("_") for key in block) or "raw" in block:
                return f"messages.{number}: extra inputs are not permitted"
            if block["type"] == "text" and not block["text"].strip():
                return f"messages.{number}: text content blocks must be non-empty"
            if block["type"] == "thinking" and not block.get("signature"):
                return f"messages.{number}: thinking without a signature"
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            return f"messages.{number}: tool_use ids {open_calls} were answered by {results}"
        open_calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
    return f"tool_use ids {open_calls} have no result" if open_calls else ""


def played(file: Path) -> Callable[[dict[str, Any]], Answer]:
    """A script of the scripted model, as answers of this server."""
    from hitl_cli.models.script import load
    from hitl_cli.models.scripted import next_reply, whole

    script, failed = load(file), dict[Any, int]()
    stops = {"end": "end_turn", "length": "max_tokens", "pause": "pause_turn"}

    def answer(request: dict[str, Any]) -> Answer:
        place, reply = next_reply(script, request["messages"])
        failed[place] = failed.get(place, 0) + 1
        error = reply.error
        strikes = error is not None and (error.times is None or failed[place] <= error.times)
        if error and error.status and strikes:
            after = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
            return {"status": error.status, "message": error.message or "no", "headers": after}
        said = whole(place, reply)
        counts = {"input_tokens": said.usage.input, "output_tokens": said.usage.output}
        cached = {"cache_read_input_tokens": said.usage.cache_read}
        answer = {"blocks": list(said.blocks), "stop": stops.get(said.stop, said.stop), "usage": counts | cached}
        if error and error.cut and strikes:
            answer["cut"] = 2 + sum(4 for block in said.blocks if block["type"] == "text")
        return answer | {"wait": reply.wait}

    return answer


def main() -> None:
    options = argparse.ArgumentParser(description="A local service that speaks the Messages protocol.")
    options.add_argument("--script", type=Path, required=True, help="answers (.json) or a script (.toml)")
    options.add_argument("--port-file", type=Path, required=True, help="where the port is written once it listens")
    options.add_argument("--log", type=Path, help="requests are appended here, one JSON line each")
    given = options.parse_args()
    answers = played(given.script) if given.script.suffix == ".toml" else json.loads(given.script.read_text())
    server = Server(answers, given.log)
    fresh = given.port_file.with_name(given.port_file.name + ".new")
    fresh.write_text(str(server.port))
    os.replace(fresh, given.port_file)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()
    sys.exit(0)


if __name__ == "__main__":
    main()
