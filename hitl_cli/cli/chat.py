"""`hitl`: the REPL in this folder; and the root's own options, which `hitl --help` shows."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hitl_cli.cli import streams
from hitl_cli.cli.opening import open_repl
from hitl_cli.cli.options import turn_options
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import UsageError

Continue = Annotated[bool, typer.Option("-c", "--continue", help="Reopen this folder's newest session.")]
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


@turn_options
def chat(
    message: Annotated[str | None, typer.Argument(help="A first message.")] = None,
    continue_: Continue = False,
    version: Version = False,
    *,
    turn: Turn,
) -> int:
    """The REPL in this folder."""
    return open_repl(turn, newest=continue_, message=message)


@turn_options
def resume(
    session: Annotated[str | None, typer.Argument(help="A session; the beginning of its id is enough.")] = None,
    *,
    turn: Turn,
) -> int:
    """Reopen a session; without one, choose from a list."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("A session is reopened at a terminal.\n  Elsewhere: hitl run --session ID MESSAGE")
    if session is None:
        from hitl_cli.cli.opened import opened
        from hitl_cli.ui.picker import pick_session

        streams.interruptible()
        with opened(turn.store) as store:
            session = pick_session(store.heads())
        if session is None:
            return 0
    return open_repl(turn, session=session)
