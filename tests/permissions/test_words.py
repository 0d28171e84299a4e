"""Patterns over words: what they mean, what they refuse, and that the index finds what each pattern alone would fit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_cli.access import Unknown, Word
from hitl_cli.errors import RuleError
from hitl_cli.permissions.words import MANY, Item, Many, Star, Words, key, parse, quote
from hitl_cli.permissions.wordtree import Index
from tests.permissions.steps import growth


@pytest.mark.parametrize(
    ("pattern", "items", "rest"),
    [
        ("npm test", ("npm", "test"), False),
        ("git log:*", ("git", "log"), True),
        ("git log *", ("git", "log"), True),
        ("git * main", ("git", MANY, "main"), False),
        ("npm run test*", ("npm", "run", Star(("test", ""))), False),
        ("npm run test*:*", ("npm", "run", Star(("test", ""))), True),
        ("git log '*'", ("git", "log", "*"), False),
        (r"git log \*", ("git", "log", "*"), False),
        ('echo "a b" c', ("echo", "a b", "c"), False),
        (r'echo "a\"b" "\n"', ("echo", 'a"b', r"\n"), False),
        ("echo '' x", ("echo", "", "x"), False),
        ("echo 'a;b'", ("echo", "a;b"), False),
        ("cat ~/notes", ("cat", "/home/u/notes"), False),
        ("cat '~/notes'", ("cat", "~/notes"), False),
        ("git  log\t-1", ("git", "log", "-1"), False),
        ("echo 'foo:':*", ("echo", "foo:"), True),
        ("a**b", (Star(("a", "b")),), False),
    ],
)
def test_a_pattern_is_split_as_a_shell_splits_words(pattern: str, items: tuple[object, ...], rest: bool) -> None:
    assert parse(pattern, "/home/u") == Words(items, rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "problem", "remedy"),
    [
        ("git log '", "the quote ' in `git log '` is not closed", "Close it"),
        ('python -c "', 'the quote " in', "Close it"),
        ("a && b", "`&` in `a && b` is a shell operator", "a rule for each command"),
        ("a | b", "`|` in `a | b` is a shell operator", "quote the character"),
        ("echo $(x)", "`(` in", "quote the character"),
        ("a\nb", "`line break`", "a rule for each command"),
        ("chmod :*", "has a blank before `:*`", "Write `chmod:*`."),
        ("git:* push", "can only stand at the end", "End the pattern there"),
        ("git:*:*", "can only stand at the end", "End the pattern there"),
        (":*", "names no word", "Write the tool alone"),
        ("*", "names no word", "Write the tool alone"),
        ("echo \\", "ends in a backslash", "Write \\\\"),
    ],
)
def test_a_mistake_is_an_error_that_says_what_to_write(pattern: str, problem: str, remedy: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(pattern)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("pattern", "words", "fits"),
    [
        ("git log:*", ["git", "log"], True),
        ("git log:*", ["git", "log", "-1"], True),
        ("git log:*", ["git", "logout"], False),
        ("git log:*", ["git", "log --output=x"], False),
        ("npm test", ["npm", "test", "x"], False),
        ("git * main", ["git", "main"], False),
        ("git * main", ["git", "push", "origin", "main"], True),
        ("git * main:*", ["git", "push", "main", "x"], True),
        ("npm run test*", ["npm", "run", "test:unit"], True),
        ("npm run test*", ["npm", "run", "test", "x"], False),
        ("npm run test*:*", ["npm", "run", "test", "x"], True),
        ("a*b*c", ["axbyc"], True),
        ("a*b*c", ["acb"], False),
        ("a*a", ["a"], False),
        ("* --version", ["node", "--version"], True),
        ("ls 'src/*.py'", ["ls", Unknown("src/*.py", glob=True, prefix="src/")], True),
        ("sort '*'", ["sort", Unknown("*", glob=True)], True),
        ("grep x --include=*.rs", ["grep", "x", Unknown("--include=*.rs", glob=True)], True),
        ("grep x --include=*.rs", ["grep", "x", Unknown("--include=?.rs", glob=True)], False),
        ("git log:*", ["git", Unknown("$X")], False),
        ("git lo*", ["git", Unknown("lo$X", prefix="lo")], False),
        ("git log:*", ["git", "log", Unknown("$X")], True),
    ],
)
def test_a_pattern_fits_whole_words(pattern: str, words: list[str | Unknown], fits: bool) -> None:
    compiled = parse(pattern)
    index: Index[str] = Index()
    index.add(compiled, pattern)
    assert list(index.find(words)) == ([pattern] if fits else [])


@pytest.mark.parametrize(
    ("pattern", "words", "may"),
    [
        ("git push:*", ["git", Unknown("$X", single=True)], True),
        ("git push:*", ["git", Unknown("pu$X", prefix="pu", single=True)], True),
        ("git push:*", ["git", Unknown("lo$X", prefix="lo", single=True)], False),
        ("git push:*", ["git", Unknown("$X"), "x"], True),
        ("git push:*", ["git", "log", Unknown("$X")], False),
        ("rm -rf:*", ["rm", Unknown("./*", glob=True, prefix="./", safe=True)], False),
        ("rm -rf:*", ["rm", Unknown("$f", single=True)], True),
        ("git * main", ["git", Unknown("$X", single=True), "main"], True),
        ("git * main", ["git", Unknown("$X", single=True), "dev"], False),
    ],
)
def test_an_unknown_word_may_be_what_a_deny_rule_names(pattern: str, words: list[str | Unknown], may: bool) -> None:
    index: Index[str] = Index()
    index.add(parse(pattern), pattern)
    assert bool(list(index.may(words))) is may


def test_words_of_an_opaque_part_are_searched_anywhere() -> None:
    index: Index[str] = Index()
    for pattern in ("git push:*", "npm publish", "rm * x"):
        index.add(parse(pattern), pattern)
    assert list(index.within(["eval", "git", "push", "origin"])) == ["git push:*"]
    assert list(index.within(["sudo", "npm", "publish", "--tag"])) == ["npm publish"]
    assert list(index.within(["echo", "rm", "a", "x", "y"])) == ["rm * x"]
    assert list(index.within(["git", "log", "push"])) == []


WORD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=0, max_size=8)


@given(st.lists(WORD, min_size=1, max_size=4))
def test_a_quoted_word_is_itself_in_a_pattern(words: list[str]) -> None:
    assert parse(" ".join(map(quote, words))) == Words(tuple(words), False)
    assert parse(" ".join(map(quote, words)) + ":*") == Words(tuple(words), True)


ITEM = st.sampled_from(["a", "b", "ab", "*", "*", "a*", "*b", "*a*b", "'*'", "-a"])
MORE = ["b*", "*a", "*a*", "*b*", "a*b", "a*a", "*ab", "b*a", "*a*a*", "-*"]  # too many to try them one by one
PATTERN = st.builds(
    lambda items, end: " ".join(items) + end,
    st.lists(st.one_of(ITEM, ITEM, st.sampled_from(MORE)), min_size=1, max_size=6),
    st.sampled_from(["", "", ":*", " *"]),
)
TEXT = st.sampled_from(["a", "b", "ab", "aab", "*", "", "-a"])
UNKNOWN = st.builds(
    Unknown,
    st.just("a*b"),
    glob=st.booleans(),
    prefix=st.sampled_from(["", "a", "ab", "-"]),
    safe=st.booleans(),
    single=st.booleans(),
)


def laid_out(patterns: Sequence[str]) -> tuple[dict[str, Words], Index[str]]:
    """Those that are patterns, alone and in an index."""
    kept: dict[str, Words] = {}
    index: Index[str] = Index()
    for text in patterns:
        try:
            kept[text] = parse(text)
        except RuleError:
            continue
    for text, compiled in kept.items():
        index.add(compiled, text)
    return kept, index


def equals(word: Word, item: str | Star) -> bool:
    text = key(word)
    if text is None or isinstance(item, str):
        return text == item
    return item.fits(text) if isinstance(word, str) else text == item.written


def fits_by_definition(items: Sequence[Item], rest: bool, words: Sequence[Word]) -> bool:
    """Every length of every star is tried."""
    if not items:
        return rest or not words
    first, *others = items
    if isinstance(first, Many):
        return any(fits_by_definition(others, rest, words[n:]) for n in range(1, len(words) + 1))
    return bool(words) and equals(words[0], first) and fits_by_definition(others, rest, words[1:])


def could_by_definition(items: Sequence[Item], rest: bool, words: Sequence[Word], starred: bool) -> bool:
    """The same with unknown words, which may be what they begin with. One that may be several words may be all that a
    pattern with stars still wants, and any words of another; it may be no word unless something of it is known."""
    if not words:
        return not items
    if not items and rest:
        return True
    word, left = words[0], words[1:]
    if isinstance(word, Unknown) and not word.single:
        if items and starred and could_be(word, items[0]):
            return True
        if not (word.glob or word.prefix) and could_by_definition(items, rest, left, starred):
            return True
        begins = bool(items) and could_be(word, items[0])
        return begins and any(could_by_definition(items[n:], rest, left, starred) for n in range(1, len(items) + 1))
    if not items:
        return False
    first, *others = items
    if isinstance(first, Many):
        several = any(isinstance(word, Unknown) and not word.single for word in words)
        return several or any(could_by_definition(others, rest, words[n:], starred) for n in range(1, len(words) + 1))
    return could_be(word, first) and could_by_definition(others, rest, left, starred)


def could_be(word: Word, item: Item) -> bool:
    if isinstance(item, Many):
        return True
    if isinstance(word, str) or isinstance(item, Star):
        return isinstance(word, Unknown) or equals(word, item)
    begins = item.startswith(word.prefix) or (not word.single and word.prefix.startswith(item))
    return begins and not (word.safe and item.startswith("-"))


@settings(max_examples=300)
@given(st.lists(PATTERN, max_size=5), st.lists(st.one_of(TEXT, TEXT, UNKNOWN), max_size=8))
def test_the_index_finds_what_each_pattern_fits_by_definition(patterns: list[str], words: list[Word]) -> None:
    kept, index = laid_out(patterns)
    fitting = sorted(text for text, it in kept.items() if fits_by_definition(it.items, it.rest, words))
    assert sorted(index.find(words)) == fitting


@settings(max_examples=300)
@given(st.lists(PATTERN, max_size=5), st.lists(TEXT, min_size=1, max_size=8))
def test_a_search_finds_what_fits_some_run_of_the_words_by_definition(patterns: list[str], words: list[str]) -> None:
    kept, index = laid_out(patterns)
    runs = [words[start:end] for start in range(len(words)) for end in range(start, len(words) + 1)]
    assert set(index.within(words)) == {
        text for text, it in kept.items() if any(fits_by_definition(it.items, it.rest, run) for run in runs)
    }


@settings(max_examples=500)
@given(st.lists(PATTERN, max_size=5), st.lists(st.one_of(TEXT, UNKNOWN), min_size=1, max_size=8))
def test_unknown_words_may_be_what_could_fit_by_definition(patterns: list[str], words: list[Word]) -> None:
    kept, index = laid_out(patterns)

    def could(it: Words) -> bool:
        return could_by_definition(it.items, it.rest, words, len(it.literal) < len(it.items))

    assert set(index.may(words)) == {text for text, it in kept.items() if could(it)}


EQUAL = "a " * 9  # words that nearly fit wherever one looks
SHAPES = [
    ["* push *"],
    ["* a * b * c"],
    ["* * * * z"],
    ["a * a * a * z"],
    ["*a*a*a*b"],
    ["*a*a*b x *"],
    ["a* * *a a* z"],
    [EQUAL + "* z", EQUAL * 2 + "z"],
    ["* " + EQUAL * 3 + "*a z", "a* " * 30 + "z"],
    [f"* *{n}*a *b" for n in range(20)],
]


@pytest.mark.parametrize("patterns", SHAPES)
@pytest.mark.parametrize("text", ["a ", "a b ", "aab ", "push a ", "1a2a3a "])
def test_the_steps_of_a_search_grow_as_the_words_do(patterns: list[str], text: str) -> None:
    _, index = laid_out(patterns)
    words = (text * 100).split()
    assert growth(lambda times: list(index.within(words * times))) < 2.5
    assert growth(lambda times: index.find(words * times)) < 2.5
    assert growth(lambda times: list(index.may((*words * times, Unknown("$X", single=True))))) < 2.5
    assert growth(lambda times: list(index.may(("a", *[Unknown("a$X", prefix="a")] * 100 * times)))) < 2.5


@pytest.mark.parametrize("pattern", ["* {} b", "a {} * b", "*{}a*b", "{} *z"])
def test_more_rules_cost_no_more_steps(pattern: str) -> None:
    """As long as one number holds them all; what they are is laid out once."""
    words = ["a"] * 200
    unknown = [Unknown("a$X", prefix="a", single=True), *words]
    indexes = {times: laid_out([pattern.format("a " * n) for n in range(1, 8 * times)])[1] for times in (1, 2)}

    def look(times: int) -> None:
        assert not [*indexes[times].find(words), *indexes[times].within(words), *indexes[times].may(unknown)]

    look(2)
    assert growth(look) < 1.1


def test_the_steps_grow_as_a_pattern_does() -> None:
    """Unknown words reach what is deeper in many ways: each is gone once."""

    def may(times: int) -> None:
        _, index = laid_out(["a " * 6 * times + "b"])
        list(index.may(["a", *[Unknown("$X")] * 6 * times]))

    assert growth(may) < 10


def test_a_pattern_may_be_of_more_words_than_calls_may_be_nested() -> None:
    pattern = "a " * 3_000 + "b"
    _, index = laid_out([pattern])
    assert set(index.may(["a", Unknown("$X")])) == {pattern}
