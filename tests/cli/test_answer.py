"""pending, show, answer, recover: what waits is seen whole, answered once, from anywhere, and the turn goes on."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from typing import Any

import pytest

from hitl_cli.cli.asked import title
from hitl_cli.journal import Call
from tests.cli.program import NOBODY, Home, Said, end_of, steady, until

TOUCH = ("Bash", {"command": "touch made"})
ASK = ("AskUser", {"questions": [{"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}]})


def test_pending_says_what_waits_where_since_when_and_how_to_answer(home: Home) -> None:
    assert home.hitl("pending").out == "Nothing waits for an answer.\n"
    assert home.pending() == []
    session = home.parked()
    assert steady(home.hitl("pending").out.replace(session, "ID")).splitlines()[:1] == [f"ID  go  in {home.work}"]
    lines = home.hitl("pending").out.splitlines()
    assert lines[1].startswith("  1.1.0:approval  Bash touch made  (waits ")
    assert lines[2:] == [
        "      no rule covers `touch made`",
        f"      hitl answer {session} 1.1.0:approval --approve",
    ]
    [row] = home.pending()
    assert datetime.fromisoformat(row["since"]).timestamp() > 0
    assert len(row["digest"]) == 64
    assert {k: row[k] for k in ("session", "interrupt", "kind", "tool", "input", "reason", "cwd", "answer")} == {
        "session": session,
        "interrupt": "1.1.0:approval",
        "kind": "approval",
        "tool": "Bash",
        "input": {"command": "touch made"},
        "reason": "no rule covers `touch made`",
        "cwd": str(home.work),
        "answer": f"hitl answer {session} 1.1.0:approval --approve",
    }
    assert row["suggested"][0] == "Bash(touch made)"


def test_what_is_too_long_for_a_line_is_counted_and_shown_before_it_is_answered(home: Home) -> None:
    session = home.parked(("Bash", {"command": "touch " + "x" * 566}))
    lines = home.hitl("pending").out.splitlines()
    assert f"{'x' * 154}… 412 more characters  (waits " in lines[1]
    assert lines[3:] == [
        f"      hitl show {session} 1.1.0:approval",
        f"      hitl answer {session} 1.1.0:approval --approve",
    ]


def test_a_request_that_has_expired_is_gone_on_from(home: Home) -> None:
    session = home.calls(TOUCH).run("go", "--expires", "1s", "--output", "json").json["session"]
    until(lambda: "expired" in home.hitl("pending").out)
    assert home.hitl("pending").out.splitlines()[-1] == (
        f"      hitl recover {session}  it has expired: go on without an answer"
    )


def test_show_hides_nothing_of_a_request(home: Home) -> None:
    session = home.parked(("Bash", {"command": "echo a\u202eb \u200b &&\nrm -rf x", "description": "tidy up"}))
    out = home.hitl("show", session, "1.1.0").out
    assert "<U+202E>" in out
    assert "\u202e" not in out
    assert "<U+200B>" in out
    assert "rm -rf x" in out
    assert "tidy up" in out
    assert out.splitlines()[-1] == f"Answer: hitl answer {session} 1.1.0:approval --approve"
    row = home.hitl("show", session, "1.1.0:approval", "--json").json
    assert row == home.pending()[0]


@pytest.mark.slow
def test_show_of_a_session_is_the_conversation(home: Home) -> None:
    session = home.parked()
    told = home.hitl("show", session).out
    assert "## You\n\ngo\n\n**Bash**\n\n```\n{\n" in told
    assert told.endswith("```\n\nask: no rule covers `touch made`\n")
    assert not [line for line in told.splitlines() if line.endswith(" ")]
    assert home.hitl("show", session[:2], "--json").json["pending"][0]["id"] == "1.1.0:approval"
    assert home.hitl("show", session, "9.9").err == (
        f"hitl: 9.9: does not wait in session {session}; waiting: 1.1.0:approval\n"
    )


@pytest.mark.parametrize(
    ("answer", "code", "result"),
    [
        (["--approve"], 0, (True, "(no output)")),
        (["--reject"], 3, (False, "Rejected: the user refused this call of Bash. It was not run and nothing was changed.")),
        (
            ["--reject", "--reason", "not now"],
            3,
            (
                False,
                "Rejected: the user refused this call of Bash. It was not run and nothing was changed."
                " The user's reason: not now",
            ),
        ),
        (["--result", "made it myself"], 0, (True, "made it myself")),
        (["--result", "cannot", "--error"], 0, (False, "cannot")),
    ],
)  # fmt: skip
def test_each_answer_reaches_the_model(home: Home, answer: list[str], code: int, result: tuple[bool, str]) -> None:
    session = home.parked()
    said = home.hitl("answer", session, *answer, "--output", "stream-json")
    assert said.code == code
    [line] = [line for line in said.lines if line["type"] == "result"]
    assert (line["ok"], line["output"].splitlines()[0] if line["ok"] else line["output"]) == result
    assert said.lines[-1]["answer"] == "Done."
    assert (home.work / "made").exists() == (answer == ["--approve"])


@pytest.mark.slow
def test_an_edit_runs_in_place_of_the_call_and_is_checked_like_one(home: Home) -> None:
    session = home.parked()
    for wrong, problem in (
        ("{", "--edit takes the whole new input as one JSON object: "),
        ("[]", "--edit takes the whole new input as one JSON object."),
        ('{"cmd": 1}', "1.1.0:approval: the new input does not fit the tool: "),
        ("{}", "1.1.0:approval: an edit gives the whole new input, and this one is empty"),
    ):
        said = home.hitl("answer", session, "--edit", wrong)
        assert (said.code, said.out) == (2, "")
        assert problem in said.err
    said = home.hitl("answer", session, "--edit", '{"command": "touch other"}', "--deny", "Bash(touch other)")
    assert (said.code, "the new input is denied" in said.err) == (2, True)
    assert list(home.work.iterdir()) == []


def test_an_edited_call_is_what_runs(home: Home) -> None:
    assert home.hitl("answer", home.parked(), "--edit", '{"command": "touch other"}').code == 0
    assert [f.name for f in home.work.iterdir()] == ["other"]


@pytest.mark.parametrize("value", ["Blue", '["Blue"]', '{"q1": ["Blue"]}', "something of my own"])
def test_a_reply_answers_a_question(home: Home, value: str) -> None:
    session = home.parked(ASK)
    assert home.pending()[0]["answer"].endswith("--reply VALUE")
    assert "Blue" in home.hitl("show", session, "1.1.0").out
    said = home.hitl("answer", session, "--reply", value, "--output", "stream-json")
    [line] = [line for line in said.lines if line["type"] == "result"]
    assert (said.code, line["output"]) == (0, f"Which?\n{value if 'my own' in value else 'Blue'}")


WRONG: list[tuple[list[str], str]] = [
    ([], "Give exactly one answer."),
    (["--approve", "--reject"], "Give exactly one answer."),
    (["--approve", "--answers", "x"], "Give exactly one answer."),
    (["--approve", "--reason", "x"], "--reason belongs to --reject."),
    (["--approve", "--error"], "--error belongs to --result."),
    (["--result", "x", "--rule", "Bash"], "--rule belongs to --approve, --edit and --reject."),
    (["--approve", "--scope", "user"], "--scope and --until say how far a rule holds."),
    (["--approve", "--until", "8h"], "--scope and --until say how far a rule holds."),
    (["--approve", "--rule", "Bash(x", "--scope", "user"], "1.1.0:approval: "),
    (["--approve", "--rule", "Bash", "--scope", "world"], "'world' is none of session, project, user"),
    (["--approve", "--rule", "Bash", "--until", "never"], "--until: 'never' is no time"),
    (["--approve", "--rule", "Bash", "--until", ""], "--until: '' is no time"),
    (["--approve", "--until", ""], "--scope and --until say how far a rule holds."),
    (["--approve", "--digest", ""], "Invalid value for '--digest': must not be empty"),
    (["--approve", "--digest", "ffff"], "1.1.0:approval: the request has changed; look at it again: hitl show"),
    (["--proceed"], "1.1.0:approval: proceed does not answer this approval; use approve, edit, reject, result"),
    (["--reply", "x"], "1.1.0:approval: reply does not answer this approval"),
    (["9.9.9:approval", "--approve"], "9.9.9:approval: nothing with this id waits in session"),
    (["1.1.0:approval", "--answers", "x"], "--answers names what it answers."),
    (["--answers", "/nowhere"], "/nowhere cannot be read: No such file or directory."),
    (["--answers", "-", "--reason", "x"], "--answers holds whole answers"),
]


@pytest.mark.slow
def test_answers_that_do_not_fit_are_refused_and_change_nothing(home: Home) -> None:
    session = home.parked()
    for arguments, problem in WRONG:
        said = home.hitl("answer", session, *arguments)
        assert (said.code, said.out) == (2, ""), arguments
        assert problem in said.err
    assert len(home.pending()) == 1


@pytest.mark.slow
def test_a_rule_is_kept_with_the_answer_where_it_was_said(home: Home) -> None:
    session = home.parked()
    said = home.hitl("answer", session, "--approve", "--rule", "Bash(touch:*)", "--until", "2100-01-01")
    assert (said.code, said.err) == (0, "  keeps allow Bash(touch:*) in ~/config/rules.toml:3\n")
    [rule] = [r for r in home.hitl("rules", "list", "--json").json if r["layer"] == "user"]
    assert (rule["decision"], rule["rule"], rule["until"][:4]) == ("allow", "Bash(touch:*)", "2100")
    assert home.calls(TOUCH).run("go").code == 0
    session = home.parked(("Bash", {"command": "mkdir x"}))
    assert home.hitl("answer", session, "--reject", "--rule", "Bash(mkdir:*)", "--scope", "project").code == 3
    [rule] = [r for r in home.hitl("rules", "list", "--json").json if r["layer"] == "project"]
    assert (rule["decision"], rule["rule"]) == ("deny", "Bash(mkdir:*)")


OFFERED = "on offer: Bash(touch made) + Bash(mkdir x), or Bash(touch:*) + Bash(mkdir:*)"


@pytest.mark.parametrize(
    ("answer", "rules", "problem"),
    [
        ("--approve", ["Bash(ls)", "Bash(touch:*)", "Bash(mkdir:*)"], f"Bash(ls) does not cover this call; {OFFERED}"),
        (
            "--approve",
            ["Bash(touch made)"],
            f"with Bash(touch made) this call would still be asked about: no rule covers `mkdir x`; part 2 of 2; {OFFERED}",
        ),
        ("--reject", ["Bash(ls)"], "Bash(ls) does not cover this call"),
    ],
)
def test_a_rule_that_does_not_do_for_the_call_is_refused_and_nothing_is_answered(
    home: Home, answer: str, rules: list[str], problem: str
) -> None:
    session = home.parked(("Bash", {"command": "touch made && mkdir x"}))
    said = home.hitl("answer", session, answer, *(part for rule in rules for part in ("--rule", rule)))
    assert said.__dict__ == {"code": 2, "out": "", "err": f"hitl: 1.1.0:approval: {problem}\n"}
    assert len(home.pending()) == 1
    assert [r for r in home.hitl("rules", "list", "--json").json if r["layer"] != "pack"] == []


def test_rules_of_a_set_of_answers_are_held_to_their_calls_as_they_were_edited(home: Home) -> None:
    session = home.parked()
    edit = {"input": {"command": "mkdir x"}, "rules": ["Bash(touch:*)"]}
    said = home.hitl("answer", session, "--answers", "-", input=json.dumps({"1.1.0:approval": {"edit": edit}}))
    assert (said.code, "Bash(touch:*) does not cover this call" in said.err) == (2, True)
    edit["rules"] = ["Bash(mkdir:*)"]
    said = home.hitl("answer", session, "--answers", "-", input=json.dumps({"1.1.0:approval": {"edit": edit}}))
    assert (said.code, said.err) == (0, "  keeps allow Bash(mkdir:*) in this session\n")


def test_where_no_rule_can_help_that_is_said(home: Home) -> None:
    session = home.parked(("Bash", {"command": 'eval "$x"'}))
    said = home.hitl("answer", session, "--approve", "--rule", "Bash(eval:*)")
    assert (said.code, "; no rule is on offer for it\n" in said.err) == (2, True)


def test_without_continuing_the_answer_is_recorded_and_recover_goes_on(home: Home) -> None:
    session = home.parked()
    assert home.hitl("answer", session, "--approve", "--no-continue").__dict__ == {"code": 0, "out": "", "err": ""}
    assert not (home.work / "made").exists()
    assert home.pending() == []
    assert home.hitl("recover", session).out == "Done.\n"
    assert (home.work / "made").exists()
    assert home.hitl("recover", session).__dict__ == {
        "code": 2,
        "out": "",
        "err": f"hitl: Nothing was cut off in session {session}.\n",
    }


@pytest.mark.slow
def test_several_are_answered_at_once_or_one_by_one(home: Home) -> None:
    read = [("Read", {"file_path": f"/etc/{name}"}) for name in ("hostname", "hosts")]
    session = home.parked(*read)
    assert [row["interrupt"] for row in home.pending()] == ["1.1.0:approval", "1.1.1:approval"]
    said = home.hitl("answer", session, "--approve")
    assert said.__dict__ == {
        "code": 2,
        "out": "",
        "err": f"hitl: 2 requests wait in session {session}: 1.1.0:approval, 1.1.1:approval\n  Name one.\n",
    }
    said = home.hitl("answer", session, "1.1.1", "--reject")
    assert (said.code, [row["interrupt"] for row in home.pending()]) == (4, ["1.1.0:approval"])
    session = home.parked(*read)
    answers = {"1.1.0:approval": {"reject": {}}, "1.1.1:approval": {"reject": {"reason": "no"}}}
    assert home.hitl("answer", session, "--answers", "-", input=json.dumps(answers) + "\n").code == 3
    session = home.parked(*read)
    (home.work / "answers").write_text(json.dumps({**answers, "x": {"maybe": {}}}))
    said = home.hitl("answer", session, "--answers", "answers")
    assert (said.code, "x: an answer is one of" in said.err) == (2, True)
    assert len([r for r in home.pending() if r["session"] == session]) == 2


@pytest.mark.slow
def test_who_comes_second_is_told_what_was_decided_and_by_whom(home: Home) -> None:
    session = home.parked()
    assert home.hitl("answer", session, "--reject").code == 3
    words = f"already answered: reject by {NOBODY}"
    assert home.hitl("answer", session, "1.1.0:approval", "--approve").__dict__ == {
        "code": 2,
        "out": "",
        "err": f"hitl: 1.1.0:approval: {words}\n",
    }
    assert home.hitl("answer", session, "--approve").err == (
        f"hitl: Nothing waits in session {session}.\n  The last answer: 1.1.0:approval: reject by {NOBODY}\n"
        "  `hitl pending` lists what waits anywhere.\n"
    )


@pytest.mark.slow
def test_two_processes_answer_and_one_wins_also_while_the_winner_is_still_at_work(home: Home) -> None:
    session = home.parked(("Bash", {"command": "sleep 8; echo x >> made"}))
    both = [home.start("answer", session, "1.1.0:approval", "--approve") for _ in range(2)]
    said: list[Said] = [end_of(process) for process in both]
    assert sorted(s.code for s in said) == [0, 2]
    loser = next(s for s in said if s.code == 2)
    assert loser.err == f"hitl: 1.1.0:approval: already answered: approve by {NOBODY}\n"
    assert (home.work / "made").read_text() == "x\n"


@pytest.mark.slow
def test_a_session_that_is_run_elsewhere_is_waited_for_and_then_busy(home: Home) -> None:
    process = home.allow("Bash").calls(("Bash", {"command": "sleep 300"})).start("run", "go", *home.model)
    [row] = until(lambda: [r for r in home.hitl("sessions", "list", "--json").json if r["status"] == "running"])
    said = home.run("on", "--session", row["session"])
    assert (said.code, said.out) == (75, "")
    assert said.err.startswith(f"hitl: Session {row['session']} is run by another process (pid {process.pid} on ")
    assert home.hitl("sessions", "rename", row["session"], "x").code == 75
    assert home.hitl("sessions", "delete", row["session"]).code == 75
    process.terminate()
    assert end_of(process).code == 130
    assert home.hitl("sessions", "rename", row["session"], "x").code == 0


def test_a_folder_that_is_gone_is_named_and_the_request_is_kept(home: Home) -> None:
    session = home.parked()
    shutil.rmtree(home.work)
    said = home.hitl("answer", session, "--approve", cwd=home.root)
    assert said.__dict__ == {
        "code": 2,
        "out": "",
        "err": f"hitl: Session {session} cannot go on: {home.work} is not a folder.\n"
        "  Name one that exists, or make it first.\n  What waits in it is kept.\n",
    }
    assert len(json.loads(home.hitl("pending", "--json", cwd=home.root).out)) == 1


def killed(home: Home) -> str:
    """The id of a session whose process was killed while a command ran."""
    slow = ("Bash", {"command": "sh job"})
    (home.work / "job").write_text("echo x >> made; sleep 300")
    process = home.allow("Bash").calls(slow).start("run", "go", *home.model)
    until(lambda: (home.work / "made").exists())
    process.kill()
    end_of(process)
    [row] = home.hitl("sessions", "list", "--json").json
    assert row["status"] == "interrupted"
    return str(row["session"])


def test_after_a_kill_what_may_have_run_is_asked_about(home: Home) -> None:
    session = killed(home)
    assert "recover" in home.run("on", "-c").err
    said = home.hitl("recover", session)
    answer = f"hitl answer {session} 1.1.0:uncertain"
    ways = [
        f"{answer} --result TEXT  it ran: what you know came of it",
        f"{answer} --approve      run it again",
        f"{answer} --reject       leave it as it is, and go on",
    ]
    assert (said.code, said.err.splitlines()[1:]) == (
        4,
        ["  Bash sh job: may have run: it was cut off before its result was known", *(f"    {way}" for way in ways)],
    )
    assert home.hitl("pending").out.splitlines()[2:] == [
        "      may have run: it was cut off before its result was known",
        *(f"      {way}" for way in ways),
    ]
    shown = home.hitl("show", session, "1.1.0").out
    assert "may have run" in shown
    assert shown.endswith(
        "".join(f"{begin}{way}\n" for begin, way in zip(["Answer: ", " " * 8, " " * 8], ways, strict=True))
    )
    said = home.hitl("answer", session, "--result", "it ran")
    assert (said.code, said.out) == (0, "Done.\n")
    assert (home.work / "made").read_text() == "x\n"


@pytest.mark.slow
def test_what_may_have_run_and_is_not_to_run_again_is_a_refusal(home: Home) -> None:
    session = killed(home)
    assert home.hitl("recover", session).code == 4
    said = home.hitl("answer", session, "--reject")
    assert said.__dict__ == {
        "code": 3,
        "out": "Done.\n",
        "err": f"Not done: Bash (running it again): refused by {NOBODY}\n",
    }
    assert (home.work / "made").read_text() == "x\n"


@pytest.mark.slow
def test_unknown_sessions_are_named(home: Home) -> None:
    for command in (["show", "zz"], ["answer", "zz", "--approve"], ["recover", "zz"], ["sessions", "delete", "zz"]):
        assert home.hitl(*command).__dict__ == {
            "code": 2,
            "out": "",
            "err": "hitl: There is no session 'zz'.\n  `hitl sessions list` shows those that there are.\n",
        }


@pytest.mark.slow
def test_a_damaged_request_hides_no_other(home: Home) -> None:
    import sqlite3

    bad, good = home.parked(), home.parked()
    db = sqlite3.connect(home.state / "sessions.db")
    db.execute('UPDATE pending SET body = \'{"kind": "approval"}\' WHERE session = ?', (bad,))
    db.commit()
    db.close()
    said = home.hitl("pending", "--json")
    rows: list[dict[str, Any]] = said.json
    assert (said.code, [row["session"] for row in rows]) == (0, [good])
    assert f"what waits in session {bad} cannot be read" in said.err


def test_a_call_that_fails_after_its_answer_is_named_as_it_was_asked_for(home: Home) -> None:
    session = home.parked(("Bash", {"command": "touch no/where"}))
    assert home.hitl("answer", session, "--approve").__dict__ == {
        "code": 0,
        "out": "Done.\n",
        "err": "  failed: Bash touch no/where\n",
    }


@pytest.mark.parametrize(
    ("name", "input", "line"),
    [
        ("Bash", {"description": "look", "command": "ls\n-l"}, "Bash ls -l"),
        ("query_db", {"sql": "select 1", "limit": 2}, 'query_db {"sql": "select 1", "limit": 2}'),
        ("mcp__x__y", {"name": "\x1b[2Jé"}, 'mcp__x__y {"name": "\\u001b[2Jé"}'),
        ("deploy", {}, "deploy"),
        ("deploy", None, "deploy"),
        ("Todo", {"items": [{"text": "one"}]}, "Todo"),
    ],
)
def test_what_waits_is_told_with_what_it_is_about_whatever_the_tool(name: str, input: Any, line: str) -> None:
    assert title(Call("1.1.0", name, input)) == line
