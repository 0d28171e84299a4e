"""The demo: a scratch folder with a small repository, and a story that a scripted model tells in it.

Everything lies in that one folder, configuration and store too, so nothing of the person's is read or written. Without a
terminal the story is played with the answers that stand in its file.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hitl_cli.errors import HitlError
from hitl_cli.interrupts import Answer, Approval, Approve, Edit, Reject
from hitl_cli.journal import Grant
from hitl_cli.models.script import Script, ScriptAnswer, load
from hitl_cli.models.scripted import call_of
from hitl_cli.outcome import Suspended
from hitl_cli.paths import Paths, locate
from hitl_cli.records import Struct

STORY = Path(__file__).with_name("demo.toml")
_NOBODY = "Nobody is there to answer, and the story has no answer to this."

_CALC = '''"""Small sums."""


def total(values):
    return sum(values)


def mean(values):
    """The arithmetic mean of a list of numbers."""
    return sum(values) / (len(values) - 1)
'''
_TEST = """import unittest

from calc import mean, total


class SumsTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_mean(self):
        self.assertEqual(mean([1, 2, 3]), 2)


if __name__ == "__main__":
    unittest.main()
"""
_FILES = {
    "calc.py": _CALC,
    "test_calc.py": _TEST,
    ".gitignore": "__pycache__/\nbuild/\n",
    "build/report.txt": "A report that took an hour to make.\n",
}


class Demo(Struct, frozen=True):
    """Where one demo lies: all of it below `folder`."""

    folder: Path
    repository: Path
    paths: Paths
    script: Script

    @property
    def model(self) -> str:
        return f"script:{STORY}"

    @property
    def message(self) -> str:
        """What the person says first."""
        return self.script.turns[0].user

    @property
    def environ(self) -> dict[str, str]:
        """The variables that make any hitl process work in this demo and nowhere else."""
        return {"HITL_CONFIG_DIR": str(self.paths.config), "HITL_STATE_DIR": str(self.paths.state)}


def lay(folder: Path) -> Demo:
    """Make the demo's repository and private folders in the existing `folder`. Raises HitlError where git cannot be used."""
    folder = folder.resolve()
    repository, server = folder / "calc", folder / "server.git"
    for name, text in _FILES.items():
        file = repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    paths = Paths(folder / "config", folder / "state")
    for private in (paths.config, paths.state):
        private.mkdir(mode=0o700, exist_ok=True)
    _git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(server))
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "config", "user.name", "Demo")
    _git(repository, "config", "user.email", "demo@localhost")
    _git(repository, "remote", "add", "origin", str(server))
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "--message", "Small sums")
    _git(repository, "push", "--quiet", "origin", "main")
    return Demo(folder, repository, paths, load(STORY))


def _git(folder: Path, *words: str) -> None:
    """Run git without the person's own settings, so that neither hooks nor signing come in."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    alone |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        subprocess.run(
            ["git", *words], cwd=folder, env=alone, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise HitlError("The demo needs git, which was not found.\n  Install git, or put it on the PATH.") from None
    except subprocess.CalledProcessError as error:
        raise HitlError(f"The demo's repository could not be made: git {words[0]}: {error.stderr.strip()}") from None


def answers(script: Script, run: Suspended) -> dict[str, Answer]:
    """What the story's absent person says to each approval that waits, by id of the interrupt."""
    said = {answer.call: answer for answer in script.answers}
    replies: dict[str, Answer] = {}
    for approval in (one for one in run.pending if isinstance(one, Approval)):
        call = call_of(script, approval.call.provider_id)
        answer = said.get(call.name) if call else None
        replies[approval.id] = _answer(answer, approval) if answer else Reject(_NOBODY)
    return replies


def _answer(answer: ScriptAnswer, approval: Approval) -> Answer:
    """`always` and `never` take the first rule on offer; where none is, they are a yes and a no for this once."""
    offered = approval.suggested[:1]
    match answer.say:
        case "approve":
            return Approve()
        case "always":
            return Approve(tuple(Grant("allow", rule, "user") for one in offered for rule in one.rules))
        case "edit":
            return Edit(answer.input or {})
        case "never":
            return Reject(answer.reason, tuple(Grant("deny", one.rule, "user") for one in offered))
    return Reject(answer.reason)


def closing(demo: Demo, *, kept: bool, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Three lines for the end: what was kept where, what became of the folder, how to use a real model."""
    own = locate(environ)
    if kept:
        first = f"Rules you saved: {demo.paths.user_rules} - session and decisions: {demo.paths.store}"
        second = f"The folder is kept: {demo.folder} (remove it with rm -r). Nothing of yours was touched."
    else:
        first = f"Rules you save go to {own.user_rules}, sessions and decisions to {own.store}; the demo used its own."
        second = f"Its folder {demo.folder} is removed; hitl demo --keep leaves it. Nothing of yours was touched."
    third = "With a real model: export ANTHROPIC_API_KEY=… and run hitl in a folder of yours."
    return first, second, third
