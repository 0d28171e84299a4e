"""Several processes at the same session, or at the same rule file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hitl_cli import rulefile
from tests.cli.program import until
from tests.durable.told import LONG, ROOT, House, Person, Server, proved

NOTE = "Bash", {"command": "echo ran >> log"}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[House, House]]:
    """Two that work with the same folders at the same time."""
    servers = None if LONG else Server(), None if LONG else Server()
    one = House(tmp_path, servers[0])
    yield one, one.beside(tmp_path / "other", servers[1])
    for server in filter(None, servers):
        server.close()


def test_of_two_who_answer_at_once_one_wins_and_the_other_is_told(pair: tuple[House, House], tmp_path: Path) -> None:
    one, two = pair
    one.calls(NOTE)
    assert one.at(0, "run", "go", *one.model).code == 4
    head = one.head()
    assert head is not None
    one.keep(tmp_path / "kept")
    wins = {"approve": 0, "reject": 0}
    with ThreadPoolExecutor(2) as threads:
        for round in range(100 if LONG else 10):
            one.back_to(tmp_path / "kept")
            answers = {"approve": one, "reject": two}
            if round % 2:
                answers = {"approve": two, "reject": one}
            said = {
                kind: threads.submit(house.at, 0, "answer", head.session, "1.1.0:approval", f"--{kind}")
                for kind, house in answers.items()
            }
            done = {kind: future.result() for kind, future in said.items()}
            (winner,) = [kind for kind, it in done.items() if it.code != 2]
            (loser,) = [kind for kind in done if kind != winner]
            assert done[winner].code == {"approve": 0, "reject": 3}[winner]
            assert (done[loser].code, done[loser].out) == (2, "")
            already = f"hitl: 1.1.0:approval: already answered: {winner} by person without a terminal (user "
            assert done[loser].err.startswith(already)
            assert one.log == (["ran"] if winner == "approve" else [])
            wins[winner] += 1
    assert sum(wins.values()) >= 10


@pytest.mark.slow
def test_a_session_that_is_run_is_waited_for_five_seconds(pair: tuple[House, House]) -> None:
    one, two = pair
    one.script(
        '[[turn]]\n[[turn.reply]]\ncalls = [{ name = "s", tool = "Bash", input = { command = "sleep 8" } }]\n'
        '[[turn.reply]]\ntext = "Slept."\n[[turn]]\n[[turn.reply]]\ntext = "Again."\n'
    )
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(one.at, 0, "run", "go", "--mode", "bypass", *one.model)
        until(lambda: (head := two.head()) and head.status == "running", "the turn")
        head = two.head()
        assert head is not None
        for command in (
            ["run", "more", "--session", head.session],
            ["sessions", "delete", head.session],
            ["recover", head.session],
        ):
            if command[0] == "recover" and first.done():
                break
            said = two.at(0, *command)
            assert (said.code, said.out) == (75, ""), (command, said)
            assert re.search(r"is run by another process \(pid \d+ on .*\)", said.err)
            if command[0] == "run":  # five seconds have gone by: the rest would outlast the command
                break
        assert first.result().code == 0
    said = two.at(0, "run", "more", "--session", head.session)
    assert (said.code, said.out) == (0, "Again.\n")


def test_a_holder_that_was_frozen_is_taken_over_and_can_do_nothing_when_it_goes_on(
    pair: tuple[House, House], tmp_path: Path
) -> None:
    """Frozen after each of its lasting writes in turn."""
    one, two = pair
    for house in pair:
        house.env |= {"HITL_TEST_LEASE": "0.4"}
    one.script(
        """
[[turn]]
[[turn.reply]]
calls = [
  { name = "a", tool = "Bash", input = { command = "echo a >> log" } },
  { name = "b", tool = "Bash", input = { command = "echo b >> log" } },
]
[[turn.reply]]
text = "All done."
"""
    )
    two.model = one.model
    person = Person(two, {"approval": ["--approve"], "uncertain": ["--result", "I looked"]}, ("--allow", "Write(log)"))
    one.keep(tmp_path / "kept")
    command = ["run", "go", "--allow", "Write(log)", *one.model]
    assert one.at(0, *command).code == 0
    points = one.passed
    one.env["HITL_TEST_FREEZE"] = "1"
    pid, told = one.root / "count.pid", 0
    with ThreadPoolExecutor(1) as threads:
        for point in range(8, points - 3, 2 if LONG else 6):  # from the message to the end of the turn
            one.back_to(tmp_path / "kept")
            pid.unlink(missing_ok=True)
            frozen = threads.submit(one.at, point, *command)
            until(lambda: pid.exists() and pid.read_text(), "the freezing")
            try:
                until(lambda: (head := two.head()) and head.status == "interrupted", "the end of the lease")
                for _ in person.on():
                    pass
                before = two.history()
            finally:
                os.kill(int(pid.read_text()), signal.SIGCONT)
            said = frozen.result()
            assert (said.code, said.out) == (1, ""), said
            assert "nothing was written" in said.err
            assert two.history() == before
            proved(two, {"1.1.0": "a", "1.1.1": "b"})
            told += 1
    assert told >= (9 if LONG else 3)


def test_eight_processes_save_rules_at_once_and_the_file_is_whole_at_every_instant(tmp_path: Path) -> None:
    each = 200 if LONG else 20
    config, work = tmp_path / "config", str(tmp_path)
    savers = [
        subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("saver.py")), config, tmp_path, work, str(who), str(each)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for who in range(8)
    ]
    looks, seen = 0, 0
    file = config / "rules.toml"
    while any(saver.poll() is None for saver in savers):
        rules = rulefile.read(file, "user").rules  # raises when it is not whole
        assert len(rules) >= seen
        looks, seen = looks + 1, len(rules)
    assert [saver.returncode for saver in savers] == [0] * 8
    texts = [rule.text for rule in rulefile.read(file, "user").rules]
    wanted = [f"Bash(tool {who} {n})" for who in range(8) for n in range(each)]
    assert sorted(texts) == sorted(["Bash(shared)", *wanted])
    assert looks > 10
    assert sorted(path.name for path in config.iterdir()) == [".rules.toml.lock", "rules.toml"]
