"""A program of the library's: hooks that ask before and after a turn, a body that asks. Each start goes one step on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hitl_cli import Agent, Context, Middleware, approve, reply, result, tool
from hitl_cli.interrupts import Approval
from hitl_cli.journal import ModelReply
from hitl_cli.store.sqlite import SqliteStore


class Steps:
    """Replies by what the request holds, so that any process goes on where the story stands."""

    name, window = "steps", 100_000

    async def stream(self, request: Any) -> Any:
        said = sum(message["role"] == "assistant" for message in request.messages)
        calls = [("gated", {"line": "a"}), ("asks", {"line": "b"})] if said == 0 else []
        blocks = [{"type": "tool_use", "id": f"u{n}", "name": name, "input": i} for n, (name, i) in enumerate(calls)]
        yield ModelReply(tuple(blocks) or ({"type": "text", "text": "All done."},), "tool_use" if calls else "end")

    async def close(self) -> None: ...


class Asking(Middleware):
    id = "asking"

    async def before_agent(self, text: str, ctx: Any) -> str:
        return f"{text} {ctx.ask('really?', str)} {ctx.ask('how?', str)}"

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        out = await next(call)
        ctx.ask("was it good?", str)
        return out

    async def after_agent(self, text: str, ctx: Any) -> str:
        ctx.ask("enough?", str)
        return text


def note(line: str) -> str:
    with Path("log").open("a") as file:
        file.write(f"{line}\n")
    return f"noted {line}"


@tool(approve=True)
def gated(line: str) -> str:
    """Note a line once approved."""
    return note(line)


@tool
async def asks(line: str, ctx: Context) -> str:
    """Ask, then note a line."""
    ctx.ask("well?", str)
    return note(line)


async def step(agent: Agent) -> None:
    heads = agent.store.heads()
    loaded = await agent.load(heads[0].session) if heads else None
    if loaded is None:
        await agent.run("go")
    elif loaded.status == "interrupted":
        await agent.recover(loaded.session)
    else:
        asked = loaded.pending[0]
        yes = result("it had run") if getattr(asked, "source", "") == "uncertain" else approve()
        await agent.resume(loaded.session, {asked.id: yes if isinstance(asked, Approval) else reply("yes")})
    await agent.close()


def main(arguments: Sequence[str]) -> int:
    store = SqliteStore(Path(os.environ["HITL_STATE_DIR"]) / "sessions.db")
    asyncio.run(step(Agent(Steps(), [gated, asks], middleware=[Asking()], store=store)))
    return 0
