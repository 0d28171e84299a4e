"""Path patterns: gitignore's reading, strict for allow rules, and the meeting of two patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli.access import Place
from hitl_cli.errors import RuleError
from hitl_cli.permissions.globs import fits, meet, parse
from hitl_cli.permissions.pathtree import Index

PLACE = Place("/w", ("/w", "/extra"), "/home/u")


def matches(pattern: str, path: str, *, strict: bool = True, place: Place = PLACE) -> bool:
    index: Index[str] = Index(place, strict=strict)
    index.add(parse(pattern, place.home), pattern)
    return pattern in index.find(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/**", "/w/src/a/b.py"),
        ("src/*.py", "/w/src/a.py"),
        ("./src/*.py", "/w/src/a.py"),
        ("src", "/w/src/a.py"),
        ("src", "/w/deep/src/a.py"),
        ("docs/", "/w/docs/x/y.md"),
        ("*.md", "/w/deep/er/a.md"),
        (".env", "/w/services/api/.env"),
        ("**/gen/*.ts", "/w/a/b/gen/x.ts"),
        ("**/gen/*.ts", "/w/gen/x.ts"),
        ("src/**/test_*.py", "/w/src/test_a.py"),
        ("src/**/test_*.py", "/w/src/x/y/test_a.py"),
        ("**", "/w/anything"),
        ("**", "/extra/anything"),
        ("~/notes/**", "/home/u/notes/a"),
        ("~/", "/home/u/x"),
        ("/etc/hosts", "/etc/hosts"),
        ("/etc/**", "/etc/a/b"),
        ("src/a[0-9].py", "/w/src/a1.py"),
        ("src/a[!0-9].py", "/w/src/ax.py"),
        ("logs/a?.txt", "/w/logs/a1.txt"),
        (r"src/\[id\]/a.ts", "/w/src/[id]/a.ts"),
    ],
)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert matches(pattern, path)
    assert matches(pattern, path, strict=False)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/*.py", "/w/src/x/a.py"),
        ("src/**", "/w/src"),
        ("src/**", "/w/lib/src/a"),
        ("*.md", "/w/a.mdx"),
        ("*.md", "/w/a.md.sh"),
        (".env", "/w/.env.example"),
        ("docs/", "/w/docs"),
        ("**", "/wx/a"),
        ("**", "/home/u/a"),
        ("src", "/home/u/src/a"),
        ("logs/a?.txt", "/w/logs/a/.txt"),
        ("SRC/**", "/w/src/a"),
        ("src/*", "/w/src/a/b"),
    ],
)
def test_an_allow_rule_does_not_match(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_a_deny_rule_also_bites_below_a_folder_that_it_matches() -> None:
    assert matches("secret*", "/w/a/secrets/deep/k", strict=False)
    assert not matches("secret*", "/w/a/secrets/deep/k")
    assert matches("src/*", "/w/src/a/b", strict=False)


def test_case_is_folded_where_the_disk_does() -> None:
    assert matches("Src/**", "/w/sRC/A", place=Place("/w", ("/w",), "/h", folds_case=True))


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        ("", "Write `**`"),
        ("  ", "Write `**`"),
        ("../x", "Write the folder itself"),
        ("src/../../x", "Write the folder itself"),
        ("!src", "Write a deny or ask rule"),
        ("a[b", "write \\["),
    ],
)
def test_a_mistake_says_what_to_write(pattern: str, remedy: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(pattern, "/home/u")
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("rule", "shell", "together"),
    [
        (".env", ".e*", True),
        (".env", "*", False),
        (".env", "*.py", False),
        ("**/.env", "src/**", True),
        ("**/.env", "**", True),
        ("secrets/**", "*/key", True),
        ("secrets/**", "src/*", False),
        ("*.pem", "k?.pem", True),
        ("[ab].txt", "?.txt", True),
        ("a*z", "*q*", True),
        ("a*z", "b*", False),
    ],
)
def test_two_patterns_that_may_name_the_same_path_meet(rule: str, shell: str, together: bool) -> None:
    assert meet(rule.split("/"), shell.split("/")) is together


SEGMENT = st.sampled_from(["a", "b", "ab", "*", "a*", "?", "**"])
NAME = st.sampled_from(["a", "b", "ab", "abb"])


@given(
    st.lists(SEGMENT, min_size=1, max_size=4),
    st.lists(SEGMENT, min_size=1, max_size=4),
    st.lists(NAME, min_size=1, max_size=4),
)
def test_a_path_that_fits_both_patterns_shows_that_they_meet(a: list[str], b: list[str], path: list[str]) -> None:
    if fits(a, path, True) and fits(b, path, True):
        assert meet(a, b)


@given(st.lists(st.lists(SEGMENT, min_size=1, max_size=4), max_size=6), st.lists(NAME, min_size=1, max_size=4))
def test_the_index_finds_what_each_pattern_alone_matches(patterns: list[list[str]], path: list[str]) -> None:
    texts = {"/".join(p) for p in patterns}
    index: Index[str] = Index(PLACE, strict=True)
    for text in texts:
        index.add(parse(text, PLACE.home), text)
    at = "/w/" + "/".join(path)
    assert set(index.find(at)) == {text for text in texts if matches(text, at)}


@given(st.lists(st.lists(SEGMENT, min_size=1, max_size=4), max_size=6), st.lists(SEGMENT, min_size=1, max_size=4))
def test_the_index_finds_what_each_pattern_alone_may_match(patterns: list[list[str]], shell: list[str]) -> None:
    texts = {"/".join(p) for p in patterns}
    index: Index[str] = Index(PLACE, strict=False)
    for text in texts:
        index.add(parse(text, PLACE.home), text)
    glob = "/w/" + "/".join(shell)
    found = set()
    for text in texts:
        alone: Index[str] = Index(PLACE, strict=False)
        alone.add(parse(text, PLACE.home), text)
        found |= set(alone.may(glob))
    assert set(index.may(glob)) == found
