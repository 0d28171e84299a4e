"""What `hitl` takes before any command, as `hitl --help` shows it; every command is made together with it."""

from __future__ import annotations

from typing import Annotated

import typer

Version = Annotated[bool, typer.Option("--version", help="Print the version.")]
# What `__main__` does before any command is read stands here for `hitl --help` alone.
Install = Annotated[bool, typer.Option("--install-completion", help="Install completion for bash, zsh or fish.")]
Show = Annotated[bool, typer.Option("--show-completion", help="Print it.")]


def root(context: typer.Context, version: Version = False, install: Install = False, show: Show = False) -> None:
    """A coding assistant in which nothing happens that you did not allow, and nothing you allowed is asked twice.

    \b
    hitl            the REPL in this folder
    hitl "MESSAGE"  the same, with a first message
    hitl -c         reopen the newest session of this folder
    hitl -p TEXT    one turn without a terminal; as hitl run TEXT

    The REPL takes the options that `hitl resume --help` lists.
    """
