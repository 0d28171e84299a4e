"""Every behaviour of the five systems that hitl takes its features from has a test that names it.

The ids are those of the project's list of behaviours, one a row: AgentScope, Haystack, agno, Vibes, llm4s.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROWS = {"AS": 56, "HS": 40, "AG": 52, "VB": 26, "LS": 62}
HERE = Path(__file__).parent


@cache
def collected() -> set[str]:
    """The ids in the names and parameter ids of all tests of this folder, as pytest collects them."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--no-header", "--assert=plain", "-n", "0", str(HERE)],
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
    )
    assert listed.returncode == 0, listed.stdout + listed.stderr
    names = [line.partition("::")[2] for line in listed.stdout.splitlines()]
    return {
        f"{system}-{number}"
        for name in names
        for system, number in re.findall(r"\b(?:test_)?([A-Z]{2})[_-](\d\d)", name)
    }


def test_the_list_has_236_rows() -> None:
    assert sum(ROWS.values()) == 236


@pytest.mark.parametrize("system", ROWS)
def test_every_row_has_a_test_and_every_test_a_row(system: str) -> None:
    wanted = {f"{system}-{number:02}" for number in range(1, ROWS[system] + 1)}
    assert sorted(row for row in collected() if row.startswith(system)) == sorted(wanted)


def test_no_test_names_a_system_that_is_not_there() -> None:
    assert {row[:2] for row in collected()} <= set(ROWS)
