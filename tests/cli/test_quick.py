"""The quick reader of command lines and typer read the same out of a line, or the quick one leaves it to typer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import click
import pytest
import typer

from hitl_cli.cli import quick
from hitl_cli.cli.declared import Argument, Command, Entry, Group, Parameter
from hitl_cli.cli.main import COMMANDS, REPL
from hitl_cli.cli.root import root
from hitl_cli.cli.typed import alone, invoke
from hitl_cli.errors import UsageError

LINES = 250  # of each command
VALUES = (
    "x",
    "",
    " ",
    "-",
    "--",
    "--json",
    "7",
    "0",
    "-3",
    "1_000",
    " 5 ",
    "2.5",
    "nan",
    "inf",
    "8h",
    "ä\udce4",
    "a=b",
)


def entries() -> Iterator[tuple[str, Entry]]:
    yield "hitl", REPL
    for name, entry in COMMANDS.items():
        if isinstance(entry, Group):
            yield from ((f"{name} {below}", one) for below, one in entry.commands.items())
        else:
            yield name, entry


ENTRIES = dict(entries())


def words_of(parameter: Parameter) -> list[str]:
    """The values that the help of an option names, and some that often do."""
    said = parameter.said
    assert not isinstance(said, Argument)
    return [*re.split(r", | or |\|", f"{said.help.strip('.')}|{said.metavar or ''}"), "8", "8h", "after:model"]


def line(command: Command, dice: random.Random) -> list[str]:
    """Words as a person or a script may write them; about half of the lines are wrong somewhere."""
    words: list[str] = []
    for _ in range(dice.randrange(6)):
        parameter = dice.choice(command.parameters)
        if isinstance(parameter.said, Argument):
            words.append(dice.choice(VALUES))
            continue
        name = dice.choice(parameter.said.names.split())
        value = dice.choice((*VALUES, *words_of(parameter)))
        words += {
            "apart": [name] if parameter.kind is bool else [name, value],
            "equals": [f"{name}={value}"],
            "glued": [f"{name}{value}"],
            "cut": [name[:-1], value],
            "none": [dice.choice(("--help", "-h", "--", "-", "--no-such"))],
            "bundle": [bundle(command, dice), value],
        }[dice.choice(("apart", "apart", "apart", "apart", "equals", "glued", "cut", "none", "bundle"))]
    return words


def bundle(command: Command, dice: random.Random) -> str:
    """Letters of short options in one word, and now and then what is none."""
    short = [name[1] for name in quick.by_name(command.parameters) if len(name) == 2]
    return "-" + "".join(dice.choice((*short, *short, *short, *"chp=-x ")) for _ in range(dice.randrange(1, 5)))


def as_typer_reads(command: click.Command, words: list[str]) -> dict[str, Any] | None:
    """What typer hands to the command; None for a mistake or a wish for help."""
    try:
        with command.make_context("hitl", list(words)) as context:
            return {name: list(v) if isinstance(v, tuple) else v for name, v in context.params.items()}
    except (click.ClickException, click.exceptions.Exit):
        return None


@pytest.mark.parametrize("name", ENTRIES)
def test_both_readers_read_the_same(name: str) -> None:
    dice = random.Random(name)
    command, typed = ENTRIES[name].load(), typer.main.get_command(alone(ENTRIES[name]))
    empty = {p.name: [] if p.many and p.default is None else p.default for p in command.parameters}
    read = 0
    for _ in range(LINES):
        words = line(command, dice)
        given = quick.read(command.parameters, words)
        if given is not None:
            read += 1
            typed_given = as_typer_reads(typed, words)
            assert typed_given is not None, words
            assert {n: repr(v) for n, v in (empty | given).items()} == {n: repr(v) for n, v in typed_given.items()}, (
                words
            )
    assert read > LINES // 50


@pytest.mark.parametrize("name", ENTRIES)
def test_a_line_without_a_mistake_needs_no_typer(name: str) -> None:
    """Every option given as its help says, every argument as one word."""
    command = ENTRIES[name].load()
    words: list[str] = []
    for parameter in command.parameters:
        if isinstance(parameter.said, Argument):
            words.append("word")
        elif parameter.kind is bool:
            words.append(parameter.said.names.split()[-1])
        else:
            option = parameter.said.names.split()[-1]
            words += next(
                w for w in ([option, v] for v in words_of(parameter)) if quick.read([parameter], w) is not None
            )
    given = quick.read(command.parameters, words)
    assert given is not None
    assert set(given) == {p.name for p in command.parameters}


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["-cp", "x"], {"continue_": True, "print_": "x"}),
        (["-cpx"], {"continue_": True, "print_": "x"}),
        (["-cp=x"], {"continue_": True, "print_": "=x"}),
        (["-pc"], {"print_": "c"}),
        (["-ccp", "-c"], {"continue_": True, "print_": "-c"}),
        (["-cp--", "--", "-cp"], {"continue_": True, "print_": "--", "message": "-cp"}),
        (["-cp"], None),
        (["-cx"], None),
        (["-c="], None),
    ],
)
def test_a_bundle_is_read_without_typer(words: list[str], given: dict[str, Any] | None) -> None:
    assert quick.read(ENTRIES["run"].load().parameters, words) == given


def misspelt(name: str, at: int) -> set[str]:
    """`name` with one slip of the fingers: two letters exchanged, one left out, one doubled."""
    return {
        name[:at] + slip + name[at + 2 :] for slip in (name[at + 1] + name[at], name[at + 1], name[at] + name[at:][:2])
    }


@pytest.mark.parametrize("name", ENTRIES)
def test_a_misspelt_option_is_answered_with_the_nearest(name: str) -> None:
    known = list(quick.by_name(ENTRIES[name].load().parameters))
    if name in ("hitl", "run"):
        known += quick.by_name(Command(root).parameters)
    dice = random.Random(name)
    app, called = alone(ENTRIES[name]), "hitl" if name in ("hitl", "run") else ""
    for option in (o for o in known if len(o) > 6):
        for word in misspelt(option, dice.randrange(2, len(option) - 1)) - set(known):
            with pytest.raises(UsageError) as caught:
                invoke(app, [word], called)
            assert f"No such option {word!r}. Did you mean {option}?\n" in str(caught.value)
