"""The process is killed at every commit of a story, before and after it; what is left is taken up and proved from outside.

The story: calls that run, ask, ask from inside, are run elsewhere and are serial. Each body appends a line to a file when
it starts, so that file tells what really ran. The killed process is a real one, a fork that ends itself with SIGKILL.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Agent, Context, Middleware, approve, external_tool, reject, reply, result, tool
from hitl_cli.errors import SessionPending, StoreError, Unfinished
from hitl_cli.interrupts import Approval, External, Reject
from hitl_cli.journal import Answered, Began, Raised, Replied, Settled, Started
from hitl_cli.models import Request
from hitl_cli.outcome import Completed
from hitl_cli.store import Head, Lease
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.texts import CUT_OFF
from tests.agent.told import Told, said

REPLIES = [
    [("work", {"n": 1}), ("gated", {"n": 2}), ("asks", {"n": 3}), ("out", {}), ("alone", {"n": 4}), ("safe", {"n": 5})],
    [("gated", {"n": 6}), ("work", {"n": 7})],
    "done",
]
CALLS = 8
POINTS = 50  # more than the story has commits


class Reviewed(Middleware):
    id = "reviewed"

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        out = await next(call)
        if call.name == "gated":
            ctx.ask("was it good?", str)
        return out


class Steps(Told):
    """Replies by what the request holds, so that another process goes on where the story stood."""

    async def stream(self, request: Request) -> Any:
        self.requests.append(request)
        yield said(REPLIES[sum(m["role"] == "assistant" for m in request.messages)])


def tools(log: Path) -> list[Any]:
    def note(n: int) -> str:
        with log.open("a") as file:
            file.write(f"{n}\n")
        return f"did {n}"

    @tool
    async def work(n: int) -> str:
        """Work."""
        return note(n)

    @tool(approve=True)
    def gated(n: int) -> str:
        """Work once approved."""
        return note(n)

    @tool
    async def asks(n: int, ctx: Context) -> str:
        """Ask, then work."""
        ctx.ask("well?", str)
        return note(n)

    @tool(serial=True, approve=True)
    async def alone(n: int) -> str:
        """Work alone."""
        return note(n)

    @tool(read_only=True)
    async def safe(n: int) -> str:
        """Read."""
        return f"read {n}"

    return [work, gated, asks, alone, safe, external_tool("out", "", {"type": "object"})]


class Dies(SqliteStore):
    """A store whose process ends at the nth append: just before it is committed, or just after."""

    def __init__(self, path: Path, at: int, committed: bool) -> None:
        super().__init__(path)
        self.left, self.committed = at, committed

    def append(self, entries: Any, head: Head, lease: Lease, after: int) -> Any:
        self.left -= 1
        if self.left == 0 and not self.committed:
            os.kill(os.getpid(), signal.SIGKILL)
        done = super().append(entries, head, lease, after)
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def answer(interrupt: Any) -> Any:
    if isinstance(interrupt, Approval):
        return result("it had run") if interrupt.source == "uncertain" else approve()
    return result("from outside") if isinstance(interrupt, External) else reply("fine")


async def play(agent: Agent) -> Any:
    """The story from wherever it stands to its end, one answer at a time."""
    heads = agent.store.heads()
    if not heads:
        run: Any = await agent.run("go")
    else:
        session = heads[0].session
        loaded = await agent.load(session)
        if loaded.status == "idle" and not loaded.history:
            run = await agent.run("go", session)
        elif loaded.status == "suspended":
            run = await agent.resume(session, {loaded.pending[0].id: answer(loaded.pending[0])})
        elif loaded.status == "interrupted":
            with pytest.raises((Unfinished, SessionPending)):
                await agent.run("something else", session)
            run = await agent.recover(session)
        else:
            return loaded
    while getattr(run, "pending", ()):
        run = await agent.resume(run.session, {run.pending[0].id: answer(run.pending[0])})
    return await agent.load(run.session)


def agent(store: SqliteStore, log: Path) -> Agent:
    return Agent(Steps(), tools(log), store=store, middleware=[Reviewed()])


def killed(folder: Path, at: int, committed: bool) -> bool:
    """Play the story in a process that dies at the given commit; False when it reached the end."""
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(play(agent(Dies(folder / "store.db", at, committed), folder / "log")))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def proved(loaded: Any, log: Path) -> None:
    """Nothing ran twice, every call has one result in call order, no answer was given twice, the journal has no gap."""
    ran = log.read_text().split() if log.exists() else []
    assert len(ran) == len(set(ran))
    entries = [r.entry for r in loaded.history]
    assert [r.seq for r in loaded.history] == list(range(1, len(entries) + 1))
    settled = [e.call for e in entries if isinstance(e, Settled)]
    called = [c.id for e in entries if isinstance(e, Replied) for c in e.calls]
    assert sorted(settled) == sorted(called)
    assert len(called) == CALLS
    answers = [id for e in entries if isinstance(e, Answered) for id in e.answers]
    raised = [i["id"] for e in entries if isinstance(e, Raised) for i in e.interrupts]
    assert len(answers) == len(set(answers))
    assert sorted(raised) == sorted(answers)
    assert sum(isinstance(e, Began) for e in entries) == 1
    for message in loaded.messages:
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert results == [f"use_{n}" if n < 100 else "" for n in range(len(results))] or "call_" in results[0]
    # whatever was cut off in its body was asked about, unless running it again is harmless
    asked = {id.partition(":")[0] for id in raised if ":uncertain" in id}
    started = [e.call for e in entries if isinstance(e, Started)]
    assert {c for c in started if started.count(c) > 1} <= {"1.1.2", "1.1.5"}  # its own question; read only
    assert len(asked) <= 1
    assert {str(n) for n in range(1, 8)} - set(ran) - {"5"} <= {
        {"1.1.0": "1", "1.1.1": "2", "1.1.2": "3", "1.1.4": "4", "1.2.0": "6", "1.2.1": "7"}[c] for c in asked
    }


@pytest.mark.slow
@pytest.mark.parametrize("committed", [False, True], ids=["before the commit", "after the commit"])
def test_killed_at_any_commit_the_story_goes_on_and_nothing_runs_twice(tmp_path: Path, committed: bool) -> None:
    points = 0
    for at in range(1, POINTS):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        dead = killed(folder, at, committed)
        points += dead
        store = SqliteStore(folder / "store.db")
        loaded = asyncio.run(play(agent(store, folder / "log")))
        proved(loaded, folder / "log")
        assert loaded.messages[-1]["content"] == [{"type": "text", "text": "done"}]
        store.close()
        if not dead:
            break
    assert points > 30


@pytest.mark.slow
def test_killed_twice_the_story_still_goes_on(tmp_path: Path) -> None:
    for first in range(1, POINTS, 3):
        for second in range(1, 12, 2):
            folder = tmp_path / f"{first}-{second}"
            folder.mkdir()
            if not killed(folder, first, first % 2 == 0):
                return
            killed(folder, second, second % 3 == 0)
            store = SqliteStore(folder / "store.db")
            loaded = asyncio.run(play(agent(store, folder / "log")))
            ran = (folder / "log").read_text().split() if (folder / "log").exists() else []
            assert len(ran) == len(set(ran))
            assert loaded.messages[-1]["content"] == [{"type": "text", "text": "done"}]
            store.close()


class Full(SqliteStore):
    """A store whose disk is full from the nth append on."""

    left = 10**9

    def append(self, entries: Sequence[Any], head: Head, lease: Lease, after: int) -> Any:
        self.left -= 1
        if self.left < 0:
            raise StoreError("The store failed: database or disk is full.")
        return super().append(entries, head, lease, after)


def test_a_store_that_fails_stops_the_run_where_it_was_and_loses_nothing(tmp_path: Path) -> None:
    for at in range(0, 40, 3):
        path = tmp_path / f"{at}.db"
        log = tmp_path / f"{at}.log"
        full = Full(path)
        full.left = at
        with contextlib.suppress(StoreError):
            asyncio.run(play(agent(full, log)))
        ran = log.read_text().split() if log.exists() else []
        full.left = 10**9
        loaded = asyncio.run(play(agent(full, log)))
        proved(loaded, log)
        assert set(ran) <= set(log.read_text().split())
        full.close()


def test_two_processes_answer_the_same_question_and_one_is_told_who_was_first(tmp_path: Path) -> None:
    async def story() -> None:
        from hitl_cli.errors import InvalidAnswers, SessionBusy
        from hitl_cli.journal import Who

        @tool(approve=True)
        async def slowly() -> str:
            """Take a while."""
            await asyncio.sleep(0.05)
            return "ok"

        def process(*replies: Any) -> Agent:
            return Agent(Told(*replies), [slowly], store=SqliteStore(tmp_path / "store.db"))

        one, two = process([("slowly", {})], "done"), process()
        run = await one.run("go")
        [asked] = run.pending  # type: ignore[union-attr]
        first = asyncio.create_task(one.resume(run.session, {asked.id: approve()}, who=Who("person", "tty1")))
        await asyncio.sleep(0.02)
        with pytest.raises(SessionBusy):
            await two.resume(run.session, {asked.id: approve()})
        assert isinstance(await first, Completed)
        with pytest.raises(InvalidAnswers, match="already answered: approve by person tty1"):
            await two.resume(run.session, {asked.id: approve()})
        await one.close()
        await two.close()

    asyncio.run(story())


def test_a_holder_that_was_taken_over_can_do_nothing_more(tmp_path: Path) -> None:
    async def story() -> None:
        from hitl_cli.errors import StaleLease

        go_on, inside = asyncio.Event(), asyncio.Event()
        ran = []

        @tool
        async def first() -> str:
            """Freeze."""
            ran.append("first")
            inside.set()
            await go_on.wait()
            return "late"

        @tool(serial=True)
        async def second() -> str:
            """Second."""
            ran.append("second")
            return "ok"

        store = SqliteStore(tmp_path / "store.db")
        frozen = Agent(Told([("first", {}), ("second", {})], "done"), [first, second], store=store)
        session = store.create()
        late = asyncio.create_task(frozen.run("go", session))
        await inside.wait()
        store._db.execute("UPDATE leases SET expires = 0")  # as if its 30 seconds had passed
        other = Agent(Told("done"), [first, second], store=SqliteStore(tmp_path / "store.db"))
        run = await other.recover(session)
        [asked] = run.pending  # type: ignore[union-attr]
        assert asked.reason.startswith("may have run")
        go_on.set()
        with pytest.raises(StaleLease):
            await late
        run = await other.resume(session, {asked.id: result("it was late")})
        assert isinstance(run, Completed)
        assert ran == ["first", "second"]
        await frozen.close()
        await other.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("said", "ran", "told"),
    [
        (approve(), 2, ("did 1", False)),
        (result("it is deployed"), 1, ("it is deployed", False)),
        (reject("look first"), 1, (f"{CUT_OFF} The user says: look first", True)),
    ],
)
def test_a_person_says_what_became_of_a_call_that_was_cut_off(
    tmp_path: Path, said: Any, ran: int, told: tuple[str, bool]
) -> None:
    async def story() -> None:
        log = tmp_path / "log"
        keys = []

        @tool
        async def work(n: int, ctx: Context) -> str:
            """Work."""
            keys.append(ctx.key)
            with log.open("a") as file:
                file.write(f"{n}\n")
            if len(keys) == 1:
                await asyncio.Event().wait()
            return f"did {n}"

        store = SqliteStore(tmp_path / "store.db")
        events = Agent(Told([("work", {"n": 1})]), [work], store=store).stream("go")
        async for event in events:
            if isinstance(getattr(event, "entry", None), Started):
                break
        while not keys:
            await asyncio.sleep(0)
        await events.aclose()  # whoever watched is gone: the call is left as a killed process would leave it
        model = Told("done")
        other = Agent(model, [work], store=store)
        [head] = store.heads()
        assert head.status == "interrupted"
        with pytest.raises(Unfinished):
            await other.resume(head.session, {"1.1.0:approval": approve()})
        run: Any = await other.recover(head.session)
        [asked] = run.pending
        assert (asked.id, asked.reason) == (
            "1.1.0:uncertain",
            "may have run: it was cut off before its result was known",
        )
        run = await other.resume(head.session, {asked.id: said})
        assert (run.text, len(log.read_text().split()), model.results) == ("done", ran, [told])
        assert len(set(keys)) == 1
        assert [(refusal["call"], refusal["part"]) for refusal in run.denied] == (
            [("1.1.0", "running it again")] if isinstance(said, Reject) else []
        )
        await other.close()

    asyncio.run(story())


def test_a_store_that_fails_ends_the_bodies_that_run(tmp_path: Path) -> None:
    async def story() -> None:
        ended = []

        @tool
        async def waits() -> str:
            """Wait."""
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)
            return ""

        @tool
        async def quick() -> str:
            """Be quick."""
            return "ok"

        full = Full(tmp_path / "store.db")
        full.left = 6
        agent = Agent(Told([("waits", {}), ("quick", {})]), [waits, quick], store=full, concurrency=2)
        with pytest.raises(StoreError, match="full"):
            await agent.run("go")
        assert ended == [True]
        full.close()

    asyncio.run(story())
