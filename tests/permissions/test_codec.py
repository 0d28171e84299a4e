"""The text of a rule and its table: what is read, and what every mistake is answered with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hitl_cli.errors import RuleError
from hitl_cli.permissions.codec import from_table, parse, several, to_table
from hitl_cli.permissions.rule import Decision, Rule, Source

USER = Source("user")


@pytest.mark.parametrize(
    ("text", "tool", "pattern"),
    [
        ("Bash", "Bash", None),
        ("Bash(*)", "Bash", None),
        (" Bash(git log:*) ", "Bash", "git log:*"),
        ("Bash(echo ')')", "Bash", "echo ')'"),
        ("Read(src/**)", "Read", "src/**"),
        ("Read(*)", "Read", "*"),
        ("WebFetch(domain:example.org)", "WebFetch", "domain:example.org"),
        ("mcp__github__get_issue", "mcp__github__get_issue", None),
        ("mcp__github__*", "mcp__github__*", None),
        ("mcp__github", "mcp__github", None),
        ("deploy(env:stag*)", "deploy", "env:stag*"),
    ],
)
def test_a_rule_is_a_tool_and_perhaps_a_pattern(text: str, tool: str, pattern: str | None) -> None:
    assert parse(text, Decision.DENY, USER) == Rule(Decision.DENY, tool, pattern, USER)


@pytest.mark.parametrize(
    ("text", "problem", "remedy"),
    [
        ("", "the rule is empty", "Write `Bash(git log:*)`"),
        ("(x)", "does not begin with the name of a tool", "the name of a tool alone"),
        ("git log", "does not begin with the name of a tool", "Write `Bash(git log:*)`"),
        ("Bash()", "the pattern of `Bash()` is empty", "Write `Bash` to mean every call"),
        ("Bash( )", "is empty", "Write `Bash`"),
        ("Bash(git log", "is not closed", "Write `Bash(git log)`."),
        ("Bash(git log) x", "goes on after its parenthesis", "Write `Bash(git log)`."),
        ("mcp__*", "names no server", "mcp__server__*"),
        ("WebFetch(https://example.org/x)", "is not a pattern for WebFetch", "domain:example.org"),
        ("WebFetch(domain:https://example.org/x)", "is an address", "Write `WebFetch(domain:example.org)`."),
        ("WebFetch(domain:*)", "is not a host", "`WebFetch` for every host"),
        ("WebFetch(domain:ex*mple.org)", "is not a host", "*.example.org"),
        ("deploy(staging)", "is not a pattern for deploy", "argument:glob"),
        ("deploy(env:)", "has nothing after", "Write `deploy(env:*)`"),
    ],
)
def test_a_mistake_is_answered_with_what_to_write(text: str, problem: str, remedy: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(text)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


def test_a_table_holds_everything_a_rule_has() -> None:
    table = {
        "allow": "Bash(git log:*)",
        "reason": "reading history is harmless",
        "match": ["git log -5"],
        "not_match": ["git push"],
        "until": datetime(2026, 12, 31, tzinfo=UTC),
        "added": datetime(2026, 11, 30, 12, tzinfo=UTC),
    }
    rule = from_table(table, USER)
    assert rule == Rule(
        Decision.ALLOW,
        "Bash",
        "git log:*",
        USER,
        "reading history is harmless",
        1798675200.0,
        1796040000.0,
        ("git log -5",),
        ("git push",),
    )
    assert to_table(rule) == table


@pytest.mark.parametrize(
    ("table", "problem", "remedy"),
    [
        ({}, "neither allow, ask nor deny", "Write `allow"),
        ({"allow": "Bash", "deny": "Bash"}, "allow and deny", "Write `allow"),
        ({"alow": "Bash"}, "a rule has no `alow`", "Did you mean `allow`?"),
        ({"allow": "Bash", "zzz": 1}, "a rule has no `zzz`", "A rule may have allow"),
        ({"allow": 3}, "`allow` is a number", "Write a text in quotes"),
        ({"allow": ["Bash"]}, "`allow` is a list", "Write a text in quotes"),
        ({"allow": "Bash", "match": "ls"}, "`match` is a text", "Write a list of texts"),
        ({"allow": "Bash", "match": ["ls", 1]}, "`match` holds a number", "Write a list of texts"),
        ({"allow": "Bash", "not_match": [["ls"]]}, "`not_match` holds a list", "Write a list of texts"),
        ({"allow": "Bash", "reason": True}, "`reason` is true or false", "Write a text"),
        ({"allow": "Bash", "match": "git log"}, "`match` is a text", "Write a list of texts"),
        ({"allow": "Bash", "until": "2027"}, "`until` is a text", "Write a time without quotes"),
        ({"allow": "Bash", "until": 2027}, "`until` is a number", "Write a time without quotes"),
    ],
)
def test_a_table_with_a_mistake_is_answered_with_what_to_write(
    table: dict[str, Any], problem: str, remedy: str
) -> None:
    with pytest.raises(RuleError) as caught:
        from_table(table, USER)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    "rules",
    [
        ("Bash(make)",),
        ("Bash(touch x)", "Bash(make deploy:*)"),
        ("Bash(expr 1 + 2)", "Write(a + b)", "Bash(x:*)"),
        ("Read",),
    ],
)
def test_rules_that_are_kept_together_are_told_apart_again(rules):
    assert several(" + ".join(rules)) == rules
