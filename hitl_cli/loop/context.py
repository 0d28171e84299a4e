"""How full the model's window is: what the service counted, and what has come since, estimated.

The usage of a reply says exactly how many tokens its request and the reply itself held. What was said after it, and a
conversation of which nothing was counted yet, is estimated from its length. Every figure says which of the two it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hitl_cli.journal import Began, Changed, Entry, Json, Recorded, Replied, Settled
from hitl_cli.models import Request, ToolSpec
from hitl_cli.records import Struct

LETTERS = 4  # characters of a token, near enough for English and for code
PICTURE = 1_600  # tokens of an image, the most that one of the usual size costs
_WEIGHTY = {Replied, Began, Settled, Changed}


class Context(Struct, frozen=True):
    """In tokens. `instructions`, `tools` and `conversation` are estimates; `measured` is what the service counted for
    the last request and its reply (0: nothing yet, or not since the last summary), `since` estimates what came after."""

    window: int
    instructions: int
    tools: int
    conversation: int
    measured: int
    since: int

    @property
    def used(self) -> int:
        """What the next request will hold."""
        if self.measured:
            return self.measured + self.since
        return self.instructions + self.tools + self.conversation

    @property
    def percent(self) -> int:
        return 100 * self.used // max(self.window, 1)


class Gauge:
    """The entries of a session, one by one, folded into `measured` and `since`, as in `Context`."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.measured = self.since = 0
        for entry in entries:
            self.see(entry)

    def see(self, entry: Entry) -> None:
        if type(entry) not in _WEIGHTY:  # most are not, and five classes would take long to say so
            return
        match entry:
            case Replied(reply=reply):
                used = reply.usage
                counted = used.input + used.cache_read + used.cache_write + used.output
                if counted:
                    self.measured, self.since = counted, 0
                else:
                    self.since += tokens(reply.blocks)
            case Began(text=text, content=content):
                self.since += tokens(text) + tokens(content)
            case Settled(result=result):
                self.since += tokens(result.content)
            case Changed(what="summary", value=value):
                self.measured, self.since = 0, tokens(value)


def context_of(request: Request, history: Iterable[Recorded], window: int) -> Context:
    """`request` is the next one that a session with this history would send."""
    gauge = Gauge(recorded.entry for recorded in history)
    conversation = sum(tokens(message["content"]) for message in request.messages)
    instructions, tools = tokens(request.system), tools_tokens(request.tools)
    return Context(window, instructions, tools, conversation, gauge.measured, gauge.since)


def tools_tokens(tools: Sequence[ToolSpec]) -> int:
    return sum(tokens(t.name + t.description + json.dumps(dict(t.schema))) for t in tools)


def tokens(content: str | Iterable[Mapping[str, Json]]) -> int:
    """An estimate for a text, or for blocks of the Messages protocol."""
    if isinstance(content, str):
        return -(-len(content) // LETTERS)
    return sum(_block(block) for block in content)


def _block(block: Mapping[str, Any]) -> int:
    match block.get("type"):
        case "text":
            return tokens(str(block.get("text", "")))
        case "image":
            return PICTURE
        case "tool_result":
            return tokens(block.get("content", ""))
        case _:
            return tokens(json.dumps(dict(block), ensure_ascii=False, default=str))
