"""One conversation as the REPL drives it: messages in, turns run, questions asked, answers given, one thing at a time.

It knows the agent and the store, and of the screen only what `Screen` says. A turn that waits for a person is asked through
the screen question by question, and each answer continues the run at once. A question may be answered by another process
while it is shown here: then that process runs the turn, and this one reads along in the journal until it may speak again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from hitl_cli import interrupts, sessions
from hitl_cli.agent import Agent
from hitl_cli.attachments import attach
from hitl_cli.errors import HitlError, InvalidAnswers, NotSuspended, SessionBusy
from hitl_cli.interrupts import Interrupt
from hitl_cli.journal import Began, Changed, Ended, Raised, Recorded
from hitl_cli.notify import Event, notice_of, notify
from hitl_cli.outcome import RunEnded, Suspended
from hitl_cli.records import replace
from hitl_cli.ui.account import Account
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.following import ABANDONED, Following
from hitl_cli.ui.mishap import mishap
from hitl_cli.ui.partner import Partner
from hitl_cli.ui.questions import Questions
from hitl_cli.ui.screen import SHOWN, Screen
from hitl_cli.ui.setup import Setup


class Conversation:
    """What the REPL holds of a session.

    session   its id; None until the first message
    pending   what waits for a person
    queue     messages and commands typed ahead
    notes     what the person did meanwhile, told with the next message
    account   what was shown so far
    questions, following   how what waits is asked, and how others' work is followed
    """

    def __init__(self, setup: Setup, partner: Partner, screen: Screen) -> None:
        self.setup, self.partner, self.screen, self.store = setup, partner, screen, setup.store
        self.queue: list[Typed] = []
        self._task: asyncio.Task[None] | None = None
        self.following, self._compacting = Following(self), False
        self._begin(None)

    def _begin(self, session: str | None) -> None:
        self.session = session
        self.account = Account(self.partner.settings.mode)
        self.pending: tuple[Interrupt, ...] = ()
        self.notes: list[str] = []
        self.questions = Questions(self)
        self.screen.begin_teller()

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
        if self.following.active:
            self.following.active = False
        elif self._compacting and self._task:
            self._task.cancel()
        elif self.session and self.working:
            await self.guarded(self.agent.stop(self.session))

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
            await self.guarded(self.agent.change(self.session, Changed("mode", mode)))
            self.read_along()

    async def set_up(self, *, breaks: Sequence[str] | None = None, **settings: Any) -> bool:
        """Go on with other settings (fields of `journal.Settings`) or breakpoints; False, and nothing changes, when
        that cannot be."""
        changed = replace(self.partner.settings, mode=self.mode, **settings)
        new_model = changed.model != self.partner.settings.model
        try:
            problems = await self.partner.remake(changed, self.partner.breaks if breaks is None else breaks)
        except HitlError as error:
            self.screen.say(str(error), "warn")
            return False
        for problem in problems:
            self.screen.say(problem, "warn")
        if self.session and new_model:
            await self.guarded(self.agent.change(self.session, Changed("model", changed.model)))
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

    def reopen(self, session: str, shown: int = SHOWN) -> None:
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
        status = self.look()
        if status == "interrupted":
            self.screen.say("This session was cut off in the middle of a turn; going on with it.", "warn")
        if status in ("interrupted", "running", "suspended"):
            self._task = asyncio.create_task(self._work(patience=0.0))

    async def switch(self, session: str, shown: int = SHOWN) -> None:
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

        `patience`: first see what others do with the session (as `Following.along`).
        """
        try:
            for problem in await self.partner.connect():
                self.screen.say(problem, "warn")
            if patience is not None:
                await self.following.along(patience)
            while self.pending or self.queue:
                if self.pending:
                    if not await self.questions.put():
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
        self.questions.refused.clear()
        began = self.account.seq
        notes, self.notes = self.notes, []
        self.session = self.session or self.store.create()
        attached = attach(self.agent, self.session, typed.shown, person=True)  # what a paste holds names nothing
        for problem in attached.problems:
            self.screen.say(problem, "warn")
        content = [*({"type": "text", "text": note} for note in notes), *attached.content]
        await self.watch(self.agent.stream(typed.text, self.session, content=content))
        if self.account.seq == began:  # refused before it began
            self.notes, self.session = notes, self.session if began else None
            self.screen.give_back([typed])

    async def watch(self, events: AsyncIterator[Any]) -> bool:
        """Show a run to its end; False when it could not go on."""
        self.screen.busy(True)
        self.pending = ()
        told = asked = False  # the journal says why it failed; something new waits
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
            return await self.following.along()
        except HitlError as error:
            if not told:
                self.screen.say(str(error), "warn")
            self._notify("failed")
        except Exception as error:
            self.screen.say(mishap(error, self.setup.paths), "warn")
            self._notify("failed")
        finally:
            self.screen.busy(False)
        if self.account.seq:  # else there is no session yet
            self.look()
        return False

    def _notify(self, event: Event | None) -> None:
        commands = self.setup.config.notify
        if event and self.session and event in commands:
            title = sessions.head_of(self.store, self.session).title
            notify(commands, event, session=self.session, title=title, cwd=self.setup.place.cwd)

    def look(self) -> str:
        """Take over from the store what waits; the session's status."""
        assert self.session
        head = sessions.head_of(self.store, self.session)
        self.pending = tuple(interrupts.load(dumped) for dumped in head.pending)
        return head.status

    def read_along(self) -> None:
        """Show what others (or a change outside a run) added to the journal."""
        if self.session:
            for recorded in self.store.read(self.session, self.account.seq):
                self.account.adopt(recorded)
                self.screen.show(recorded)

    async def guarded(self, work: Any) -> None:
        try:
            await work
        except (HitlError, ValueError) as error:
            self.screen.say(str(error), "warn")
