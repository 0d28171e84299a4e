"""What a killed program leaves behind: nothing that still runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import Home, until


def gone(pid: int) -> bool:
    """It has ended, whoever is to collect it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks in /proc")
@pytest.mark.parametrize("background", [False, True])
def test_a_command_ends_when_the_program_is_killed_and_a_person_is_asked_about_it(
    tmp_path: Path, background: bool
) -> None:
    home = Home(tmp_path)
    command = "sleep 600 & echo $$ $! >> log; wait"
    calls = [("Bash", {"command": command, **({"background": True} if background else {})})]
    if background:
        calls.append(("Bash", {"command": "sleep 600"}))
    home.calls(*calls)
    process = home.start("run", "go", "--mode", "bypass", *home.model)
    log = home.work / "log"
    until(lambda: log.exists() and log.read_text().endswith("\n"), "the command")
    pids = [int(word) for word in log.read_text().split()]
    assert not any(map(gone, pids))
    if background:
        until(lambda: "1.1.1" in home.hitl("sessions", "export", "--format", "json", session(home)).out, "the second")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until(lambda: all(map(gone, pids)), "the end of what it had started")
    said = home.hitl("recover", session(home), "--output", "json")
    (asked,) = said.json["pending"]
    assert (said.code, asked["reason"]) == (4, "may have run: it was cut off before its result was known")
    assert len(log.read_text().splitlines()) == 1


KILLED_AT_THE_GATE = """
import asyncio, os, pathlib, signal
from hitl_cli.tools.processes import Spool, start

def known(pid):
    print(pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

argv = ("bash", "--noprofile", "--norc", "-c", "touch begun")
asyncio.run(start(argv, ".", os.environ, Spool(pathlib.Path("spool")), print, known))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks in /proc")
def test_nothing_of_a_command_happens_when_the_program_is_killed_before_anybody_knows_of_it(tmp_path: Path) -> None:
    paths = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_THE_GATE], cwd=tmp_path, env=paths, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    until(lambda: gone(int(done.stdout)), "the end of the shell at the gate")
    assert not (tmp_path / "begun").exists()


def session(home: Home) -> str:
    (head,) = home.hitl("sessions", "list", "--json").json
    return str(head["session"])
