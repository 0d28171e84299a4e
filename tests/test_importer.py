"""Rules of other assistants: each kept, split, narrowed or refused, with the reason; none made wider."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import importformats
from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.errors import SettingsError
from hitl_cli.importer import Outcome, convert, convert_all
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision

SAMPLE = Path(__file__).parents[2] / "shared" / "corpus" / "real-rules-sample.jsonl"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "w" / "src").mkdir(parents=True)
    return Place(f"{tmp_path}/w", (f"{tmp_path}/w",), f"{tmp_path}/home")


def claude(text: str, place: Place, decision: str = "allow") -> Outcome:
    (foreign,) = importformats.claude({decision: [text]})
    return convert(foreign, place)


def became(outcome: Outcome) -> tuple[str, list[str]]:
    return outcome.status, [rule.text for rule in outcome.rules]


@pytest.mark.parametrize(
    ("text", "status", "rules"),
    [
        ("Bash(git log:*)", "kept", ["Bash(git log:*)"]),
        ("Bash(npm test)", "kept", ["Bash(npm test)"]),
        ("Bash(git add *)", "kept", ["Bash(git add:*)"]),
        ("Bash(rm -rf*)", "kept", ["Bash(rm -rf*:*)"]),
        ("Bash", "kept", ["Bash"]),
        ("Bash(*)", "kept", ["Bash"]),
        ("Bash(npm run *:build)", "narrowed", ["Bash(npm run *:build)"]),
        ('Bash(git add . && git commit -m "x y")', "split", ["Bash(git add .)", "Bash(git commit -m 'x y')"]),
        ("Bash(make 2>&1 | tail -5)", "split", ["Bash(make)", "Bash(tail -5)"]),
        ("Bash(make > out.txt)", "split", ["Bash(make)", "Write(./out.txt)"]),
        ("Bash(cd src && make)", "kept", ["Bash(make)"]),
        ("Bash(CI=1 npm test:*)", "kept", ["Bash(CI=1 npm test:*)"]),
        ("Bash(PYTHONPATH=. pytest:*)", "kept", ["Bash(PYTHONPATH=. pytest:*)"]),
        ("Bash(xargs ls:*)", "kept", ["Bash(xargs ls:*)"]),
        ("Bash(watch ls:*)", "split", ["Bash(watch ls:*)", "Bash(ls:*)"]),
        ("Bash(grep x --include=*.rs)", "narrowed", ["Bash(grep x --include=*.rs)"]),
        ("Bash(grep 'a*b' f)", "kept", ["Bash(grep 'a*b' f)"]),
        ("Read(//etc/hosts)", "kept", ["Read(/etc/hosts)"]),
        ("Read(/src/**)", "kept", ["Read(src/**)"]),
        ("Read(/x)", "kept", ["Read(./x)"]),
        ("Read(~/.zshrc)", "kept", ["Read(~/.zshrc)"]),
        ("Read(./.env)", "kept", ["Read(./.env)"]),
        ("MultiEdit", "kept", ["Edit"]),
        ("NotebookEdit", "kept", ["Edit(*.ipynb)"]),
        ("NotebookRead(docs/*.ipynb)", "kept", ["Read(docs/*.ipynb)"]),
        ("WebFetch(domain:docs.example.org)", "kept", ["WebFetch(domain:docs.example.org)"]),
        ("mcp__server__tool", "kept", ["mcp__server__tool"]),
        ("mcp__server__*", "kept", ["mcp__server__*"]),
    ],
)
def test_what_becomes_of_a_rule(text: str, status: str, rules: list[str], place: Place) -> None:
    assert became(claude(text, place)) == (status, rules)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Bash(PYTHONIOENCODING=utf-8 python -c ":*)', 'the quote " in'),
        ("Bash(node -e ' *)", "is not closed"),
        ('Bash(git commit -m "fix)', "a double quote is not closed"),
        ("Bash(git commit -m 'fix)", "a single quote is not closed"),
        ('Bash(do echo "$f")', "`do` belongs to the shell"),
        ("Bash(done)", "`done` belongs to the shell"),
        ("Bash(for f in *)", "`for` belongs to the shell"),
        ("Bash(chmod :*)", "has a blank before `:*`"),
        ("Read(/Users/me/x/**)", "a single leading slash meant the project folder"),
        ("Read(C:\\Users\\x)", "a path of Windows"),
        ("Bash(timeout /t 5 >nul:*)", "`>` in"),
        ('Bash(echo "$(curl http://x.test)" | sh)', "cannot be judged"),
        ('Bash(tool "$X")', "only the shell knows"),
        ("Bash(pwd)", "needs no rule"),
        ("TodoWrite", "needs no rule"),
        ("WebSearch", "there is no tool WebSearch"),
        ("WebFetch(https://x.test/y)", "is not a pattern for WebFetch"),
        ("Bash()", "names no word"),
        ("Bash(npm test", "Write `Bash(npm test)`"),
        ("NotebookEdit(docs/**)", "for notebooks alone"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_reason(text: str, reason: str, place: Place) -> None:
    outcome = claude(text, place)
    assert became(outcome) == ("refused", [])
    assert reason in outcome.note


def test_deny_and_ask_rules_stay_what_they_are(place: Place) -> None:
    for decision, kept in (("deny", Decision.DENY), ("ask", Decision.ASK)):
        outcome = claude("Bash(git push:*)", place, decision)
        assert [(r.decision, r.text) for r in outcome.rules] == [(kept, "Bash(git push:*)")]


def test_an_exact_command_is_allowed_by_what_it_became(place: Place) -> None:
    for command in (
        "git log --output=x",
        "cat /etc/hosts",
        "python -c 'print(1)'",
        "FOO=1 make x",
        "ls src/*.py | wc -l",
    ):
        outcome = claude(f"Bash({command})", place)
        assert outcome.rules, outcome.note
        verdict = Policy(outcome.rules, place).judge(
            accesses_of("Bash", {"command": command}, place), mode="default", now=0, tool="Bash"
        )
        assert verdict.decision is Decision.ALLOW, command


def test_codex_rules_are_words_with_alternatives(tmp_path: Path, place: Place) -> None:
    file = tmp_path / "default.rules"
    file.write_text(
        'prefix_rule(pattern=["git", ["log", "show"]], decision="allow", justification="reading")\n'
        'prefix_rule(pattern=["git", "push"], decision="prompt")\n'
        'prefix_rule(pattern=["rm"], decision="forbidden")\n'
        'prefix_rule(pattern=["/bin/zsh", "-lc", "git status | head -3"])\n'
    )
    told = [(str(r.decision), r.text) for f in importformats.read(file) for r in convert(f, place).rules]
    assert told == [
        ("allow", "Bash(git log:*)"),
        ("allow", "Bash(git show:*)"),
        ("ask", "Bash(git push:*)"),
        ("deny", "Bash(rm:*)"),
        ("allow", "Bash(git status)"),
        ("allow", "Bash(head -3)"),
    ]


def test_settings_among_the_permissions_are_said_not_to_be_taken_over(tmp_path: Path, place: Place) -> None:
    file = tmp_path / "settings.json"
    for content, told in (
        (
            {"permissions": {"allow": [], "defaultMode": "plan", "additionalDirectories": ["../x"]}},
            ['permissions.additionalDirectories = ["../x"]', 'permissions.defaultMode = "plan"'],
        ),
        ({"tools": {"core": ["ReadFileTool"]}}, ['tools.core = ["ReadFileTool"]']),
        ({"coreTools": ["ReadFileTool"], "tools": {}}, ['coreTools = ["ReadFileTool"]']),
    ):
        file.write_text(json.dumps(content))
        found = [convert(f, place) for f in importformats.read(file)]
        assert [(o.status, o.foreign.text) for o in found] == [("refused", text) for text in told]
        assert all("no rule" in o.note or "not a rule" in o.note for o in found)


def test_gemini_settings_and_policies(tmp_path: Path, place: Place) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(
        json.dumps(
            {
                "tools": {
                    "allowed": ["run_shell_command(git status)", "ReadFileTool"],
                    "exclude": ["ShellTool(rm -rf)"],
                },
                "mcpServers": {"docs": {"trust": True}, "other": {}},
            }
        )
    )
    told = [(str(r.decision), r.text) for f in importformats.read(settings) for r in convert(f, place).rules]
    assert told == [
        ("allow", "Bash(git status:*)"),
        ("allow", "Read"),
        ("deny", "Bash(rm -rf:*)"),
        ("allow", "mcp__docs"),
    ]
    policy = tmp_path / "mine.toml"
    policy.write_text(
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = ["git log", "ls"]\ndecision = "allow"\npriority = 1\n'
        '[[rule]]\ntoolName = "run_shell_command"\ncommandRegex = "^(git|hg) push"\ndecision = "deny"\n'
        '[[rule]]\ntoolName = "write_file"\ndecision = "ask_user"\n'
    )
    told = [(str(r.decision), r.text) for f in importformats.read(policy) for r in convert(f, place).rules]
    assert told == [
        ("allow", "Bash(git log:*)"),
        ("allow", "Bash(ls:*)"),
        ("deny", "Bash(git push:*)"),
        ("deny", "Bash(hg push:*)"),
        ("ask", "Write"),
    ]


def test_opencode_defaults_that_later_rules_relax_are_left_out(tmp_path: Path, place: Place) -> None:
    file = tmp_path / "opencode.json"
    file.write_text(
        '{\n  // mine\n  "permission": {"edit": "allow", "bash": {"*": "deny", "git log *": "allow", "rm *": "deny"},\n'
        '  "webfetch": "ask",},\n}'
    )
    outcomes = list(convert_all(importformats.read(file), place))
    assert [(o.status, str(o.foreign.decision), [r.text for r in o.rules]) for o in outcomes] == [
        ("kept", "allow", ["Edit"]),
        ("refused", "deny", []),
        ("kept", "allow", ["Bash(git log:*)"]),
        ("kept", "deny", ["Bash(rm:*)"]),
        ("kept", "ask", ["WebFetch"]),
    ]


def test_vscode_settings(tmp_path: Path, place: Place) -> None:
    file = tmp_path / "settings.json"
    file.write_text(
        json.dumps(
            {
                "editor.fontSize": 12,
                "chat.tools.terminal.autoApprove": {
                    "git status": True,
                    "rm": False,
                    "/^git (log|show)\\b/": True,
                    "/^.*evil.*$/i": True,
                    "npm test": {"approve": True, "matchCommandLine": True},
                    "ls": None,
                },
                "chat.tools.edits.autoApprove": {"**/*.md": True, "**/.vscode/*.json": False},
            }
        )
    )
    outcomes = [convert(f, place) for f in importformats.read(file)]
    assert [(o.status, str(o.foreign.decision), [r.text for r in o.rules]) for o in outcomes] == [
        ("kept", "allow", ["Bash(git status:*)"]),
        ("kept", "ask", ["Bash(rm:*)"]),
        ("split", "allow", ["Bash(git log:*)", "Bash(git show:*)"]),
        ("refused", "allow", []),
        ("kept", "allow", ["Bash(npm test:*)"]),
        ("kept", "allow", ["Edit(*.md)"]),
        ("kept", "ask", ["Edit(.vscode/*.json)"]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"chat.tools.autoApprove": true,}',
        '{"chat.tools.autoApprove": true, // all of it\n}',
        '{/* , */ "chat.tools.autoApprove": true, /* all */ /* of it */ }',
        '{"chat.tools.autoApprove": true, "x": ["a, // ]", "b",],}',
    ],
)
def test_settings_may_hold_comments_and_trailing_commas(text: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)
    assert [f.text for f in importformats.read(file)] == ["chat.tools.autoApprove"]


def test_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("nothing")
    for name in ("pipe.json", "folder.json", "link.json", "none.json"):
        with pytest.raises(SettingsError, match="Name a settings file"):
            importformats.read(tmp_path / name)


@pytest.mark.parametrize("text", ["", "[]", "{", "nonsense"])
def test_a_file_that_is_none_of_theirs_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"x\.json"):
        importformats.read(file)


def _sample() -> list[tuple[str, importformats.Foreign]]:
    found: list[tuple[str, importformats.Foreign]] = []
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        record: dict[str, Any] = json.loads(line)
        rules: list[importformats.Foreign] = []
        if record["format"] == "claude":
            rules = list(importformats.claude(record))
        elif record["format"] == "codex":
            decisions = (("allow", "allow"), ("ask", "prompt"), ("deny", "forbidden"))
            rules = list(importformats.codex([(words, name) for key, name in decisions for words in record[key]]))
        elif record["format"] == "opencode":
            permission: dict[str, dict[str, str]] = {}
            for tool, pattern, decision in record["ordered"]:
                permission.setdefault(tool, {})[pattern] = decision
            rules = list(importformats.opencode({"permission": permission}))
        found += [(record["id"], rule) for rule in rules]
    return found


@pytest.mark.skipif(not SAMPLE.exists(), reason="the shared corpus is not beside this checkout")
def test_real_rule_files_import_and_every_refusal_says_why(place: Place) -> None:
    outcomes = [convert(foreign, place) for _, foreign in _sample()]
    assert len(outcomes) > 700
    for outcome in outcomes:
        assert bool(outcome.rules) is (outcome.status != "refused"), outcome
        assert outcome.note or outcome.status == "kept", outcome
        foreign = outcome.foreign
        exact = foreign.how == "claude" and foreign.tool == "Bash" and "*" not in (foreign.pattern or "*")
        if exact and outcome.rules and foreign.decision is Decision.ALLOW:
            accesses = accesses_of("Bash", {"command": foreign.pattern}, place)
            verdict = Policy(outcome.rules, place).judge(accesses, mode="default", now=0, tool="Bash")
            assert verdict.decision is Decision.ALLOW, (foreign.text, verdict.reason)
    assert sum(o.status == "kept" for o in outcomes) / len(outcomes) > 0.85
