"""The events of one streamed reply put together, strictly in the order of the protocol.

Unknown events and unknown kinds of deltas are passed over; a block whose deltas could not be read is kept with the note
`_partial` so that it is shown but never sent back. What breaks the protocol (no JSON object, a delta for a block that
does not exist) is `Garbled`: nothing of such a reply can be trusted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hitl_cli.journal import ModelReply, Stop, Usage
from hitl_cli.models import CallDelta, Delta, TextDelta, ThinkingDelta
from hitl_cli.models.prices import cost
from hitl_cli.records import replace

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
}
_COUNTS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}


class Garbled(Exception):
    """What came is not the protocol."""


class Assembly:
    """Feed `add` each event as parsed JSON; `reply` once `whole`."""

    def __init__(self, model: str) -> None:
        self.started = False
        self.whole = False
        self._asked = self._model = model
        self._blocks: dict[int, dict[str, Any]] = {}
        self._typed: dict[int, str] = {}  # the JSON text of each tool input so far
        self._stop = ""
        self._counts: dict[str, int] = {}

    def add(self, event: Any) -> Delta | None:
        """What a watcher sees of this event, if anything."""
        try:
            return self._add(event)
        except (KeyError, TypeError, AttributeError) as error:
            raise Garbled(f"an event that makes no sense: {str(event)[:80]}") from error

    def _add(self, event: dict[str, Any]) -> Delta | None:
        match event["type"]:
            case "message_start":
                self.started = True
                self._model = event["message"].get("model") or self._model
                self._count(event["message"].get("usage"))
            case "content_block_start":
                return self._begin(event["index"], dict(event["content_block"]))
            case "content_block_delta":
                return self._grow(event["index"], event["delta"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._count(event.get("usage"))
            case "message_stop":
                self.whole = True
        return None

    def _begin(self, index: int, block: dict[str, Any]) -> Delta | None:
        self._blocks[index] = block
        if block["type"] == "tool_use":
            self._typed[index] = ""
            return CallDelta(block["name"], 0)
        if block["type"] == "text" and block["text"]:
            return TextDelta(block["text"])
        return None

    def _grow(self, index: int, delta: dict[str, Any]) -> Delta | None:
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta":
                block["text"] += delta["text"]
                return TextDelta(delta["text"])
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
                return ThinkingDelta(delta["thinking"])
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "input_json_delta":
                self._typed[index] = self._typed.get(index, "") + delta["partial_json"]
                if block["type"] == "tool_use":
                    return CallDelta(block["name"], len(self._typed[index]))
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta["citation"]]
            case _:
                block["_partial"] = True
        return None

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """Counts are cumulative: the latest that is given stands."""
        for theirs, ours in _COUNTS.items():
            if usage and usage.get(theirs) is not None:
                self._counts[ours] = usage[theirs]

    def reply(self) -> ModelReply:
        """The whole reply, priced: by the model that answered, or where that has no price by the one that was asked.

        A refused one holds no calls: none of them may be run or answered."""
        stop = _STOPS.get(self._stop, "end")
        order = sorted(self._blocks)
        blocks = [self._finish(index, cut=stop == "length" and index == order[-1]) for index in order]
        if stop == "refusal":
            blocks = [block for block in blocks if block["type"] != "tool_use"]
        if stop in ("end", "tool_use"):
            stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end"
        usage = Usage(**self._counts)
        price = cost(self._model, usage)
        usage = replace(usage, cost=cost(self._asked, usage) if price is None else price)
        return ModelReply(tuple(blocks), stop, usage, self._model)

    def _finish(self, index: int, *, cut: bool) -> dict[str, Any]:
        """The block with its input read; text that is no JSON object is kept in `raw`. `cut`: the reply ended in it."""
        block = self._blocks[index]
        typed = self._typed.get(index, "")
        if not typed and not (cut and block["type"] == "tool_use"):
            return block
        try:
            read = json.loads(typed)
        except ValueError:
            read = None
        if isinstance(read, dict):
            return block | {"input": read}
        return block | ({"input": {}, "raw": typed} if block["type"] == "tool_use" else {"_partial": True})
