"""The program is killed at every lasting write of whole stories, and the person goes on with what is left.

In the ordinary run a spread of the points is tried, with `HITL_TEST_LONG=1` every one, in processes started afresh.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import tomllib
from pathlib import Path

from hitl_cli.journal import Began, Changed
from tests.durable.told import LONG, House, Person, Server, killed_everywhere, proved

NOTE = '#!/bin/sh\necho "$1" >> log\n'
ASK = '{ question = "Which?", options = [{ label = "Left" }, { label = "Right" }] }'


def house(tmp_path: Path, server: Server | None, script: str) -> House:
    (tmp_path / "home").mkdir()
    found = House(tmp_path / "home", server)
    (found.config / "config.toml").write_text(
        '[permissions]\nallow = ["lookup"]\n\n[tools.lookup]\ndescription = "Looks it up."\nexternal = true\n'
        'schema = { type = "object", properties = { what = { type = "string" } } }\n'
    )
    note = found.work / "note"
    note.write_text(NOTE)
    note.chmod(0o700)
    found.script(script)
    return found


def test_answers_of_every_kind_survive_a_crash_at_any_point(tmp_path: Path, server: Server | None) -> None:
    """Approve, edit, reject, reply, result; a rule of the user's; answers that are only recorded, in any order."""
    home = house(
        tmp_path,
        server,
        f"""
[[turn]]
[[turn.reply]]
text = "First."
calls = [
  {{ name = "a", tool = "Bash", input = {{ command = "./note a" }} }},
  {{ name = "x", tool = "lookup", input = {{ what = "x" }} }},
  {{ name = "y", tool = "lookup", input = {{ what = "y" }} }},
  {{ name = "b", tool = "Bash", input = {{ command = "./note b" }} }},
  {{ name = "q", tool = "AskUser", input = {{ questions = [{ASK}] }} }},
  {{ name = "c", tool = "Bash", input = {{ command = "./note c" }} }},
]
[[turn.reply]]
calls = [
  {{ name = "d", tool = "Bash", input = {{ command = "./note d" }} }},
  {{ name = "e", tool = "Bash", input = {{ command = "./note e" }} }},
]
[[turn.reply]]
text = "All done."
""",
    )
    person = Person(
        home,
        {
            "1.1.0:approval": ["--approve", "--no-continue"],
            "1.1.1:external": ["--result", "it is x"],
            "1.1.2:external": ["--result", "it is y", "--no-continue"],
            "1.1.3:approval": ["--edit", '{"command": "./note B"}'],
            "1.1.4:input": ["--reply", "Left"],
            "1.1.5:approval": ["--reject", "--reason", "not now"],
            "1.2.0:approval": ["--approve", "--rule", "Bash(./note:*)", "--scope", "user"],
            "uncertain": ["--result", "I looked: it had run"],
        },
    )
    person.luck = random.Random(1)

    def prove() -> None:
        proved(home, {"1.1.0": "a", "1.1.3": "B", "1.2.0": "d", "1.2.1": "e"})
        rules = tomllib.loads((home.config / "rules.toml").read_text())["rule"]
        assert [rule["allow"] for rule in rules] == ["Bash(./note:*)"]

    tried, commands = killed_everywhere(person, tmp_path, prove, every=1 if LONG else 13)
    assert commands >= 8
    assert tried > (100 if LONG else 8)


def test_breakpoints_jobs_and_a_summary_survive_two_crashes_in_a_row(tmp_path: Path, server: Server | None) -> None:
    home = house(
        tmp_path,
        server,
        """
window = 100000
[[turn]]
[[turn.reply]]
text = "First."
calls = [
  { name = "j", tool = "Bash", input = { command = "./note j", background = true } },
  { name = "o", tool = "BashOutput", input = { job = "1.1.0", wait = 5000 } },
]
[[turn.reply]]
usage = { input = 99000, output = 10 }
calls = [{ name = "a", tool = "Bash", input = { command = "./note a" } }]
[[turn.reply]]
text = "All done."
""",
    )
    (home.config / "rules.toml").write_text('format = 1\n\n[[rule]]\nallow = "Bash(./note:*)"\n')
    person = Person(
        home,
        {
            "before_tool": ["--proceed"],
            "after_model": ["--proceed", "--no-continue"],
            "before_finish": ["--proceed"],
            "uncertain": ["--result", "I looked"],
        },
        ("--break", "before:tool", "--break", "after:model", "--break", "before:finish"),
    )

    def prove() -> None:
        proved(home, {"1.1.0": "j", "1.2.0": "a"}, may_be_gone={"j"})
        summaries = [r for r in home.history() if isinstance(r.entry, Changed) and r.entry.what == "summary"]
        assert len(summaries) == 1

    tried, commands = killed_everywhere(person, tmp_path, prove, every=1 if LONG else 11, second=True)
    assert commands >= 8
    assert tried > (60 if LONG else 7)


class Starter(Person):
    """Starts the same program again and again."""

    def next(self) -> list[str] | None:
        head = self.house.head()
        return None if head and head.status == "idle" and not head.pending else ["step"]


def test_questions_of_hooks_and_bodies_survive_a_crash_at_any_point(tmp_path: Path, server: Server | None) -> None:
    (tmp_path / "home").mkdir()
    home = House(tmp_path / "home", server, "tests.durable.library")

    def prove() -> None:
        proved(home, {"1.1.0": "a", "1.1.1": "b"}, twice={"1.1.1"})
        assert [r.entry.text for r in home.history() if isinstance(r.entry, Began)] == ["go yes yes"]

    tried, commands = killed_everywhere(Starter(home, {}), tmp_path, prove, every=1 if LONG else 8)
    assert commands == 8
    assert tried > (60 if LONG else 7)


def test_killed_at_any_moment_nothing_runs_twice(tmp_path: Path, server: Server | None) -> None:
    """From outside, again and again, at moments that nobody chose; also while commands run."""
    home = house(
        tmp_path,
        server,
        """
[[turn]]
[[turn.reply]]
calls = [
  { name = "a", tool = "Bash", input = { command = "./note a; sleep 0.1" } },
  { name = "b", tool = "Bash", input = { command = "sleep 0.1; ./note b" } },
  { name = "x", tool = "lookup", input = { what = "x" } },
  { name = "c", tool = "Bash", input = { command = "./note c" } },
]
[[turn.reply]]
text = "All done."
""",
    )
    person = Person(
        home,
        {"approval": ["--approve"], "external": ["--result", "it is x"], "uncertain": ["--result", "I looked"]},
    )
    home.keep(tmp_path / "kept")
    luck, kills = random.Random(7), 0
    for _ in range(40 if LONG else 3):
        home.back_to(tmp_path / "kept")
        for _ in range(8):
            command = person.next()
            if command is None:
                break
            process = home.start(*command)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(luck.uniform(0.1, 1.2))
            kills += process.poll() is None
            process.kill()
            process.communicate()
        for _ in person.on():
            pass
        proved(home, {"1.1.0": "a", "1.1.1": "b", "1.1.3": "c"})
    assert kills > 3
