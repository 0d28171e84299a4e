"""A conversation's needs in a real terminal: how full it is, summed up, files named, plans, jobs, commands on events."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow
Open = Callable[..., Any]


def test_the_window_fills_is_shown_and_is_summed_up_by_itself(home: Any, terminal: Open) -> None:
    script = """
window = 10000
[[turn]]
[[turn.reply]]
text = "First answer."
usage = { input = 1100, output = 400, cache_read = 8000, cache_write = 100, cost = 0.02 }
[[turn]]
[[turn.reply]]
text = "Second answer."
usage = { input = 2900, output = 100, cost = 0.01 }
"""
    window = terminal(*home.script(script), columns=100)
    window.say("hello")
    window.wait("First answer.", "4% left", "\n>")
    window.enter("/context")
    window.wait("the next request     9,600 tokens  measured, 96% of the model's 10,000")
    window.wait("instructions", "estimated, 12 of them")
    window.enter("/cost")
    window.wait(
        "input 1,100 · output 400 · read from cache 8,000 · written to cache 100 tokens · $0.0200", "Prices as of"
    )
    window.enter("again")
    window.wait("The conversation fills 96% of the model's window; summing it up.")
    window.wait("summed up in 29 characters; the model goes on from that.", "Second answer.", "70% left")
    assert window.leave() == 0


def test_files_named_in_a_message_go_along_and_those_denied_do_not(home: Any, terminal: Open) -> None:
    (home.work / "calc.py").write_text("x = 1\n")
    (home.work / "secret.txt").write_text("key\n")
    (home.work / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    script = '[[turn]]\n[[turn.reply]]\ntext = "Seen."\n'
    window = terminal(*home.script(script), "--deny", "Read(secret.txt)")
    window.say("see @calc.py, @shot.png and @secret.txt")
    window.wait("attached: calc.py", "attached: shot.png", "@secret.txt is not attached", "Seen.")
    assert "attached: secret" not in window.text


def test_tab_takes_the_one_file_there_is_and_enter_sends(home: Any, terminal: Open) -> None:
    (home.work / "alone.txt").write_text("x\n")
    window = terminal(*home.script('[[turn]]\n[[turn.reply]]\ntext = "Seen."\n'))
    window.wait("\n>")
    window.type("see @alo")
    window.wait("alone.txt")
    window.type("\t")
    window.wait("> see @alone.txt")
    window.enter()
    window.wait("attached: alone.txt", "Seen.")


def test_instructions_below_the_folder_are_given_once_and_shown(home: Any, terminal: Open) -> None:
    (home.work / "sub").mkdir()
    (home.work / "sub/AGENTS.md").write_text("Use tabs.\n")
    (home.work / "sub/x.py").write_text("x = 1\n")
    script = """
[[turn]]
[[turn.reply]]
calls = [{ name = "r", tool = "Read", input = { file_path = "sub/x.py" } }]
[[turn.reply]]
when = "r ok"
has = "Use tabs."
text = "With tabs."
"""
    window = terminal(*home.script(script))
    window.say("hello")
    window.wait("sub/AGENTS.md", "With tabs.", "\n>")
    window.enter("/memory")
    window.wait("Given with a file below it: sub/AGENTS.md")


def test_a_plan_is_approved_like_a_call_and_ends_plan_mode(home: Any, terminal: Open) -> None:
    script = """
[[turn]]
[[turn.reply]]
calls = [{ name = "w", tool = "Write", input = { file_path = "early.txt", content = "x" } }]
[[turn.reply]]
when = "w refused"
calls = [{ name = "p", tool = "Plan", input = { plan = "1. Write later.txt" } }]
[[turn.reply]]
when = "p approved"
calls = [{ name = "w2", tool = "Write", input = { file_path = "later.txt", content = "x" } }]
[[turn.reply]]
text = "Carried out."
"""
    window = terminal(*home.script(script), "--mode", "plan")
    window.say("do it")
    window.asked("Plan", "1. Write later.txt")
    assert not (home.work / "early.txt").exists()
    window.type("y")
    window.wait("mode: default (the plan is approved)")
    window.asked("later.txt")
    window.type("y")
    window.wait("Carried out.", "default ·")
    assert (home.work / "later.txt").read_text() == "x"


def test_commands_on_events_are_run_with_what_happened(home: Any, terminal: Open, tmp_path: Any) -> None:
    out = tmp_path / "told"
    command = f'echo "$HITL_EVENT $HITL_TITLE" >> {out}'
    home.config.mkdir(exist_ok=True)
    lines = "\n".join(f"{event} = '{command}'" for event in ("waiting", "done", "failed"))
    (home.config / "config.toml").write_text(f"[notify]\n{lines}\n")
    script = """
[[turn]]
[[turn.reply]]
calls = [{ name = "t", tool = "Bash", input = { command = "touch made" } }]
[[turn.reply]]
text = "All done."
[[turn]]
[[turn.reply]]
error = { status = 400 }
"""
    window = terminal(*home.script(script))
    window.say("make it")
    window.asked("touch made")
    window.until(lambda: out.exists() and out.read_text() == "waiting make it\n", "the first command")
    window.type("y")
    window.wait("All done.", "\n>")
    window.until(lambda: out.read_text() == "waiting make it\ndone make it\n", "the second command")
    window.enter("once more")
    window.until(lambda: out.read_text().endswith("failed make it\n"), "the third command")


def test_what_runs_in_the_background_is_listed_read_and_ended(home: Any, terminal: Open) -> None:
    script = """
[[turn]]
[[turn.reply]]
calls = [{ name = "j", tool = "Bash", input = { command = "echo ready; sleep 600", background = true } }]
[[turn.reply]]
text = "It runs."
[[turn]]
[[turn.reply]]
calls = [{ name = "k", tool = "Bash", input = { command = "sleep 601", background = true } }]
[[turn.reply]]
text = "Another."
"""
    window = terminal(*home.script(script), "--allow", "Bash(echo:*)", "--allow", "Bash(sleep:*)")
    window.say("start it")
    window.wait("It runs.", "\n>")
    window.enter("/jobs")
    window.wait("1.1.0   running", "echo ready; sleep 600")
    window.enter("/jobs 1.1.0")
    window.wait("\n  ready", "(1.1.0 running)")
    window.enter("/jobs end 1.1.0")
    window.wait("1.1.0 ended")
    window.enter("one more")
    window.wait("Another.", "\n>")
    window.enter("/clear")
    window.wait("Ended in the background: sleep 601")
    window.enter("/jobs")
    window.wait("Nothing runs in the background.")


def test_instructions_are_written_with_the_editor_and_named_at_the_next_start(home: Any, terminal: Open) -> None:
    script = home.script('[[turn]]\n[[turn.reply]]\ntext = "Seen."\n')
    (home.work / "AGENTS.md").write_text("Use tabs.\n")
    window = terminal(*script, EDITOR="sed -i s/tabs/blanks/")
    window.wait("Instructions: AGENTS.md", "\n>")
    window.enter("/memory project")
    window.wait("it counts from the next message")
    assert (home.work / "AGENTS.md").read_text() == "Use blanks.\n"
    window.enter("/memory")
    window.wait("/memory project edits AGENTS.md")


def test_what_was_typed_and_not_sent_is_told_to_who_leaves(home: Any, terminal: Open) -> None:
    window = terminal(*home.script('[[turn]]\n[[turn.reply]]\nwait = 60\ntext = "Late."\n'))
    window.say("first")
    window.wait("waiting for the model")
    window.say("second")
    window.wait("next: second")
    window.type("a draft")
    window.wait("> a draft")
    os.kill(window.pid, signal.SIGTERM)
    assert window.ended() == 0
    assert "Not sent: second" in window.text
    assert "Not sent: a draft" in window.text
    assert "Not sent: first" not in window.text


def test_a_message_that_a_broken_rule_file_stops_is_given_back(home: Any, terminal: Open) -> None:
    window = terminal(*home.script('[[turn]]\n[[turn.reply]]\ntext = "Heard."\n'))
    window.wait("/help for help", "\n>")
    window.enter("/status")
    window.wait("begins with the first message")  # all is loaded
    home.config.mkdir(exist_ok=True)
    (home.config / "rules.toml").write_text('[[rule]]\nallow = "Bash("\n')
    window.enter("hello")
    window.wait("the parenthesis in `Bash(` is not closed", "> hello")
    assert "There is no session" not in window.text
    (home.config / "rules.toml").unlink()
    window.enter()
    window.wait("Heard.")
    assert window.leave() == 0


def test_a_closed_window_ends_what_runs_without_an_error(home: Any) -> None:
    call = '{ name = "long", tool = "Bash", input = { command = "echo > began; sleep 300; echo > went" } }'
    script = f"[[turn]]\n[[turn.reply]]\ncalls = [{call}]\n"
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hitl_cli", *home.script(script), "--mode", "bypass", "do it"]
    process = subprocess.Popen(command, cwd=home.work, env=home.env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    while not (home.work / "began").exists():
        os.read(ours, 65536)
    os.close(ours)
    assert process.wait(30) == 130
    assert not (home.work / "went").exists()
    assert not [file.name for file in home.state.iterdir() if "error" in file.name]
    assert "idle" in home.hitl("sessions", "list").stdout
