"""llm4s, LS-15 to LS-21 and LS-24: what is on disk, who may write there, and what holds when a run is cut off."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import (
    Context,
    InvalidAnswers,
    ModelError,
    SessionBusy,
    SqliteStore,
    StaleLease,
    StateTooNew,
    StoreError,
    approve,
    proceed,
    reject,
    reply,
    tool,
)
from hitl_cli.interrupts import dump, load
from hitl_cli.journal import Answered, Changed, Raised, Recorded
from hitl_cli.journal import dump as dump_entry
from hitl_cli.journal import load as load_entry
from hitl_cli.store import Head, Lease
from tests.seeds.stage import Reviews, Stage, asks, ids, results

PROCESS = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from hitl_cli import Agent, SqliteStore, approve, tool
from tests.agent.told import Driver, Told

@tool(approve=True)
def deploy() -> str:
    "Deploy."
    return f"deployed by {{os.getpid()}}"

what, path, folder = sys.argv[1:]
model = Told([("deploy", {{}})] if what == "run" else "done")
agent = Agent(model, [deploy], store=SqliteStore(Path(folder) / "store.db"))
driver = Driver(path == "streaming")
if what == "run":
    run = asyncio.run(driver.run(agent, "go"))
    print(run.session, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
session = agent.store.heads(pending=True)[0].session
run = asyncio.run(driver.resume(agent, session, {{"1.1.0:approval": approve()}}))
print(os.getpid(), model.results[0][0], run.text)
"""


def process(what: str, path: str, folder: Path) -> str:
    """What another process, built from the same code, prints."""
    code = PROCESS.format(root=str(Path(__file__).parents[2]))
    done = subprocess.run([sys.executable, "-c", code, what, path, str(folder)], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_LS_15_the_wait_is_on_disk_when_run_returns(stage: Stage, path: str, tmp_path: Path) -> None:
    session = process("run", path, tmp_path)  # killed the moment `run` has returned
    loaded = await stage.agent(store=stage.elsewhere()).load(session)
    assert (loaded.status, ids(loaded)) == ("suspended", ["1.1.0:approval"])


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_LS_16_another_process_resumes_with_the_same_code_and_store(
    stage: Stage, path: str, tmp_path: Path
) -> None:
    tools = [stage.works("deploy", approve=True)]
    run = await stage.run(stage.agent([("deploy", {})], tools=tools))
    pid, *told = process("resume", path, tmp_path).split()
    assert told == ["deployed", "by", pid, "done"]
    assert (await stage.agent(store=stage.elsewhere()).load(run.session)).status == "idle"


async def story_of_every_kind(stage: Stage) -> Any:
    tools = [stage.works("deploy", approve=True), asks, stage.external(), stage.works("look")]
    agent = stage.agent([(t.name, {}) for t in tools], tools=tools, middleware=[Reviews("look")])
    run = await stage.run(agent)
    return await stage.resume(agent, run, {"1.1.0:approval": approve(["deploy"])})


async def test_LS_17_what_is_stored_is_versioned_json_that_reads_back_as_it_was(stage: Stage) -> None:
    run = await story_of_every_kind(stage)
    for entry in await stage.history(run):
        dumped = dump_entry(entry)
        assert dumped["v"] == 1
        assert load_entry(json.loads(json.dumps(dumped))) == entry
    for interrupt in run.pending:
        assert load(json.loads(json.dumps(dump(interrupt)))) == interrupt


@pytest.mark.parametrize("kept", ["sqlite"])
@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"v": 99}, StateTooNew, "newer hitl"),
        ({"type": "dreamt"}, StoreError, "entry 3 cannot be read"),
        ({"decision": "perhaps"}, StoreError, r"decision must be one of allow, ask, deny"),
        ({"colour": "red", "size": 3}, StoreError, "unknown fields: colour, size"),
    ],
)
async def test_LS_17_what_cannot_be_read_is_reported_and_nothing_is_guessed(
    change: dict[str, Any], error: type[Exception], said: str, stage: Stage, tmp_path: Path
) -> None:
    run = await story_of_every_kind(stage)
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as db:
        [(body,)] = db.execute("SELECT body FROM entries WHERE session = ? AND seq = 3", (run.session,)).fetchall()
        assert json.loads(body)["type"] == "judged"
        changed = json.dumps(json.loads(body) | change)
        db.execute("UPDATE entries SET body = ? WHERE session = ? AND seq = 3", (changed, run.session))
    agent = stage.agent(store=stage.elsewhere())
    for attempt in (agent.load(run.session), stage.resume(agent, run, {"1.1.1:ask": reply(3)})):
        with pytest.raises(error, match=said):
            await attempt
    assert (await stage.run(stage.agent("well"))).text == "well"  # other sessions are not touched


async def test_LS_18_of_two_that_answer_at_once_one_is_refused_and_told_later_who_was_first(stage: Stage) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    @tool(approve=True)
    async def waits() -> str:
        """Wait."""
        stage.ran.append("waits")
        inside.set()
        await leave.wait()
        return "ok"

    agent = stage.agent([("waits", {})], "done", tools=[waits])
    other = stage.agent("done", tools=[waits], store=stage.elsewhere())
    run = await stage.run(agent)
    first = asyncio.create_task(agent.resume(run.session, {ids(run)[0]: approve()}))
    await inside.wait()
    with pytest.raises(SessionBusy):
        await stage.resume(other, run, {ids(run)[0]: reject("no")})
    leave.set()
    assert (await first).text == "done"
    with pytest.raises(InvalidAnswers, match="already answered: approve by program"):
        await stage.resume(other, run, {ids(run)[0]: reject("no")})
    assert stage.ran == ["waits"]


class Brief(SqliteStore):
    """A store whose leases are over as soon as they are given, as those of a process that was frozen for 30 seconds."""

    def claim(self, session: str, ttl: float = 30.0) -> Lease:
        assert ttl == 30.0
        return super().claim(session, 0.0)


@pytest.mark.parametrize("kept", ["sqlite"])
async def test_LS_19_a_claim_is_a_lease_and_whoever_was_taken_over_can_write_no_more(
    stage: Stage, tmp_path: Path
) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    @tool(idempotent=True)
    async def waits() -> str:
        """Wait the first time."""
        stage.ran.append("waits")
        if len(stage.ran) == 1:
            inside.set()
            await leave.wait()
        return "ok"

    brief = Brief(tmp_path / "store.db")
    frozen = stage.agent([("waits", {})], "never", tools=[waits], store=brief)
    session = brief.create()
    late = asyncio.create_task(stage.run(frozen, "go", session))
    await inside.wait()
    taken = await stage.recover(stage.agent("done", tools=[waits]), session)
    assert taken.text == "done"
    before = await stage.recorded(session)
    leave.set()
    with pytest.raises(StaleLease):
        await late
    assert await stage.recorded(session) == before
    brief.close()


async def test_LS_19_the_token_grows_with_every_claim_and_an_old_one_is_refused(stage: Stage) -> None:
    session = stage.store.create()
    old = stage.store.claim(session, 0.0)
    new = stage.elsewhere().claim(session)
    assert new.token > old.token
    with pytest.raises(SessionBusy):
        stage.store.claim(session)
    for write in (
        lambda: stage.store.append([Changed("title", "late")], Head(session), old, 0),
        lambda: stage.store.renew(old),
    ):
        with pytest.raises(StaleLease):
            write()
    assert stage.store.read(session) == []


async def test_LS_20_a_failed_run_is_taken_up_again_and_keeps_the_answers(stage: Stage) -> None:
    agent = stage.agent(
        [("deploy", {})], ModelError("The service said no."), "done", tools=[stage.works("deploy", approve=True)]
    )
    run = await stage.run(agent)
    with pytest.raises(ModelError):
        await stage.resume(agent, run, {ids(run)[0]: approve()})
    run = await stage.recover(agent, run)
    assert (run.text, stage.ran, results(agent)) == ("done", ["deploy"], ["deploy done"])


@pytest.mark.parametrize("path", ["streaming"])
async def test_LS_20_recover_runs_only_what_did_not_finish(stage: Stage) -> None:
    tools = [stage.works("deploy", approve=True), stage.hangs_once("slow")]
    agent = stage.agent([("deploy", {}), ("slow", {})], "done", tools=tools, break_before={"tool"})
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {id: proceed() for id in ids(run)[:1]})
    answers = {"1.1.0:approval": approve(), "1.1.1:before_tool": proceed()}
    events = agent.stream_resume(run.session, answers)
    async for event in events:
        if type(event).__name__ == "ToolOutput":
            break
    await events.aclose()  # whoever watched is gone, as with a process that ends: nothing is closed
    assert (await agent.load(run.session)).status == "interrupted"
    run = await stage.recover(agent, run)
    assert (run.text, stage.ran, results(agent)) == ("done", ["deploy", "slow", "slow"], ["deploy done", "slow done"])


@pytest.mark.parametrize("path", ["streaming"])
async def test_LS_21_a_call_has_one_key_over_approval_question_and_recover_and_one_result(stage: Stage) -> None:
    @tool(approve=True, idempotent=True)
    async def pay(ctx: Context) -> str:
        """Pay, with a question, and hang after it the first time."""
        stage.ran.append(ctx.key)
        ctx.ask("sure?", bool)
        if len(stage.ran) == 2:
            ctx.progress("inside")
            await asyncio.Event().wait()
        return "paid"

    agent = stage.agent([("pay", {})], "done", [("pay", {})], tools=[pay])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    events = agent.stream_resume(run.session, {ids(run)[0]: reply(True)})
    async for event in events:
        if type(event).__name__ == "ToolOutput":
            break
    await events.aclose()
    run = await stage.recover(agent, run)
    assert (run.text, results(agent)) == ("done", ["paid"])
    assert len(stage.ran) == 3
    assert len(set(stage.ran)) == 1
    run = await stage.run(agent, "again", run.session)  # the provider gives this call the same id
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert stage.ran[3] != stage.ran[0]


@pytest.mark.parametrize("path", ["streaming"])
async def test_LS_24_events_are_numbered_without_gaps_shown_after_their_commit_and_replayed_the_same(
    stage: Stage,
) -> None:
    tools = [stage.works("deploy", approve=True), stage.works("look")]
    agent = stage.agent([("deploy", {}), ("look", {})], "done", tools=tools)
    session, reader, live = stage.store.create(), stage.elsewhere(), list[Recorded]()

    async def watched(events: Any) -> None:
        async for event in events:
            if isinstance(event, Recorded):
                assert event in reader.read(session, event.seq - 1)
                live.append(event)

    await watched(agent.stream("go", session))
    await watched(agent.stream_resume(session, {"1.1.0:approval": approve()}))
    assert [event.seq for event in live] == list(range(1, len(live) + 1))
    for after in (0, 3, len(live)):
        assert reader.read(session, after) == live[after:]
    assert [[i["id"] for i in e.entry.interrupts] for e in live if isinstance(e.entry, Raised)] == [["1.1.0:approval"]]
    assert [list(e.entry.answers) for e in live if isinstance(e.entry, Answered)] == [["1.1.0:approval"]]
