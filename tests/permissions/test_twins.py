"""A file that a rule closes is closed under each of its names."""

from __future__ import annotations

import os

import pytest

from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision


def decided(disk: Place, rule: str, text: str) -> str:
    rules = [
        *[codec.parse(each, Decision.ALLOW) for each in ("Bash", "Read", "Edit")],
        codec.parse(rule, Decision.DENY),
    ]
    tool, input = ("Read", {"file_path": text.split()[1]}) if text.startswith("Read ") else ("Bash", {"command": text})
    return Policy(rules, disk).judge(accesses_of(tool, input, disk), mode="default", now=0.0, tool=tool).decision.name


@pytest.fixture
def linked(disk: Place) -> Place:
    """`hard` and `secrets/deep/a` are one file, `other` and `out` another."""
    os.makedirs(f"{disk.cwd}/secrets/deep")
    for name, other in (("secrets/deep/a", "hard"), ("other", "out")):
        with open(f"{disk.cwd}/{name}", "x"):
            pass
        os.link(f"{disk.cwd}/{name}", f"{disk.cwd}/{other}")
    return disk


@pytest.mark.parametrize(
    "pattern", ["secrets/deep/a", "secrets/**", "secrets/", "secrets/*/a", "secrets", "/secrets/deep/*"]
)
@pytest.mark.parametrize("text", ["cat hard", "cat < hard", "Read hard", "cp hard b"])
def test_another_name_of_a_closed_file_is_closed(linked: Place, pattern: str, text: str) -> None:
    pattern = pattern if pattern[0] != "/" else f"/{linked.cwd}{pattern}"
    assert decided(linked, f"Read({pattern})", text) == "DENY"
    assert decided(linked, f"Read({pattern})", text.replace("hard", "other")) == "ALLOW"


def test_what_is_written_under_another_name_is_written_and_what_is_removed_is_that_name(linked: Place) -> None:
    assert decided(linked, "Edit(secrets/**)", "echo x > hard") == "DENY"
    assert decided(linked, "Edit(secrets/**)", "rm hard") == "ALLOW"
    assert decided(linked, "Edit(secrets/**)", "echo x > out") == "ALLOW"
