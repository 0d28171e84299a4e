"""Our diffs and our reading of ignore files, checked against git's own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_cli.access import Place
from hitl_cli.tools.diff import unified
from hitl_cli.tools.names import walk

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " ", "a\r", "\f", "@@ -1 +1 @@", "--- x"]), max_size=30)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))
quick = settings(max_examples=200, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(TEXTS, TEXTS)
def test_git_applies_our_diff_and_gets_the_new_text(before, after):
    text = unified(before, after, "f")
    if all("\r\n" in side and side.count("\r\n") == side.count("\n") for side in (before, after)):
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")  # shown without what is the same
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        file.write_bytes(before.encode())
        if text:
            argv = ["git", "apply", "--whitespace=nowarn", "--unidiff-zero", "-"]
            subprocess.run(argv, cwd=folder, input=text.encode(), check=True, capture_output=True)
        assert file.read_bytes().decode() == after


def test_a_diff_of_large_different_files_is_whole_and_quick():
    before = "".join(f"old {n % 7}\n" for n in range(60_000))
    after = "".join(f"new {n % 5}\n" for n in range(60_000))
    diff = unified("same\n" + before, "same\n" + after, "f")
    assert diff.startswith("--- a/f\n+++ b/f\n@@ -1,60001 +1,60001 @@\n same\n-old 0\n")
    assert (diff.count("\n-old"), diff.count("\n+new")) == (60_000, 60_000)


NAMES = st.sampled_from(["a", "b", "a.log", "b.txt", "build", ".x", "a b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.text("ab*/!.[]x\\ ?^", max_size=7) | st.sampled_from(
    ["*.log", "build/", "!a.log", "a/*", "**/b.txt", "a/**/b", "[ab].log", "!*.txt", "[[:alpha:]]", "#x", "[a-c]*"]
)
IGNORES = st.lists(PATTERNS, max_size=4)


@pytest.mark.slow
@quick
@given(st.sets(PATHS, min_size=1, max_size=12), IGNORES, st.dictionaries(NAMES, IGNORES, max_size=2))
def test_we_ignore_what_git_ignores(paths, top, below):
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        for path in sorted(paths):
            file = folder / path
            if not any(p.is_file() for p in file.parents) and not file.is_dir():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("x")
        (folder / ".gitignore").write_text("\n".join(top))
        for name, patterns in below.items():
            if (folder / name).is_dir():
                (folder / name / ".gitignore").write_text("\n".join(patterns))
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        argv = ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-zco", "--exclude-standard"]
        listed = subprocess.run(argv, cwd=folder, check=True, capture_output=True).stdout.decode()
        place = Place(str(folder), (str(folder),), str(folder))
        ours = [path[len(str(folder)) + 1 :] for path, _ in walk(str(folder), place, lambda _: True)]
        assert sorted(ours) == sorted(filter(None, listed.split("\0")))
    finally:
        shutil.rmtree(folder)
