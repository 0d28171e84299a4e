"""A long conversation made short: the model writes a summary, which from then on stands for what was said before.

The journal keeps everything; only what the model is sent gets shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitl_cli.agent import Agent
from hitl_cli.errors import HitlError, ModelError
from hitl_cli.journal import Changed, ModelReply
from hitl_cli.models import Request, ToolSpec

ASK = """Write a summary of this conversation that lets somebody go on with the work without having read it: what was
asked, what was decided and why, which files were read or changed and how they stand, what was found out, what failed,
what the person refused, and what is to be done next. Be exact about names, paths and commands. Answer with the summary
alone and call no tools."""


async def compact(agent: Agent, session: str, wishes: str, show: Callable[[object], None]) -> int:
    """Put a summary in the place of the conversation; its length in characters. `show` sees the stream.

    Raises HitlError: of the model, or because the session is in the middle of a turn or there is nothing to sum up.
    """
    snapshot = await agent.load(session)
    if not snapshot.messages:
        raise HitlError("There is nothing to sum up yet.")
    ask: dict[str, Any] = {"type": "text", "text": f"{ASK}\n\n{wishes}".strip()}
    messages = [dict(message) for message in snapshot.messages]
    if messages[-1]["role"] == "user":  # roles take turns
        messages[-1]["content"] = [*messages[-1]["content"], ask]
    else:
        turns = sum("_turn" in message for message in messages)
        messages.append({"role": "user", "content": [ask], "_turn": turns + 1})
    tools = [ToolSpec(t.name, t.description, t.offered) for t in agent.tools.values()]
    text = ""
    async for item in agent.model.stream(Request(agent.instructions, messages, tools)):
        if isinstance(item, ModelReply):
            text = item.text.strip()
        else:
            show(item)
    if not text:
        raise ModelError("The model wrote no summary; the conversation is as it was.")
    await agent.change(session, Changed("summary", text))
    return len(text)
