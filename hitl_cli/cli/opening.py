"""The REPL opened on what was typed."""

from __future__ import annotations

from contextlib import nullcontext

from hitl_cli.cli import streams
from hitl_cli.cli.turn import Turn


def open_repl(turn: Turn, *, session: str | None = None, newest: bool = False, message: str | None = None) -> int:
    from hitl_cli.ui import keyboard

    streams.interruptible()
    with nullcontext() if turn.plain else keyboard.as_typed():
        from hitl_cli.cli.assemble import assemble
        from hitl_cli.ui.app import repl

        assembly = assemble(turn, session=session, newest=newest)
        assembly.require_model()
        assembly.keep_flags()
        return repl(assembly.setup(message, colour=not turn.no_color))
