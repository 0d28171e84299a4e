"""History -> messages for a model, in the shape of the Messages protocol.

Built so that it is valid by construction: roles take turns, and each tool_use is followed, in the next message, by
exactly one tool_result, in call order; calls of a turn that was given up are closed. Blocks of a reply go back as they
came (thinking included), except that a call which a person edited shows what ran and each tool_use has an id of its own.
Blocked turns leave no trace. A summary stands for what was said before, except that a turn which is not over keeps its
message and its last reply with what came of it. Keys that begin with `_` are notes of our own, see `hitl_cli.models`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hitl_cli.interrupts import load_answer
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    Json,
    Raised,
    Replied,
    Result,
    Settled,
    Started,
)
from hitl_cli.records import Struct, field
from hitl_cli.regex import later
from hitl_cli.texts import CUT_OFF, INTERRUPTED, STOPPED_ANSWER, SUMMARY, Texts, modified

Message = dict[str, Json]
_THOUGHTS = ("thinking", "redacted_thinking")
OVER = ("completed", "blocked", "stopped")
_ID = later(r"[a-zA-Z0-9_-]{1,64}")


class _Turn(Struct):
    began: Began
    replies: list[Replied] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    inputs: dict[str, Mapping[str, Json]] = field(default_factory=dict)  # of edited calls, as they ran
    approved: set[str] = field(default_factory=set)
    started: set[str] = field(default_factory=set)
    open: bool = True
    over: bool = False  # ended for good: not given up, to be taken up again
    text: str | None = None  # the answer, where a hook replaced it


def messages(entries: Iterable[Entry], texts: Texts | None = None) -> list[Message]:
    """The conversation as it stands. Calls that still wait have no result yet; the model is not asked while there are any.

    >>> from hitl_cli.journal import Began, Settings
    >>> messages([Began(1, "Hello", Settings("m", "default", "/"))])
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hello'}], '_turn': 1}]
    """
    summary, turns = _turns(entries)
    out = _Messages(texts or Texts())
    if summary:
        out.add("user", [{"type": "text", "text": SUMMARY + summary}])
    for turn in turns:
        out.turn(turn)
    return out.messages


def earlier(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries that a summary made now would stand for."""
    began, over, replies = 0, True, list[int]()
    for n, entry in enumerate(entries):
        if isinstance(entry, Began):
            began, over, replies = n, False, []
        elif isinstance(entry, Replied):
            over = False
            replies.append(n)
        elif isinstance(entry, Ended):
            over = entry.status in OVER
        elif isinstance(entry, Changed) and entry.what == "summary":
            del replies[:-1]
    return entries if over else entries[: replies[-1] if len(replies) > 1 else began]


def _turns(entries: Iterable[Entry]) -> tuple[str, list[_Turn]]:
    """The last summary, and the turns after it that were not blocked."""
    summary, turns, calls = "", list[_Turn](), dict[str, Call]()
    for entry in entries:
        if type(entry) is Changed and entry.what == "summary":
            summary, turns = entry.value, [turn for turn in turns[-1:] if not turn.over]
            for turn in turns:
                del turn.replies[:-1]
        elif type(entry) is Began:
            turns.append(_Turn(entry))
        elif turns:
            _add(turns, entry, calls)
    return summary, turns


def _add(turns: list[_Turn], entry: Entry, calls: dict[str, Call]) -> None:
    turn = turns[-1]
    if type(entry) is Replied:
        turn.replies.append(entry)
        turn.open, turn.over = True, False
    elif type(entry) is Settled:
        turn.results[entry.call] = entry.result
    elif type(entry) is Started:
        turn.started.add(entry.call)
    elif type(entry) is Raised:
        calls.update({i["id"]: Call(**i["call"]) for i in entry.interrupts if i.get("call")})
    elif type(entry) is Answered:
        _answered(turn, entry, calls)
    elif type(entry) is Ended and entry.turn == turn.began.turn:
        turn.open, turn.over, turn.text = False, entry.status in OVER, entry.text
        if entry.status == "blocked":
            turns.pop()


def _answered(turn: _Turn, entry: Answered, calls: dict[str, Call]) -> None:
    for id, data in entry.answers.items():
        verb, call = next(iter(data)), calls.get(id)
        if call is None or entry.who.kind not in ("person", "program"):
            continue
        if verb in ("approve", "edit") and id.partition(":")[2].startswith("approval"):
            turn.approved.add(call.id)
        if verb == "edit":
            turn.inputs[call.id] = load_answer(data).input  # type: ignore[union-attr]


class _Messages:
    """The messages so far. Two of one role in a row become one."""

    def __init__(self, texts: Texts) -> None:
        self.messages: list[Message] = []
        self.texts = texts
        self.used: set[str] = set()

    def add(self, role: str, blocks: list[Message], **notes: Json) -> None:
        if not blocks:
            return
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(blocks)
            self.messages[-1].update(notes)
        else:
            self.messages.append({"role": role, "content": blocks, **notes})

    def turn(self, turn: _Turn) -> None:
        text = [{"type": "text", "text": turn.began.text}] if turn.began.text else []
        self.add("user", [*text, *map(dict, turn.began.content)], _turn=turn.began.turn)
        for number, replied in enumerate(turn.replies, 1):
            last = number == len(turn.replies)
            replaced = turn.text if last and not replied.calls else None
            ids = [self.id_of(call) for call in replied.calls]
            self.add("assistant", self.reply(turn, replied, ids, replaced))
            closed = not (last and turn.open)
            results = [self.result(turn, call, id, closed) for call, id in zip(replied.calls, ids, strict=True)]
            self.add("user", [block for block in results if block])
            if replied.reply.stop == "interrupted" and self.messages[-1]["role"] == "assistant":
                self.add("user", [{"type": "text", "text": STOPPED_ANSWER}])

    def id_of(self, call: Call) -> str:
        """The provider's id where it is a good one and new, else one made of ours."""
        id = call.provider_id
        if not _ID.fullmatch(id) or id in self.used:
            id = "call_" + call.id.replace(".", "_")
        self.used.add(id)
        return id

    def reply(self, turn: _Turn, replied: Replied, ids: list[str], replaced: str | None) -> list[Message]:
        blocks, calls = list[Message](), iter(zip(replied.calls, ids, strict=True))
        for block in replied.reply.blocks:
            if block.get("type") == "tool_use":
                call, id = next(calls)
                input: Mapping[str, Json] = turn.inputs.get(call.id) or block.get("input") or {}
                kept = {k: v for k, v in block.items() if k != "raw"}
                blocks.append({**kept, "id": id, "input": dict(input)})
            elif block.get("type") != "text" or (block["text"] and replaced is None):
                blocks.append(dict(block))
        if replaced:
            blocks.append({"type": "text", "text": replaced})
        return blocks if any(b.get("type") not in _THOUGHTS for b in blocks) else []  # thoughts alone are no message

    def result(self, turn: _Turn, call: Call, id: str, closed: bool) -> Message | None:
        result = turn.results.get(call.id)
        if result is None:
            if not closed:
                return None
            result = Result(CUT_OFF if call.id in turn.started else INTERRUPTED, False, "interrupted")
        content: Any = result.content if isinstance(result.content, str) else [dict(b) for b in result.content]
        block: Message = {"type": "tool_result", "tool_use_id": id, "content": content, "_kind": result.kind}
        if not result.ok:
            block["is_error"] = True
        if call.id in turn.inputs:
            block["_answer"] = "edited"
            note = {"type": "text", "text": modified(call.name, turn.inputs[call.id], self.texts)}
            text = [{"type": "text", "text": content}] if isinstance(content, str) else content
            block["content"] = [note, *(b for b in text if b.get("text") != "")]
        elif call.id in turn.approved:
            block["_answer"] = "approved"
        return block
