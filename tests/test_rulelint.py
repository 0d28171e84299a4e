"""What is wrong with rules that load; and the few that would have saved questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_cli.access import Place
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule, Source
from hitl_cli.records import replace
from hitl_cli.rulelint import Beside, examples, lint
from hitl_cli.ruleproposal import propose
from tests.permissions.steps import growth


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "w").mkdir()
    return Place(f"{tmp_path}/w", (f"{tmp_path}/w",), f"{tmp_path}/home", (f"{tmp_path}/w/.hitl",))


def rule(text: str, line: int = 1, decision: Decision = Decision.ALLOW) -> Rule:
    return codec.parse(text, decision, Source("user", "/rules.toml", line))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Bash(do echo:*)", "never allows what it spells"),
        ("Bash(/usr/bin/git log:*)", ""),
        ("Bash(git log )", "stray space"),
        ("Bash", "allows every command"),
        ("Bash(* --version)", "any program of such a name"),
        ("Bash(git*)", "any program of such a name"),
        ("bash(ls:*)", "Did you mean Bash?"),
        ("Bsh", "Did you mean Bash?"),
        ("Deploy(env:staging)", ""),
        ("Bash(python3:*)", "allows any code"),
        ("Bash(npm run:*)", ""),
        ("Bash(npm exec:*)", "allows any code"),
        ("Bash(bash:*)", "allows any code"),
        ("Bash(git log:*)", ""),
        ("Bash(npm run test*)", ""),
        ("Read(/nowhere/such/**)", "begins at the root of the disk"),
        ("Read(src/**)", ""),
        ("Write(.hitl/config.toml)", "always asked about"),
        ("Edit(.hitl/)", "always asked about"),
        ("Read(~/.ssh/id_rsa)", "ssh keys open other machines"),
        ("Write(~/.ssh/**)", "ssh keys open other machines"),
        ("Write(.git/hooks/**)", "always asked about"),
        ("Write(.git/info/**)", ""),
        ("Read(.hitl/**)", ""),
        ("Write(~/notes/**)", ""),
        ("Write(~/**)", ""),
        ("Write(**)", ""),
        ("Write(*.md)", ""),
    ],
)
def test_a_rule_that_never_matches_or_grants_too_much_is_found(text: str, problem: str, place: Place) -> None:
    found = list(lint([rule(text)], place, 0))
    assert problem in str(found[0]) if problem else found == []


def test_a_rule_that_is_covered_or_undone_by_another_is_found(place: Place) -> None:
    found = list(lint([rule("Bash(git log -5)", 1), rule("Bash(git log:*)", 4)], place, 0))
    assert [str(f).splitlines()[0] for f in found] == [
        "/rules.toml:1: allow Bash(git log -5): is covered by Bash(git log:*) at /rules.toml:4"
    ]
    found = list(lint([rule("Bash(git push:*)", 1), rule("Bash(git push:*)", 4, Decision.DENY)], place, 0))
    assert [str(f).splitlines()[0] for f in found] == [
        "/rules.toml:1: allow Bash(git push:*): is undone by deny Bash(git push:*) at /rules.toml:4"
    ]
    for path, closed in (("Read(.env)", "Read(.env)"), ("Write(src/**)", "Edit(src/)"), ("Read(src/*.py)", "Read")):
        found = list(lint([rule(path, 1), rule(closed, 4, Decision.DENY)], place, 0))
        assert [f.problem for f in found] == [f"is undone by deny {closed} at /rules.toml:4"]
    assert list(lint([rule("Read(src/**)", 1), rule("Read(src/a.py)", 4, Decision.DENY)], place, 0)) == []
    spelled = [rule("Bash(git log --output=x)", 1), rule("Bash(git log:*)", 4)]
    assert list(lint(spelled, place, 0)) == []


@pytest.mark.parametrize(
    ("text", "wider", "found"),
    [
        ("Bash(foo *)", "Bash(foo:*)", "foo:*"),
        ("Read(src/a.py)", "Read(src/**)", "src/**"),
        ("Read(src/*/x)", "Read(src/**)", "src/**"),
        ("Read(src/**)", "Read(**)", "**"),
        ("Read(*.py)", "Read(**)", "**"),
        ("Write(src/a/**)", "Edit(src/**)", "src/**"),
        ("Write(~/a/b)", "Write(~/a/**)", "~/a/**"),
        ("Write(.vscode/x)", "Write(**)", ""),
        ("Read(*.py)", "Read(src/**)", ""),
        ("Read(/etc/hosts)", "Read(**)", ""),
        ("Edit(src/a)", "Write(src/**)", ""),
        ("Read(src/a)", "Write(src/**)", ""),
    ],
)
def test_a_rule_that_a_wider_one_covers_is_found_wherever_it_stands(
    text: str, wider: str, found: str, place: Place
) -> None:
    for rules in ([rule(text, 4), rule(wider, 1)], [rule(wider, 1), rule(text, 4)]):
        problems = [f"{f.rule.text} {f.problem}" for f in lint(rules, place, 0)]
        if text == "Bash(foo *)":  # the same: it is said of the later one
            assert [problem.partition(" is covered by")[0] for problem in problems] == [rules[1].text]
        else:
            tool = wider.partition("(")[0]
            assert problems == ([f"{text} is covered by {tool}({found}) at /rules.toml:1"] if found else [])


@pytest.mark.parametrize(
    ("text", "broad"),
    [
        ("python3 -m:*", True), ("python3 -u:*", True), (".venv/bin/python3.12:*", True), ("npx -y:*", True),
        ("docker compose exec:*", True), ("node --version:*", False), ("python3 x.py:*", False), ("npm config:*", False),
        ("python3 -m pytest:*", False), ("git push:*", False),
    ],
)  # fmt: skip
def test_a_rule_that_grants_any_code_is_found_however_it_is_spelled(text: str, broad: bool, place: Place) -> None:
    assert any("allows any code" in f.problem for f in lint([rule(f"Bash({text})")], place, 0)) is broad


def test_a_rule_whose_time_is_over_is_found(place: Place) -> None:
    (found,) = lint([replace(rule("Bash(a b)"), until=5.0)], place, 10.0)
    assert found.problem == "its time is over"


def test_examples_are_tried_out_with_the_rules_beside_them(place: Place) -> None:
    log = replace(
        rule("Bash(git log:*)"), match=("git log -5 | head -3",), not_match=("git log --output=x", "git push")
    )
    head = rule("Bash(head:*)", 5)
    assert list(lint([log, head], place, 0)) == []
    assert [f.problem for f in lint([log], place, 0)] == ["does not match its example `git log -5 | head -3`"]
    wrong = replace(head, not_match=("head -1 f",))
    assert [f.problem for f in lint([wrong], place, 0)] == ["matches `head -1 f`, which it says it does not"]
    path = replace(rule("Read(.env)", 1, Decision.DENY), match=("a/.env",), not_match=("a/.env.example",))
    assert list(lint([path], place, 0)) == []


def test_the_rules_that_would_have_saved_most_come_first(place: Place) -> None:
    calls = [("Bash", {"command": f"make test{n}"}) for n in range(2)]
    calls += [("Bash", {"command": f"git commit -m {n}"}) for n in range(5)]
    calls += [("Write", {"file_path": f"src/{n}.py"}) for n in range(3)]
    calls += [("Bash", {"command": "sudo reboot"})] * 9
    calls += [("Bash", {"command": "go vet ./... && go test ./... | tail"})] * 4
    found = propose(calls, [], Policy([codec.parse("Bash(tail:*)")], place), 0)
    assert [(p.suggestion.rules, p.saves) for p in found] == [
        (("Bash(git commit:*)",), 5),
        (("Bash(go vet ./...)", "Bash(go test ./...)"), 4),
        (("Write(src/**)",), 3),
    ]


def test_nothing_is_proposed_when_nothing_was_asked(place: Place) -> None:
    assert propose([], [], Policy([], place), 0) == []


def test_the_steps_grow_as_the_rules_do(place: Place) -> None:
    def study(times: int) -> None:
        list(lint([rule(f"Bash(tool sub{n}:*)", n) for n in range(60 * times)], place, 0))

    study(1)  # what is made at the first use
    assert growth(study) < 2.5


@pytest.mark.parametrize("decision", Decision)
@pytest.mark.parametrize(
    ("text", "fits", "other"),
    [
        ("Bash(tool sub{}:*)", "tool sub{} x", "tool other"),
        ("Bash(tool{})", "tool{}", "tool{} x"),
        ("Write(src{}/**)", "src{}/a", "other/a"),
        ("Read(src{}/*.c)", "src{}/a.c", "src{}/a.h"),
        ("WebFetch(domain:h{}.org)", "https://h{}.org/", "https://other.org/"),
    ],
)
def test_the_steps_of_trying_examples_out_grow_as_the_examples_do(
    text: str, fits: str, other: str, decision: Decision, place: Place
) -> None:
    """As a file loads and as it is looked at."""

    def laid(number: int) -> Rule:
        made = rule(text.format(number), number, decision)
        return replace(made, match=(fits.format(number),), not_match=(other.format(number),))

    def tried(times: int) -> None:
        rules = [laid(number) for number in range(20 * times)]
        beside = Beside(rules, place)
        assert not [found for r in rules for found in examples(r, beside, 0)]

    tried(1)  # what is made at the first use
    assert growth(tried) < 2.3
