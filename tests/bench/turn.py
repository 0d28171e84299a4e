"""One whole `hitl run` with a Bash call, without what any program would spend on the same conversation.

The other program has the same two requests answered by the same server, through the same SDK, and runs the same command;
what is left is hitl's own work: settings, rules, judging, the journal, the telling. It treats Python's collector as hitl
does (seldom asked, and not once more at the end), since that alone saves hundreds of milliseconds; how hitl compares with
a program that does not is told beside it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

from tests.bench.figures import Figure
from tests.bench.programs import hitl, home, in_turns, peak, python, wall
from tests.models.server import Server, ask, call, say

ROUNDS = 15
OTHER = """
import asyncio, subprocess
import anthropic
async def main():
    async with anthropic.AsyncAnthropic(max_retries=0) as client:
        messages = [{"role": "user", "content": [{"type": "text", "text": "say hello"}]}]
        for _ in range(2):
            events = await client.post("/v1/messages", cast_to=object, stream=True,
                stream_cls=anthropic.AsyncStream[object],
                body={"model": "claude-bench", "max_tokens": 9, "messages": messages, "stream": True})
            async for event in events:
                pass
        subprocess.run(["bash", "--noprofile", "--norc", "-c", "echo hello"], stdin=subprocess.DEVNULL,
            capture_output=True)
asyncio.run(main())
"""
ALIKE = f"import gc; gc.set_threshold(50_000)\n{OTHER}\ngc.freeze()"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if any(block["type"] == "tool_result" for message in request["messages"] for block in message["content"]):
        return say("It said hello.")
    if len(json.dumps(request)) < 400:  # the other program, which has no tools
        return say("It said hello.")
    return ask(call("Bash", {"command": "echo hello"}))


def figures() -> Iterator[Figure]:
    with Server(answer) as server, home(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="x") as where:
        ours = hitl("run", "--model", "claude-bench", "--quiet", "say hello")
        programs = {"hitl": ours, "alike": python(ALIKE), "other": python(OTHER)}
        spent = in_turns(programs, where, ROUNDS)
        assert any('"is_error": true' not in json.dumps(r) and "tool_result" in json.dumps(r) for r in server.requests)
        mine, others = peak(ours, where), peak(python(OTHER), where)
        yield Figure("  peak memory of it", mine, "MiB", None, f"the other program: {others:.0f} MiB")
    pairs = list(zip(spent["hitl"], spent["alike"], strict=True))
    own = statistics.median(hitl.wall - alike.wall for hitl, alike in pairs)
    used = statistics.median(hitl.processor - alike.processor for hitl, alike in pairs)
    least = min(s.wall for s in spent["hitl"]) - min(s.wall for s in spent["alike"])
    note = (
        f"median of {ROUNDS} pairs ({wall(spent['hitl']) * 1000:.0f} ms - {wall(spent['alike']) * 1000:.0f} ms);"
        f" of the best {least * 1000:.0f} ms, processor {used * 1000:.0f} ms"
    )
    yield Figure("hitl run with one Bash call, its own share", own * 1000, "ms", 60, note)
    beside = wall(spent["hitl"]) - wall(spent["other"])
    title = "  beside the other program with the collector as Python has it"
    yield Figure(title, beside * 1000, "ms", None, "below zero: hitl is over sooner")
