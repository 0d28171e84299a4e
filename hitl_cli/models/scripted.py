"""A model whose every word is written down in a file: for the demo, for tests, and for trying one's rules.

It remembers nothing. Which reply comes next follows from the messages of the request alone: the replies already given are
walked through again, each with the results that were known when it was given. So a session that is resumed, forked or
continued in another process goes on where it stood. The one thing kept in memory is how often a reply has failed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hitl_cli.journal import Json, ModelReply
from hitl_cli.models import CallDelta, Delta, Request, TextDelta, ThinkingDelta
from hitl_cli.models.retry import Fault, Patience, Refusal, persist, refused
from hitl_cli.models.script import Script, ScriptCall, ScriptReply, load, pieces
from hitl_cli.records import Struct, field
from hitl_cli.regex import later

OVER = ScriptReply(pieces=("The script is over.",))
_OURS = later(r"script_\d+_(\d+)_")  # the id of a call: turn, reply, number, name

Message = Mapping[str, Json]


class Scripted:
    """The model in `file`; SettingsError when the file cannot be used."""

    priced = True  # it costs what its usage says, else nothing

    def __init__(self, file: Path, *, patience: Patience | None = None) -> None:
        self.name = f"script:{file}"
        self.script = load(file)
        self._patience = patience or Patience()
        self._failed: dict[Place, int] = {}

    @property
    def window(self) -> int:
        return self.script.window

    async def close(self) -> None:
        pass

    def stream(self, request: Request) -> AsyncIterator[Delta | ModelReply]:
        messages = request.messages
        if messages and messages[-1].get("_ask") == "summary":
            text = f"A conversation of {len(messages) - 1} messages."
            place, reply = Place(0, 0), ScriptReply(pieces=(text,))
        else:
            place, reply = next_reply(self.script, messages)
        return persist(lambda: self._attempt(place, reply), self._patience)

    async def _attempt(self, place: Place, reply: ScriptReply) -> AsyncGenerator[Delta | ModelReply, None]:
        await asyncio.sleep(reply.wait)
        self._fail(place, reply)
        async for delta in self._say(reply):
            yield delta
        if reply.error and reply.error.cut and self._counts(place, reply):
            advice = "Try again; the session is kept."
            raise Fault("The connection to the model was cut in mid-reply", advice=advice, later=True, retries=1)
        if reply.error:
            await asyncio.sleep(reply.error.stall)
        for call in reply.calls:
            yield CallDelta(call.tool, len(_written(call.input, call.raw)))
        yield whole(place, reply)

    def _fail(self, place: Place, reply: ScriptReply) -> None:
        error = reply.error
        if error and error.status and self._counts(place, reply):
            raise refused(Refusal(error.status, "", error.message, error.retry_after), self.name)

    def _counts(self, place: Place, reply: ScriptReply) -> bool:
        """True when the reply's error strikes once more."""
        so_far = self._failed.get(place, 0)
        self._failed[place] = so_far + 1
        return reply.error is not None and (reply.error.times is None or so_far < reply.error.times)

    async def _say(self, reply: ScriptReply) -> AsyncIterator[Delta]:
        for piece in pieces(reply.thinking, self.script.chunk):
            yield ThinkingDelta(piece)
            await asyncio.sleep(self.script.delay)
        for piece in reply.pieces:
            yield TextDelta(piece)
            await asyncio.sleep(self.script.delay)


class Place(Struct, frozen=True):
    """`turn` counts from 1, `reply` is the index of the reply in it."""

    turn: int
    reply: int


class _Walk(Struct):
    """What is known of the calls so far: by name, the words that fit its outcome and the text of its result."""

    script: Script
    outcomes: dict[str, set[str]] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # id of a tool_use block -> name of the call

    def fits(self, reply: ScriptReply) -> bool:
        if reply.when is None:
            return True
        name, outcome = reply.when
        return outcome in self.outcomes.get(name, ()) and reply.has in self.results.get(name, "")

    def after(self, replies: Sequence[ScriptReply], position: int) -> int:
        """The index of the first reply from `position` on that fits, or their number."""
        return next((n for n in range(position, len(replies)) if self.fits(replies[n])), len(replies))

    def given(self, replies: Sequence[ScriptReply], position: int, message: Message) -> int:
        """Take in a message of the model; the position after the reply it is, or replies: a paused one is joined with
        what followed it. A reply with calls says in their ids which one it is: a summary may stand for those before."""
        blocks = [block for block in message["content"] if block.get("type") in ("text", "tool_use")]
        known = next((found for block in blocks if (found := _OURS.match(block.get("id", "")))), None)
        if known and not any(r.stop == "pause" for r in replies):
            position = min(int(known[1]), len(replies))
        while True:
            if not known:
                position = self.after(replies, position)
            known = None
            if position == len(replies):
                return position
            reply, position = replies[position], position + 1
            used = [block["id"] for block in blocks if block["type"] == "tool_use"]
            self.names.update(zip(used, (call.name for call in reply.calls), strict=False))
            blocks = blocks[any(reply.pieces) + len(reply.calls) :]
            if reply.stop != "pause" or not blocks:
                return position

    def heard(self, message: Message) -> None:
        for block in message["content"]:
            if block.get("type") == "tool_result" and block.get("tool_use_id") in self.names:
                name = self.names[block["tool_use_id"]]
                self.outcomes[name], self.results[name] = _outcomes(block), _text(block.get("content", ""))


def next_reply(script: Script, messages: Sequence[Message]) -> tuple[Place, ScriptReply]:
    """The reply that answers `messages`, and its place."""
    walk, turn, position = _Walk(script), 0, 0
    numbered = any("_turn" in message for message in messages)
    for message in messages:
        replies = script.turns[turn - 1].replies if 0 < turn <= len(script.turns) else ()
        if message["role"] == "assistant":
            position = walk.given(replies, position, message)
            continue
        walk.heard(message)
        if _begins_turn(message, numbered):
            turn, position = message.get("_turn", turn + 1), 0
    if turn > len(script.turns):
        return Place(turn, 0), OVER
    replies = script.turns[turn - 1].replies if turn else ()
    position = walk.after(replies, position)
    return Place(turn, position), replies[position] if position < len(replies) else ScriptReply()


def whole(place: Place, reply: ScriptReply) -> ModelReply:
    """The reply as the Messages protocol would give it."""
    blocks: list[dict[str, Any]] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": ""})
    if any(reply.pieces):
        blocks.append({"type": "text", "text": "".join(reply.pieces)})
    for number, call in enumerate(reply.calls):
        id = f"script_{place.turn}_{place.reply}_{number}_{_legal(call.name)}"
        block: dict[str, Any] = {"type": "tool_use", "id": id, "name": call.tool, "input": dict(call.input or {})}
        blocks.append(block if call.input is not None else block | {"raw": call.raw})
    stop = reply.stop or ("tool_use" if reply.calls else "end")
    return ModelReply(tuple(blocks), "tool_use" if stop == "end" and reply.calls else stop, reply.usage, "script")


def call_of(script: Script, id: str) -> ScriptCall | None:
    """The call that a tool_use block of this model stands for."""
    calls = [call for turn in script.turns for reply in turn.replies for call in reply.calls]
    return next((call for call in calls if re.fullmatch(rf"script_\d+_\d+_\d+_{_legal(call.name)}", id)), None)


def _legal(name: str) -> str:
    """`name` in the letters that an id may have."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


def _begins_turn(message: Message, numbered: bool) -> bool:
    """By its number; without numbers a message begins a turn unless it holds results alone."""
    if numbered:
        return "_turn" in message
    return not all(block.get("type") == "tool_result" for block in message["content"])


def _outcomes(block: Mapping[str, Json]) -> set[str]:
    """The outcome words that fit a tool_result."""
    failed = bool(block.get("is_error"))
    kind = block.get("_kind", "error" if failed else "ran")
    words = {kind} if kind in ("refused", "interrupted", "error") else {"error" if failed else "ok"}
    answer = block.get("_answer")
    if answer == "edited" or (answer == "approved" and "ok" in words):
        words.add(answer)
    return words


def _text(content: Json) -> str:
    return content if isinstance(content, str) else "\n".join(b.get("text", "") for b in content)


def _written(input: Mapping[str, Json] | None, raw: str) -> str:
    return raw if input is None else json.dumps(input)
