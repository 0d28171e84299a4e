"""The keyboard before the screen is drawn: what is typed while hitl starts arrives as it was typed.

A terminal in its usual mode echoes keys and makes Enter a line feed, which means another line here. It is put right
first of all, and as it was at every end.
"""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

IFLAG, LFLAG = 0, 3  # of what `tcgetattr` gives
_KEYS = termios.ICANON | termios.ECHO | termios.IEXTEN


def is_capable() -> bool:
    """Can the bottom of the screen be drawn here? Not in a pipe, and not on a terminal that cannot move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


@contextmanager
def as_typed() -> Iterator[None]:
    """Inside, keys wait unechoed and unchanged for whoever reads them. Ctrl-C is a signal still."""
    if not is_capable():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    now = termios.tcgetattr(sys.stdin)
    now[IFLAG] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
    now[LFLAG] &= ~_KEYS
    termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def in_lines() -> None:
    """For a reader of lines: the terminal echoes and edits again."""
    if sys.stdin.isatty():
        now = termios.tcgetattr(sys.stdin)
        now[IFLAG] |= termios.ICRNL
        now[LFLAG] |= _KEYS
        termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
