"""The agent: a model, its tools, the rules they are judged by, and a store in which every session lies.

A run is a value at the end: Completed, Suspended (it waits for a person, here or elsewhere), Blocked or Stopped. Nothing
about a session is kept in the agent: another one, in another process, built from the same parts, goes on where it stood.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from hitl_cli.access import Place
from hitl_cli.errors import UsageError
from hitl_cli.journal import Call, Changed, Grant, Json, Recorded, Settings, Who
from hitl_cli.loop import opening, refusals
from hitl_cli.loop.compaction import Compaction
from hitl_cli.loop.context import Context, context_of
from hitl_cli.loop.drive import Drive
from hitl_cli.loop.folding import Folds
from hitl_cli.loop.leasing import Leasing
from hitl_cli.loop.modelstep import request_of
from hitl_cli.loop.opening import Answers, First, How
from hitl_cli.loop.running import Running
from hitl_cli.loop.verdicts import Bench, home_place
from hitl_cli.loop.views import snapshot_of
from hitl_cli.middleware import Middleware, in_order
from hitl_cli.models import Model, unless_priced
from hitl_cli.outcome import Outcome, Run, Snapshot
from hitl_cli.permissions.policy import Policy
from hitl_cli.policies import Key, Own
from hitl_cli.responders import Responder
from hitl_cli.state import State
from hitl_cli.steps import Options
from hitl_cli.store import Lease, Store
from hitl_cli.texts import Texts
from hitl_cli.tooldef import Tool

if TYPE_CHECKING:
    from hitl_cli.loop.blocking import Blocking

Session = str | Outcome


class Agent:
    """
    model         what answers (`hitl_cli.models`)
    tools         `Tool`s, e.g. made by `@tool`
    instructions  system text; `{key}` is the session state's value of that key
    mode          declared: ask where a tool says so; or default, accept-edits, plan, dont-ask, bypass
    policy        per tool name, tuple of names or "*": `always`, `never`, `once`, or (call, past) -> Decision or None
    rules         a compiled Policy; place: where calls are judged and run (default: the current folder)
    break_before, break_after   any of model, tool, finish
    store         where sessions lie (default: memory); expires: seconds after which a question is closed unanswered
    save_rules    (grants, call) -> None: writes accepted rules whose scope outlives the session
    outputs       the folder given to `tools.builtin`: a session may read what is kept there of its own results
    settings      what a new session's turns are recorded with (default: made from the arguments here)

    >>> from hitl_cli.journal import ModelReply
    >>> class Greets:                                           # a model, as `hitl_cli.models` describes one
    ...     name, window = "greets", 1000
    ...     async def stream(self, request):
    ...         yield ModelReply(({"type": "text", "text": "Hello."},), "end")
    ...     async def close(self): ...
    >>> agent = Agent(Greets(), instructions="Be brief.")
    >>> agent.sync.run("Hi").unwrap().text
    'Hello.'
    >>> agent.sync.close()
    """

    def __init__(
        self,
        model: Model,
        tools: Iterable[Tool] = (),
        *,
        instructions: str = "",
        mode: str = "declared",
        policy: Mapping[Key, Own] | None = None,
        rules: Policy | None = None,
        place: Place | None = None,
        middleware: Sequence[Middleware] = (),
        break_before: Collection[str] = (),
        break_after: Collection[str] = (),
        store: Store | None = None,
        max_steps: int = 50,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        concurrency: int = 1,
        responder: Responder | None = None,
        texts: Texts | None = None,
        expires: float | None = None,
        save_rules: Callable[[Sequence[Grant], Call], None] | None = None,
        who: Who = Who("program"),  # noqa: B008 - frozen
        settings: Settings | None = None,
        project: str = "",
        outputs: str = "",
    ) -> None:
        self.model, self.tools = model, _by_name(tools)
        self.instructions, self.texts = instructions, texts or Texts()
        self.place = place or (rules.place if rules else home_place())
        self.bench = Bench(self.place, rules or Policy((), self.place), dict(policy or {}), mode, outputs)
        self.middleware = in_order(middleware)
        self.break_before, self.break_after = refusals.steps(break_before), refusals.steps(break_after)
        self.store = store or _memory()
        self.concurrency, self.responder, self.expires = concurrency, responder, expires
        self.save_rules, self.who, self.project = save_rules, who, project
        dirs = self.place.roots[1:]
        self.settings = settings or Settings(
            model.name, mode, self.place.cwd, dirs, (), max_steps, max_tokens, max_cost
        )
        unless_priced(model, self.settings.max_cost)
        self.running, self.folds = Running(), Folds(self.store)
        self._sync: Blocking | None = None

    @property
    def mode(self) -> str:
        """The mode of new sessions."""
        return self.bench.mode

    @property
    def sync(self) -> Blocking:
        """The same methods, blocking; they run in one thread of their own until `close`."""
        if self._sync is None:
            from hitl_cli.loop.blocking import Blocking  # nothing of hitl's own calls it

            self._sync = Blocking(self)
        return self._sync

    # --- runs -------------------------------------------------------------------------------------------------------

    async def run(self, text: str, session: Session | None = None, **how: Any) -> Run:
        """A new message, to the end of the turn or to where a person is needed. More arguments as for `stream`."""
        return await _last(self.stream(text, session, **how))

    async def resume(self, session: Session, answers: Answers, **how: Unpack[How]) -> Run:
        """Answer some or all of what waits, and go on."""
        return await _last(self.stream_resume(session, answers, **how))

    async def recover(self, session: Session, **how: Unpack[How]) -> Run:
        """Go on with a turn that was cut off or failed; nothing that may have run is run again unasked."""
        return await _last(self.stream_recover(session, **how))

    def stream(
        self,
        text: str,
        session: Session | None = None,
        *,
        content: Sequence[Mapping[str, Json]] = (),
        **how: Unpack[How],
    ) -> AsyncGenerator[Any, None]:
        """The events of a run: Recorded entries after their commit, live pieces, at last RunEnded.

        `content` are further blocks of the message. Refused with SessionPending or Unfinished when the session is in the
        middle of a turn, SessionBusy when somebody runs it.
        """

        begins = partial(opening.message, text=text, content=content)
        return self._stream(None if session is None else _id(session), begins, **how)

    def stream_resume(self, session: Session, answers: Answers, **how: Unpack[How]) -> AsyncGenerator[Any, None]:
        """As `resume`, yielding the new events. Refused whole, nothing changed, when any answer does not fit."""

        return self._stream(_id(session), partial(opening.answers, given=answers), **how)

    def stream_recover(self, session: Session, **how: Unpack[How]) -> AsyncGenerator[Any, None]:
        """As `recover`, yielding the new events."""

        return self._stream(_id(session), opening.recovery, **how)

    async def answer(self, session: Session, answers: Answers, who: Who | None = None) -> Snapshot:
        """Record answers and go no further; `recover`, or the next answer, does."""
        id = _id(session)
        with Leasing(self.store, id) as held:
            drive = self._drive(id, held.lease, Options(self.tools), How(who=who))
            await (await opening.answers(drive, answers))()
        return await self.load(id)

    async def _stream(
        self, session: str | None, begins: Callable[[Drive], Awaitable[First]], **how: Unpack[How]
    ) -> AsyncGenerator[Any, None]:
        """Claim the session, let `begins` refuse or say what comes first, and run."""
        options = Options(
            self.tools,
            self.break_before | refusals.steps(how.get("break_before", ())),
            self.break_after | refusals.steps(how.get("break_after", ())),
            self.concurrency,
        )
        session = session or self.store.create()
        with Leasing(self.store, session) as held:
            drive = self._drive(session, held.lease, options, how)
            first = await begins(drive)
            held.lost = drive.lose
            async with aclosing(self.running.events(drive, first)) as events:
                async for event in events:
                    yield event

    # --- sessions ---------------------------------------------------------------------------------------------------

    async def stop(self, session: Session) -> Run | None:
        """End the open turn: calls without a result get one that says `interrupted`, the model is not called.

        None, and nothing happens, when no turn is open.
        """
        id = _id(session)
        if id in self.running:
            return await self.running.stop(id)
        with Leasing(self.store, id) as held:
            drive = self._drive(id, held.lease, Options(), How())
            if not drive.state.unfinished and not drive.state.pending:
                return None
            drive.close("stopped")
            return drive.outcome()

    async def change(self, session: Session, changed: Changed) -> None:
        """Record a new title, mode, model, rules of the session, or a summary in place of what was said before."""
        id = _id(session)
        refusals.unless_usable(changed)
        if id in self.running:
            self.running.of(id).record(changed)
            return
        with Leasing(self.store, id) as held:
            drive = self._drive(id, held.lease, Options(), How())
            if changed.what == "summary":
                refusals.unless_idle(id, drive.state)
            drive.record(changed)

    async def compact(
        self, session: Session, focus: str = "", show: Callable[[Any], None] = lambda event: None
    ) -> None:
        """Let a summary, written by the model, stand for what was said so far; `focus` is what it is to keep above all.

        `show` sees the record and what happens on the way. Refused as a new message is, and with HitlError when there is
        nothing to sum up or the model writes none; then nothing is changed.
        """
        id = _id(session)
        with Leasing(self.store, id) as held:
            drive = self._drive(id, held.lease, Options(), How())
            refusals.unless_idle(id, drive.state)
            drive.emit = show
            await Compaction(drive).sum_up(focus, drive.who)

    async def context(self, session: Session | None = None) -> Context:
        """How full the model's window is; without a session, with what a new one begins."""
        state, history = (State(), list[Recorded]()) if session is None else self.folds.of(_id(session))
        return context_of(request_of(self, state, history), history, self.model.window)

    async def load(self, session: Session) -> Snapshot:
        """The session as it is stored; nothing is claimed or changed."""
        id = _id(session)
        state, history = self.folds.of(id)
        return snapshot_of(id, state, history, self.texts, id in self.running)

    async def close(self) -> None:
        """Stop what runs here, close the model and the store."""
        for session in self.running:
            await self.stop(session)
        await self.model.close()
        self.store.close()

    def _drive(self, session: str, lease: Lease, options: Options, how: How) -> Drive:
        state, history = self.folds.of(session)
        who, context, responder = how.get("who") or self.who, how.get("context"), how.get("responder")
        return Drive(self, session, lease, state, history, options, context, responder, who)


def _id(session: Session) -> str:
    """A session's id, also where the run that it ended with is given."""
    id = session.session if isinstance(session, Outcome) else session
    if not isinstance(id, str) or not id:
        raise UsageError("Name a session by its id, or give the run that it ended with.")
    return id


async def _last(events: AsyncGenerator[Any, None]) -> Run:
    last: Any = None
    async with aclosing(events):
        async for event in events:
            last = event
    return cast(Run, last.run)


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    out: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in out:
            raise ValueError(f"two tools have the name {tool.name}")
        out[tool.name] = tool
    return out


def _memory() -> Store:
    from hitl_cli.store.memory import MemoryStore

    return MemoryStore()
