"""What the transcript makes of a journal is understood by the scripted model (the notes) and by a service (the rest)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_cli.interrupts import Approval, Approve, Edit, dump, dump_answer
from hitl_cli.journal import Answered, Began, Call, Ended, Entry, Raised, Replied, Result, Settings, Settled, Who
from hitl_cli.models import Request
from hitl_cli.models.claude import Claude
from hitl_cli.models.script import parse
from hitl_cli.models.scripted import Place, next_reply, whole
from hitl_cli.transcript import messages
from tests.models.server import Server, say

SCRIPT = parse(
    """format = 1
[[turn]]
[[turn.reply]]
thinking = "Which?"
text = "Two things."
calls = [
  { name = "a", tool = "Bash", input = { command = "a" } },
  { name = "b", tool = "Bash", raw = "{bro" },
]
[[turn.reply]]
when = "a edited"
text = "edited"
[[turn.reply]]
when = "a approved"
text = "approved"
[[turn.reply]]
when = "a ok"
text = "ok"
[[turn.reply]]
when = "a refused"
text = "refused"
[[turn.reply]]
when = "a interrupted"
text = "interrupted"
[[turn.reply]]
when = "a error"
text = "error"
[[turn]]
[[turn.reply]]
text = "The second turn."
""",
    "story.toml",
)


def asked() -> tuple[list[Entry], list[Call]]:
    reply = whole(Place(1, 0), SCRIPT.turns[0].replies[0])
    calls = [
        Call(
            f"1.1.{number}",
            block["name"],
            None if "raw" in block else block["input"],
            block.get("raw", ""),
            block["id"],
        )
        for number, block in enumerate(block for block in reply.blocks if block["type"] == "tool_use")
    ]
    return [Began(1, "Go", Settings("script:x", "default", "/")), Replied(1, 1, reply, tuple(calls))], calls


def answered(call: Call, answer: Approve | Edit) -> list[Entry]:
    approval = Approval(id=f"{call.id}:approval", call=call, reason="no rule")
    return [Raised((dump(approval),)), Answered({approval.id: dump_answer(answer)}, Who("person"))]


def accepted(history: list[dict[str, Any]]) -> str:
    """The answer of a service that refuses what the real one would refuse."""

    async def run() -> str:
        claude = Claude("claude-opus-4-8")
        items = [item async for item in claude.stream(Request("", history))]
        await claude.close()
        return items[-1].text

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "result", "said"),
    [
        (Edit({"command": "A"}), Result("done"), "edited"),
        (Approve(), Result("done"), "approved"),
        (None, Result("done"), "ok"),
        (None, Result("no", False, "refused"), "refused"),
        (Approve(), Result("stopped", False, "interrupted"), "interrupted"),
        (Approve(), Result("exit code 1", False), "error"),
        (None, Result("no such file", False, "error"), "error"),
    ],
)
def test_each_way_a_call_can_come_out_is_told_apart(at, answer, result: Result, said: str) -> None:
    entries, (a, b) = asked()
    entries += answered(a, answer) if answer else []
    entries += [Settled(a.id, result), Settled(b.id, Result("not JSON", False, "error"))]
    history = messages(entries)
    _, reply = next_reply(SCRIPT, history)
    assert "".join(reply.pieces) == said
    with Server([say("Fine.")]) as server:
        at(server)
        assert accepted(history) == "Fine."


def test_a_turn_that_was_stopped_is_over_for_both(at) -> None:
    entries, (a, _) = asked()
    entries += [Settled(a.id, Result("done")), Ended(1, "interrupted")]
    entries += [Began(2, "Go on", Settings("script:x", "default", "/"))]
    history = messages(entries)
    assert "".join(next_reply(SCRIPT, history)[1].pieces) == "The second turn."
    with Server([say("Fine.")]) as server:
        at(server)
        assert accepted(history) == "Fine."
