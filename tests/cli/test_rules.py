"""`hitl rules`: the real program in a scratch folder; whole outputs and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitl_cli.journal import Answered, Call, Entry, Judged, ModelReply, Replied, Who
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore
from tests.cli.program import FORKS, PATIENCE, Said


class Hitl:
    """Runs the program in a workspace of its own."""

    def __init__(self, root: Path) -> None:
        self.root, self.workspace = root, root / "ws"
        (self.workspace / "src").mkdir(parents=True)
        (self.workspace / ".git").mkdir()
        (self.workspace / "f.txt").write_text("x\n")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "HITL_CONFIG_DIR": str(root / "config"),
            "HITL_STATE_DIR": str(root / "state"),
        }

    def __call__(self, *arguments: str, input: str = "") -> Said:
        code, out, err = FORKS.run(
            ["rules", *arguments], cwd=self.workspace, env=self.env, input=input.encode(), patience=PATIENCE
        )
        return Said(code, out.decode(), err.decode())

    def out(self, *arguments: str, code: int = 0, input: str = "") -> str:
        done = self(*arguments, input=input)
        assert (done.code, done.err) == (code, ""), done
        return done.out

    def error(self, *arguments: str, code: int = 2, input: str = "") -> str:
        done = self(*arguments, input=input)
        assert (done.code, done.out) == (code, ""), done
        return done.err

    def json(self, *arguments: str) -> Any:
        return json.loads(self.out(*arguments, "--json"))


@pytest.fixture
def hitl(tmp_path: Path) -> Hitl:
    return Hitl(tmp_path)


def test_a_rule_is_added_listed_and_removed(hitl: Hitl) -> None:
    assert hitl.out("add", "Bash(make deploy)").startswith("allow Bash(make deploy) is kept in ")
    assert "projects" in hitl.out("add", "Write(src/**)")
    assert hitl.out("add", "--deny", "Bash(git push:*)", "--scope", "project", "--reason", "releases go through CI")
    listed = [
        {k: row[k] for k in ("decision", "rule", "layer", "line", "until")}
        for row in hitl.json("list")
        if row["layer"] != "pack"
    ]
    assert listed == [
        {"decision": "allow", "rule": "Write(src/**)", "layer": "project", "line": 3, "until": None},
        {"decision": "deny", "rule": "Bash(git push:*)", "layer": "project", "line": 7, "until": None},
        {"decision": "allow", "rule": "Bash(make deploy)", "layer": "user", "line": 3, "until": None},
    ]
    assert "Bash(make deploy)" in hitl.out("list", "--layer", "user")
    assert hitl.out("remove", "Bash(make deploy)").startswith("Bash(make deploy) is gone from ")
    assert hitl.error("remove", "Bash(make deploy)") == (
        "hitl: There is no rule Bash(make deploy) here.\n  `hitl rules list` shows all rules.\n"
    )


def test_a_rule_of_a_pack_is_switched_off_and_stands_in_no_file_of_people(hitl: Hitl) -> None:
    assert hitl.out("check", "ls").startswith("allow: ")
    assert hitl.out("remove", "Bash(ls:*)").endswith("is switched off\n")
    assert hitl.out("check", "ls", code=4) == "ask: no rule covers `ls`\n"


def test_a_rule_that_people_wrote_is_left_to_them(hitl: Hitl) -> None:
    config = hitl.root / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text('[permissions]\nallow = ["Bash(make:*)"]\n')
    assert hitl.error("remove", "Bash(make:*)") == (
        f"hitl: Bash(make:*) stands in {config}:2, which only people write.\n  Take it out there.\n"
    )


def test_packs_are_listed_shown_and_switched(hitl: Hitl) -> None:
    packs = {row["name"]: row["on"] for row in hitl.json("packs")}
    assert packs["read-only"] is True
    assert packs["git"] is False
    assert hitl.out("packs", "git", "--on") == "git is on\n"
    assert {row["name"]: row["on"] for row in hitl.json("packs")}["git"] is True
    rows = hitl.out("packs", "git").splitlines()
    assert rows[0].startswith("allow  Bash(git")
    assert len({row.rindex("  ") for row in rows}) == 1, "reasons stand under one another"
    assert "there is no pack 'gti'" in hitl.error("packs", "gti", "--on")
    assert hitl.error("packs", "--on") == "hitl: Name the pack to switch.\n  `hitl rules packs` lists them.\n"


def test_check_exits_as_the_verdict(hitl: Hitl) -> None:
    hitl.out("add", "Bash(make:*)")
    hitl.out("add", "--deny", "Bash(make clean:*)")
    assert hitl.out("check", "make test") == "allow: `make test` is allowed by Bash(make:*)\n"
    assert hitl.out("check", "make clean", code=3) == "deny: `make clean` is denied by Bash(make clean:*)\n"
    assert hitl.out("check", "cat f.txt && deploy", code=4) == "ask: no rule covers `deploy`; part 2 of 2\n"
    told = json.loads(hitl("check", "--tool", "Write", "--input", '{"file_path": "src/a"}', "--json").out)
    assert told == {
        "decision": "ask",
        "reason": "no rule covers writing `src/a`",
        "parts": [
            {
                "text": f"write {hitl.workspace}/src/a",
                "decision": "ask",
                "by": "none",
                "reason": "no rule covers writing `src/a`",
            }
        ],
    }
    assert hitl.out("check", "make x", "--mode", "dont-ask") == "allow: `make x` is allowed by Bash(make:*)\n"
    assert (
        hitl.out("check", "deploy", "--mode", "plan", code=3) == "deny: mode plan only reads: no rule covers `deploy`\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "--tool", "Write", "x"),
        ("check", "--input", "{"),
        ("check", "--input", "[]"),
        ("check", "x", "--mode", "zzz"),
    ],
)
def test_wrong_usage_says_what_to_write(arguments: tuple[str, ...], hitl: Hitl) -> None:
    assert hitl.error(*arguments).startswith("hitl: ")


def test_what_click_says_of_wrong_usage_is_said_once_and_says_what_to_do(hitl: Hitl) -> None:
    assert hitl.error("lst").startswith("hitl: No such command 'lst'. Did you mean 'list'?\n")
    assert "go into quotes, such as 'git status'" in hitl.error("check", "git", "status")
    assert hitl.error().startswith("Usage: hitl rules ")


def test_explain_draws_the_parts(hitl: Hitl) -> None:
    hitl.out("add", "Bash(make:*)")
    file = hitl.root / "config" / "rules.toml"
    assert hitl.out("explain", "cd src && timeout 5 make x; deploy > out", code=4) == (
        "ask: no rule covers `deploy > out`; part 3 of 3\n"
        "├─ allow 1 cd src: it stays in the workspace\n"
        f"├─ allow 2 timeout 5 make x: Bash(make:*), {file}:3\n"
        "├─ ask   3 deploy > out: no rule covers it\n"
        "├─ ask   write src/out: no rule covers it\n"
        "└─ ask   write out: no rule covers it\n"
    )


def test_what_is_printed_cannot_move_the_cursor(hitl: Hitl) -> None:
    assert "\x1b" not in hitl.out("explain", "echo \x1b[2J", code=4)
    assert "\x1b" not in hitl.out("check", "x\x1b[2J", code=4)


def test_a_batch_is_answered_line_by_line_in_order(hitl: Hitl) -> None:
    hitl.out("add", "Bash(make:*)")
    lines = [
        {"id": 1, "tool": "Bash", "input": {"command": "make"}},
        {"id": 2, "tool": "Bash", "input": {"command": "make"}, "rules": []},
        {"id": 3, "tool": "Bash", "input": {"command": "make"}, "rules": [{"decision": "deny", "rule": "Bash(make)"}]},
        {"id": 4, "tool": "Read", "input": {"file_path": "x"}, "rules": ["Read"], "mode": "dont-ask"},
        {"id": 5, "tool": "Bash", "input": {"command": "make"}, "rules": [{"decision": "allow", "rule": "Bash("}]},
        "not JSON",
        {
            "id": 7,
            "tool": "Bash",
            "input": {"command": "pwd"},
            "rules": [],
            "workspace": str(hitl.root),
            "cwd": str(hitl.root),
        },
    ]
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = hitl("check", "--batch", "-", input=text)
    answers = done.lines
    assert [(a["id"], a.get("decision")) for a in answers] == [
        (1, "allow"), (2, "ask"), (3, "deny"), (4, "allow"), (5, None), (None, None), (7, "allow"),
    ]  # fmt: skip
    assert "line 5: " in answers[4]["error"]
    assert done.code == 2
    file = hitl.root / "batch.jsonl"
    file.write_text(json.dumps(lines[0]) + "\n")
    assert json.loads(hitl.out("check", "--batch", str(file)))["decision"] == "allow"


def test_the_first_answer_comes_before_the_second_question(hitl: Hitl) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "hitl_cli", "rules", "check", "--batch", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=hitl.workspace, env=hitl.env,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        for n in range(3):
            record = {"id": n, "tool": "Bash", "input": {"command": "pwd"}, "rules": []}
            process.stdin.write(json.dumps(record) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == n
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_broken_rule_file_stops_every_command_and_is_left_as_it_is(hitl: Hitl) -> None:
    file = hitl.root / "config" / "rules.toml"
    file.parent.mkdir()
    file.write_text('[[rule]]\nallow = "Bash(git log"\n')
    expected = f"hitl: {file}:2: the parenthesis in `Bash(git log` is not closed\n  Write `Bash(git log)`.\n"
    for arguments in (("list",), ("check", "ls"), ("explain", "ls"), ("add", "Bash(x)"), ("lint",), ("packs",)):
        assert hitl.error(*arguments) == expected
    assert file.read_text() == '[[rule]]\nallow = "Bash(git log"\n'


@pytest.mark.parametrize(
    "text",
    [
        "packs = {gti = true}\n",
        '[[rule]]\nallow = "Bash(ls:*)"\nmatch = ["cat x"]\n',
        '[[rule]]\nallow = "Bash(ls:*)"\nnot_match = ["ls x"]\n',
    ],
)
@pytest.mark.parametrize("name", ["rules.toml", "config.toml"])
def test_nothing_is_granted_beside_a_file_that_cannot_be_used(hitl: Hitl, name: str, text: str) -> None:
    folder = hitl.root / "config"
    folder.mkdir()
    (folder / name).write_text(text)
    foreign = hitl.root / "settings.json"
    foreign.write_text('{"permissions": {"allow": ["Bash(git log:*)"]}}')
    for arguments in (("add", "Bash(x)"), ("packs", "git", "--on"), ("import", "--write", str(foreign))):
        assert f"{folder / name}:1: " in hitl.error(*arguments)
    assert [(file.name, file.read_text()) for file in folder.glob("**/*.toml")] == [(name, text)]


def test_a_rule_that_cannot_be_used_is_not_added(hitl: Hitl) -> None:
    assert hitl.error("add", "Bash(chmod :*)") == (
        "hitl: `chmod :*` has a blank before `:*`, so it would only match an argument that is `:`\n  Write `chmod:*`.\n"
    )
    assert "is past" in hitl.error("add", "Bash(x)", "--until", "2001-01-01")
    for nothing in ("soon", ""):
        assert "is no time" in hitl.error("add", "Bash(x)", "--until", nothing)
    assert not (hitl.root / "config" / "rules.toml").exists()


def test_a_rule_is_kept_with_what_lint_would_say_of_it(hitl: Hitl) -> None:
    assert hitl.error("add", "Bsh(make test)") == "hitl: there is no tool Bsh\n  Did you mean `Bash(make test)`?\n"
    for rule, doubt in (
        ("Bash", "allows every command. Write rules for the programs you mean."),
        (
            "Bash(python:*)",
            "allows any code: python runs what it is given. Name what python may run: `Bash(python …:*)`.",
        ),
        ("Bash(rm -rf:*)", "allows to remove whatever is named. Name it: `Bash(rm -rf build)`."),
        ("Raed", "no tool of hitl is called Raed. Did you mean Read?"),
    ):
        assert hitl.out("add", rule).splitlines()[1:] == [f"  {doubt}"]
    assert len(hitl.out("add", "Bash(make test)").splitlines()) == 1


def test_a_layer_without_rules_says_so(hitl: Hitl) -> None:
    assert hitl.out("list", "--layer", "project") == "There is no rule of the layer project here.\n"


def test_lint_finds_what_is_wrong_and_exits_1(hitl: Hitl) -> None:
    assert hitl.out("lint").startswith("Nothing wrong with ")
    hitl.out("add", "Bash(python3:*)")
    file = hitl.root / "config" / "rules.toml"
    assert hitl.out("lint", code=1) == (
        f"{file}:3: allow Bash(python3:*): allows any code: python3 runs what it is given\n"
        "  Name what python3 may run: `Bash(python3 …:*)`.\n"
    )
    other = hitl.root / "other.toml"
    other.write_text('[[rule]]\ndeny = "Bash(rm:*)"\nmatch = ["rm x"]\nnot_match = ["rmdir x"]\n')
    assert hitl.out("lint", str(other)) == "Nothing wrong with 1 rules.\n"
    assert "There is no" in hitl.error("lint", "nowhere.toml")


def test_import_shows_what_becomes_of_each_rule_and_writes_only_when_told(hitl: Hitl) -> None:
    file = hitl.root / "settings.json"
    file.write_text(
        json.dumps({"permissions": {"allow": ["Bash(make:*)", "Bash(done)", "Bash(a && b)"], "deny": ["Read(./.env)"]}})
    )
    assert re.sub(r"kept in \S+\.toml", "kept in FILE", hitl.out("import", str(file))) == (
        "would keep  allow  Bash(make:*)\n"
        "            it is wide: make runs any code it is given\n"
        "refused     allow  Bash(done)\n"
        "            `done` belongs to the shell, the rule was cut out of a loop or condition and never matched anything "
        "useful. Write a rule for the command inside.\n"
        "split       allow  Bash(a && b)\n"
        "            as     Bash(a)\n"
        "            as     Bash(b)\n"
        "            a rule here covers one simple command, so each part has its own\n"
        "would keep  deny   Read(./.env)\n"
        "3 of 4 rules would be kept in FILE; --write keeps them.\n"
    )
    assert not (hitl.root / "config").exists()
    assert re.sub(r"kept in \S+\.toml", "kept in FILE", hitl.out("import", str(file), "--write")).endswith(
        "3 of 4 rules are kept in FILE.\n"
    )
    assert {row["rule"] for row in hitl.json("list") if row["layer"] == "project"} == {
        "Bash(make:*)", "Bash(a)", "Bash(b)", "Read(./.env)",
    }  # fmt: skip
    assert "nowhere.json" in hitl.error("import", "nowhere.json")


def test_suggest_has_nothing_to_say_before_anything_was_asked(hitl: Hitl) -> None:
    assert hitl.out("suggest") == "Nothing was asked about, so there is nothing to suggest.\n"
    assert hitl.json("suggest") == []


def test_suggest_reads_the_decision_log_and_proposes_the_rules_that_save_most(hitl: Hitl) -> None:
    commands = ["make test", "make test", "git commit -m a", "git commit -m b", "git commit -m c", "sudo ls"]
    store = SqliteStore(hitl.root / "state" / "sessions.db")
    session = store.create()
    lease = store.claim(session)
    calls = tuple(Call(f"1.0.{n}", "Bash", {"command": text}) for n, text in enumerate(commands))
    entries: list[Entry] = [Replied(1, 0, ModelReply((), "tool_use"), calls)]
    entries += [Judged(call.id, "ask", Who("none"), "no rule covers it", tool="Bash") for call in calls]
    store.append(entries, Head(session), lease, 0)
    store.close()
    assert hitl.out("suggest") == (
        "   3 questions  Bash(git commit:*)  (user)\n"
        "                hitl rules add --scope user 'Bash(git commit:*)'\n"
        "   2 questions  Bash(make test)  (user)\n"
        "                hitl rules add --scope user 'Bash(make test)'\n"
    )
    assert hitl.json("suggest") == [
        {"rules": ["Bash(git commit:*)"], "scope": "user", "saves": 3},
        {"rules": ["Bash(make test)"], "scope": "user", "saves": 2},
    ]
    hitl.out("add", "Bash(git commit:*)")
    assert hitl.out("suggest").startswith("   2 questions  Bash(make test)  (user)\n")
    hitl.out("add", "Bash(make test)")
    hitl.out("add", "Bash(sudo ls)")
    assert hitl.out("suggest") == (
        "Nothing is left to suggest: what a rule can settle of 6 questions is settled by now.\n"
    )


def test_what_was_rejected_is_not_suggested_nor_a_rule_for_every_file(hitl: Hitl) -> None:
    inputs = [("Bash", {"command": f"git push {n}"}) for n in "ab"]
    inputs += [("Write", {"file_path": f"{n}/x", "content": ""}) for n in "ab"]
    store = SqliteStore(hitl.root / "state" / "sessions.db")
    session = store.create()
    lease = store.claim(session)
    calls = tuple(Call(f"1.0.{n}", tool, input) for n, (tool, input) in enumerate(inputs))
    entries: list[Entry] = [Replied(1, 0, ModelReply((), "tool_use"), calls)]
    entries += [Judged(call.id, "ask", Who("none"), "no rule covers it", tool=call.name) for call in calls]
    entries += [Answered({"1.0.0:approval": {"reject": {}}}, Who("person"))]
    store.append(entries, Head(session), lease, 0)
    store.close()
    suggested = [rule for row in hitl.json("suggest") for rule in row["rules"]]
    assert [rule for rule in suggested if rule in ("Bash(git push:*)", "Bash(git push a)", "Write(**)")] == []
    assert suggested


def test_checking_loads_nothing_heavy(hitl: Hitl) -> None:
    code = (
        "import sys; from hitl_cli.cli.main import main; main(['rules', 'check', 'ls | head']);"
        "print([m for m in ('anthropic', 'prompt_toolkit', 'mcp', 'sqlite3', 'rich', 'tomli_w') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, cwd=hitl.workspace, env=hitl.env, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
