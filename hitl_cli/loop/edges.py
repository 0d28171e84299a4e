"""The two ends of a turn: the person's message on its way in, the answer on its way out, each through its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hitl_cli import records
from hitl_cli.interrupts import Breakpoint
from hitl_cli.journal import Began, Changed, Ended, Who
from hitl_cli.loop.asking import Asking, Pause
from hitl_cli.middleware import Block, call_any, having
from hitl_cli.records import replace

if TYPE_CHECKING:
    from hitl_cli.loop.drive import Drive


class Edges:
    def __init__(self, drive: Drive) -> None:
        self.drive, self.agent, self.state = drive, drive.agent, drive.state
        self.changes: list[Changed] = []  # of the session state by hooks, recorded with what follows

    async def begin(self, began: Began) -> None:
        """The message through the before-agent hooks; only then is it on record."""
        asking = Asking(self.state, "before_agent", str(began.turn))
        text = began.text
        try:
            for middleware in having(self.agent.middleware, "before_agent"):
                text = await self._hook(middleware.before_agent, middleware.id, asking, text)
        except Pause as pause:
            self.drive.raise_(pause.interrupt, carry={"began": records.dump(began)})
        except Block as block:
            self.drive.record(began, Ended(began.turn, "blocked", block.reason, self.state.spent, by=block.by))
        else:
            self.drive.record(*self.changes, replace(began, text=text))

    async def finish(self) -> None:
        """The answer through the after-agent hooks, innermost first; a breakpoint may hold it once more."""
        state = self.state
        assert state.reply is not None
        target = f"{state.turn}.{state.step}"
        asking = Asking(state, "after_agent", target)
        answer = state.reply.text
        try:
            for middleware in reversed(having(self.agent.middleware, "after_agent")):
                answer = await self._hook(middleware.after_agent, middleware.id, asking, answer)
        except Pause as pause:
            self.drive.raise_(pause.interrupt)
            return
        if "finish" in self.drive.options.after:
            hold = Breakpoint(id=f"{target}:after_finish", step="finish", phase="after")
            self.drive.raise_(hold, *self.changes, carry={"answer": answer})
            return
        text = answer if answer != state.reply.text else None
        why = state.reply.stop if state.reply.stop in ("length", "refusal") else ""
        self.drive.record(*self.changes, Ended(state.turn, "completed", usage=state.spent, text=text, why=why))

    async def _hook(self, hook: Callable[..., Any], id: str, asking: Asking, text: str) -> str:
        ctx = self.drive.context_for(asking, id)
        try:
            said = await call_any(hook, text, ctx)
        except BaseException as error:
            asking.settled(error)
            raise
        asking.settled(None)
        changed = ctx.changes(self.state.values)
        if changed is not None:
            self.changes.append(Changed("state", changed, Who("program")))
        return text if said is None else str(said)
