"""Glob and Grep: the same files and lines with ripgrep and without it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess

import pytest

from hitl_cli.tools.engines import matches
from hitl_cli.tools.globs import matcher
from hitl_cli.tools.grep import grep_tool

RG = shutil.which("rg")
ENGINES = [
    pytest.param(None, id="without ripgrep"),
    pytest.param(RG, id="with ripgrep", marks=pytest.mark.skipif(RG is None, reason="ripgrep is not installed")),
]
both = pytest.mark.parametrize("rg", ENGINES)


@pytest.fixture
def tree(work):
    files = {
        ".gitignore": "*.log\nbuild/\n!keep.log\n/only-here.txt\n",
        ".git/config": "needle",
        ".github/ci.yml": "needle: ci\n",
        "a.py": "import os\n# needle one\nprint('Needle')\n",
        "b.log": "needle\n",
        "keep.log": "needle kept\n",
        "build/out.py": "needle built\n",
        "only-here.txt": "needle\n",
        "src/only-here.txt": "needle below\n",
        "src/.gitignore": "gen/*\n!gen/kept.py\n",
        "src/gen/x.py": "needle\n",
        "src/gen/kept.py": "needle generated\n",
        "src/café ü.py": "needle utf\n",
        "src/win.py": "needle\r\nother\r\n",
        "src/wide.txt": "",
        "src/image.bin": "needle\0needle\n",
    }
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(text.encode())
    (work / "src/wide.txt").write_bytes("wide needle\n".encode("utf-16"))
    (work.parent / "outside").mkdir()
    (work.parent / "outside" / "secret.py").write_text("needle outside\n")
    (work / "link").symlink_to(work.parent / "outside")
    (work / "link.py").symlink_to(work.parent / "outside" / "secret.py")
    return work


FOUND = [
    ".github/ci.yml",
    "a.py",
    "keep.log",
    "src/café ü.py",
    "src/gen/kept.py",
    "src/only-here.txt",
    "src/wide.txt",
    "src/win.py",
]


def with_engine(session, rg, readable=lambda path: True):
    session.tools["Grep"] = grep_tool(readable, rg)
    return session


def test_glob_leaves_out_what_git_ignores_and_does_not_follow_links(session, tree):
    assert session.text("Glob", pattern="*.py").split("\n") == [
        "a.py",
        "link.py",
        "src/café ü.py",
        "src/gen/kept.py",
        "src/win.py",
    ]
    assert session.text("Glob", pattern="**/*").split("\n") == [
        ".github/ci.yml",
        ".gitignore",
        "a.py",
        "keep.log",
        "link",
        "link.py",
        "src/.gitignore",
        "src/café ü.py",
        "src/gen/kept.py",
        "src/image.bin",
        "src/only-here.txt",
        "src/wide.txt",
        "src/win.py",
    ]


def test_glob_sees_the_files_that_git_sees(session, tree):
    shutil.rmtree(tree / ".git")
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    listed = subprocess.run(
        ["git", "-c", "core.quotepath=off", "ls-files", "-co", "--exclude-standard"],
        cwd=tree,
        capture_output=True,
        check=True,
    )
    assert session.text("Glob", pattern="**").split("\n") == sorted(listed.stdout.decode().split("\n")[:-1])


def test_glob_in_a_folder_gives_paths_from_the_working_folder(session, tree):
    assert session.text("Glob", pattern="*.py", path="src/gen") == "src/gen/kept.py"
    assert session.text("Glob", pattern="*.py", path=str(tree.parent / "outside")) == f"{tree.parent}/outside/secret.py"


def test_a_folder_that_is_ignored_is_searched_when_it_is_named(session, tree):
    assert session.text("Glob", pattern="*", path="build") == "build/out.py"
    assert session.text("Grep", pattern="needle", path="build") == "build/out.py"


def test_what_must_not_be_read_is_not_listed_or_searched(new_session, tree):
    closed = new_session(readable=lambda path: not path.startswith(f"{tree}/src/"))
    assert closed.text("Glob", pattern="*.py") == "a.py\nlink.py"
    assert closed.text("Grep", pattern="needle") == ".github/ci.yml\na.py\nkeep.log"
    assert closed.text("Grep", pattern="needle", path="src/win.py").startswith("no matches")


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "x/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("**/test_*.{py,pyi}", ["test_a.py", "x/test_b.pyi"], ["x/test_b.txt"]),
        ("a/{b,c/**}/d", ["a/b/d", "a/c/x/d", "a/c/d"], ["a/d"]),
        ("[ab]?.txt", ["ax.txt"], ["cx.txt", "a/.txt"]),
        ("[!a].txt", ["b.txt"], ["a.txt", "/.txt"]),
        ("src/", ["src/a", "src/x/a"], ["src"]),
        ("./a*", ["ab", "x/ab"], ["b"]),
        ("a.b", ["a.b"], ["axb"]),
        ("src/**", ["src/a", "src/x/y"], ["srcs/a"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        ("[[:digit:]]*", ["1a"], ["a1"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("a[", ["a["], ["ab"]),
        ("*a*b*", ["ab", "xaxbx", "bab", "aabb"], ["ba", "a/b"]),
        ("a*b?c", ["abxc", "abbbc", "abxbxc"], ["abc", "abxcx"]),
        ("**/a/**/b/**/c", ["a/b/c", "a/a/x/b/a/b/c", "x/a/b/y/c"], ["a/c", "b/a/c"]),
        ("x**y/z", ["xy/z", "x1y/z"], ["x/y/z"]),
    ],
)
def test_globs_mean_what_people_expect(pattern, yes, no):
    assert [p for p in (*yes, *no) if matcher(pattern).match(p)] == yes


@pytest.mark.parametrize("pattern", ["*a" * 30 + "*b", "**/a*/" * 30 + "b", "*?" * 60 + "b"])
def test_a_hostile_glob_takes_no_longer_than_others(pattern):
    path = "/".join(["a" * 200] * 40) + "/c"
    assert matcher(pattern).match(path) is None


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "~/x", "{a,b}" * 9])
def test_a_pattern_that_leaves_the_folder_or_explodes_is_refused(session, work, pattern):
    assert not session.run("Glob", pattern=pattern).ok


def test_glob_of_a_missing_folder_is_an_error_and_of_nothing_is_not(session, work):
    assert session.run("Glob", pattern="*", path="none").ok is False
    assert session.text("Glob", pattern="*.zig") == "no files (what .gitignore names is not listed)"


def test_many_names_are_capped(session, work):
    for n in range(1005):
        (work / f"f{n:04}").touch()
    assert session.text("Glob", pattern="f*").endswith("\nf0999\n(and 5 more: give a narrower pattern or path)")


def test_very_deep_folders_are_walked(session, work):
    here = os.open(work, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("deep.txt", os.O_CREAT, dir_fd=here))
    os.close(here)
    (work / "e.txt").touch()
    listed = session.text("Glob", pattern="*.txt")
    subprocess.run(["rm", "-rf", str(work / "d")], check=True)  # too deep for what clears the folders of tests
    assert listed.split("\n") == ["d/" * 1500 + "deep.txt", "e.txt"]


@both
def test_grep_names_files_with_a_match(session, tree, rg):
    assert with_engine(session, rg).text("Grep", pattern="needle").split("\n") == FOUND


@both
def test_grep_shows_lines(session, tree, rg):
    with_engine(session, rg)
    assert session.text("Grep", pattern="needle", output_mode="content", **{"-i": True}, glob="*.py") == (
        "a.py:2:# needle one\na.py:3:print('Needle')\nsrc/café ü.py:1:needle utf\n"
        "src/gen/kept.py:1:needle generated\nsrc/win.py:1:needle"
    )
    assert session.text("Grep", pattern="^needle$", output_mode="content", **{"-n": False}) == "src/win.py:needle"


@both
def test_grep_shows_lines_around(session, work, rg):
    (work / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 21)))
    (work / "b.txt").write_text("5\n")
    with_engine(session, rg)
    text = session.text("Grep", pattern="^(5|7|15)$", output_mode="content", **{"-B": 1, "-A": 2})
    assert text == (
        "a.txt-4-4\na.txt:5:5\na.txt-6-6\na.txt:7:7\na.txt-8-8\na.txt-9-9\n--\n"
        "a.txt-14-14\na.txt:15:15\na.txt-16-16\na.txt-17-17\n--\nb.txt:1:5"
    )


@both
def test_grep_counts_lines(session, tree, rg):
    assert (
        with_engine(session, rg).text("Grep", pattern="e", output_mode="count", path="a.py", **{"-i": True}) == "a.py:2"
    )


@both
def test_grep_says_when_there_is_more(session, work, rg):
    (work / "a.txt").write_text("x\n" * 1000)
    (work / "b.txt").write_text("x\n" * 1000)
    with_engine(session, rg)
    assert session.text("Grep", pattern="x", output_mode="content", head_limit=2) == (
        "a.txt:1:x\na.txt:2:x\n(there is more than these 2: narrow the search or raise head_limit)"
    )
    assert session.text("Grep", pattern="x", head_limit=1) == (
        "a.txt\n(there is more than these 1: narrow the search or raise head_limit)"
    )
    assert session.text("Grep", pattern="x", output_mode="count") == "a.txt:1000\nb.txt:1000"


SPACED = ["a.py", "keep.log", "src/café ü.py", "src/gen/kept.py", "src/only-here.txt"]


@both
@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        (r"\bneedle\b", FOUND),
        ("(?i)NEEDLE", FOUND),
        (r"ne{2}dle\s\w+$", SPACED),
        (r"(n)eedle \1?", SPACED),
        (r"needle [^o]", SPACED[1:]),
        (r"needle(?= one)", ["a.py"]),
        (r"print\('", ["a.py"]),
        ("é|utf", ["src/café ü.py"]),
        ("[[:alpha:]]+ kept", ["keep.log"]),
        ("(?<name>kept)$", ["keep.log"]),
    ],
)
def test_patterns_mean_the_same(session, tree, rg, pattern, files):
    assert with_engine(session, rg).text("Grep", pattern=pattern).split("\n") == files


@both
@pytest.mark.parametrize("pattern", ["a(", "*", r"a\nb"])
def test_a_pattern_that_cannot_be_used_is_an_error_result(session, work, rg, pattern):
    (work / "a.txt").write_text("a\n")
    result = with_engine(session, rg).run("Grep", pattern=pattern)
    assert not result.ok
    assert "pattern" in result.content


@both
def test_a_pattern_or_file_that_looks_like_an_option_is_none(session, work, rg):
    (work / "--help").write_text("--version\n")
    assert with_engine(session, rg).text("Grep", pattern="--version") == "--help"


def test_a_pattern_that_would_never_end_can_be_cancelled(session, work):
    (work / "a.txt").write_text("a" * 60 + "!\n")
    with_engine(session, None)

    async def story() -> None:
        call = asyncio.ensure_future(session.arun("Grep", pattern="(a+)+$"))
        await asyncio.wait([call], timeout=0.5)
        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(story())


@both
def test_the_search_of_many_files_keeps_their_order(tmp_path, rg):
    files = [str(tmp_path / f"{n:05}-{'x' * 200}") for n in range(2500)]
    for path in files:
        with open(path, "w") as file:
            file.write("hit\n")

    async def found() -> list[tuple[int, int, str]]:
        return [m async for m in matches("hit", files, ignore_case=False, per_file=0, rg=rg)]

    assert asyncio.run(found()) == [(n, 1, "hit") for n in range(2500)]
