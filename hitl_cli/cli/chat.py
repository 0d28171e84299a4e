"""`hitl` and `hitl resume`: the REPL in this folder."""

from __future__ import annotations

import sys
from typing import Annotated

from hitl_cli.cli import streams
from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.opening import open_repl
from hitl_cli.cli.options import Version
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import UsageError
from hitl_cli.version import VERSION

Continue = Annotated[bool, Option("-c --continue", "Reopen this folder's newest session.")]


def chat(
    message: Annotated[str | None, Argument("A first message.")] = None,
    continue_: Continue = False,
    version: Version = False,
    *,
    turn: Turn,
) -> int:
    """The REPL in this folder."""
    if version:
        print(f"hitl {VERSION}")
        return 0
    return open_repl(turn, newest=continue_, message=message)


def resume(
    session: Annotated[str | None, Argument("A session; the beginning of its id is enough.")] = None,
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
