"""What a person does at a terminal, start to end, on the scripted model and real commands."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

Open = Callable[..., Any]

MAKE = """
[[turn]]
[[turn.reply]]
text = "I will make it."
calls = [{ name = "make", tool = "Bash", input = { command = "mkdir made" } }]
[[turn.reply]]
when = "make refused"
has = "use the other one"
text = "I saw why."
[[turn.reply]]
when = "make refused"
text = "I was refused."
[[turn.reply]]
when = "make ok"
text = "It is made."
"""

SLOW = """
[[turn]]
[[turn.reply]]
calls = [{ name = "slow", tool = "Bash", input = { command = "echo begun; sleep 60" } }]
[[turn.reply]]
text = "never said"
[[turn]]
[[turn.reply]]
text = "Still here."
"""


def test_a_call_is_shown_approved_once_and_run(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made", "no rule covers")
    assert not (home.work / "made").exists()
    window.type("y")
    window.wait("approved", "✓ Bash mkdir made", "It is made.")
    assert (home.work / "made").is_dir()
    assert home.rules == ""
    assert window.leave() == 0


def test_the_model_sees_why_it_was_refused(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    window.type("n")
    window.wait("why?")
    window.enter("use the other one")
    window.wait("rejected: use the other one", "I saw why.")
    assert not (home.work / "made").exists()


def test_an_edited_command_is_shown_again_and_runs_as_edited(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    window.type("e")
    window.wait("› mkdir made")
    window.enter("-other")
    window.asked("$ mkdir made-other", "you edited it")
    window.type("y")
    window.wait("It is made.")
    assert [p.name for p in home.work.iterdir()] == ["made-other"]


def test_what_is_always_allowed_is_not_asked_by_the_next_process(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    window.type("a")
    window.wait("always: a rule to keep", "Bash(mkdir made)")
    window.enter()
    window.wait("rule: allow Bash(mkdir made)", "It is made.")
    window.leave()
    assert 'allow = "Bash(mkdir made)"' in home.rules
    (home.work / "made").rmdir()
    again = terminal(*home.script(MAKE))
    again.say("please make it")
    again.wait("It is made.")
    assert "once" not in again.text
    assert (home.work / "made").is_dir()


def test_what_is_never_allowed_is_refused_by_the_next_process(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    window.type("d")
    window.wait("never: a rule to keep")
    window.enter()
    window.wait("rule: deny", "I was refused.")
    window.leave()
    again = terminal(*home.script(MAKE))
    again.say("please make it")
    again.wait("✗ Bash mkdir made  refused", "I was refused.")
    assert "once" not in again.text
    assert not (home.work / "made").exists()


def test_ctrl_c_stops_a_running_command_and_the_session_goes_on(home: Any, terminal: Open) -> None:
    window = terminal("--allow", "Bash(sleep:*)", *home.script(SLOW))
    window.say("be slow")
    window.wait("│ begun", "Esc stops")
    window.type("\x03")
    window.wait("interrupted", "Stopped.")
    window.say("are you there?")
    window.wait("Still here.")
    assert window.leave() == 0


def test_two_windows_share_their_rules_at_once(home: Any, terminal: Open) -> None:
    one, two = terminal(*home.script(MAKE)), terminal(*home.script(MAKE))
    one.say("please make it")
    two.say("please make it")
    one.asked("$ mkdir made")
    two.asked("$ mkdir made")
    one.type("a")
    one.wait("always: a rule to keep")
    one.enter()
    one.wait("It is made.")
    two.wait("approved by rule Bash(mkdir made)")  # nobody touched this window
    two.wait("mkdir made  failed")  # it is there already


def test_a_question_can_be_parked_and_answered_by_another_process(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    window.type("p")
    window.wait("Parked.", "1 waiting")
    (waiting,) = json.loads(home.hitl("pending", "--json").stdout)
    done = home.hitl("answer", waiting["session"], "--approve")
    assert (done.returncode, (home.work / "made").is_dir()) == (0, True), done.stderr
    window.wait("It is made.")


def test_an_open_panel_closes_when_another_process_answers(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    (waiting,) = json.loads(home.hitl("pending", "--json").stdout)
    home.hitl("answer", waiting["session"], "--reject", "--reason", "use the other one")
    window.wait("Answered elsewhere", "rejected: use the other one", "I saw why.", "\n>")


def test_leaving_parks_and_another_process_reopens_with_the_question(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    window.type("p")
    window.wait("Parked.")
    assert window.leave() == 0
    assert "1 question waiting" in window.text
    again = terminal("-c")
    again.wait("> please make it", "I will make it.")
    again.asked("$ mkdir made")
    again.type("y")
    again.wait("It is made.")


def test_a_killed_session_is_taken_up_where_it_stood(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    os.kill(window.pid, signal.SIGKILL)
    window.ended()
    again = terminal("-c")
    again.asked("$ mkdir made")
    again.type("y")
    again.wait("It is made.")


def test_ctrl_d_at_a_panel_leaves_and_parks_the_question(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    assert window.leave() == 0
    assert "1 question waiting" in window.text
    assert len(json.loads(home.hitl("pending", "--json").stdout)) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_window_parks_the_question(home: Any, terminal: Open, number: int) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    os.kill(window.pid, number)
    assert window.ended() == 0
    assert len(json.loads(home.hitl("pending", "--json").stdout)) == 1


def test_an_answer_that_nobody_continued_is_taken_up_here(home: Any, terminal: Open) -> None:
    window = terminal(*home.script(MAKE))
    window.say("please make it")
    window.asked("$ mkdir made")
    (waiting,) = json.loads(home.hitl("pending", "--json").stdout)
    assert home.hitl("answer", waiting["session"], "--approve", "--no-continue").returncode == 0
    window.wait("Answered elsewhere", "It is made.")


def test_a_session_is_picked_from_a_list(home: Any, terminal: Open) -> None:
    for message in ("first thing", "second thing"):
        window = terminal(*home.script(MAKE))
        window.say(message)
        window.asked("$ mkdir made")
        window.leave()
    window = terminal("resume")
    window.wait("Which session?", "second thing", "first thing", "1 waiting")
    window.type("first")
    window.gone("second thing")
    window.enter()
    window.asked("> first thing", "$ mkdir made")


def test_a_rule_taken_away_while_a_session_runs_counts_no_longer(home: Any, terminal: Open) -> None:
    twice = MAKE.replace("mkdir made", "mkdir -p made")
    window = terminal(*home.script(twice + twice.replace("make", "more")))
    window.say("please make it")
    window.asked("$ mkdir -p made")
    window.type("a")
    window.wait("always: a rule to keep")
    window.enter()
    window.wait("It is made.", "\n>")
    window.enter("/permissions remove Bash(mkdir -p made)")
    window.wait("1 removed.")
    window.say("again")
    window.asked("> again", "$ mkdir -p made")


def test_a_conversation_is_forked_and_exported(home: Any, terminal: Open) -> None:
    window = terminal(*home.script("[[turn]]\n[[turn.reply]]\ntext = 'Hello there.'\n"))
    window.say("hello")
    window.wait("Hello there.", "\n>")
    window.enter("/fork")
    window.wait("a copy of")
    window.enter("/export talk.md")
    window.wait("Written to")
    assert "Hello there." in (home.work / "talk.md").read_text()
    assert len(json.loads(home.hitl("sessions", "list", "--json").stdout)) == 2


def test_own_commands_send_their_text(home: Any, terminal: Open) -> None:
    (home.config / "commands").mkdir(parents=True)
    (home.config / "commands" / "review.md").write_text("# Look at one file\n\nReview $ARGUMENTS with care.\n")
    window = terminal(*home.script("[[turn]]\n[[turn.reply]]\ntext = 'Reviewed.'\n"))
    window.wait("\n>")
    window.type("/rev")
    window.wait("/review", "Look at one file")
    window.enter("iew a.py")
    window.wait("> Review a.py with care.", "Reviewed.")


def test_vi_keys_by_setting(home: Any, terminal: Open) -> None:
    home.config.mkdir()
    (home.config / "config.toml").write_text('editing = "vi"\n')
    window = terminal(*home.script("[[turn]]\n[[turn.reply]]\ntext = 'Hello there.'\n"))
    window.wait("\n>")
    window.type("wrong words")
    window.wait("> wrong words")
    window.type("\x1b")
    window.type("ccright words")
    window.wait("> right words")
    window.enter()
    window.wait("Hello there.")


def test_a_conversation_is_summed_up(home: Any, terminal: Open) -> None:
    script = """
[[turn]]
[[turn.reply]]
text = "First answer."
"""
    window = terminal(*home.script(script))
    window.say("hello")
    window.wait("First answer.", "\n>")
    window.enter("/compact")
    window.wait("summed up in 29 characters")
    (head,) = json.loads(home.hitl("sessions", "list", "--json").stdout)
    assert '"A conversation of 2 messages."' in home.hitl("show", head["session"], "--json").stdout
    window.enter("/doctor")
    window.wait("python", "model       script:")


def test_retries_are_shown_while_they_wait(home: Any, terminal: Open) -> None:
    script = """
[[turn]]
[[turn.reply]]
error = { status = 529, retry_after = 2, times = 1 }
text = "Here after all."
"""
    window = terminal(*home.script(script))
    window.say("hello")
    window.wait("next try in")
    window.wait("Here after all.")


def test_a_question_that_expires_is_refused_by_itself(home: Any, terminal: Open) -> None:
    window = terminal("--expires", "2s", *home.script(MAKE))
    window.say("please make it")
    window.wait("$ mkdir made")
    window.wait("rejected by expiry", "I was refused.")
    assert not (home.work / "made").exists()
