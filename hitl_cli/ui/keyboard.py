"""The keyboard before the screen is drawn: what is typed while hitl starts arrives as it was typed.

A terminal in its usual mode echoes keys and makes Enter a line feed, which means another line here. It is put right
first of all, and as it was at every end. Before Enter can send, the terminal is asked to mark what is pasted: no line of
a paste may be sent, or run, as if somebody had typed it.
"""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

IFLAG, LFLAG = 0, 3  # of what `tcgetattr` gives
_KEYS = termios.ICANON | termios.ECHO | termios.IEXTEN


def is_capable() -> bool:
    """Can the bottom of the screen be drawn here? Not in a pipe, and not on a terminal that cannot move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


@contextmanager
def as_typed() -> Iterator[None]:
    """Inside, keys wait unechoed and unchanged, and pastes marked, for whoever reads them. Ctrl-C is a signal still."""
    if not is_capable():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    now = termios.tcgetattr(sys.stdin)
    now[IFLAG] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
    now[LFLAG] &= ~_KEYS
    _mark_pastes(True)
    termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
    try:
        yield
    finally:
        with suppress(termios.error, OSError):  # the window may be closed
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
            _mark_pastes(False)


def in_lines() -> None:
    """For a reader of lines: the terminal echoes and edits again."""
    if sys.stdin.isatty():
        now = termios.tcgetattr(sys.stdin)
        now[IFLAG] |= termios.ICRNL
        now[LFLAG] |= _KEYS
        termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
        if is_capable():
            _mark_pastes(False)


def _mark_pastes(on: bool) -> None:
    """Bracketed paste, which xterm began and terminals share; see its control sequences, DECSET 2004."""
    os.write(sys.stdout.fileno(), b"\x1b[?2004h" if on else b"\x1b[?2004l")
