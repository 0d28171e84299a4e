"""A model that says what it is told to, one reply a request, and keeps the requests; and ways of driving an agent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from hitl_cli.agent import Agent
from hitl_cli.journal import ModelReply, Recorded, Usage
from hitl_cli.models import Request, TextDelta
from hitl_cli.outcome import Run, RunEnded

Reply = str | list[tuple[str, Any]] | ModelReply | Exception | Callable[[Request], Awaitable[ModelReply]]


class Told:
    """A reply is a text, a list of (tool, input), a ModelReply, an error to raise, or an async function of the request."""

    name = "told"
    window = 100_000
    priced = True  # a `ModelReply` says what it costs, all else costs nothing

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    async def close(self) -> None:
        pass

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            yield TextDelta(reply)
        yield await reply(request) if callable(reply) else said(reply)

    @property
    def results(self) -> list[Any]:
        """The tool results that the last request ends with, as (text, is_error)."""
        blocks = [b for b in self.requests[-1].messages[-1]["content"] if b["type"] == "tool_result"]
        return [(text_of(b["content"]), b.get("is_error", False)) for b in blocks]


def said(reply: Reply) -> ModelReply:
    if isinstance(reply, ModelReply):
        return reply
    if isinstance(reply, str):
        return ModelReply(({"type": "text", "text": reply},), "end", Usage(10, 5))
    assert isinstance(reply, list)
    blocks = tuple(
        {"type": "tool_use", "id": f"use_{n}", "name": name, "input": input}
        if isinstance(input, dict)
        else {"type": "tool_use", "id": f"use_{n}", "name": name, "input": {}, "raw": input}
        for n, (name, input) in enumerate(reply)
    )
    return ModelReply(blocks, "tool_use", Usage(10, 5))


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(b.get("text", "") for b in content)


class Driver:
    """The same run, blocking or streamed; `events` are those of the last streamed run."""

    def __init__(self, streaming: bool) -> None:
        self.streaming = streaming
        self.events: list[Any] = []

    async def run(self, agent: Agent, text: str, session: str | None = None, **options: Any) -> Run:
        return await self._drive(agent.run, agent.stream, text, session, **options)

    async def resume(self, agent: Agent, session: str, answers: Any, **options: Any) -> Run:
        return await self._drive(agent.resume, agent.stream_resume, session, answers, **options)

    async def recover(self, agent: Agent, session: str, **options: Any) -> Run:
        return await self._drive(agent.recover, agent.stream_recover, session, **options)

    async def _drive(self, blocking: Any, streaming: Any, *arguments: Any, **options: Any) -> Run:
        if not self.streaming:
            return await blocking(*arguments, **options)  # type: ignore[no-any-return]
        self.events = [event async for event in streaming(*arguments, **options)]
        assert isinstance(self.events[-1], RunEnded)
        assert not any(isinstance(event, RunEnded) for event in self.events[:-1])
        return self.events[-1].run

    @property
    def entries(self) -> list[Any]:
        return [event.entry for event in self.events if isinstance(event, Recorded)]


def ids(run: Any) -> list[str]:
    return [interrupt.id for interrupt in run.pending]
