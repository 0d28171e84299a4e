"""Path patterns: gitignore's reading, strict for allow rules, and the meeting of two patterns."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_cli.access import Place
from hitl_cli.errors import RuleError
from hitl_cli.permissions.automaton import ANY, STAY, Automaton
from hitl_cli.permissions.globs import meet, parse, regex, steps
from hitl_cli.permissions.pathtree import Index
from tests.permissions.steps import growth

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


def fits(pattern: Sequence[str], parts: Sequence[str], whole: bool) -> bool:
    row = steps(pattern)
    if row[-1:] == [STAY]:
        row[-1:] = ANY, STAY
    return bool(list(Automaton([(row, not whole, "")]).fits(parts)))


SEGMENT = st.sampled_from(["a", "b", "ab", "*", "a*", "?", "**"])
WILD = st.sampled_from([".a", "*b", "*a*", "a*b", "?b", "b?", "*.a", ".*", "??", "a?*", "a**b"])  # many
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
        found |= set(alone.may(glob, lambda _: True))
    assert set(index.may(glob, lambda _: True)) == found
    wanted = set(sorted(texts)[1:])
    assert set(index.may(glob, wanted.__contains__)) == found & wanted


@settings(max_examples=300)
@given(
    st.lists(st.lists(st.one_of(SEGMENT, WILD), min_size=1, max_size=4), max_size=12),
    st.lists(st.one_of(SEGMENT, WILD), min_size=1, max_size=4),
)
def test_a_pattern_may_match_what_it_meets(patterns: list[list[str]], shell: list[str]) -> None:
    index: Index[str] = Index(PLACE, strict=False)
    for segments in patterns:
        index.add(parse("./" + "/".join(segments), PLACE.home), "/".join(segments))
    row = ["w", *shell]
    met = {
        "/".join(segments) for segments in patterns if meet(["w", *segments], row) or meet(["w", *segments, "**"], row)
    }
    assert set(index.may("/w/" + "/".join(shell), lambda _: True)) == met


def fits_by_definition(pattern: Sequence[str], parts: Sequence[str], whole: bool) -> bool:
    """Every length of every `**` is tried."""
    if not pattern:
        return not (whole and parts)
    first, *others = pattern
    if first == "**":
        if not others:
            return bool(parts)
        return any(fits_by_definition(others, parts[n:], whole) for n in range(len(parts)))
    return bool(parts) and names(first, parts[0]) and fits_by_definition(others, parts[1:], whole)


def names(segment: str, part: str) -> bool:
    """The same for `*` in a segment."""
    if not segment:
        return not part
    if segment[0] == "*":
        return any(names(segment[1:], part[n:]) for n in range(len(part) + 1))
    return bool(part) and segment[0] in ("?", part[0]) and names(segment[1:], part[1:])


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["a", "b", "**", "**", "*", "a*", "*b*a"]), max_size=6),
    st.lists(st.sampled_from(["a", "b", "ab", "ba", "aba"]), max_size=7),
    st.booleans(),
)
def test_a_pattern_fits_a_path_by_definition(pattern: list[str], parts: list[str], whole: bool) -> None:
    assert fits(pattern, parts, whole) is fits_by_definition(pattern, parts, whole)


@settings(max_examples=300)
@given(st.text("ab*?", max_size=8), st.text("ab\n", max_size=10))
def test_a_segment_names_a_part_by_definition(segment: str, part: str) -> None:
    assert bool(regex(segment).fullmatch(part)) is names(segment, part)


@pytest.mark.parametrize("pattern", ["**/a/**/a/**/a/**/b", "**/a*/**/*b/**/c/**", "a/**/a/**/a/b", "**/a/a/a/a/b"])
@pytest.mark.parametrize("path", ["a/", "a/b/", "ab/"])
@pytest.mark.parametrize("strict", [True, False])
def test_the_steps_grow_as_the_path_does(pattern: str, path: str, strict: bool) -> None:
    index: Index[str] = Index(PLACE, strict=strict)
    index.add(parse(pattern, PLACE.home), pattern)
    assert growth(lambda times: list(index.find("/w/" + path * 50 * times + "x"))) < 2.5


@pytest.fixture
def ending() -> Iterator[None]:
    """What does not end in a minute, a thousand times what it takes, is ended."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("ending")
@pytest.mark.parametrize("segment", ["*a*a*a*a*b", "*a?a*[ab]a*a*b*", "a*a*a*a*a*a*ab"])
def test_a_long_name_is_soon_told_from_a_pattern_of_many_stars(segment: str) -> None:
    assert not regex(segment).fullmatch("a" * 60_000)
