"""One conversation as the REPL drives it: messages in, turns run, questions asked, answers given, one thing at a time.

It knows the agent and the store, and of the screen only what `Screen` says. A turn that waits for a person is asked through
the screen question by question, and each answer continues the run at once. A question may be answered by another process
while it is shown here: then that process runs the turn, and this one reads along in the journal until it may speak again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from hitl_cli import interrupts, sessions
from hitl_cli.agent import Agent
from hitl_cli.attachments import attach
from hitl_cli.errors import HitlError, InvalidAnswers, NotSuspended, SessionBusy
from hitl_cli.interrupts import Answer, Approval, Approve, Interrupt, Reject
from hitl_cli.journal import Began, Changed, Ended, Raised, Recorded, Who
from hitl_cli.notify import Event, notice_of, notify
from hitl_cli.outcome import RunEnded, Suspended
from hitl_cli.records import replace
from hitl_cli.ui.account import Account, message_of
from hitl_cli.ui.approval import Answered, AnsweredRest, Parked, Stopped
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.mishap import mishap
from hitl_cli.ui.partner import Partner
from hitl_cli.ui.screen import Screen
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.waiting import POLL, Elsewhere, Late, Released, Waiting, expired

ABANDONED = 3.0  # seconds without anybody running it, after which an answered turn is taken up here


class Conversation:
    """What the REPL holds of a session.

    session   its id; None until the first message
    pending   what waits for a person
    queue     messages and commands typed ahead
    notes     what the person did meanwhile, told with the next message
    account   what was shown so far
    """

    def __init__(self, setup: Setup, partner: Partner, screen: Screen) -> None:
        self.setup, self.partner, self.screen, self.store = setup, partner, screen, setup.store
        self.queue: list[Typed] = []
        self._task: asyncio.Task[None] | None = None
        self._following = self._compacting = False
        self._begin(None)

    def _begin(self, session: str | None) -> None:
        self.session = session
        self.account = Account(self.partner.settings.mode)
        self.pending: tuple[Interrupt, ...] = ()
        self.notes: list[str] = []
        self._refused: set[str] = set()  # messages of which the person refused the rest
        self._agreed: dict[str, str] = {}  # call -> digest that was shown and approved after the one on record

    @property
    def mode(self) -> str:
        return self.account.mode

    @property
    def working(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def agent(self) -> Agent:
        return self.partner.agent

    @property
    def used(self) -> int:
        """Tokens that the next request will hold, as far as they can be told; 0 before anything was said."""
        gauge = self.account.gauge
        return gauge.since + (gauge.measured or self.partner.fixed) if gauge.since or gauge.measured else 0

    # -- what the person asks for

    def send(self, typed: Typed) -> None:
        self.queue.append(typed)
        self.go_on()

    def go_on(self) -> None:
        """Ask what waits, then send what is queued; nothing when that is happening already."""
        if not self.working:
            self._task = asyncio.create_task(self._work())

    def proceed(self) -> None:
        """Send what is queued behind a command; what waits for a person is not asked again by that."""
        if self.queue and not self.pending:
            self.go_on()

    async def wait(self) -> None:
        """Until there is nothing left to do."""
        if self._task:
            await asyncio.wait([self._task])

    def glance(self) -> None:
        """While a question is parked: follow, should another process have gone on with it."""
        if self.pending and not self.working and self.session and self.store.read(self.session, self.account.seq):
            self._task = asyncio.create_task(self._work(ABANDONED))

    async def stop(self) -> None:
        """End the run that is going on; what it had done stays."""
        if self._following:
            self._following = False
        elif self._compacting and self._task:
            self._task.cancel()
        elif self.session and self.working:
            await self._guarded(self.agent.stop(self.session))

    async def close(self) -> None:
        """Stop what runs. What waits goes on waiting, for whoever answers it."""
        if self._task and self.working:
            if not self.pending:
                await self.stop()
            self._task.cancel()
            await asyncio.wait([self._task])
        await self.agent.model.close()

    async def set_mode(self, mode: str) -> None:
        if self.session is None:
            self.partner.start_in(mode)
            self.account.mode = mode
        else:
            await self._guarded(self.agent.change(self.session, Changed("mode", mode)))
            self.read_along()

    async def set_up(self, *, breaks: Sequence[str] | None = None, **settings: Any) -> bool:
        """Go on with other settings (fields of `journal.Settings`) or breakpoints; False, and nothing changes, when
        that cannot be."""
        partner = self.partner
        changed = replace(partner.settings, mode=self.mode, **settings)
        new_model = changed.model != partner.settings.model
        try:
            problems = await partner.remake(changed, partner.breaks if breaks is None else breaks)
        except HitlError as error:
            self.screen.say(str(error), "warn")
            return False
        for problem in problems:
            self.screen.say(problem, "warn")
        if self.session and new_model:
            await self._guarded(self.agent.change(self.session, Changed("model", changed.model)))
            self.read_along()
        return True

    def begin_anew(self) -> None:
        """The next message begins a new session; the one so far is kept."""
        self.partner.start_in(self.mode)
        self._begin(None)

    def compact(self, wishes: str) -> None:
        """Let a summary stand for what was said so far."""
        if self.session is None or self.pending:
            self.screen.say("There is nothing to sum up while nothing was said or something waits.", "warn")
        else:
            self._compacting = True
            self._task = asyncio.create_task(self._compact(self.session, wishes))

    async def _compact(self, session: str, wishes: str) -> None:
        self.screen.busy(True)
        try:
            await self.agent.compact(session, wishes, self.screen.glimpse)
        except HitlError as error:
            self.screen.say(str(error), "warn")
        finally:
            self._compacting = False
            self.screen.busy(False)
            self.read_along()

    def reopen(self, session: str, shown: int) -> None:
        """Print the last `shown` turns of a session and go on where it stands."""
        self._begin(session)
        records = self.store.read(session)
        turns = [n for n, r in enumerate(records) if isinstance(r.entry, Began)]
        first = turns[-shown] if 0 < shown < len(turns) else 0 if shown else len(records)
        if first and shown:
            self.screen.say(f"({len(turns) - shown} earlier turns are not shown)")
        for number, recorded in enumerate(records):
            self.account.adopt(recorded)
            if number >= first:
                self.screen.show(recorded)
        status = self._look()
        if status == "interrupted":
            self.screen.say("This session was cut off in the middle of a turn; going on with it.", "warn")
        if status in ("interrupted", "running", "suspended"):
            self._task = asyncio.create_task(self._work(patience=0.0))

    async def switch(self, session: str, shown: int) -> None:
        """Another session in place of this one, with the model and folders that it was left with."""
        settings = sessions.settings_of(self.store.read(session))
        now = self.partner.settings
        if settings and (settings.model, settings.add_dirs) != (now.model, now.add_dirs):
            self._begin(None)
            if not await self.set_up(model=settings.model, add_dirs=settings.add_dirs):
                return
        self.reopen(session, shown)

    # -- the work

    async def _work(self, patience: float | None = None) -> None:
        """Everything that is left to do, in order; an error costs one turn, never the session.

        `patience`: first see what others do with the session (as `follow`).
        """
        try:
            for problem in await self.partner.connect():
                self.screen.say(problem, "warn")
            if patience is not None:
                await self.follow(patience)
            while self.pending or self.queue:
                if self.pending:
                    if not await self._answer():
                        break
                elif self.queue[0].text.startswith("/"):
                    # Outside of this task, since a command may set another session to work.
                    asyncio.get_running_loop().call_soon(self.screen.command, self.queue.pop(0))
                    return
                else:
                    await self._turn(self.queue.pop(0))
            left, self.queue = self.queue, []
            if left:
                self.screen.give_back(left)
        except HitlError as error:
            self.screen.say(str(error), "warn")
        except Exception as error:
            self.screen.say(mishap(error, self.setup.paths), "warn")

    async def _turn(self, typed: Typed) -> None:
        self._refused.clear()
        began = self.account.seq
        notes, self.notes = self.notes, []
        if self.session is None:
            self.session = self.store.create()
        attached = attach(self.agent, self.session, typed.shown, person=True)  # what a paste holds names nothing
        for problem in attached.problems:
            self.screen.say(problem, "warn")
        content = [*({"type": "text", "text": note} for note in notes), *attached.content]
        await self._watch(self.agent.stream(typed.text, self.session, content=content))
        if self.account.seq == began:  # refused before it began
            self.notes = notes
            self.screen.give_back([typed])

    async def _answer(self) -> bool:
        """Put the first question; False when it stays open or the turn is over."""
        first = self.pending[0]
        message = message_of(first)
        if expired(first, time.time()):
            assert self.session
            return await self._watch(self.agent.stream_recover(self.session))
        if isinstance(first, Approval):
            if message in self._refused:
                return await self._resume({first.id: Reject()})
            if self._agreed.get(first.call.id) == first.digest:
                return await self._resume({first.id: Approve()})
        match await self.screen.ask(await self._waiting(first)):
            case Answered(answer):
                return await self._resume({first.id: answer})
            case AnsweredRest(answer):
                self._refused.add(message)
                rest = [i for i in self.pending if isinstance(i, Approval) and message_of(i) == message]
                return await self._resume({i.id: answer for i in rest})
            case Late():
                return True  # seen at the next look
            case Released(answer, who):
                return await self._resume({first.id: answer}, who)
            case Stopped():
                assert self.session
                await self._guarded(self.agent.stop(self.session))
                self.read_along()
                self.pending = ()
            case Parked():
                which = f" {first.id}" if len(self.pending) > 1 else ""
                command = self.setup.command(f"answer {self.session}{which}")
                self.screen.say("Parked. /pending asks again; elsewhere:")
                self.screen.print([[("dim", f"  {command}")]])
            case Elsewhere(who):
                by = f"{who.kind} {who.detail}".strip()
                self.screen.say(f"Answered elsewhere ({by}).", "warn")
                return await self.follow()
        return False

    async def _waiting(self, interrupt: Interrupt) -> Waiting:
        assert self.session
        number, total = self.account.place(interrupt, len(self.pending))
        return Waiting(self, interrupt, await self.agent.load(self.session), number, total)

    def agree(self, call: str, digest: str) -> None:
        """The person was shown the call as it has become, `digest`, in place of what the question on record says."""
        self._agreed[call] = digest

    async def _resume(self, answers: Mapping[str, Answer], who: Who | None = None) -> bool:
        assert self.session
        return await self._watch(self.agent.stream_resume(self.session, answers, who=who))

    async def _watch(self, events: AsyncIterator[Any]) -> bool:
        """Show a run to its end; False when it could not go on."""
        self.screen.busy(True)
        self.pending = ()
        told = False  # the journal says why it failed
        asked = False
        try:
            self.partner.renew_rules()
            async for event in events:
                if isinstance(event, RunEnded):
                    self.pending = event.run.pending if isinstance(event.run, Suspended) else ()
                    self._notify(notice_of(event.run, asked))
                    continue
                if isinstance(event, Recorded):
                    self.account.adopt(event)
                    asked = asked or isinstance(event.entry, Raised)
                    told = isinstance(event.entry, Ended) and event.entry.status == "failed"
                self.screen.show(event)
            return True
        except (SessionBusy, InvalidAnswers, NotSuspended) as error:
            self.screen.say(str(error), "warn")
            return await self.follow()
        except HitlError as error:
            if not told:
                self.screen.say(str(error), "warn")
            self._notify("failed")
        except Exception as error:
            self.screen.say(mishap(error, self.setup.paths), "warn")
            self._notify("failed")
        finally:
            self.screen.busy(False)
        self._look()
        return False

    def _notify(self, event: Event | None) -> None:
        commands = self.setup.config.notify
        if event and self.session and event in commands:
            title = sessions.head_of(self.store, self.session).title
            notify(commands, event, session=self.session, title=title, cwd=self.setup.place.cwd)

    def _look(self) -> str:
        """Take over from the store what waits; the session's status."""
        assert self.session
        head = sessions.head_of(self.store, self.session)
        self.pending = tuple(interrupts.load(dumped) for dumped in head.pending)
        return head.status

    async def follow(self, patience: float = ABANDONED) -> bool:
        """Read along while another process runs the session. True when this one may speak again.

        A turn that nobody has run for `patience` seconds is taken up here.
        """
        assert self.session
        self._following = True
        self.screen.busy(True)
        alone: float | None = None  # since when nobody runs it
        try:
            while self._following:
                self.read_along()
                status = self._look()
                if status not in ("running", "interrupted"):
                    return True
                alone = None if status == "running" else alone or time.monotonic()
                if alone is not None and time.monotonic() - alone >= patience:
                    return await self._watch(self.agent.stream_recover(self.session))
                await asyncio.sleep(POLL)
            self.screen.say(f"No longer watching. Session {self.session} goes on elsewhere.")
            self.pending = ()
            return False
        finally:
            self._following = False
            self.screen.busy(False)

    # -- the journal

    def read_along(self) -> None:
        """Show what others (or a change outside a run) added to the journal."""
        if self.session:
            for recorded in self.store.read(self.session, self.account.seq):
                self.account.adopt(recorded)
                self.screen.show(recorded)

    async def _guarded(self, work: Any) -> None:
        try:
            await work
        except (HitlError, ValueError) as error:
            self.screen.say(str(error), "warn")
