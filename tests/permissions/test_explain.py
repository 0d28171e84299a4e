"""A verdict in words."""

from __future__ import annotations

from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.explain import facts, tree
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Source


def test_the_tree_shows_the_rule_file_and_line_of_each_part(disk: Place) -> None:
    rules = [
        codec.parse("Bash(git log:*)", Decision.ALLOW, Source("user", "/u/rules.toml", 3)),
        codec.parse("Bash(cp:*)", Decision.ALLOW, Source("project", "/p.toml", 9)),
        codec.parse("Read(.env)", Decision.DENY, Source("user", "/u/rules.toml", 7)),
    ]
    command = "cd src && timeout 5 git log | tee out && cp /etc/hosts ../f.txt && cat ../.env"
    verdict = Policy(rules, disk).judge(
        accesses_of("Bash", {"command": command}, disk), mode="default", now=0, tool="Bash"
    )
    assert tree(verdict, near=disk.workspace, home="/u") == (
        "deny: reading `.env` is denied by Read(.env)",
        "├─ allow 1 cd src: it stays in the workspace",
        "├─ allow 2 timeout 5 git log: Bash(git log:*), ~/rules.toml:3",
        "├─ ask   3 tee out: no rule covers it",
        "├─ allow 4 cp /etc/hosts ../f.txt: Bash(cp:*), /p.toml:9",
        "│  └─ ask   read /etc/hosts: no rule covers it",
        "└─ ask   5 cat ../.env: no rule covers it",
        "   └─ deny  read src/../.env: Read(.env), ~/rules.toml:7",
    )
    told = next(fact for fact in facts(verdict) if fact["text"] == "timeout 5 git log")
    assert told == {
        "text": "timeout 5 git log",
        "decision": "allow",
        "by": "rule",
        "reason": "`timeout 5 git log` is allowed by Bash(git log:*)",
        "rule": "Bash(git log:*)",
        "layer": "user",
        "file": "/u/rules.toml",
        "line": 3,
    }


def test_what_a_launcher_starts_is_named_alone_and_what_removes_comes_first(disk: Place) -> None:
    accesses = accesses_of("Bash", {"command": "make deploy ENV=prod && sudo rm -rf ~/x"}, disk)
    verdict = Policy([], disk).judge(accesses, mode="default", now=0, tool="Bash")
    assert tree(verdict, home=disk.home) == (
        "ask: no rule covers `rm -rf ~/x` within sudo; part 3 of 3",
        "├─ ask   1 make deploy ENV=prod: no rule covers it",
        "├─ ask   2 sudo rm -rf ~/x: no rule covers it",
        "└─ ask   3 rm -rf ~/x (in sudo): no rule covers it",
        "   └─ ask   remove ~/x: no rule covers it",
    )
