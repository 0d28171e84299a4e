"""From the command to the first prompt, and what typing feels like while the rest is loaded behind it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

from tests.bench.figures import Figure
from tests.bench.programs import Home, hitl, home, python
from tests.bench.terminal import Terminal
from tests.models.server import Server, say

ROUNDS = 11
IMPORTS = 'import typer, rich.console, prompt_toolkit; print("mark", flush=True); input()'
PROMPT = "/help for help"  # said when the prompt takes keys
LETTERS = "éèàùöäüßñçåøæœłđžšČŘ"  # letters that are in no escape sequence


def figures() -> Iterator[Figure]:
    arrived: list[float] = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        arrived.append(time.perf_counter())
        return say(f"Answer number {len(arrived)}.")

    with (
        Server(answer) as server,
        home(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="x", HITL_MODEL="claude-bench") as where,
    ):
        yield from first(where)
        yield from lag(where)
        yield from leaving(where, arrived)


def opened(where: Home) -> Terminal:
    return Terminal(hitl(), where)


def first(where: Home) -> Iterator[Figure]:
    ours, theirs, used, used_theirs = list[float](), list[float](), list[float](), list[float]()
    for _ in range(ROUNDS):
        with opened(where) as terminal:
            ours.append(terminal.until(PROMPT) - terminal.began)
            used.append(terminal.processor())
        with Terminal(python(IMPORTS), where) as terminal:
            theirs.append(terminal.until("mark") - terminal.began)
            used_theirs.append(terminal.processor())
    note = (
        f"best of {ROUNDS}: {min(ours) * 1000:.0f} ms / {min(theirs) * 1000:.0f} ms;"
        f" medians {statistics.median(ours) * 1000:.0f} / {statistics.median(theirs) * 1000:.0f}"
    )
    title = "first prompt / import typer, rich.console and prompt_toolkit"
    yield Figure(title, min(ours) / min(theirs), "times", 1.25, note)


def lag(where: Home) -> Iterator[Figure]:
    """Keys typed from the first prompt on, while SDK and client are loaded: until each is on the screen."""
    waits = list[float]()
    with opened(where) as terminal:
        terminal.until(PROMPT)
        for letter in LETTERS * 2:
            count = terminal.seen.count(letter.encode())
            began = time.perf_counter()
            terminal.send(letter)
            while terminal.seen.count(letter.encode()) == count:
                terminal.read(0.05)
            waits.append(time.perf_counter() - began)
            time.sleep(0.03)
    note = f"{len(waits)} keys from the first prompt on; median {statistics.median(waits) * 1000:.0f} ms"
    yield Figure("the latest key while the SDK is loaded", max(waits) * 1000, "ms", 100, note)


def leaving(where: Home, arrived: list[float]) -> Iterator[Figure]:
    waits = list[float]()
    with opened(where) as terminal:
        terminal.until(PROMPT)
        terminal.quiet()
        for _ in range(9):
            count, seen = len(arrived), len(terminal.seen)
            terminal.send("hello")
            terminal.until("hello", seen)
            terminal.quiet(0.3)
            began = time.perf_counter()
            terminal.send("\r")
            terminal.until(f"number {count + 1}", seen)
            waits.append(arrived[count] - began)
    note = f"median of {len(waits)}; the first, with its connection: {waits[0] * 1000:.0f} ms"
    yield Figure("Enter to the request at the server, SDK loaded", statistics.median(waits) * 1000, "ms", 50, note)
