"""The keyboard while hitl starts: what the terminal is told, and in which order."""

from __future__ import annotations

import sys

import pexpect

PROGRAM = """
from hitl_cli.ui import keyboard
with keyboard.as_typed():
    input("ready")
"""


def test_before_enter_can_send_pastes_are_marked_and_afterwards_no_more() -> None:
    child = pexpect.spawn(sys.executable, ["-c", PROGRAM], env={"TERM": "xterm"}, encoding="utf-8", timeout=30)
    child.expect_exact("ready")
    assert child.before == "\x1b[?2004h"
    assert not child.getecho()
    child.send("\n")
    child.expect(pexpect.EOF)
    assert child.before == "\x1b[?2004l"
