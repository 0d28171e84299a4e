"""Words as bash cooks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hitl_cli.access import Unknown

Says = Callable[[str], Any]


@pytest.mark.parametrize(
    ("written", "cooked"),
    [
        ("'a b'", ["a b"]),
        ('"a b"', ["a b"]),
        ("a\\ b", ["a b"]),
        ("a'b'\"c\"\\d", ["abcd"]),
        ("''", [""]),
        ('""', [""]),
        ('"a\\$b\\`c\\"d\\\\e\\f"', ['a$b`c"d\\e\\f']),
        ("'a\\b'", ["a\\b"]),
        ("$'a\\tb\\x41\\101\\u0042\\''", ["a\tbAAB'"]),
        ('$"a b"', ["a b"]),
        ("a\\\nb", ["ab"]),
        ('"a\\\nb"', ["ab"]),
        ("'a\\\nb'", ["a\\\nb"]),
        ("a#b", ["a#b"]),
        ("\\#x", ["#x"]),
        ("[", ["["]),
        ("a$", ["a$"]),
        ("{a,b}", ["a", "b"]),
        ("x{a,b}{c,d}", ["xac", "xad", "xbc", "xbd"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{3..1}", ["3", "2", "1"]),
        ("{}", ["{}"]),
        ("{a}", ["{a}"]),
        ("stash@{0}", ["stash@{0}"]),
        ("{,q}", ["q"]),
        ("\\{a,b\\}", ["{a,b}"]),
        ("'{a,b}'", ["{a,b}"]),
        ("~", ["/home/u"]),
        ("~/z", ["/home/u/z"]),
        ("'~'", ["~"]),
        ("a~", ["a~"]),
        ("a=~/b:~", ["a=/home/u/b:/home/u"]),
        ("--k=~/b", ["--k=~/b"]),
        ('"$HOME/x"', ["/home/u/x"]),
        ("$PWD/x", ["/ws/x"]),
        ("é", ["é"]),
    ],
)
def test_a_literal_word_is_what_bash_makes_of_it(said: Says, written: str, cooked: list[str]) -> None:
    assert list(said(f"p {written}").commands[0].words[1:]) == cooked


@pytest.mark.parametrize(
    ("written", "unknown"),
    [
        ("$x", Unknown("$x")),
        ('"$x"', Unknown('"$x"', single=True)),
        ('"$@"', Unknown('"$@"')),
        ('"$*"', Unknown('"$*"', single=True)),
        ("src/$x", Unknown("src/$x", prefix="src/")),
        ('"src/$x"', Unknown('"src/$x"', prefix="src/", safe=True, single=True)),
        ('"-$x"', Unknown('"-$x"', prefix="-", single=True)),
        ("*.py", Unknown("*.py", glob=True)),
        ("src/*.py", Unknown("src/*.py", glob=True, prefix="src/", safe=True)),
        ("./?", Unknown("./?", glob=True, prefix="./", safe=True)),
        ("$x*", Unknown("$x*")),
        ("$((1+2))", Unknown("$((1+2))", safe=True, single=True)),
        ("$?", Unknown("$?", safe=True, single=True)),
        ("${#x}", Unknown("${#x}", safe=True, single=True)),
        ("${x:-y}", Unknown("${x:-y}")),
        ("--jobs=$(nproc)", Unknown("--jobs=$(nproc)", prefix="--jobs=")),
        ("~other/x", Unknown("~other/x", safe=True, single=True)),
        ("<(p)", Unknown("<(p)", safe=True, single=True)),
        ("{a,{b,c}}", Unknown("{a,{b,c}}")),
        ("{1..1000000}", Unknown("{1..1000000}")),
        ("v{01..03}", Unknown("v{01..03}", prefix="v", safe=True)),
    ],
)
def test_what_only_the_shell_knows_stays_unknown(said: Says, written: str, unknown: Unknown) -> None:
    assert said(f"q {written}").word() == unknown


def test_a_variable_that_only_holds_numbers_is_no_option_that_acts(said: Says) -> None:
    for text in ("n=5; p $n", "for n in 1 {2..4}; do p $n; done", "n=0; while f; do n=$((n+1)); p $n; done"):
        assert [w for c in said(text).commands for w in c.words if w == Unknown("$n", safe=True)], text
    for text in (
        "n=5; n=$x; p $n",
        "n=5; read n; p $n",
        "p $n",
        "n=5; bash -c 'p $n'",
        "n=5; eval n=$x; p $n",
        "_=5; p $_",
    ):
        assert not [w for c in said(text).commands for w in c.words if isinstance(w, Unknown) and w.safe], text


def test_an_empty_unquoted_brace_choice_is_no_word(said: Says) -> None:
    assert said("p {,}").runs == ["p"]


@pytest.mark.parametrize(
    "written",
    [
        "$'\\xc3'",
        "$'\\0'",
        "$'\\c'",
        "$'\\u00e9'",
        "$[1+2]",
        "${!x}",
        "${x@P}",
        "${x[y]}",
        "${x:y}",
        '${x:-"a"}',
        "${x:-<(p)}",
    ],
)
def test_expansions_that_are_not_followed_are_opaque(said: Says, written: str) -> None:
    assert said(f"p {written}").opaque
