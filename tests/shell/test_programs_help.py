"""The table against what the programs say of themselves: which options take a value, and how.

An option wrongly said to take a value would hide the next word from every rule; one wrongly said to take none would
show its value as an operand. Only programs that are installed here are asked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitl_cli.shell.programs import row_of
from hitl_cli.shell.programs.table import Row, word_set

GNU = sorted(
    word_set(
        "sort grep sed tar cut head tail wc uniq shuf split cp mv ln rm ls du df date tee touch mkdir chmod nl base32 cmp "
        "truncate tac paste fold expand realpath install shred sdiff csplit comm numfmt join"
    )
)
# Plumbing with options that are neither in an allow rule of anybody nor of any effect here.
QUIET = word_set(
    "am credential-cache credential-store daemon for-each-repo init-db merge-file pack-objects read-tree index-pack repack "
    "replace send-pack update-index upload-pack write-tree fast-export fetch mailinfo"
)


def output(*words: str, cwd: Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=cwd, check=False)
    return done.stdout + done.stderr


def git_rows() -> Iterator[tuple[tuple[str, ...], Row]]:
    for name, row in ((git.subs if (git := row_of("git")) else None) or {}).items():
        yield (name,), row.compile()
        for sub, inner in (row.subs or {}).items():
            yield (name, sub), inner.compile()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.mark.slow
def test_long_options_of_git_take_a_value_where_git_says_so(repository: Path) -> None:
    wrong = []
    for words, row in git_rows():
        for option in output("git", *words, "--git-completion-helper-all", cwd=repository).split():
            name, equals, _ = option.partition("=")
            if not name.startswith("--") or name == "--" or "{" in name:
                continue
            ours = row.known.get(name)
            if equals and words[0] not in QUIET and (ours is None or not ours.takes):
                wrong.append((words, name, "takes a value"))
    assert wrong == []


@pytest.mark.slow
def test_short_options_of_git_never_swallow_a_word_that_git_would_read_as_an_option(repository: Path) -> None:
    wrong = []
    for words, row in git_rows():
        for line in output("git", *words, "-h", cwd=repository).splitlines():
            match = re.match(r"    -(\w)(?:, --(?:\[no-\])?[\w-]+)?(.*)", line)
            if match is None:
                continue
            ours = row.known.get(f"-{match[1]}")
            if ours is not None and ours.takes == "=" and match[2][:2] not in (" <", " ("):
                wrong.append((words, match[1], match[2].strip()))
    assert [w for w in wrong if w[0][0] not in QUIET] == []


@pytest.mark.parametrize("program", GNU)
def test_options_of_gnu_programs_take_values_as_their_help_says(program: str, tmp_path: Path) -> None:
    if shutil.which(program) is None or "GNU" not in output(program, "--version", cwd=tmp_path):
        pytest.skip(f"no GNU {program} here")
    row = row_of(program)
    if row is None:
        pytest.skip(f"{program} has no row")
    row.compile()
    said: dict[str, set[str]] = {}
    for line in output(program, "--help", cwd=tmp_path).splitlines():
        head = re.split(r"\s{2,}", line.strip())[0]
        if not head.startswith("-"):
            continue
        found = re.findall(r"(?<![\w-])(--?\w[\w-]*)(\[?[= ]?(?:\[[-+]\])?\[?[A-Z][\w.{}|-]*)?", head)
        value = next((text for _, text in found if text), "")
        for name, _ in found:
            said.setdefault(name, set()).add("" if not value else "?" if value.startswith("[") else "=")
    wrong = [
        (name, theirs, row.known[name].takes if name in row.known else "")
        for name, theirs in said.items()
        if ("=" not in theirs if name in row.known and row.known[name].takes == "=" else theirs == {"="})
    ]
    small = {("sed", "e"), ("sed", "f"), ("tar", "p")}  # their help writes these values in small letters
    assert [w for w in wrong if (program, w[0].lstrip("-")[:1]) not in small] == []
