"""`hitl run`: flags, what comes out on which stream, and the promised codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import DONE, Home, steady, until
from tests.models.server import Server

TOUCH = ("Bash", {"command": "touch made"})
TWO = '[[turn]]\n[[turn.reply]]\ntext = "One."\n[[turn]]\n[[turn.reply]]\ntext = "Two."\n'


def test_the_answer_stands_alone_on_standard_output(home: Home) -> None:
    said = home.script(DONE).run("go")
    assert (said.code, said.out, said.err) == (0, "Done.\n", "")


def test_what_was_done_is_told_on_standard_error(home: Home) -> None:
    home.allow("Bash(touch:*)").calls(TOUCH)
    assert home.run("go").__dict__ == {"code": 0, "out": "Done.\n", "err": "  Bash touch made\n"}
    assert home.run("go", "--quiet").__dict__ == {"code": 0, "out": "Done.\n", "err": ""}
    reason = f"`touch made` is allowed by Bash(touch:*) ({home.config}/config.toml:2)"
    assert reason.split(" (")[0] in home.run("go", "--verbose").err
    assert (home.work / "made").exists()


def test_a_question_is_parked_and_how_to_answer_it_is_said(home: Home) -> None:
    said = home.calls(TOUCH).run("go")
    assert (said.code, said.out) == (4, "")
    assert steady(said.err) == (
        "Session ID waits for an answer:\n  Bash touch made\n    hitl answer ID 1.1.0:approval --approve\n"
    )
    assert not (home.work / "made").exists()
    [row] = home.pending()
    assert home.hitl(*row["answer"].split()[1:]).__dict__ == {
        "code": 0,
        "out": "Done.\n",
        "err": "",
    }
    assert (home.work / "made").exists()
    assert home.pending() == []


@pytest.mark.parametrize("how", [["--auto-deny"], ["--on-ask", "deny"]])
def test_where_nobody_can_be_asked_calls_are_refused_and_the_rule_is_named(home: Home, how: list[str]) -> None:
    said = home.calls(TOUCH, ("Read", {"file_path": "/etc/hostname"})).run("go", *how)
    assert (said.code, said.out) == (3, "Done.\n")
    assert said.err == (
        "Not done: Bash (touch made): nobody was there to ask\n"
        "    would be allowed by: Bash(touch made)\n"
        "Not done: Read (/etc/hostname): nobody was there to ask\n"
        "    would be allowed by: Read(/etc/hostname)\n"
    )
    assert not (home.work / "made").exists()


def test_every_refusal_is_in_the_result_reads_included(home: Home) -> None:
    said = home.calls(
        TOUCH, ("Read", {"file_path": "/etc/hostname"}), ("Bash", {"command": "cat /etc/passwd"}), ("Write", W)
    ).run("go", "--auto-deny", "--output", "json", "--deny", "Write(w)")
    end = said.json
    assert (said.code, end["exit"], end["status"], end["answer"]) == (3, 3, "completed", "Done.")
    assert [{k: d[k] for k in ("call", "tool", "part", "by", "rule", "layer", "help")} for d in end["denied"]] == [
        denied("1.1.0", "Bash", "touch made", help="Bash(touch made)"),
        denied("1.1.1", "Read", "/etc/hostname", help="Read(/etc/hostname)"),
        denied("1.1.2", "Bash", "/etc/passwd", help="Read(/etc/passwd)"),
        denied("1.1.3", "Write", f"{home.work}/w", by="flag Write(w)", rule="Write(w)", layer="flag"),
    ]


W = {"file_path": "w", "content": "x"}


def denied(call: str, tool: str, part: str, **more: str) -> dict[str, str]:
    return {"call": call, "tool": tool, "part": part, "by": "none", "rule": "", "layer": "", "help": ""} | more


def test_the_model_is_told_that_nobody_was_there_and_which_rule_would_help(home: Home) -> None:
    said = home.calls(TOUCH).run("go", "--auto-deny", "--output", "stream-json")
    [result] = [line for line in said.lines if line["type"] == "result"]
    assert (result["ok"], result["output"]) == (
        False,
        "Rejected: Bash needs an answer of the user and nobody is there to give it. It was not run."
        " The rule that would allow it: Bash(touch made).",
    )


def test_the_same_call_refused_three_times_ends_the_turn(home: Home) -> None:
    reply = '[[turn.reply]]\ncalls = [{ name = "%d", tool = "Bash", input = { command = "touch made" } }]\n'
    home.script("[[turn]]\n" + "".join(reply % n for n in range(5)))
    said = home.run("go", "--auto-deny", "--output", "json")
    assert (said.code, said.json["status"], said.json["reason"]) == (
        6,
        "stopped",
        "The same call was refused 3 times.",
    )
    assert [d["call"] for d in said.json["denied"]] == ["1.1.0", "1.2.0", "1.3.0"]


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--max-steps", "2"], "The turn reached its limit of 2 requests to the model."),
        (["--max-tokens", "150"], "The turn reached its limit of 150 tokens."),
        (["--max-cost", "0.05"], "The turn reached its limit of $0.05."),
    ],
)
def test_a_limit_ends_the_turn_with_6(home: Home, flags: list[str], reason: str) -> None:
    reply = (
        "[[turn.reply]]\nusage = { input = 90, output = 10, cost = 0.03 }\n"
        'calls = [{ name = "%d", tool = "Todo", input = { todos = [] } }]\n'
    )
    home.script("[[turn]]\n" + "".join(reply % n for n in range(5)))
    said = home.run("go", *flags, "--output", "json")
    assert (said.code, said.json["status"], said.json["exit"], said.json["reason"]) == (6, "stopped", 6, reason)
    assert said.json["usage"] == {"input": 180, "output": 20, "cache_read": 0, "cost": 0.06}


def test_a_limit_of_cost_needs_a_model_with_a_price_and_nothing_is_begun_without(home: Home) -> None:
    home.script(DONE).run("before")
    with Server([]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        said = home.hitl("run", "say hello", "--model", "local-7b", "--max-cost", "1", env=env)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "hitl: The price of local-7b is not known, so the limit of $1 (max_cost) cannot hold it.\n"
        "  Name another model, or limit it with --max-tokens (max_tokens) instead.\n"
    )
    assert server.requests == []
    assert len(home.hitl("sessions", "list", "--json").json) == 1


@pytest.mark.slow
def test_a_limit_counts_more_than_refusals_and_a_question_more_than_those(home: Home) -> None:
    home.calls(TOUCH)
    assert home.run("go", "--auto-deny", "--max-steps", "1").code == 6
    home.calls(("Write", W), TOUCH)
    said = home.run("go", "--deny", "Write(w)", "--output", "json")
    assert (said.code, len(said.json["denied"]), len(said.json["pending"])) == (4, 1, 1)


def test_a_session_is_continued_by_id_or_as_the_newest_of_the_folder(home: Home) -> None:
    first = home.script(TWO).run("go", "--output", "json").json
    assert home.run("go on", "--session", first["session"][:3]).out == "Two.\n"
    assert home.run("more", "-c", "--output", "json").json["session"] == first["session"]
    home.run("elsewhere", cwd=home.root)
    assert home.run("and more", "-c", "--output", "json").json["session"] == first["session"]


@pytest.mark.slow
def test_sessions_that_cannot_go_on_are_refused_with_what_to_do(home: Home) -> None:
    assert home.script(TWO).run("x", "-c").__dict__ == {
        "code": 2,
        "out": "",
        "err": f"hitl: There is no session in {home.work} yet.\n  `hitl sessions list` shows those of other folders.\n",
    }
    assert home.run("x", "--session", "abc").err == (
        "hitl: There is no session 'abc'.\n  `hitl sessions list` shows those that there are.\n"
    )
    assert home.run("x", "-c", "--session", "a").err == (
        "hitl: --session and --continue name two sessions.\n  Give one of them.\n"
    )
    parked = home.parked()
    said = home.run("x", "--session", parked, "--output", "json")
    assert (said.code, said.json["status"], said.json["exit"]) == (2, "failed", 2)
    assert said.err == (
        f"hitl: Session {parked} waits for 1 approval: 1.1.0:approval.\n"
        f"  `hitl pending` shows it; then: hitl answer {parked} 1.1.0:approval …\n"
    )


@pytest.mark.slow
def test_what_a_session_was_started_with_holds_when_it_is_continued_from_elsewhere(home: Home) -> None:
    more = home.root / "more"
    more.mkdir()
    flags = ["--mode", "accept-edits", "--allow", "Bash(make:*)", "--add-dir", str(more), "--max-steps", "7"]
    first = home.script(TWO).run("go", *flags, "--output", "json").json["session"]
    said = home.hitl("run", "--session", first, "on", cwd=home.root, env={"HITL_MODE": "plan", "HITL_MODEL": "x"})
    assert said.__dict__ == {"code": 0, "out": "Two.\n", "err": ""}
    began = [e for e in home.hitl("show", first, "--json").json["entries"] if e["type"] == "began"]
    assert len(began) == 2
    assert began[0]["settings"] == began[1]["settings"]
    assert began[0]["settings"] == {
        "model": home.model[1],
        "mode": "accept-edits",
        "cwd": str(home.work),
        "add_dirs": [str(more)],
        "rules": [{"decision": "allow", "rule": "Bash(make:*)"}],
        "max_steps": 7,
    }


def test_a_flag_given_when_a_session_is_continued_holds_from_then_on(home: Home) -> None:
    first = home.script(TWO).run("go", "--output", "json").json["session"]
    said = home.run("on", "--session", first, "--mode", "plan", "--max-steps", "3", "--output", "stream-json")
    assert said.lines[0]["mode"] == "plan"
    [*_, began] = [e for e in home.hitl("show", first, "--json").json["entries"] if e["type"] == "began"]
    assert (began["settings"]["mode"], began["settings"]["max_steps"]) == ("plan", 3)


@pytest.mark.slow
def test_flags_of_an_answer_hold_for_the_turn_that_goes_on(home: Home) -> None:
    session = home.parked(TOUCH, ("Bash", {"command": "touch too"}))
    said = home.hitl("answer", session, "--approve", "--allow", "Bash(touch too)")
    assert (said.code, said.out) == (0, "Done.\n")
    assert sorted(f.name for f in home.work.iterdir()) == ["made", "too"]


def test_bypass_comes_by_flag_alone_and_is_not_restored(home: Home) -> None:
    home.script(
        "".join(
            f'[[turn]]\n[[turn.reply]]\ncalls = [{{ name = "{n}", tool = "Bash", input = {{ command = "touch {n}" }} }}]\n'
            '[[turn.reply]]\ntext = "Done."\n'
            for n in ("a", "b")
        )
    )
    first = home.run("go", "--mode", "bypass", "--output", "json")
    assert (first.code, (home.work / "a").exists()) == (0, True)
    again = home.run("go", "--session", first.json["session"])
    assert (again.code, (home.work / "b").exists()) == (4, False)
    assert home.run("go", env={"HITL_MODE": "bypass"}).err == (
        "hitl: HITL_MODE cannot be bypass here; that mode is given by the flag --mode bypass alone.\n"
    )


@pytest.mark.slow
def test_the_environment_sets_model_mode_and_store(home: Home, tmp_path: Path) -> None:
    home.calls(TOUCH)
    env = {"HITL_MODEL": home.model[1], "HITL_MODE": "dont-ask", "HITL_STORE": str(tmp_path / "other.db")}
    said = home.hitl("run", "go", "--output", "json", env=env)
    assert (said.code, said.json["denied"][0]["by"]) == (3, "mode dont-ask")
    assert (tmp_path / "other.db").exists()
    assert home.hitl("sessions", "list", "--json").json == []
    assert [s["session"] for s in home.hitl("sessions", "list", "--json", env=env).json] == [said.json["session"]]
    said = home.hitl("run", "go", "--mode", "default", "--store", str(tmp_path / "third.db"), env=env)
    assert said.code == 4
    assert f"--store {tmp_path / 'third.db'}" in said.err


WRONG: list[tuple[list[str], str]] = [
    (["--mode", "fast"], "Invalid value for '--mode': 'fast' is none of default, accept-edits, plan, dont-ask"),
    (["--on-ask", "allow"], "Invalid value for '--on-ask': 'allow' is none of park, deny"),
    (["--output", "xml"], "Invalid value for '--output': 'xml' is none of text, json, stream-json"),
    (["--input", "xml"], "Invalid value for '--input': 'xml' is none of text, stream-json"),
    (["--max-steps", "0"], "Invalid value for '--max-steps': must be more than 0"),
    (["--max-steps", "x"], "Invalid value for '--max-steps': 'x' is not a valid integer."),
    (["--max-cost", "-1"], "Invalid value for '--max-cost': must be more than 0"),
    (["--max-cost", "nan"], "Invalid value for '--max-cost': must be more than 0"),
    (["--break", "now"], "Invalid value for '--break': 'now' is none of before:model"),
    (["--expires", "soon"], "Invalid value for '--expires': 'soon' is not a length of time"),
    (["--allow", "Bash(git"], "Bash(git"),
    (["--add-dir", "/nowhere"], "/nowhere is not a folder."),
    (["--model", "gpt 5"], "There is no model 'gpt 5'."),
    (["--model", "script:/nowhere.toml"], "/nowhere.toml: the script cannot be read: no such file or directory"),
    (["--api-key", "x"], "No such option '--api-key'."),
    (["-p", "two"], "There are two messages."),
]


@pytest.mark.slow
def test_wrong_words_are_refused_with_what_is_wrong(home: Home) -> None:
    home.script(DONE)
    for arguments, problem in WRONG:
        said = home.run("go", *arguments)
        assert (said.code, said.out) == (2, ""), arguments
        assert said.err.startswith("hitl: ")
        assert problem in said.err


def test_without_a_key_three_lines_say_what_to_do(home: Home) -> None:
    said = home.hitl("run", "go")
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 3)
    assert "hitl demo" in said.err
    assert "ANTHROPIC_API_KEY" in said.err


def test_a_breakpoint_holds_the_turn_and_proceed_goes_on(home: Home) -> None:
    said = home.script(DONE).run("go", "--break", "before:finish", "--output", "json")
    assert (said.code, [p["kind"] for p in said.json["pending"]]) == (4, ["breakpoint"])
    [row] = home.pending()
    assert row["answer"].endswith("--proceed")
    assert home.hitl(*row["answer"].split()[1:]).out == "Done.\n"


@pytest.mark.slow
def test_a_question_expires_and_is_not_called_a_refusal_by_the_user(home: Home) -> None:
    session = home.calls(TOUCH).run("go", "--expires", "0.1s", "--output", "json").json["session"]
    until(lambda: "expired" in home.hitl("pending").out)
    said = home.hitl("answer", session, "--approve")
    assert (said.code, said.err) == (
        2,
        "hitl: 1.1.0:approval: it expired before this answer; `recover` goes on without one\n",
    )
    said = home.hitl("recover", session, "--output", "stream-json")
    assert said.code == 3
    [result] = [line for line in said.lines if line["type"] == "result"]
    assert result["output"].startswith("Expired: nobody answered in time whether Bash may run. It was not run")
    assert not (home.work / "made").exists()


def test_json_output_is_one_object_also_when_the_turn_fails(home: Home) -> None:
    home.script('[[turn]]\n[[turn.reply]]\nerror = { status = 400, message = "no" }\n')
    said = home.run("go", "--output", "json")
    assert said.code == 1
    end = said.json
    session = end.pop("session")
    reason = end.pop("reason")
    assert end == {
        "type": "end",
        "status": "failed",
        "exit": 1,
        "answer": "",
        "denied": [],
        "pending": [],
        "usage": {"input": 0, "output": 0, "cache_read": 0, "cost": None},
        "seq": 2,
    }
    assert said.err == f"hitl: {reason}\n"
    [row] = home.hitl("sessions", "list", "--json").json
    assert (row["session"], row["status"], row["turns"]) == (session, "failed", 1)


@pytest.mark.slow
def test_a_folder_whose_name_is_no_text_is_refused(home: Home) -> None:
    folder = home.root / "\udcff"
    folder.mkdir()
    said = home.script(DONE).run("go", cwd=folder)
    assert (said.code, said.err) == (
        2,
        "hitl: The name of this folder is not UTF-8 text.\n  Rename it, or work in another one.\n",
    )
    assert home.hitl("pending", cwd=folder).out == "Nothing waits for an answer.\n"


@pytest.mark.slow
def test_a_folder_that_is_gone_is_named(home: Home) -> None:
    import os
    import subprocess
    import sys

    gone = home.root / "gone"
    gone.mkdir()
    script = (
        f"cd {gone} && rmdir {gone} && exec {sys.executable} -m hitl_cli run {' '.join(home.script(DONE).model)} go"
    )
    env = home.env | {"PYTHONPATH": os.getcwd()}
    said = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (said.returncode, said.stderr) == (
        2,
        "hitl: The current folder is gone.\n  Change to one that exists.\n",
    )


def test_a_store_that_is_none_is_named(home: Home) -> None:
    (home.state / "sessions.db").write_bytes(b"no database" * 100)
    said = home.script(DONE).run("go")
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"hitl: The store {home.state}/sessions.db failed: file is not a database.\n"
        "  Move the file away to begin a new store, or restore it from a copy.\n"
    )


@pytest.mark.slow
def test_secrets_have_no_option(home: Home) -> None:
    assert not [line for line in home.hitl("run", "--help").out.splitlines() if "key" in line.lower()]


@pytest.mark.slow
def test_json_is_utf_8_whatever_the_locale(home: Home) -> None:
    home.script('[[turn]]\n[[turn.reply]]\ntext = "Grüße, 世界 🙂"\n')
    for env in ({"LANG": "C"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "ascii"}):
        assert home.run("go", env=env).out == "Grüße, 世界 🙂\n"
        assert json.loads(home.run("go", "--output", "json", env=env).out)["answer"] == "Grüße, 世界 🙂"
