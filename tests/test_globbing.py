"""Which files a pattern matches is what bash says, or more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hitl_cli.globbing import COMPARED, matches

GOING_UP = ("/.", "/..")  # of these the reader knows that they may lie anywhere
NAMES = (
    "a",
    "ab",
    "a.txt",
    "b.txt",
    "A",
    "Z",
    "1",
    "-",
    "]",
    "^",
    "!",
    ".env",
    ".a",
    "a]",
    "[a]",
    "ä",
    "a\\",
    "d/a",
    "d/.x",
)
PATTERNS = (
    "*", "?", "??", "a*", "*.txt", "[ab]*", "[!a]*", "[^a]*", "[^a-z]", "[a-c]", "[]]", "[!]]", "[^]]", "[]a]", "a[]]",
    "[[:alpha:]]", "[[:digit:]]*", "[^[:alpha:]]*", "[[:alpha:]_-]", "[[=a=]]*", "[[.a.]]*", "[a", "[!", "[]", "[a]]", "[-]",
    "[a-]*", ".*", ".e*", ".[!.]*", ".??*", "*/a", "*/*", "d/*", "d/.*", "[d]/a", "d/[^b]", "[[]*", "*[]]", "**", "**/a",
    "\\[a]*", "\\[a]", "a\\\\*", "a\\\\", "\\**", "\\a*", "[a]]*", "?\\]",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_bash_finds_is_found(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "d").mkdir()
    for name in NAMES:
        (tmp_path / name).write_text("x")
    command = ["bash", "--noprofile", "--norc", "-c", f"printf '%s\\n' {pattern}"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    found, left = matches(f"{tmp_path}/{pattern}", COMPARED, {})
    assert left >= 0
    there = {f"{tmp_path}/{name}" for name in said if (tmp_path / name).exists() and not f"/{name}".endswith(GOING_UP)}
    assert there <= {*found}
