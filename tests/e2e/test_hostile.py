"""Nothing that a model, a tool, a file name or a script says can draw, move, clear, rename or answer anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Open = Callable[..., Any]

# What the program itself may send: looks, moves of the bottom, its erasing, cursor, wrapping, paste mode, our titles, bells.
MEANT = re.compile(
    rb"\x1b\[[\d;]*m|\x1b\[\d*[ABCD]|\x1b\[[JK]|\x1b\[\?(?:25|12|7|2004|1)[hl]|\x1b\]2;(?:hitl[^\x07\x1b]*)?\x07|\x07|\x08"
)
NASTY = "\\u001b[2J\\u001b[H\\u001b]0;owned\\u0007\\u001b[31m\\u009b5A\\u202etxt\\u200b\\u0007\\r\\u001b[?1049h"

PRINT = r"printf '\\033[2J\\033[H\\033]0;owned\\007\\nfake\\n'"


def unmeant(raw: bytes) -> list[bytes]:
    rest = MEANT.sub(b"", raw)
    return [bytes([b]) for b in rest if b < 32 and b not in b"\r\n"] + re.findall(rb"\xc2[\x80-\x9f]", rest)


def test_no_text_of_others_reaches_the_terminal_as_a_sequence(home: Any, terminal: Open) -> None:
    name = "a\\u001b[2Jb\\u202e.txt"
    script = f"""
[[turn]]
[[turn.reply]]
text = "Look: {NASTY} end of text.\\n\\n```\\n{NASTY}\\n```\\n"
calls = [
  {{ name = "print", tool = "Bash", input = {{ command = "{PRINT}" }} }},
  {{ name = "read", tool = "Read", input = {{ file_path = "/nowhere/{name}" }} }},
  {{ name = "wild", tool = "No\\u001b[2Jne", input = {{ x = "{NASTY}" }} }},
  {{ name = "odd", tool = "Bash", input = {{ command = "echo {NASTY}", description = "{NASTY}" }} }},
]
[[turn.reply]]
text = "Over."
"""
    window = terminal("--mode", "accept-edits", "--allow", "Bash(printf:*)", *home.script(script))
    window.say("go")
    window.asked("2 of 4", "a␛[2Jb<U+202E>.txt")
    window.type("y")
    window.asked("4 of 4")
    window.type("v")
    window.wait("y once")
    window.type("n")
    window.wait("why?")
    window.enter()
    window.wait("Over.")
    window.type("\x0f")
    window.wait("\n>")
    assert window.leave() == 0
    assert unmeant(window.raw) == []
    assert "owned" not in window.title
    assert "│ fake" in window.text


def test_a_message_of_the_person_is_cleaned_too(home: Any, terminal: Open) -> None:
    window = terminal(*home.script("[[turn]]\n[[turn.reply]]\ntext = 'Fine.'\n"))
    window.wait("\n>")
    window.paste("see \x1b]0;owned\x07 this\u202e")
    window.enter()
    window.wait("Fine.")
    window.leave()
    assert unmeant(window.raw) == []


def test_a_false_panel_in_output_stays_behind_its_rule(home: Any, terminal: Open) -> None:
    script = """
[[turn]]
[[turn.reply]]
calls = [{ name = "p", tool = "Bash", input = { command = "printf '▌ Bash\\\\n  y once\\\\n'" } }]
[[turn.reply]]
text = "Over."
"""
    window = terminal("--allow", "Bash(printf:*)", *home.script(script))
    window.say("go")
    window.wait("Over.")
    lines = window.text.split("\n")
    assert [line for line in lines if "▌" in line or "y once" in line] == [
        next(line for line in lines if line.startswith("✓ Bash printf")),
        "  │ ▌ Bash",
        "  │   y once",
    ]


def test_a_false_panel_of_the_model_never_has_the_bar_in_the_first_column(home: Any, terminal: Open) -> None:
    false = "▌ Bash\\n\\n> ▌ Bash\\n\\n# ▌ Bash\\n\\n- ▌ Bash\\n\\n```\\n▌ Bash\\n▌ $ ls\\n  n no\\n```\\n"
    script = f"""
[[turn]]
[[turn.reply]]
text = "{false}"
calls = [{{ name = "p", tool = "Bash", input = {{ command = "mkdir made\\n\\n  why    a rule allows it\\n▌ Bash" }} }}]
[[turn.reply]]
text = "Over."
"""
    window = terminal(*home.script(script))
    window.say("go")
    window.asked("no rule covers")
    window.type("y")
    window.wait("Over.")
    lines = window.text.split("\n")
    assert sum("▌ Bash" in line for line in lines) == 7
    assert [line for line in lines if line.startswith("▌")] == [
        "▌ Bash",
        "▌ $ mkdir made",
        "▌",
        "▌     why    a rule allows it",
        "▌   ▌ Bash",
    ]


def test_a_command_longer_than_the_screen_cannot_be_approved_before_its_end(home: Any, terminal: Open) -> None:
    lines = "\\n".join(f"echo {n}" for n in range(200))
    script = f"""
[[turn]]
[[turn.reply]]
calls = [{{ name = "long", tool = "Bash", input = {{ command = "{lines}\\nmkdir made" }} }}]
[[turn.reply]]
text = "Over."
"""
    window = terminal(*home.script(script))
    window.say("go")
    window.wait("space more")
    window.type("y")
    window.wait("Read to the end first")
    assert not (home.work / "made").exists()
    window.type("v")
    window.asked("mkdir made")
    window.type("y")
    window.wait("Over.")
    assert (home.work / "made").is_dir()
