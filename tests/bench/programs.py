"""Whole programs, run and measured: time on the clock, processor time and peak memory as the kernel counts them.

The programs that are compared run in turns, so that whatever else the machine does meets all of them. Ratios are taken
of processor time (user and system): starting a program is processor work, and on a shared machine only that repeats.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
SERVER = str(PACKAGE / "tests" / "models" / "server.py")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Home:
    """A person's folders, apart from everybody else's, and the environment that points there."""

    root: Path
    env: Mapping[str, str]

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def store(self) -> Path:
        return self.root / "state" / "sessions.db"


@contextmanager
def home(**more: str) -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="hitl-bench-") as folder:
        root = Path(folder)
        (root / "work").mkdir()
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "ANTHROPIC_", "PYTHON", "NO_COLOR"))}
        own = {
            "HITL_CONFIG_DIR": str(root / "config"),
            "HITL_STATE_DIR": str(root / "state"),
            "HOME": folder,
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            "PYTHONPATH": str(PACKAGE),
        }
        yield Home(root, {**kept, **own, **more})


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def hitl(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hitl_cli", *arguments]


def run(argv: Sequence[str], where: Home) -> Spent:
    """One process from start to end, silent; it has to succeed (or to answer `ask`, 4)."""
    null = os.open(os.devnull, os.O_RDWR)
    here = os.getcwd()
    os.chdir(where.work)
    try:
        began = time.perf_counter()
        pid = os.posix_spawn(
            argv[0], argv, dict(where.env), file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        )
        _, status, used = os.wait4(pid, 0)
        wall = time.perf_counter() - began
    finally:
        os.chdir(here)
        os.close(null)
    if os.waitstatus_to_exitcode(status) not in (0, 4):
        raise RuntimeError(f"{argv} ended with {os.waitstatus_to_exitcode(status)}")
    return Spent(wall, used.ru_utime + used.ru_stime)


# A process is charged with the memory of the one that started it, so a small one has to.
STARTER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def peak(argv: Sequence[str], where: Home) -> float:
    """MiB that one process, or one that it started, held at most."""
    starter = [*python(STARTER), *argv]
    done = subprocess.run(starter, cwd=where.work, env=dict(where.env), capture_output=True, text=True, check=True)
    return float(done.stdout)


def in_turns(programs: Mapping[str, Sequence[str]], where: Home, rounds: int) -> dict[str, list[Spent]]:
    """Every program `rounds` times, after a first run of each that fills the caches."""
    for argv in programs.values():
        run(argv, where)
    found: dict[str, list[Spent]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, argv in programs.items():
            found[name].append(run(argv, where))
    return found


def processor(runs: Sequence[Spent]) -> float:
    """Seconds, the median."""
    return statistics.median(r.processor for r in runs)


def wall(runs: Sequence[Spent]) -> float:
    """Seconds, the median."""
    return statistics.median(r.wall for r in runs)
