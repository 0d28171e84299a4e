"""Where the stories of the rows are played: a path (blocking or streaming), a store, tools that note what they did.

Every agent of a story is made by `stage.agent`, with a model that says what it is told to and keeps the requests.
`elsewhere` is the same store as another process would open it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hitl_cli import Agent, Context, Decision, Middleware, Place, Policy, Recorded, Rule, Run, external_tool, tool
from hitl_cli.permissions import codec
from hitl_cli.store import Store
from hitl_cli.tooldef import Tool
from tests.agent.told import Driver, Told, ids, said, text_of

__all__ = ["Reviews", "Stage", "Told", "asks", "ids", "outcome", "parsed", "results", "said", "text_of"]

TEXT = {"type": "object", "properties": {"x": {"type": "string"}}}


class Reviews(Middleware):
    """Asks a question around each call of one tool."""

    id = "reviews"

    def __init__(self, name: str) -> None:
        self.name = name

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        if call.name == self.name:
            ctx.ask("fine?", str)
        return await next(call)


@tool
def asks(ctx: Context) -> str:
    """Ask how many."""
    return f"{ctx.ask('How many?', int)} of them"


@dataclass
class Stage:
    """`ran`: what bodies were entered, as `name` or `name x`. `events`: what the last streamed run showed."""

    driver: Driver
    store: Store
    elsewhere: Callable[[], Store]
    ran: list[str] = field(default_factory=list)

    def works(self, name: str, **options: Any) -> Tool:
        """A tool that takes an optional text `x`, notes that it ran and returns `name x done`."""

        def body(x: str = "") -> str:
            words = f"{name} {x}".strip()
            self.ran.append(words)
            return f"{words} done"

        return tool(name=name, description="Do some work.", **options)(body)

    def hangs_once(self, name: str) -> Tool:
        """A tool that may run again, says that it is inside, and hangs the first time."""

        async def body(ctx: Context) -> str:
            self.ran.append(name)
            ctx.progress("inside")
            if self.ran.count(name) == 1:
                await asyncio.Event().wait()
            return f"{name} done"

        return tool(name=name, description="Do some work.", idempotent=True)(body)

    def external(self, name: str = "out", **options: Any) -> Tool:
        """A tool that somebody else runs."""
        return external_tool(name, "Run elsewhere.", TEXT, **options)

    def agent(self, *replies: Any, tools: Any = (), store: Store | None = None, **options: Any) -> Agent:
        """`replies`: a text, a list of (tool, input), a ModelReply, an error, or an async function of the request."""
        return Agent(Told(*replies), tools, store=store or self.store, **options)

    def rules(self, *texts: str) -> Policy:
        """`copy` is an allow rule, `? copy` an ask rule, `- copy` a deny rule."""
        return Policy([parsed(text) for text in texts], Place("/tmp", ("/tmp",), "/home/nobody"))

    async def run(self, agent: Agent, text: str = "go", session: str | None = None, **options: Any) -> Any:
        return await self.driver.run(agent, text, session, **options)

    async def resume(self, agent: Agent, run: Run | str, answers: Any, **options: Any) -> Any:
        return await self.driver.resume(agent, _session(run), answers, **options)

    async def recover(self, agent: Agent, run: Run | str, **options: Any) -> Any:
        return await self.driver.recover(agent, _session(run), **options)

    @property
    def events(self) -> list[Any]:
        return self.driver.events

    async def history(self, run: Run | str) -> list[Any]:
        """The entries on record, read as another process would read them."""
        return [recorded.entry for recorded in await self.recorded(run)]

    async def recorded(self, run: Run | str) -> list[Recorded]:
        return self.elsewhere().read(_session(run))


def parsed(text: str) -> Rule:
    """`Bash(x)` is an allow rule, `? Bash(x)` an ask rule, `- Bash(x)` a deny rule."""
    kinds = {"?": Decision.ASK, "-": Decision.DENY}
    return codec.parse(text.lstrip("?- "), kinds.get(text[0], Decision.ALLOW))


def _session(run: Run | str) -> str:
    return run if isinstance(run, str) else run.session


def results(agent: Agent) -> list[str]:
    """What the last request told the model of its calls, in order; `! ` stands before an error."""
    return ["! " * failed + text for text, failed in agent.model.results]  # type: ignore[attr-defined]


def outcome(run: Run) -> str:
    return type(run).__name__
