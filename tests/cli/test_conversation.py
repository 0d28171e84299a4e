"""What a conversation needs where nobody looks: files named in messages, summaries, plans, commands on events."""

from __future__ import annotations

import json

from tests.cli.program import DONE, Home, steady, until

FULL = """
window = 6000
[[turn]]
[[turn.reply]]
calls = [{ name = "a", tool = "Glob", input = { pattern = "a*" } }]
usage = { input = 3000, output = 40, cost = 0.01 }
[[turn.reply]]
calls = [{ name = "b", tool = "Glob", input = { pattern = "b*" } }]
usage = { input = 5800, output = 40, cost = 0.01 }
[[turn.reply]]
calls = [{ name = "c", tool = "Glob", input = { pattern = "c*" } }]
usage = { input = 3000, output = 40, cost = 0.01 }
[[turn.reply]]
when = "c ok"
text = "All three."
"""
PLAN = """
[[turn]]
[[turn.reply]]
calls = [{ name = "p", tool = "Plan", input = { plan = "1. Make it" } }]
[[turn.reply]]
when = "p approved"
calls = [{ name = "w", tool = "Write", input = { file_path = "made.txt", content = "x" } }]
[[turn.reply]]
text = "Done."
"""


def content(home: Home) -> list[dict[str, object]]:
    """The further blocks of the last session's last message."""
    session = home.hitl("sessions", "list", "--json").json[0]["session"]
    entries = home.hitl("show", session, "--json").json["entries"]
    return [dict(block) for e in entries if e["type"] == "began" for block in e.get("content", ())]


def test_files_that_a_message_names_go_along_pictures_too(home: Home) -> None:
    (home.work / "calc.py").write_text("x = 1\n")
    (home.work / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    home.script(DONE)
    assert home.run("see @calc.py and @shot.png").out == "Done.\n"
    text, name, picture = content(home)
    assert text["text"] == "The file calc.py:\n     1\tx = 1"
    assert str(name["text"]).endswith("shot.png (png, 12 bytes)")
    assert picture["type"] == "image"


def test_what_would_need_a_question_or_is_denied_is_told_and_left_out(home: Home) -> None:
    (home.work / "secret.txt").write_text("key\n")
    (home.root / "far.txt").write_text("far\n")
    said = home.script(DONE).run("see @secret.txt @../far.txt", "--deny", "Read(secret.txt)")
    assert said.err == (
        "@secret.txt is not attached: reading `secret.txt` is denied by Read(secret.txt)\n"
        "@../far.txt is not attached: no rule covers reading `~/far.txt`\n"
    )
    assert content(home) == []


def test_what_is_piped_in_behind_a_message_names_no_files(home: Home) -> None:
    (home.work / "calc.py").write_text("x = 1\n")
    home.script(DONE).run("sum this up", input="see @calc.py\n")
    assert content(home) == []
    home.run(input="see @calc.py\n")
    assert len(content(home)) == 1


def test_a_host_program_names_files_in_the_same_way(home: Home) -> None:
    (home.work / "calc.py").write_text("x = 1\n")
    line = json.dumps({"type": "user", "text": "see @calc.py"}) + "\n"
    assert home.script(DONE).run("--input", "stream-json", input=line).code == 0
    assert len(content(home)) == 1


def test_a_turn_that_fills_the_window_is_summed_up_in_the_middle_and_goes_on(home: Home) -> None:
    said = home.script(FULL).run("go")
    assert (said.code, said.out) == (0, "All three.\n")
    assert said.err == (
        "  Glob a*\n"
        "  Glob b*\n"
        "  The conversation fills 97% of the model's window; summing it up.\n"
        "  What was said so far is summed up in 29 characters.\n"
        "  Glob c*\n"
    )


def test_a_plan_parks_and_its_approval_ends_plan_mode(home: Home) -> None:
    said = home.script(PLAN).run("plan it", "--mode", "plan")
    assert said.code == 4
    (waits,) = home.pending()
    assert waits["input"] == {"plan": "1. Make it"}
    answered = home.hitl("answer", waits["session"], "--approve")
    assert answered.code == 4
    assert steady(answered.err).startswith("  mode: default (the plan is approved)\nSession ID waits for an answer:\n")
    assert not (home.work / "made.txt").exists()
    assert home.hitl("answer", waits["session"], "--approve").out == "Done.\n"
    assert (home.work / "made.txt").read_text() == "x"


def test_the_instructions_that_were_read_are_named(home: Home) -> None:
    (home.work / "AGENTS.md").write_text("Be brief.\n")
    assert home.script(DONE).run("go").err == "Instructions: AGENTS.md\n"
    assert home.run("go", "--output", "json").err == ""


def test_commands_on_events_are_run_and_not_waited_for(home: Home) -> None:
    out = home.root / "told"
    command = f'echo "$HITL_EVENT $HITL_TITLE" >> {out}; sleep 60'
    lines = "\n".join(f"{event} = '{command}'" for event in ("waiting", "done", "failed"))
    (home.config / "config.toml").write_text(f"[notify]\n{lines}\n")
    home.calls(("Bash", {"command": "touch made"})).run("make it")
    until(lambda: out.exists() and out.read_text() == "waiting make it\n")
    home.script(DONE).run("say so")
    until(lambda: out.read_text() == "waiting make it\ndone say so\n")
    home.script("[[turn]]\n[[turn.reply]]\nerror = { status = 400 }\n").run("fail")
    until(lambda: out.read_text().endswith("failed fail\n"))


def test_a_deleted_sessions_kept_outputs_are_gone_with_it(home: Home) -> None:
    home.allow("Bash(seq:*)").calls(("Bash", {"command": "seq 20000"})).run("count")
    session = home.hitl("sessions", "list", "--json").json[0]["session"]
    assert [file.name for file in (home.state / "outputs" / session).iterdir()] == ["1.1.0.txt"]
    assert home.hitl("sessions", "delete", session).code == 0
    assert not (home.state / "outputs" / session).exists()


def test_a_session_reads_its_own_kept_output_unasked(home: Home) -> None:
    home.allow("Bash(seq:*)").calls(("Bash", {"command": "seq 20000"})).run("count")
    session = home.hitl("sessions", "list", "--json").json[0]["session"]
    kept = home.state / "outputs" / session / "1.1.0.txt"
    read = f'[[turn.reply]]\ncalls = [{{ name = "r", tool = "Read", input = {{ file_path = "{kept}" }} }}]\n'
    home.script(f'[[turn]]\n[[turn.reply]]\ntext = "x"\n[[turn]]\n{read}[[turn.reply]]\ntext = "Read."\n')
    assert home.run("read it", "--session", session).out == "Read.\n"
    home.script(f'[[turn]]\n{read}[[turn.reply]]\ntext = "Read."\n')
    assert home.run("read that").code == 4
