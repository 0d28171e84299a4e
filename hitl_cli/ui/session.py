"""One conversation as the REPL drives it: messages in, turns run, questions asked, answers given, one thing at a time.

It knows the agent and the store, and of the screen only what `Screen` says. A turn that waits for a person is asked through
the screen question by question, and each answer continues the run at once. A question may be answered by another process
while it is shown here: then that process runs the turn, and this one reads along in the journal until it may speak again.
"""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from hitl_cli import interrupts, rulebook, sessions
from hitl_cli.errors import HitlError, InvalidAnswers, NotSuspended, SessionBusy
from hitl_cli.interrupts import Answer, Approval, Approve, Interrupt, Reject
from hitl_cli.journal import Began, Changed, Ended, Recorded, Replied, Settings, Usage, Who
from hitl_cli.outcome import RunEnded, Suspended
from hitl_cli.paths import MANAGED, private, project_of
from hitl_cli.ui.approval import Answered, AnsweredRest, Parked, Stopped
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.waiting import POLL, Elsewhere, Outcome, Released, Waiting

ABANDONED = 3.0  # seconds without anybody running it, after which an answered turn is taken up here


class Screen(Protocol):
    def show(self, event: object) -> None:
        """Print and redraw what an event of the run changes."""

    def say(self, words: str, style: str = "dim") -> None:
        """Words above the bottom."""

    def busy(self, on: bool) -> None: ...

    async def ask(self, waiting: Waiting) -> Outcome:
        """Put a question to the person."""

    def give_back(self, typed: Sequence[Typed]) -> None:
        """Messages that were not sent after all."""

    def command(self, typed: Typed) -> None:
        """Do the slash command that waited in the queue for its turn, then let the conversation go on."""


class Conversation:
    """What the REPL holds of a session.

    session   its id; None until the first message
    pending   what waits for a person
    queue     messages typed ahead
    notes     what the person did meanwhile, told with the next message
    usage     of the session; context: tokens that the last request held
    """

    def __init__(self, setup: Setup, screen: Screen) -> None:
        self.setup, self.screen, self.store = setup, screen, setup.store
        self.settings, self.breaks = setup.settings, tuple(setup.breaks)
        self.agent = setup.make_agent(self.settings, self.breaks)
        self._rules_seen = rule_files(setup)
        self.queue: list[Typed] = []
        self._task: asyncio.Task[None] | None = None
        self._following = False
        self._begin(None)

    def _begin(self, session: str | None) -> None:
        self.session = session
        self.pending: tuple[Interrupt, ...] = ()
        self.notes: list[str] = []
        self.seq, self.usage, self.context = 0, Usage(), 0
        self.mode = self.settings.mode
        self._calls: dict[str, int] = {}  # message ("1.2") -> how many calls it made
        self._refused: set[str] = set()  # messages of which the person refused the rest
        self._agreed: dict[str, str] = {}  # call -> digest that was shown and approved after the one on record

    @property
    def working(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def model(self) -> str:
        return self.settings.model

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
        if self.pending and not self.working and self.session and self.store.read(self.session, self.seq):
            self._task = asyncio.create_task(self._work(follow=True))

    async def stop(self) -> None:
        """End the run that is going on; what it had done stays."""
        if self._following:
            self._following = False
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
            self.settings = replace(self.settings, mode=mode)
            self.mode = self.agent.bench.mode = mode
        else:
            await self._guarded(self.agent.change(self.session, Changed("mode", mode)))
            self.read_along()

    async def set_up(self, settings: Settings, breaks: Sequence[str]) -> bool:
        """Go on with an agent made anew; False, and nothing changes, when it cannot be made."""
        try:
            agent = self.setup.make_agent(settings, tuple(breaks))
        except HitlError as error:
            self.screen.say(str(error), "warn")
            return False
        await self.agent.model.close()
        changed = settings.model != self.settings.model
        self.agent, self.settings, self.breaks = agent, settings, tuple(breaks)
        if self.session and changed:
            await self._guarded(agent.change(self.session, Changed("model", settings.model)))
            self.read_along()
        return True

    def begin_anew(self) -> None:
        """The next message begins a new session; the one so far is kept."""
        self.settings = replace(self.settings, mode=self.mode)
        self.agent.bench.mode = self.mode
        self._begin(None)

    async def reopen(self, session: str, shown: int) -> None:
        """Print the last `shown` turns of a session and go on where it stands."""
        self._begin(session)
        records = self.store.read(session)
        turns = [n for n, r in enumerate(records) if isinstance(r.entry, Began)]
        first = turns[-shown] if len(turns) > shown else 0
        if first:
            self.screen.say(f"({len(turns) - shown} earlier turns are not shown)")
        for number, recorded in enumerate(records):
            self._adopt(recorded)
            if number >= first:
                self.screen.show(recorded)
        status = sessions.head_of(self.store, session).status
        if status == "interrupted":
            self.screen.say("This session was cut off in the middle of a turn; going on with it.", "warn")
        if status in ("interrupted", "running", "suspended"):
            self._task = asyncio.create_task(self._work(follow=True))

    # -- the work

    async def _work(self, follow: bool = False) -> None:
        """Everything that is left to do, in order; an error costs one turn, never the session."""
        try:
            if follow:
                await self.follow()
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
            self.screen.say(self.mishap(error), "warn")

    async def _turn(self, typed: Typed) -> None:
        self._refused.clear()
        began = self.seq
        notes, self.notes = self.notes, []
        if self.session is None:
            self.session = self.store.create()
        await self._watch(self.agent.stream("\n".join([*notes, typed.text]), self.session))
        if self.seq == began:  # refused before it began
            self.notes = notes
            self.screen.give_back([typed])

    async def _answer(self) -> bool:
        """Put the first question; False when it stays open or the turn is over."""
        first = self.pending[0]
        message = message_of(first)
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
            case Released(answer, who):
                return await self._resume({first.id: answer}, who)
            case Stopped():
                assert self.session
                await self._guarded(self.agent.stop(self.session))
                self.read_along()
                self.pending = ()
            case Parked():
                self.screen.say(f"Parked. /pending asks again; elsewhere: hitl answer {self.session} {first.id}")
            case Elsewhere(who):
                by = f"{who.kind} {who.detail}".strip()
                self.screen.say(f"Answered elsewhere ({by}).", "warn")
                return await self.follow()
        return False

    async def _waiting(self, interrupt: Interrupt) -> Waiting:
        assert self.session
        snapshot = await self.agent.load(self.session)
        message = message_of(interrupt)
        number, total = 1, len(self.pending)
        if interrupt.call and message in self._calls:
            number, total = int(interrupt.call.id.rpartition(".")[2]) + 1, self._calls[message]
        return Waiting(self, interrupt, snapshot, number, total)

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
        try:
            self.renew_rules()
            async for event in events:
                if isinstance(event, RunEnded):
                    self.pending = event.run.pending if isinstance(event.run, Suspended) else ()
                    continue
                if isinstance(event, Recorded):
                    self._adopt(event)
                    told = isinstance(event.entry, Ended) and event.entry.status == "failed"
                self.screen.show(event)
            return True
        except (SessionBusy, InvalidAnswers, NotSuspended) as error:
            self.screen.say(str(error), "warn")
            return await self.follow()
        except HitlError as error:
            if not told:
                self.screen.say(str(error), "warn")
        except Exception as error:
            self.screen.say(self.mishap(error), "warn")
        finally:
            self.screen.busy(False)
        return False

    async def follow(self) -> bool:
        """Read along while another process runs the session; take an abandoned turn up. True when this one may speak."""
        assert self.session
        self._following = True
        self.screen.busy(True)
        alone_since: float | None = None
        try:
            while self._following:
                self.read_along()
                head = sessions.head_of(self.store, self.session)
                self.pending = tuple(interrupts.load(dumped) for dumped in head.pending)
                if head.status != "running" and (head.status != "interrupted"):
                    return True
                alone_since = None if head.status == "running" else alone_since or time.monotonic()
                if alone_since is not None and time.monotonic() - alone_since >= (ABANDONED if self.seq else 0):
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
            for recorded in self.store.read(self.session, self.seq):
                self._adopt(recorded)
                self.screen.show(recorded)

    def _adopt(self, recorded: Recorded) -> None:
        self.seq = max(self.seq, recorded.seq)
        match recorded.entry:
            case Began() as began:
                self.mode = began.settings.mode
            case Changed(what="mode", value=mode):
                self.mode = str(mode)
            case Replied() as entry:
                if entry.calls:
                    self._calls[entry.calls[0].id.rpartition(".")[0]] = len(entry.calls)
                used = entry.reply.usage
                self.usage += used
                self.context = used.input + used.cache_read + used.cache_write + used.output or self.context

    # -- rules

    def renew_rules(self) -> None:
        """Let rules count that were written since, here or in another window. Raises RuleError: none is skipped."""
        seen = rule_files(self.setup)
        if seen != self._rules_seen:
            policy = rulebook.load(self.setup.place, self.setup.paths).policy
            self.agent.bench = replace(self.agent.bench, rules=policy, _session=None)
            self._rules_seen = seen

    # -- mistakes

    async def _guarded(self, work: Any) -> None:
        try:
            await work
        except (HitlError, ValueError) as error:
            self.screen.say(str(error), "warn")

    def mishap(self, error: Exception) -> str:
        """One line about a mistake of the program's own; its traceback is written down for a report."""
        told = f"Something went wrong inside hitl: {type(error).__name__}: {error}."
        file = self.setup.paths.state / "errors.log"
        with suppress(OSError):
            private(file.parent)
            with open(file, "a", encoding="utf-8", opener=_private) as out:
                out.write(time.strftime("%Y-%m-%dT%H:%M:%S ") + "".join(traceback.format_exception(error)))
            told += f" Details: {file}"
        return told


def message_of(interrupt: Interrupt) -> str:
    """The message of the model that a question belongs to: turn and step."""
    return interrupt.call.id.rpartition(".")[0] if interrupt.call else interrupt.id


def rule_files(setup: Setup) -> list[tuple[int, int]]:
    """What tells a changed rule file from the one that was read."""
    paths, workspace = setup.paths, setup.place.workspace
    files = (
        MANAGED,
        paths.user_config,
        paths.user_rules,
        paths.project_rules(project_of(workspace)),
        Path(workspace, ".hitl", "config.toml"),
        paths.trust,
    )
    seen = []
    for file in files:
        try:
            status = file.stat()
            seen.append((status.st_mtime_ns, status.st_ino))
        except OSError:
            seen.append((0, 0))
    return seen


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
