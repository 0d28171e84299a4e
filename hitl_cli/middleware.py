"""Code around the four places of a turn: the message, a request to the model, a call, the answer.

A middleware may let through, replace, refuse, ask a person (`ctx.ask`, by replay) or end the turn (`raise Block`). The
first in order is the outermost; after-agent hooks run in reverse. Hooks may be plain functions (they run in a thread, and
`next` blocks) or async.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hitl_cli.journal import Call, ModelReply, Result
from hitl_cli.loop.asking import CodeContext
from hitl_cli.models import Request
from hitl_cli.regex import later

HOOKS = ("before_agent", "around_model", "around_tool", "after_agent")
_ID = later(r"[A-Za-z0-9_-]{1,64}")


class Block(Exception):
    """Raised by a hook: the turn ends Blocked and leaves no message.

    >>> raise Block("topics", "not about cooking")
    Traceback (most recent call last):
    ...
    hitl_cli.middleware.Block: topics: not about cooking
    """

    def __init__(self, by: str, reason: str = "") -> None:
        super().__init__(f"{by}: {reason}")
        self.by, self.reason = by, reason


class Middleware:
    """Override the hooks that matter. `id` names it in questions; it is outside of the ids in `before`, inside of `after`.

    >>> class Polite(Middleware):
    ...     id = "polite"
    ...     async def after_agent(self, text, ctx):
    ...         return text + " Thank you."
    >>> in_order([Polite()])[0].id
    'polite'
    """

    id: str = ""
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    async def before_agent(self, text: str, ctx: CodeContext) -> str | None:
        """The person's message; return another text to replace it."""
        return None

    async def around_model(
        self, request: Request, next: Callable[[Request], Awaitable[ModelReply]], ctx: CodeContext
    ) -> ModelReply:
        """One request to the model; asked about again, it is made again."""
        return await next(request)

    async def around_tool(self, call: Call, next: Callable[[Call], Awaitable[Result]], ctx: CodeContext) -> Result:
        """One call, already validated and allowed. A body that returned is not run again: `next` gives its result."""
        return await next(call)

    async def after_agent(self, text: str, ctx: CodeContext) -> str | None:
        """The answer; return another text to replace it."""
        return None


def in_order(given: Sequence[Middleware]) -> list[Middleware]:
    """Outermost first: as registered, as far as `before` and `after` allow. ValueError for ids or orders that cannot be."""
    strange = [repr(m) for m in given if not isinstance(m, Middleware)]
    if strange:
        raise TypeError(f"middleware derives from Middleware; {', '.join(strange)} does not")
    ids = [m.id or type(m).__name__ for m in given]
    for m, id in zip(given, ids, strict=True):
        if not _ID.fullmatch(id):
            raise ValueError(f"a middleware id has 1 to 64 letters, digits, _ or -, not {id!r}")
        m.id = id
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise ValueError(f"two middleware have the id {', '.join(twice)}")
    inner = {m.id: set(m.after) | {o.id for o in given if m.id in o.before} for m in given}
    out, left = list[Middleware](), list(given)
    while left:
        ready = [m for m in left if not any(o.id in inner[m.id] for o in left)]
        if not ready:
            raise ValueError(f"the order of {', '.join(m.id for m in left)} contradicts itself")
        out.append(ready[0])
        left.remove(ready[0])
    return out


def having(middleware: Sequence[Middleware], hook: str) -> list[Middleware]:
    """Those that do something at `hook`."""
    return [m for m in middleware if getattr(type(m), hook) is not getattr(Middleware, hook)]


async def call_any(function: Callable[..., Any], *arguments: Any) -> Any:
    """Async code in the loop, plain code in a thread, where it may block."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    out = await asyncio.to_thread(function, *arguments)
    return await out if inspect.isawaitable(out) else out


async def through(
    stack: Sequence[tuple[Callable[..., Any], CodeContext]], value: Any, innermost: Callable[[Any], Awaitable[Any]]
) -> Any:
    """`value` through the around-hooks of `stack`, the first outermost, to `innermost`."""
    if not stack:
        return await innermost(value)
    (hook, ctx), *rest = stack

    async def next(inner: Any) -> Any:
        return await through(rest, inner, innermost)

    if inspect.iscoroutinefunction(hook):
        return await hook(value, next, ctx)
    loop = asyncio.get_running_loop()
    return await call_any(hook, value, lambda inner: asyncio.run_coroutine_threadsafe(next(inner), loop).result(), ctx)


VERDICT = {
    "title": "verdict",
    "anyOf": [
        {"enum": ["allow", "block"]},
        {
            "type": "object",
            "properties": {"edit": {"type": "string"}},
            "required": ["edit"],
            "additionalProperties": False,
        },
    ],
}


class guardrail_review(Middleware):
    """A reviewer decides about texts that `guard` objects to, instead of the turn being blocked at once.

    `guard` (plain or async) gets a text and returns why it objects, or None. The reviewer is shown phase (`input`: the
    person's message, `output`: the answer), guardrail, reason and text, and replies "allow", "block" or {"edit": text}.
    A verdict is bound to phase and text: the guard is not run on that text again, nor on an edited one.

    >>> guardrail_review("length", lambda text: "too long" if len(text) > 500 else None).id
    'length'
    """

    def __init__(self, id: str, guard: Callable[[str], Any], phases: Sequence[str] = ("input", "output")) -> None:
        self.id, self.guard, self.phases = id, guard, tuple(phases)

    async def before_agent(self, text: str, ctx: CodeContext) -> str | None:
        return await self._review("input", text, ctx)

    async def after_agent(self, text: str, ctx: CodeContext) -> str | None:
        return await self._review("output", text, ctx)

    async def _review(self, phase: str, text: str, ctx: CodeContext) -> str | None:
        if phase not in self.phases:
            return None
        key = f"{phase}: {text}"
        reason = None
        if ctx.recall(key) is None:
            reason = await call_any(self.guard, text)
            if reason is None:
                return None
        question = {"phase": phase, "guardrail": self.id, "reason": reason, "text": text}
        verdict = ctx.ask(question, VERDICT, key=key)
        if verdict == "block":
            raise Block(self.id, f"a reviewer blocked the {phase}")
        return text if verdict == "allow" else str(verdict["edit"])
