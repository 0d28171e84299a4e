"""The journal: what an append costs beside a bare SQLite insert, and whether opening grows with what is stored."""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from hitl_cli import interrupts, journal
from hitl_cli.interrupts import Approval
from hitl_cli.journal import (
    Began,
    Call,
    Ended,
    Entry,
    Judged,
    ModelReply,
    Replied,
    Result,
    Settings,
    Settled,
    Usage,
    Who,
)
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore
from tests.bench.figures import Figure
from tests.bench.programs import PACKAGE, Home, home, python

APPENDS = 400
ENTRIES = 10_000
SESSIONS, WAITING = 10_000, 100
SETTINGS = Settings("claude-x", "default", "/work")


def turn(number: int) -> list[Entry]:
    """Ten entries of a turn with two calls, as long as such entries usually are."""
    calls = tuple(
        Call(f"{number}.1.{n}", "Bash", {"command": f"git log -{n} --oneline"}, "", f"tu_{n}") for n in (0, 1)
    )
    blocks = tuple({"type": "tool_use", "id": c.provider_id, "name": c.name, "input": c.input} for c in calls)
    said = ({"type": "text", "text": "The tests pass, and the page is built. " * 8},)
    usage = Usage(1200, 80, 1000)
    entries: list[Entry] = [Began(number, "Run the tests, then look at the log.", SETTINGS)]
    entries.append(Replied(number, 1, ModelReply(blocks, "tool_use", usage, "claude-x"), calls))
    for call in calls:
        who = Who("rule", "read-only.toml:12")
        entries.append(Judged(call.id, "allow", who, "Bash(git log:*) allows it", "d" * 64, "Bash(git log:*)"))
        entries.append(journal.Started(call.id, "k" * 32, call.input or {}))
        entries.append(Settled(call.id, Result("a line of output, as commands print them\n" * 20)))
    return [*entries, Replied(number, 2, ModelReply(said, "end", usage, "claude-x")), Ended(number, "completed")]


def figures() -> Iterator[Figure]:
    with home() as where:
        where.store.parent.mkdir(parents=True)
        yield from appends(where.store.parent)
        yield from reopening(where)
        yield from listing(where)


def appends(folder: Path) -> Iterator[Figure]:
    """Each append is one transaction that is on disk when it returns; in turns with a bare insert of the same bytes."""
    store = SqliteStore(folder / "appends.db")
    session = store.create()
    lease = store.claim(session)
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE entries (session TEXT, seq INTEGER, at REAL, type TEXT, body TEXT)")
    head = Head(session, "Run the tests", "/work", "running", 1)
    ours, theirs = list[float](), list[float]()
    entries = [entry for number in range(APPENDS // 9 + 1) for entry in turn(number)][:APPENDS]
    for number, entry in enumerate(entries):
        data = journal.dump(entry)
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        began = time.perf_counter()
        bare.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (session, number, 1.0, data["type"], body))
        between = time.perf_counter()
        store.append([entry], head, lease, number)
        theirs.append(between - began)
        ours.append(time.perf_counter() - between)
    store.close()
    bare.close()
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        mine, other = (sorted(times)[int(share * APPENDS)] for times in (ours, theirs))
        note = f"{mine * 1000:.2f} ms / {other * 1000:.2f} ms, both FULL"
        yield Figure(f"append / bare insert of the same bytes, {name}", mine / other, "times", 2.0, note)


def filled(file: Path, sessions: dict[str, list[Entry]], waiting: dict[str, str]) -> None:
    """A store with these journals, written without waiting for the disk."""
    SqliteStore(file).close()
    db = sqlite3.connect(file)
    for number, (session, entries) in enumerate(sessions.items()):
        status = "suspended" if session in waiting else "idle"
        db.execute(
            "INSERT INTO sessions (id, last_seq, title, cwd, status, turns, updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session, len(entries), f"Session {number}", "/work", status, len(entries) // 9, 1e9 + number),
        )
        dumped = [journal.dump(entry) for entry in entries]
        db.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            [
                (session, n, 1e9, d["type"], json.dumps(d, ensure_ascii=False, separators=(",", ":")))
                for n, d in enumerate(dumped, 1)
            ],
        )
    db.executemany("INSERT INTO pending VALUES (?, 0, ?)", list(waiting.items()))
    db.commit()
    db.close()


LOAD = """
import asyncio, os, sys, time
from hitl_cli.agent import Agent
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.models.claude import Claude
from hitl_cli.ui.account import Account
import json, sqlite3, hitl_cli.journal, hitl_cli.state, hitl_cli.transcript, hitl_cli.loop.views
began, used = time.perf_counter(), time.process_time()
store = SqliteStore(sys.argv[1])
agent = Agent(Claude("claude-x"), store=store)
found = asyncio.run(agent.load("long"))
account = Account("default")
for recorded in found.history:
    account.adopt(recorded)
print(time.perf_counter() - began, time.process_time() - used, len(found.history))
"""
LIST = """
import json, sys, time
from hitl_cli.cli import waiting
from hitl_cli.store.sqlite import SqliteStore
import hitl_cli.interrupts, hitl_cli.cli.lines, sqlite3
sys.stdout = open("/dev/null", "w")
waiting.pending(store=sys.argv[2])            # imports, and what is compiled once
began, used = time.perf_counter(), time.process_time()
waiting.pending(store=sys.argv[1])
print(time.perf_counter() - began, time.process_time() - used, file=sys.__stdout__)
"""


def inside(where: Home, text: str, *arguments: str) -> tuple[float, float]:
    """What a program measures of itself, after its imports: seconds on the clock and of the processor, medians."""
    found = []
    for _ in range(5):
        argv = [*python(text), *arguments]
        out = subprocess.run(argv, cwd=PACKAGE, env=dict(where.env), capture_output=True, text=True, check=True).stdout
        found.append(tuple(map(float, out.split()[:2])))
    return statistics.median(f[0] for f in found), statistics.median(f[1] for f in found)


def reopening(where: Home) -> Iterator[Figure]:
    file = where.store.with_name("long.db")
    entries = [entry for number in range(1, ENTRIES // 9 + 2) for entry in turn(number)][:ENTRIES]
    filled(file, {"long": entries}, {})
    wall, used = inside(where, LOAD, str(file))
    note = f"read, folded, as messages; {used * 1000:.0f} ms of the processor, {os.path.getsize(file) >> 20} MiB"
    yield Figure(f"reopening a session of {ENTRIES:,} entries, after imports", wall * 1000, "ms", 300, note)


def listing(where: Home) -> Iterator[Figure]:
    many, few, none = (where.store.with_name(f"{name}.db") for name in ("many", "few", "none"))
    call = Call("1.1.0", "Bash", {"command": "make deploy"})
    asked = Approval(id="1.1.0:approval", since=1e9, call=call, digest="d" * 64, reason="no rule covers `make deploy`")
    body = json.dumps(interrupts.dump(asked))
    names = [f"{n:08x}" for n in range(SESSIONS)]
    wait = dict.fromkeys(names[:: SESSIONS // WAITING], body)
    filled(many, {name: turn(1) for name in names}, wait)
    filled(few, {name: turn(1) for name in wait}, wait)
    SqliteStore(none).close()
    wall, used = inside(where, LIST, str(many), str(none))
    small, _ = inside(where, LIST, str(few), str(none))
    title = f"pending over {SESSIONS:,} sessions, {WAITING} waiting, after imports"
    note = f"{used * 1000:.0f} ms of the processor; {small * 1000:.0f} ms over those {WAITING} sessions alone"
    yield Figure(title, wall * 1000, "ms", 200, note)
