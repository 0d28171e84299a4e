"""One call, from its verdict to its one result.

The verdict is computed twice: when the call's turn comes, and again just before its body starts, on what is then going to
run. An approval counts for the digest it was given for and for nothing else; a deny wins over it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hitl_cli import schema
from hitl_cli.errors import HitlError
from hitl_cli.interrupts import Approval, External
from hitl_cli.journal import Call, Changed, Entry, Judged, Result, Returned, Settled, Started, Who
from hitl_cli.loop.asking import Asking, CallError, CodeContext, Pause
from hitl_cli.loop.verdicts import judged
from hitl_cli.middleware import call_any, having, through
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.rule import Decision, Verdict
from hitl_cli.records import replace
from hitl_cli.state import CallState
from hitl_cli.steps import batches
from hitl_cli.texts import PLAN_APPROVED, cut_off, refused, rejected
from hitl_cli.tooldef import Tool

if TYPE_CHECKING:
    from hitl_cli.loop.drive import Drive

CHANGED = "it is no longer what was approved: its arguments, its folder or the file it changes are different now"
LEAVES_PLAN = "default"  # what a plan's approval may set the mode to


class Performing:
    def __init__(self, drive: Drive) -> None:
        self.drive, self.agent, self.state, self.bench = drive, drive.agent, drive.state, drive.agent.bench
        self.returned: list[Entry] = []  # committed together with the result where no hook reads it in between
        self.anew: list[Entry] = []  # the verdict that asks just before the start, committed with its question

    # --- may it run -------------------------------------------------------------------------------------------------

    async def judge(self, call: CallState) -> None:
        """Record the verdict, with its effect: an ask is put to a person, a deny is the call's result."""
        tool = self.agent.tools[call.call.name]
        try:
            verdict = await self._verdict(tool, call.call)
            if verdict.decision is Decision.ASK:
                self._check(tool, call.call)
            if verdict.decision is Decision.ASK and await self._on_offer(tool, call, verdict):
                self.drive.held.add(call.call.id)
                return
            entry, asks = self._entries(tool, call.call, verdict)
        except CallError as error:
            self.drive.record(Settled(call.call.id, Result(str(error), False, "error")))
            return
        if asks:
            self.drive.raise_(asks, entry)
        elif verdict.decision is Decision.DENY:
            self.drive.record(entry, Settled(call.call.id, refused(entry)))
        else:
            self.drive.record(entry)

    async def _verdict(self, tool: Tool, call: Call) -> Verdict:
        try:
            return await self.bench.verdict(self.state, tool, call, self.drive.context)
        except HitlError:
            raise
        except Exception as error:
            raise CallError(f"What {tool.name} would touch cannot be told, so it was not run: {error}") from error

    def _check(self, tool: Tool, call: Call) -> None:
        """Nobody is asked about what cannot be done."""
        wrong = tool.check(call.input or {}, self.bench.place, self.drive.history) if tool.check else ""
        if wrong:
            raise CallError(wrong)

    def _entries(self, tool: Tool, call: Call, verdict: Verdict) -> tuple[Judged, Approval | None]:
        suggested = () if verdict.decision is Decision.ALLOW else self.bench.suggested(self.state, tool, call)
        digest = self._digest(tool, call)
        entry = judged(verdict, call, self.bench.mode_of(self.state), digest, suggested)
        if verdict.decision is not Decision.ASK:
            return entry, None
        id = self.state.next_id(f"{call.id}:approval")
        return entry, self.bench.approval(id, tool, call, verdict, suggested)

    def _digest(self, tool: Tool, call: Call) -> str:
        try:
            return self.bench.digest(tool, call.input)
        except Exception as error:
            raise CallError(f"{tool.name} cannot be bound to what it would change: {error}") from error

    async def _on_offer(self, tool: Tool, call: CallState, verdict: Verdict) -> bool:
        """True when a rule on offer for an earlier call of the batch, if accepted, would let this one run."""
        if verdict.safety:
            return False
        batch = next(b for b in batches(self.state, self.agent.tools) if call in b)
        earlier = {c.call.id for c in batch[: batch.index(call)] if c.call.name == call.call.name}
        offers = [
            rule
            for waiting in self.state.pending.values()
            if isinstance(waiting, Approval) and waiting.call.id in earlier
            for suggestion in waiting.suggested
            for rule in suggestion.rules
        ]
        if not offers:
            return False
        extra = [parse(rule) for rule in offers]
        with_them = await self.bench.verdict(self.state, tool, call.call, self.drive.context, extra)
        return with_them.decision is Decision.ALLOW

    def refuse(self, call: CallState) -> None:
        """The result of a call that somebody said no to."""
        assert call.refused is not None
        answer, who = call.refused
        if call.running or call.returned:
            result = cut_off(answer.reason, done=call.returned is not None)
        elif who.kind in ("person", "program"):
            result = rejected(call.call.name, answer.reason, self.agent.texts)
        else:
            said = next(d for d in reversed(self.state.denied) if d["call"] == call.call.id)
            rule = who.detail if who.kind == "rule" else ""
            no = Judged(call.call.id, "deny", who, answer.reason, rule=rule, help=said["help"], tool=call.call.name)
            result = refused(no)
        self.drive.record(Settled(call.call.id, result))

    def ask_whether_it_ran(self, call: CallState) -> None:
        tool = self.agent.tools[call.call.name]
        id = self.state.next_id(f"{call.call.id}:uncertain")
        reason = "may have run: it was cut off before its result was known"
        self.drive.raise_(self.bench.wanted(id, tool, call.call, reason, "uncertain"))

    # --- running it -------------------------------------------------------------------------------------------------

    async def perform(self, call: CallState) -> None:
        """Through the around-tool hooks to the body, and its result."""
        id, asking = call.call.id, Asking(self.state, "around_tool", call.call.id, call)
        asking.approval = lambda reason, source: self._wanted(call, reason, source)
        stack = [
            (middleware.around_tool, self.drive.context_for(asking, middleware.id))
            for middleware in having(self.agent.middleware, "around_tool")
        ]

        async def innermost(inner: Call) -> Result:
            return await self._body(call, inner, asking)

        try:
            result = await through(stack, call.call, innermost)
        except CallError as error:
            asking.settled(error)
            result = Result(str(error), False, "error")
        except BaseException as error:
            asking.settled(error)
            if not isinstance(error, Pause):
                raise
            self.drive.raise_(error.interrupt, *self.anew)
            return
        asking.settled(None)
        self._settle(id, result, [ctx for _, ctx in stack])

    def _settle(self, id: str, result: Result, contexts: list[CodeContext]) -> None:
        entries: list[Entry] = []
        for ctx in contexts:
            changed = ctx.changes(self.state.values)
            if changed is not None:
                entries.append(Changed("state", changed, Who("program")))
        if result.ok and result.data.get("mode") == LEAVES_PLAN and self.bench.mode_of(self.state) == "plan":
            entries.append(Changed("mode", LEAVES_PLAN, Who("person", PLAN_APPROVED)))
        self.drive.record(*self.returned, Settled(id, result), *entries)

    def _wanted(self, call: CallState, reason: str, source: str) -> Approval:
        """The approval that code around or inside the call asks for."""
        tool = self.agent.tools[call.call.name]
        id = self.state.next_id(f"{call.call.id}:approval")
        return self.bench.wanted(id, tool, call.call, reason, source)

    async def _body(self, call: CallState, inner: Call, asking: Asking) -> Result:
        asking.settled(None)  # code outside asked, caught the pause and went on: nothing may start now
        if call.returned is not None:
            return call.returned
        tool = self.agent.tools[call.call.name]
        if inner.input != call.call.input and (wrong := schema.problem(inner.input, tool.schema)):
            raise CallError(f"The arguments of {tool.name} do not fit: {wrong}. Nothing was run.")
        verdict = await self._verdict(tool, inner)
        digest = self._digest(tool, inner)
        if verdict.decision is Decision.DENY:
            entry, _ = self._entries(tool, inner, verdict)
            self.drive.record(entry)
            return refused(entry)
        if digest not in call.approved and (verdict.decision is Decision.ASK or call.approved):
            raise asking.pause(self._anew(call, tool, inner, verdict))
        if tool.external:
            id = self.state.next_id(f"{inner.id}:external")
            raise asking.pause(External(id=id, call=inner, silent=tool.silent))
        return await self._run(call, tool, inner, asking)

    def _anew(self, state: CallState, tool: Tool, call: Call, verdict: Verdict) -> Approval:
        """What is about to run is not what was allowed or approved: a person is asked about what it is now."""
        entry, asks = self._entries(tool, call, verdict)
        if asks is None:
            who = Who("program", "changed since it was approved")
            entry = replace(entry, decision="ask", who=who, reason=CHANGED, rule="", layer="", part="")
            asks = self.bench.wanted(self.state.next_id(f"{call.id}:approval"), tool, call, CHANGED, "rules")
        elif state.approved:
            reason = f"{CHANGED}; {verdict.reason}"
            entry, asks = replace(entry, reason=reason), replace(asks, reason=reason)
        self.anew.append(entry)
        return asks

    async def _run(self, call: CallState, tool: Tool, inner: Call, around: Asking) -> Result:
        assert tool.run is not None
        asking = Asking(self.state, "ask", inner.id, call, around.approval)
        ctx = self.drive.context_for(asking, tool.name)
        self.drive.record(Started(inner.id, ctx.key, inner.input or {}))
        try:
            result = await call_any(tool.run, inner.input or {}, ctx)
            changed = ctx.changes(self.state.values)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            around.open = asking.open or around.open
            asking.settled(error)
            text = str(error) if isinstance(error, CallError) else f"{type(error).__name__}: {error}"
            result, changed = Result(text, False, "error"), None
        except BaseException as error:
            around.open = asking.open or around.open
            asking.settled(error)
            if asking.open is None:
                raise
            raise Pause(asking.open) from error
        around.open = asking.open or around.open
        asking.settled(None)
        entry = Returned(inner.id, result, changed)
        if having(self.agent.middleware, "around_tool"):
            self.drive.record(entry)
        else:
            self.returned.append(entry)
        return result  # type: ignore[no-any-return]
