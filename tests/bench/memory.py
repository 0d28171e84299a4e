"""What the program holds in memory, and large outputs of commands on their way into a session."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from tests.bench.figures import Figure
from tests.bench.programs import Home, hitl, home, peak, run
from tests.bench.terminal import Terminal
from tests.models.server import Server, ask, call, say

TURNS = 200
MEGABYTES = 10
CALLS = 5  # of 10 MB each
PRINTED = f"yes 'one line of output, as a build prints them by the thousand' | head -c {MEGABYTES * 2**20}"
SAID = "It is **done**: the tests pass.\n\n- one\n- two\n\n```python\nprint(1)\n```\n"


def figures() -> Iterator[Figure]:
    count = [0]

    def chat(request: dict[str, Any]) -> dict[str, Any]:
        count[0] += 1
        return say(f"{SAID}\nAnswer number {count[0]}.")

    def large(request: dict[str, Any]) -> dict[str, Any]:
        done = sum(b["type"] == "tool_result" for m in request["messages"] for b in m["content"])
        return say("All of it.") if done >= CALLS else ask(call("Bash", {"command": PRINTED}, f"toolu_{done}"))

    with Server(chat) as server, home(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="x") as where:
        yield from resident(where)
    with Server(large) as server, home(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="x") as where:
        yield from outputs(where)


def resident(where: Home) -> Iterator[Figure]:
    with Terminal(hitl("--model", "claude-bench"), where) as terminal:
        terminal.until("/help for help")
        terminal.quiet()
        idle = terminal.memory()
        yield Figure("an idle REPL, SDK loaded", idle, "MiB", None, "resident")
        for number in range(1, TURNS + 1):
            seen = len(terminal.seen)
            terminal.send(f"message {number}\r")
            terminal.until(f"number {number}.", seen)
        terminal.quiet()
        after = terminal.memory()
    yield Figure(f"  after {TURNS} turns", after, "MiB", idle + 30, f"{after - idle:+.0f} MiB; resident")


def outputs(where: Home) -> Iterator[Figure]:
    """A turn of several commands, each of which prints 10 MB; then the session is opened again."""
    allow = "--allow=Bash(yes *)", "--allow=Bash(head *)", "--allow=Bash(yes:*)", "--allow=Bash(head:*)"
    small = run(hitl("run", "--model", "script:/dev/null", "--help"), where).wall
    ours = hitl("run", "--model", "claude-bench", "--quiet", *allow, "print it")
    most = peak(ours, where)
    files = [f for f in (where.root / "state" / "outputs").rglob("*") if f.is_file()]
    kept = sum(f.stat().st_size for f in files) / 2**20
    spent = run(ours, where)
    db = sqlite3.connect(where.store)
    stored = db.execute("SELECT sum(length(body)) FROM entries").fetchone()[0] / 2**20
    ran = db.execute("SELECT count(*) FROM entries WHERE type = 'settled'").fetchone()[0]
    db.close()
    if ran != 2 * CALLS:
        raise RuntimeError(f"{ran} of {2 * CALLS} commands ran")
    note = f"{stored / 2:.1f} MiB in the journal, {kept:.0f} MiB in files; {spent.wall:.1f} s in all"
    yield Figure(f"a session of {CALLS * MEGABYTES} MB of output, peak memory", most, "MiB", 150, note)
    yield Figure(f"  a command that prints {MEGABYTES} MB, with its request", (spent.wall - small) / CALLS, "s", 1.0)
    listed = peak(hitl("sessions", "list"), where)
    yield Figure("  listing it, peak memory", listed, "MiB", None)
