"""How long a command takes to start, beside the smallest program that could do the same."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Figure
from tests.bench.programs import Spent, hitl, home, in_turns, processor, python, wall

ROUNDS = 21

GROUPED = """
import typer
app = typer.Typer({options})
sub = typer.Typer({options})
app.add_typer(sub, name="rules")
@app.command()
def other(): pass
@sub.command()
def check(command: str):
    {body}
    print(command)
@sub.command("list")
def list_(): pass
app(["rules", "check", "git log"])
"""
# What the yardstick of `rules check` reads commands with; hitl has a reader of its own.
PARSED = """from tree_sitter import Language, Parser
    import tree_sitter_bash
    Parser(Language(tree_sitter_bash.language())).parse(command.encode())"""
PARSER = ("tree_sitter", "tree_sitter_bash")
STORED = """
import typer
app = typer.Typer({options})
@app.command()
def other(): pass
@app.command()
def pending(json: bool = False):
    import sqlite3
    db = sqlite3.connect({store!r})
    print(db.execute("SELECT count(*) FROM pending").fetchone())
app(["pending"])
"""
COMMANDS = 15


def helped(options: str) -> str:
    commands = "\n".join(f'@app.command()\ndef command{n}():\n    """What it does."""' for n in range(COMMANDS))
    return f'import typer\napp = typer.Typer({options})\n{commands}\napp(["--help"])'


PLAIN = "rich_markup_mode=None"  # typer's help without colours is the quicker one


def figures() -> Iterator[Figure]:
    with home() as where:
        (where.work / "empty").mkdir()
        (where.work / "empty" / "__init__.py").touch()
        (where.work / "empty" / "__main__.py").touch()
        programs = {
            "bare": python("pass"),
            "empty": [sys.executable, "-m", "empty"],
            "typer": python("import typer"),
            "version": hitl("--version"),
            "check": hitl("rules", "check", "git log"),
            "check, smallest": python(GROUPED.format(options="", body="pass")),
            "pending": hitl("pending"),
            "pending, smallest": python(STORED.format(options="", store=str(where.store))),
            "help": hitl("--help"),
            "help, smallest": python(helped(PLAIN)),
            "help, rich": python(helped("")),
        }
        if all(importlib.util.find_spec(name) for name in PARSER):
            programs["check, parsing"] = python(GROUPED.format(options="", body=PARSED))
        launcher = Path(sys.executable).with_name("hitl")
        if launcher.exists() or shutil.which("hitl"):
            programs["launcher"] = [str(launcher if launcher.exists() else shutil.which("hitl")), "--version"]
        spent = in_turns(programs, where, ROUNDS)

    def ratio(name: str, against: str) -> float:
        return processor(spent[name]) / processor(spent[against])

    def figure(title: str, name: str, against: str, bar: float | None) -> Figure:
        return Figure(title, ratio(name, against), "times", bar, beside(spent, name, against))

    yield Figure("bare interpreter", processor(spent["bare"]) * 1000, "ms", None, "processor time, median")
    yield Figure("import typer", processor(spent["typer"]) * 1000, "ms", None, "processor time, median")
    yield figure("python -m hitl_cli --version / bare interpreter", "version", "bare", 1.4)
    yield Figure(
        "  of which python -m of an empty package", ratio("empty", "bare"), "times", None, "nothing of ours in it"
    )
    if "launcher" in spent:
        yield figure("hitl --version / bare interpreter", "launcher", "bare", 2.0)
    if "check, parsing" in spent:
        yield figure("rules check / smallest typer program with tree-sitter", "check", "check, parsing", 1.3)
    yield figure("  the same beside one without tree-sitter", "check", "check, smallest", None)
    yield figure("pending / smallest typer program with sqlite3", "pending", "pending, smallest", 1.3)
    yield figure(f"--help / help of a typer program of {COMMANDS} commands", "help", "help, smallest", 1.3)
    yield Figure("  the same beside typer's own coloured help", ratio("help", "help, rich"), "times")


def beside(spent: dict[str, list[Spent]], name: str, against: str) -> str:
    def told(key: str) -> str:
        return f"{processor(spent[key]) * 1000:.0f} ms ({wall(spent[key]) * 1000:.0f} on the clock)"

    return f"{told(name)} / {told(against)}"
