"""`hitl sessions` and `hitl log`: listings, what may be done with a session, and the record of every decision."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from datetime import datetime

import pytest

from hitl_cli.ui.clean import cells
from tests.cli.program import DONE, NOBODY, Home

SECRET = "sk-ant-" + "a1B2" * 10
TOUCH = ("Bash", {"command": "touch made"})


@pytest.mark.slow
def test_sessions_are_listed_newest_first(home: Home) -> None:
    assert home.hitl("sessions", "list").out == "There is no session yet.\n"
    assert home.hitl("sessions", "list", "--json").json == []
    first = home.parked()
    second = home.script(DONE).run("second 日本語", "--output", "json", cwd=home.root).json["session"]
    rows = home.hitl("sessions", "list", "--json").json
    assert [datetime.fromisoformat(row.pop("updated")).year > 2000 for row in rows] == [True, True]
    assert rows == [
        {
            "session": second,
            "title": "second 日本語",
            "cwd": str(home.root),
            "status": "idle",
            "turns": 1,
            "pending": 0,
        },
        {"session": first, "title": "go", "cwd": str(home.work), "status": "suspended", "turns": 1, "pending": 1},
    ]
    assert [r["session"] for r in home.hitl("sessions", "list", "--here", "--json").json] == [first]
    lines = home.hitl("sessions", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == [second, first]
    assert "1 waiting" in lines[1]
    assert len({cells(line.rpartition("  ")[0]) for line in lines}) == 1, "folders stand in one column"


def test_a_session_is_renamed_forked_exported_and_deleted(home: Home) -> None:
    session = home.script(DONE).run(f"my key is {SECRET}", "--output", "json").json["session"]
    assert home.hitl("sessions", "rename", session, "the key").__dict__ == {"code": 0, "out": "", "err": ""}
    assert home.hitl("sessions", "rename", session, " ").code == 2
    copy = home.hitl("sessions", "fork", session).out.strip()
    assert [r["title"] for r in home.hitl("sessions", "list", "--json").json] == [
        f"the key (fork of {session})",
        "the key",
    ]
    text = home.hitl("sessions", "export", copy).out
    assert text.startswith(f"# the key (fork of {session})\n")
    assert (SECRET in text, "sk-a…[masked]" in text) == (False, True)
    data = home.hitl("sessions", "export", copy, "--format", "json").json
    assert data["entries"][0]["text"] == "my key is sk-a…[masked]"
    out = home.work / "out.md"
    assert home.hitl("sessions", "export", copy, "--to", str(out)).code == 0
    assert (out.read_text().rstrip("\n"), oct(out.stat().st_mode)[-3:]) == (text.rstrip("\n"), "600")
    assert home.hitl("sessions", "export", copy, "--to", str(out)).err == (
        f"hitl: {out} exists.\n  Name another file, or remove that one.\n"
    )
    assert home.hitl("sessions", "delete", session, copy).out == f"deleted {session}\ndeleted {copy}\n"
    assert home.hitl("sessions", "list", "--json").json == []


def test_a_session_in_which_something_waits_is_not_forked(home: Home) -> None:
    session = home.parked()
    assert home.hitl("sessions", "fork", session).__dict__ == {
        "code": 2,
        "out": "",
        "err": f"hitl: Session {session} waits for 1.1.0:approval.\n"
        f"  Before it is forked: hitl answer {session} 1.1.0:approval …\n",
    }


def test_nothing_is_deleted_when_one_of_the_names_is_wrong(home: Home) -> None:
    session = home.parked()
    assert home.hitl("sessions", "delete", session, "zz").code == 2
    assert len(home.pending()) == 1


@pytest.mark.slow
def test_a_damaged_session_hides_no_other(home: Home) -> None:
    bad, good = home.parked(), home.parked()
    with sqlite3.connect(home.state / "sessions.db") as db:
        db.execute("UPDATE entries SET body = '{' WHERE session = ? AND seq = 2", (bad,))
    db.close()
    said = home.hitl("show", bad)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"hitl: Session {bad} is damaged: entry 2 cannot be read")
    assert {r["session"]: r["status"] for r in home.hitl("sessions", "list", "--json").json} == {
        good: "suspended",
        bad: "damaged",
    }
    assert home.hitl("log").code == 0
    assert home.hitl("answer", good, "--reject").code == 3
    assert home.hitl("sessions", "delete", bad).code == 0


def test_every_decision_stands_in_the_log(home: Home) -> None:
    home.allow("Bash(mkdir:*)")
    calls = [("Bash", {"command": "mkdir x"}), ("Write", {"file_path": "w", "content": "x"}), TOUCH]
    first = home.calls(*calls).run("go", "--deny", "Write(w)", "--output", "json").json["session"]
    assert home.hitl("answer", first, "--approve", "--rule", "Bash(touch made)", "--scope", "project").code == 3
    rows = [json.loads(line) for line in home.hitl("log", "--json").out.splitlines()]
    assert [(r["session"], r["tool"], r["decision"], r["by"]["kind"], r["rule"], r["layer"]) for r in rows] == [
        (first, "Bash", "allow", "rule", "Bash(mkdir:*)", "user"),
        (first, "Write", "deny", "flag", "Write(w)", "flag"),
        (first, "Bash", "ask", "mode", "", ""),
        (first, "Bash", "approve", "person", "", ""),
    ]
    assert rows[0]["by"]["detail"] == f"Bash(mkdir:*) ({home.config}/config.toml:2)"
    assert rows[3]["granted"] == [{"decision": "allow", "rule": "Bash(touch made)", "scope": "project"}]
    assert {len(r["digest"]) for r in rows} == {64}
    assert [r["time"] for r in rows] == sorted(r["time"] for r in rows)
    assert set(rows[0]) == {
        "time", "session", "seq", "call", "tool", "digest", "decision", "by", "rule", "layer", "part", "reason",
        "granted", "interrupt", "what",
    }  # fmt: skip
    assert [r["what"] for r in rows] == ["mkdir x", "w", "touch made", "touch made"]
    text = home.hitl("log").out.splitlines()
    assert text[0].endswith("allow    Bash mkdir x  by rule Bash(mkdir:*) (~/config/config.toml:2)")
    assert text[3].endswith(f"approve  Bash touch made  by {NOBODY}  + Bash(touch made) (project)")


def test_the_log_names_packs_in_short_and_says_when_nobody_was_there(home: Home) -> None:
    home.calls(("Bash", {"command": "git log"}), TOUCH).run("go", "--auto-deny")
    allowed, _, refused = home.hitl("log").out.splitlines()
    assert re.search(r"  by rule Bash\(git log:\*\) \(read-only\.toml:\d+\)$", allowed)
    assert refused.endswith("reject   Bash touch made  nobody was there to ask")


def test_the_log_says_what_was_decided_about_and_why_it_was_refused(home: Home) -> None:
    command = "cat /etc/hostname && touch made"
    home.hitl("answer", home.parked(("Bash", {"command": command})), "--reject", "--reason", "not there")
    asked, refused = home.hitl("log").out.splitlines()
    assert f"ask      Bash {command}  by " in asked
    assert refused.endswith(f"reject   Bash {command}  by {NOBODY}: not there")


@pytest.mark.parametrize(
    ("filters", "decisions"),
    [
        (["--tool", "Bash"], ["ask", "reject"]),
        (["--decision", "reject"], ["reject"]),
        (["--decision", "deny"], []),
        (["--since", "1h"], ["ask", "reject"]),
        (["--until", "1h"], []),
        (["--since", "2100-01-01"], []),
    ],
)
@pytest.mark.slow
def test_the_log_is_filtered(home: Home, filters: list[str], decisions: list[str]) -> None:
    home.hitl("answer", home.parked(), "--reject")
    assert [json.loads(line)["decision"] for line in home.hitl("log", "--json", *filters).out.splitlines()] == decisions


@pytest.mark.slow
def test_filters_that_mean_nothing_are_refused(home: Home) -> None:
    assert "'maybe' is none of allow, ask" in home.hitl("log", "--decision", "maybe").err
    assert home.hitl("log", "--since", "soon").err.startswith("hitl: --since: 'soon' is no time;")
    for option, nothing in (("--session", "zz"), ("--session", ""), ("--since", ""), ("--until", "")):
        assert home.hitl("log", option, nothing).code == 2


def test_secrets_are_masked_in_the_log(home: Home) -> None:
    home.parked(("Bash", {"command": f"curl -H 'Authorization: Bearer {SECRET}' https://example.org"}))
    for form in ([], ["--json"]):
        said = home.hitl("log", *form)
        assert (said.code, SECRET in said.out, "masked" in said.out) == (0, False, True)


@pytest.mark.slow
def test_ten_thousand_sessions_are_listed_without_delay(home: Home) -> None:
    home.parked()
    with sqlite3.connect(home.state / "sessions.db") as db:
        rows = [(f"f{n:05}", 1, f"title {n}", str(home.work), "", "idle", 1, float(n)) for n in range(10_000)]
        db.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.close()
    began = time.monotonic()
    assert len(home.hitl("sessions", "list").out.splitlines()) == 10_001
    assert time.monotonic() - began < 20  # a hang, not a measure; figures are in tests/bench
    assert len(home.pending()) == 1
