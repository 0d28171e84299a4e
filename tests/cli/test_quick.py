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
from hitl_cli.cli.typed import alone

LINES = 400  # of each command
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
            "none": [dice.choice(("--help", "-h", "--", "-", "--no-such", "-cp"))],
        }[dice.choice(("apart", "apart", "apart", "apart", "equals", "glued", "cut", "none"))]
    return words


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
