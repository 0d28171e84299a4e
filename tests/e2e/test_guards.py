"""No accident answers a panel, and nothing on the screen is lost or moved: each with the real keys of a terminal."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from typing import Any

import pytest

Open = Callable[..., Any]

MAKE = """
[[turn]]
[[turn.reply]]
wait = 0.6
calls = [{ name = "make", tool = "Bash", input = { command = "mkdir made" } }]
[[turn.reply]]
when = "make ok"
text = "It is made."
[[turn.reply]]
text = "It is not made."
[[turn]]
[[turn.reply]]
text = "Second answer."
"""

EDIT = """
[[turn]]
[[turn.reply]]
calls = [{ name = "read", tool = "Read", input = { file_path = "a.txt" } }]
[[turn.reply]]
calls = [{ name = "edit", tool = "Edit", input = { file_path = "a.txt", old_string = "one", new_string = "two" } }]
[[turn.reply]]
when = "edit ok"
text = "Edited."
[[turn.reply]]
text = "Not edited."
"""

IMPOSSIBLE = """
[[turn]]
[[turn.reply]]
calls = [{ name = "read", tool = "Read", input = { file_path = "a.txt" } }]
[[turn.reply]]
calls = [
  { name = "a", tool = "Edit", input = { file_path = "a.txt", old_string = "three", new_string = "two" } },
  { name = "b", tool = "Edit", input = { file_path = "no.txt", old_string = "one", new_string = "two" } },
  { name = "c", tool = "Write", input = { file_path = "b.txt", content = "new" } },
]
[[turn.reply]]
text = "Nothing came of it."
"""

THREE = """
[[turn]]
[[turn.reply]]
calls = [
  { name = "a", tool = "Bash", input = { command = "mkdir aa" } },
  { name = "b", tool = "Bash", input = { command = "mkdir bb" } },
  { name = "c", tool = "Bash", input = { command = "mkdir cc" } },
]
[[turn.reply]]
text = "Over."
"""


def test_keys_typed_before_the_panel_opens_stay_a_draft(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.wait("> make it")
    window.type("yyy")
    window.asked("$ mkdir made")
    assert not (home.work / "made").exists()
    window.type("n")
    window.wait("why?")
    window.enter()
    window.wait("It is not made.", "> yyy")


def test_keys_typed_while_the_panel_opens_are_dropped(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.wait("$ mkdir made", "wait …")  # shown, and not yet listening
    window.type("y\r")
    window.asked("$ mkdir made")
    assert not (home.work / "made").exists()


def test_a_paste_never_answers(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.asked("$ mkdir made")
    window.paste("y")
    window.wait("wait …")
    window.asked("$ mkdir made")
    assert not (home.work / "made").exists()


def test_enter_and_shift_tab_do_nothing_to_a_panel(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.asked("$ mkdir made")
    window.type("\r\x1b[Z\x1b[I\x1b[O")  # Enter, Shift-Tab, focus in, focus out
    window.wait("wait …")
    window.asked("$ mkdir made")
    assert not (home.work / "made").exists()
    window.type("y")
    window.wait("It is made.", "default")


def test_a_file_that_changes_under_its_diff_is_shown_anew_and_one_yes_is_enough(home: Any, terminal: Open) -> None:
    (home.work / "a.txt").write_text("one\n")
    window = terminal(*home.script(EDIT))
    window.say("edit it")
    window.asked("1 + two")
    (home.work / "a.txt").write_text("zero\none\n")
    window.wait("The file changed while you were asked", "2 + two")
    window.asked("2 + two")
    window.type("y")
    window.wait("✓ Edit a.txt", "  Edited.")
    assert (home.work / "a.txt").read_text() == "zero\ntwo\n"
    assert window.text.count("  approved") == 1


def test_no_to_the_rest_refuses_them_all(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(THREE))
    window.say("make three")
    window.asked("1 of 3")
    window.type("y")
    window.asked("2 of 3")
    window.type("N")
    window.wait("why?")
    window.enter("enough")
    window.wait("  rejected: enough\n  rejected: enough · Bash mkdir cc\n", "Over.")
    assert [p.name for p in home.work.iterdir()] == ["aa"]


def test_a_message_typed_ahead_is_shown_taken_back_and_sent_in_turn(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.asked("$ mkdir made")
    window.type("p")
    window.wait("Parked.")
    window.enter("and then?")  # asks the parked question first
    window.asked("$ mkdir made")
    window.type("y")
    window.wait("It is made.", "> and then?", "Second answer.")


def test_a_command_of_the_person_owns_the_terminal_and_is_told_to_the_model(home: Any, terminal: Open) -> None:
    script = "[[turn]]\n[[turn.reply]]\ntext = 'Thank you.'\n"
    window = terminal(*home.script(script))
    window.wait("\n>")
    window.enter("!read -p 'name? ' n; echo hello $n; pwd")
    window.wait("\nname?")
    window.enter("Ann")
    window.wait("hello Ann", str(home.work.name))
    window.say("see above")
    window.wait("Thank you.")
    (head,) = json.loads(home.hitl("sessions", "list", "--json").stdout)
    assert "hello Ann" in home.hitl("show", head["session"], "--json").stdout


def test_the_editor_gets_the_draft_and_gives_it_back(home: Any, terminal: Open) -> None:
    editor = home.work.parent / "editor"
    editor.write_text("#!/bin/sh\nprintf ' and more' >> \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    window = terminal(*home.script(MAKE), EDITOR=str(editor))
    window.wait("\n>")
    window.type("a draft")
    window.wait("> a draft")
    window.type("\x07")
    window.wait("> a draft and more")


def test_history_is_searched_over_sessions(home: Any, terminal: Open) -> None:
    one = terminal(*home.script(MAKE))
    one.wait("\n>")
    one.enter("/status of everything")
    one.wait("session  (begins")
    one.leave()
    two = terminal(*home.script(MAKE))
    two.wait("\n>")
    two.type("\x12everyth")
    two.wait("> /status of everything")


def test_files_and_commands_are_offered_while_typing(home: Any, terminal: Open) -> None:
    (home.work / "calculator.py").write_text("")
    window = terminal(*home.script(MAKE))
    window.wait("\n>")
    window.type("look at @calc")
    window.wait("  calculator.py")
    window.type("\t")
    window.wait("> look at @calculator.py")
    window.type("\x03")
    window.gone("look at")
    window.type("/perm")
    window.wait("/permissions", "rules: list, find, allow, ask, deny, remove")


def test_shift_tab_goes_round_the_modes_and_the_session_remembers(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(EDIT))
    (home.work / "a.txt").write_text("one\n")
    window.wait("\ndefault")
    window.type("\x1b[Z")
    window.wait("\naccept-edits")
    window.say("edit it")
    window.wait("Edited.")
    assert "y once" not in window.text
    assert (home.work / "a.txt").read_text() == "two\n"


def test_a_long_paste_is_folded(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.wait("\n>")
    window.paste("\n".join(f"line {n}" for n in range(120)))
    window.wait("> [pasted 120 lines]")
    assert "line 5" not in window.screen


def test_several_lines_are_typed_and_sent_as_one_message(home: Any, terminal: Open) -> None:
    window = terminal(*home.script("[[turn]]\n[[turn.reply]]\ntext = 'ok then'\n"))
    window.wait("\n>")
    window.type("one\\\rtwo\nthree\x1b\rfour")
    window.wait("> one", "  two", "  three", "  four")
    window.enter()
    window.wait("ok then")


def test_a_narrow_window_without_colour_shows_the_same(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE), columns=40, NO_COLOR="1")
    window.say("make it")
    window.asked("$ mkdir made")
    window.type("y")
    window.wait("It is made.")
    looks = {part for found in re.findall(rb"\x1b\[([\d;]*)m", window.raw) for part in found.split(b";")}
    assert looks <= {b"", b"0", b"1", b"2", b"3", b"4", b"7"}


def test_what_scrolled_by_is_never_printed_again(home: Any, terminal: Open) -> None:
    text = "\\n\\n".join(f"Paragraph number {n} of the answer." for n in range(60))
    window = terminal(*home.script(f'chunk = 7\n[[turn]]\n[[turn.reply]]\ntext = "{text}\\n\\nThe end."\n'))
    window.say("go")
    window.wait("The end.")
    window.wait("\n>")
    lines = [line for line in window.text.split("\n") if "Paragraph" in line]
    assert lines == [f"  Paragraph number {n} of the answer." for n in range(60)]


def test_a_window_made_narrower_while_a_panel_is_open_still_answers(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.asked("$ mkdir made")
    window.resize(50, 20)
    window.asked("$ mkdir made")
    window.type("y")
    window.wait("It is made.")


def test_two_ctrl_c_leave_and_one_does_not(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.wait("\n>")
    window.type("\x03")
    window.wait("Ctrl-C again leaves")
    window.type("\x03")
    assert window.ended() == 0


def test_the_bell_rings_and_the_title_says_who_waits(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("make it")
    window.asked("$ mkdir made")
    assert b"\x07" in window.raw.replace(b"\x1b]2;hitl: work\x07", b"").replace(b"\x1b]2;hitl waits: Bash\x07", b"")
    assert window.title == "hitl waits: Bash"


def test_an_error_in_a_turn_is_one_line_and_the_session_goes_on(home: Any, terminal: Open) -> None:
    script = """
[[turn]]
[[turn.reply]]
error = { status = 400 }
text = "never"
[[turn]]
[[turn.reply]]
text = "Fine again."
"""
    window = terminal(*home.script(script))
    window.say("go")
    window.wait("Failed:")
    assert "Traceback" not in window.text
    window.say("again")
    window.wait("Fine again.")


def test_the_plain_mode_is_lines_without_any_sequence(home: Any, terminal: Open) -> None:
    window = terminal("--plain", "make it", *home.script(MAKE))
    window.wait("> make it", "1: mkdir made", "stop:")
    window.type("y\r")
    window.wait("running: Bash mkdir made", "It is made.\n>")
    window.type("thanks\r")
    window.wait("> thanks", "Second answer.")
    assert window.text.count("thanks") == 1
    assert b"\x1b[3" not in window.raw
    assert (home.work / "made").is_dir()


def test_a_message_typed_while_it_starts_is_sent_by_its_enter(home: Any, terminal: Open) -> None:
    window = terminal(*home.script('[[turn]]\n[[turn.reply]]\ntext = "Heard."\n'))
    window.until(lambda: not window.echoes, "the first thing that it does")
    window.enter("hello there")
    window.wait("> hello there", "  Heard.")
    assert window.text.count("hello there") == 1
    window.leave()


def test_ctrl_o_shows_the_last_result_while_a_panel_is_open(home: Any, terminal: Open) -> None:
    (home.work / "a.txt").write_text("one\n")
    window = terminal(*home.script(EDIT))
    window.say("edit it")
    window.asked("1 + two")
    window.type("\x0f")
    window.until(lambda: window.screen.count("1 + two") == 2, "the panel below the result")
    assert "  │ " in window.screen
    assert (home.work / "a.txt").read_text() == "one\n"


def test_nobody_is_asked_about_a_change_that_cannot_be_made(home: Any, terminal: Open) -> None:
    (home.work / "a.txt").write_text("one\n")
    (home.work / "b.txt").write_text("one\n")
    window = terminal(*home.script(IMPOSSIBLE), columns=400)
    window.say("edit it")
    window.wait("does not occur in the file", "does not exist", "b.txt exists and was not read", "Nothing came of it.")
    assert "y once" not in window.text


@pytest.mark.parametrize(
    "wrong", ["[tools.Bash]\nexternal = true\n", "[mcp.docs]\nurl = 1\n", "[[rule]]\nallow = ''\n"]
)
def test_settings_that_are_wrong_are_refused_before_the_prompt(wrong: str, home: Any, terminal: Open) -> None:
    home.config.mkdir()
    (home.config / "config.toml").write_text(f"format = 1\n{wrong}")
    window = terminal(*home.script(EDIT))
    assert window.ended() == 2
    assert "config.toml" in window.text.replace("\n", "")  # it may be wrapped
    assert "/help for help" not in window.text
