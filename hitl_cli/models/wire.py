"""A request as the Messages protocol wants it: our notes taken off, illegal blocks left out, cache marks set.

What the model once said goes back unchanged, thinking with its signature and blocks of kinds nobody here knows included:
the service that made them knows them. Left out is only what it would refuse: empty text, thinking without a signature
(cut off, or not its own), a block that did not arrive whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hitl_cli.journal import Json
from hitl_cli.models import Request
from hitl_cli.models.prices import card

_MARK = {"type": "ephemeral"}
_ENOUGH = 32_000  # tokens of one reply: a larger one is asked to go on, and costs less when it runs away
THINKING = ("thinking", "redacted_thinking")


def body(model: str, request: Request, *, thinking: bool = True) -> dict[str, Any]:
    """The JSON to post. `thinking` False leaves out all thinking of earlier replies."""
    known = card(model)
    sent: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens or min(known.output, _ENOUGH),
        "messages": _messages(request.messages, thinking),
        "stream": True,
    }
    if known.thinks:
        sent["thinking"] = {"type": "adaptive", "display": "summarized"}
    if request.system:
        sent["system"] = [{"type": "text", "text": request.system, "cache_control": _MARK}]
    if request.tools:
        tools = [{"name": t.name, "description": t.description, "input_schema": dict(t.schema)} for t in request.tools]
        sent["tools"] = [*tools[:-1], tools[-1] | {"cache_control": _MARK}]
    return _encodable(sent)


def has_thinking(request: Request) -> bool:
    return any(block.get("type") in THINKING for message in request.messages for block in message["content"])


def _encodable(sent: dict[str, Any]) -> dict[str, Any]:
    """Half of a surrogate pair, which a model can write and no request can carry, becomes a question mark."""
    text = json.dumps(sent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        sent = json.loads(text.encode(errors="replace"))
    return sent


def _messages(messages: Sequence[Mapping[str, Json]], thinking: bool) -> list[dict[str, Any]]:
    sent = []
    for message in messages:
        blocks = [_block(block) for block in message["content"] if _legal(block, thinking)]
        if blocks:
            sent.append({"role": message["role"], "content": blocks})
    _mark_last(sent)
    return sent


def _legal(block: Mapping[str, Json], thinking: bool) -> bool:
    kind = block.get("type")
    if block.get("_partial"):
        return False
    if kind == "text":
        return bool(block.get("text", "").strip())
    if kind in THINKING and not thinking:
        return False
    return kind != "thinking" or bool(block.get("signature"))


def _block(block: Mapping[str, Json]) -> dict[str, Any]:
    sent = {key: value for key, value in block.items() if not key.startswith("_")}
    if sent.get("type") == "tool_use":
        sent.pop("raw", None)
        sent["input"] = dict(sent.get("input") or {})
    if sent.get("type") == "tool_result" and not isinstance(sent.get("content", ""), str):
        sent["content"] = [_block(inner) for inner in sent["content"]]
    return sent


def _mark_last(messages: list[dict[str, Any]]) -> None:
    """Two marks, on the newest two messages of the person: the older one is where the last request left off."""
    of_person: Iterable[dict[str, Any]] = [m for m in messages if m["role"] == "user"][-2:]
    for message in of_person:
        message["content"][-1] = message["content"][-1] | {"cache_control": _MARK}
