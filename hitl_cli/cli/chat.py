"""`hitl` and `hitl resume`: the REPL in this folder."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hitl_cli.cli import streams
from hitl_cli.cli.opening import open_repl
from hitl_cli.cli.options import turn_options
from hitl_cli.cli.root import Version
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import UsageError

Continue = Annotated[bool, typer.Option("-c", "--continue", help="Reopen this folder's newest session.")]


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
            heads = store.heads()
            if not heads:
                print("There is no session yet. `hitl` begins one.")
                return 0
            session = pick_session(heads)
        if session is None:
            return 0
    return open_repl(turn, session=session)
