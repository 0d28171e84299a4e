"""What `hitl` takes before any command, as `hitl --help` shows it."""

from __future__ import annotations

from typing import Annotated

from hitl_cli.cli.declared import Option
from hitl_cli.cli.options import Version

# What `__main__` does before any command is read stands here for `hitl --help` alone.
Install = Annotated[bool, Option("--install-completion", "Install completion for bash, zsh or fish.")]
Show = Annotated[bool, Option("--show-completion", "Print it.")]


def root(version: Version = False, install: Install = False, show: Show = False) -> None:
    """A coding assistant in which nothing happens that you did not allow, and nothing you allowed is asked twice.

    \b
    hitl            the REPL in this folder
    hitl "MESSAGE"  the same, with a first message
    hitl -c         reopen the newest session of this folder
    hitl -p TEXT    one turn without a terminal; as hitl run TEXT

    The REPL takes the options that `hitl resume --help` lists.
    """
