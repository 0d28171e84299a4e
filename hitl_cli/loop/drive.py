"""One run of one session: takes the next step, does it, records it, shows it.

Every effect stands between two appends: what leads to it is committed first, what came of it is committed before anything
reads it. Nothing is decided here that `steps` can decide, and nothing is kept here that the journal does not hold.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hitl_cli import interrupts
from hitl_cli.errors import HitlError, StaleLease
from hitl_cli.interrupts import Interrupt, Reject, dump_answer
from hitl_cli.journal import (
    Answered,
    Ended,
    Entry,
    Raised,
    Recorded,
    Result,
    Settled,
    Who,
)
from hitl_cli.loop.asking import Asking, CodeContext
from hitl_cli.loop.compaction import Compaction
from hitl_cli.loop.edges import Edges
from hitl_cli.loop.modelstep import ModelStep
from hitl_cli.loop.performing import Performing
from hitl_cli.loop.resolving import Resolving
from hitl_cli.loop.views import head_of, outcome_of
from hitl_cli.middleware import Block, call_any
from hitl_cli.outcome import Run, Suspended, ToolOutput
from hitl_cli.records import Struct, field, replace
from hitl_cli.responders import Responder
from hitl_cli.state import State
from hitl_cli.steps import (
    AskModel,
    AskWhetherItRan,
    Begin,
    End,
    Expire,
    Finish,
    Judge,
    Options,
    Perform,
    Raise,
    Refuse,
    Rest,
    Settle,
    Wait,
    next_step,
)
from hitl_cli.store import Head, Lease
from hitl_cli.store.bodies import storable
from hitl_cli.texts import CUT_OFF, INTERRUPTED

if TYPE_CHECKING:
    from hitl_cli.agent import Agent


class Drive(Struct, eq=False):
    """`state` and `history` are the session as stored; `emit` shows an event to whoever watches, if anybody does."""

    agent: Agent
    session: str
    lease: Lease
    state: State
    history: list[Recorded]
    options: Options
    context: Any = None
    responder: Responder | None = None
    who: Who = Who("program")
    emit: Callable[[Any], None] = lambda event: None
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    partial: str = ""  # what a reply that is being streamed has said so far
    broken: bool = False  # an append failed: what is in `state` is not what is stored
    lost: StaleLease | None = None  # another process has taken the session over
    cancel: Callable[[], object] = lambda: None
    stopping: bool = False  # `stop` was asked for
    crammed: bool = False  # the window is all but full, and a summary could not be had
    abandoned: bool = False  # whoever watched went away: leave everything as it is

    def lose(self, why: StaleLease) -> None:
        """Another process has taken the session over: nothing that runs here is to go on. Called from any thread."""
        self.lost = why
        self.cancel()

    # --- the loop ---------------------------------------------------------------------------------------------------

    async def go(self, first: Callable[[], Awaitable[None]]) -> Run:
        """After `first`, to the end of the turn or to where only a person can go on.

        Cancelled, it closes what is open, unless whoever watched just went away.
        """
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        self.cancel = lambda: loop.call_soon_threadsafe(task.cancel) if task and not loop.is_closed() else None
        try:
            return await self._guarded(first)
        except asyncio.CancelledError:
            await self._cancel_tasks()
            if self.lost:
                self.broken = True
                raise self.lost from None
            if self.abandoned or self.broken:
                raise
            self.close("stopped" if self.stopping else "interrupted")
            if not self.stopping:
                raise
            return self.outcome()

    async def _guarded(self, first: Callable[[], Awaitable[None]]) -> Run:
        try:
            Resolving(self).save()  # what a process that was cut off had not written
            await first()
            return await self._loop()
        except Block as block:
            await self._end_tasks()
            self.record(Ended(self.state.turn, "blocked", block.reason, self.state.spent, by=block.by))
            return self.outcome()
        except Exception as error:
            await (self._cancel_tasks() if self.broken else self._end_tasks())
            if not self.broken and self.state.open and not self.state.pending:
                reason = str(error) or type(error).__name__
                with suppress(HitlError):
                    self.record(Ended(self.state.turn, "failed", reason, self.state.spent))
            raise

    async def _loop(self) -> Run:
        while True:
            step = next_step(self.state, self.options, time.time(), self.tasks, self.held)
            match step:
                case Rest():
                    return self.outcome()
                case Wait():
                    if self.tasks:
                        await self._some_task()
                    elif not await self._respond():
                        return self.outcome()
                case Perform(call):
                    self._start(call.call.id, Performing(self).perform(call))
                case _:
                    await self._do(step)

    async def _do(self, step: Any) -> None:
        match step:
            case Begin(began):
                await Edges(self).begin(began)
            case AskModel():
                await Compaction(self).make_room()
                await ModelStep(self).ask()
            case Finish():
                await Edges(self).finish()
            case End(ended):
                self.record(ended)
            case Raise(interrupt):
                self.raise_(interrupt)
            case Settle(id, result):
                self.record(Settled(id, result))
            case Judge(call):
                await Performing(self).judge(call)
            case Refuse(call):
                Performing(self).refuse(call)
            case AskWhetherItRan(call):
                Performing(self).ask_whether_it_ran(call)
            case Expire(ids):
                self._expire(ids)

    def _start(self, id: str, work: Coroutine[Any, Any, None]) -> None:
        self.tasks[id] = asyncio.create_task(work, name=f"call {id}")

    async def _some_task(self) -> None:
        """Wait until a call came further; raises what it failed with."""
        done, _ = await asyncio.wait(self.tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        for id, task in list(self.tasks.items()):
            if task in done:
                del self.tasks[id]
                if error := task.exception():
                    raise error

    async def _end_tasks(self) -> None:
        """The siblings of a call that failed come to their end, so that what they did is on record."""
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)

    async def _cancel_tasks(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks.values(), timeout=10)

    async def _respond(self) -> bool:
        """Let the responder answer what waits; False when it leaves it waiting."""
        responder = self.responder or self.agent.responder
        run = self.outcome()
        if responder is None or not isinstance(run, Suspended):
            return False
        answers = await call_any(responder, run)
        if not answers:
            return False
        resolving = Resolving(self)
        await resolving.accept(await resolving.fit(answers), getattr(responder, "who", self.who))
        return True

    # --- records ----------------------------------------------------------------------------------------------------

    def record(self, *entries: Entry) -> None:
        """Commit `entries`, all or none, then show them."""
        after, entries = self.state.seq, tuple(map(storable, entries))
        self.held.clear()
        try:
            for entry in entries:
                self.state.fold(entry)
            stored = self.agent.store.append(entries, self._head(), self.lease, after)
        except BaseException:
            self.broken = True
            self.agent.folds.forget(self.session)
            raise
        self.history.extend(stored)
        for recorded in stored:
            self.emit(recorded)

    def _head(self) -> Head:
        return head_of(self.session, self.state, self.agent.place.cwd, self.agent.project)

    def raise_(self, interrupt: Interrupt, *before: Entry, **more: Any) -> None:
        """Put a question on record, after `before` and in the same commit."""
        now = time.time()
        expires = now + self.agent.expires if self.agent.expires is not None else None
        dumped = interrupts.dump(replace(interrupt, since=now, expires=expires))
        self.record(*before, Raised((dumped,), **more))

    def context_for(self, asking: Asking, asker: str) -> CodeContext:
        loop = asyncio.get_running_loop()

        def show(text: str) -> None:
            loop.call_soon_threadsafe(self.emit, ToolOutput(asking.target, text))

        return CodeContext(
            asking=asking,
            asker=asker,
            session=self.session,
            call=asking.target if asking.call else "",
            place=self.agent.place,
            context=self.context,
            history=self.history,
            show=show,
        )

    def _expire(self, ids: tuple[str, ...]) -> None:
        """Nobody answered in time: calls are refused as that, anything else ends the turn."""
        late = [self.state.pending[id] for id in ids]
        if any(i.call is None or i.kind == "breakpoint" for i in late):
            self.close("stopped", "expired", "Nobody answered in time.")
            return
        self.record(Answered({id: dump_answer(Reject()) for id in ids}, Who("expiry")))

    # --- ends -------------------------------------------------------------------------------------------------------

    def close(self, status: Any, why: str = "interrupted", reason: str = "The turn was stopped.") -> None:
        """End the turn here: every call that has no result gets one that says so."""
        state, entries = self.state, list[Entry]()
        if not state.unfinished and not state.pending:
            return
        for call in state.calls.values():
            if call.settled is None:
                cut = Result(CUT_OFF if call.running else INTERRUPTED, False, "interrupted")
                entries.append(Settled(call.call.id, call.returned or cut))
        if self.partial:
            entries.append(ModelStep(self).cut_short(self.partial))
        turn = state.carried.turn if state.carried else state.turn
        self.record(*entries, Ended(turn, status, reason, state.spent, why))

    def outcome(self) -> Run:
        """How the run has come out, as things stand."""
        return outcome_of(self.session, self.state, self.history, self.agent.texts)
