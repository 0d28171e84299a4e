"""Patterns over words: what they mean, what they refuse, and that the index finds what each pattern alone would fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli.access import Unknown
from hitl_cli.errors import RuleError
from hitl_cli.permissions.words import MANY, Star, Words, parse, quote
from hitl_cli.permissions.wordtree import Index


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
    assert compiled.fits(words) is fits
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


ITEM = st.sampled_from(["a", "b", "*", "a*", "'*'"])


@given(
    st.lists(st.tuples(st.lists(ITEM, min_size=1, max_size=4), st.booleans()), max_size=8),
    st.lists(st.sampled_from("ab*"), max_size=5),
)
def test_the_index_finds_what_each_pattern_alone_fits(patterns: list[tuple[list[str], bool]], words: list[str]) -> None:
    index: Index[str] = Index()
    kept = {}
    for items, rest in patterns:
        text = " ".join(items) + (":*" if rest else "")
        try:
            kept[text] = parse(text)
        except RuleError:
            continue
    for text, compiled in kept.items():
        index.add(compiled, text)
    assert sorted(index.find(words)) == sorted(text for text, compiled in kept.items() if compiled.fits(words))
