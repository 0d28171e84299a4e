"""Every simple command of a text, wherever it stands, is found; what is not certain is opaque."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

Says = Callable[[str], Any]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("a; b & c && d || e\nf", ["a", "b", "c", "d", "e", "f"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("! a", ["a"]),
        ("time -p a x", ["a x"]),
        ("time { a; }", ["a"]),
        ("( a; b )", ["a", "b"]),
        ("{ a; b; }", ["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done", ["a", "b"]),
        ("until a\ndo b\ndone", ["a", "b"]),
        ("for x in 1 2; do a; done", ["a"]),
        ("for x; do a; done", ["a"]),
        ("for ((i=0;i<3;i++)); do a; done", ["a"]),
        ("case x in a|b) a;; (c) b;& *) c; esac", ["a", "b", "c"]),
        ("[[ -n $(a) && x == y* ]] && b", ["a", "b"]),
        ('p $(a) `b` "$(c)" <(d)', ['p ‹$(a)› ‹`b`› ‹"$(c)"› ‹<(d)›', "a", "b", "c", "d"]),
        ("p `a \\`b\\``", ["p ‹`a \\`b\\``›", "a ‹`b`›", "b"]),
        ("p $((1 + $(date +%s)))", ["p ‹$((1 + $(date +%s)))›", "date +%s"]),
        ("p ${x:-$(a)}", ["p ‹${x:-$(a)}›", "a"]),
        ("p <<E\n$(a)\nE\nb", ["p", "a", "b"]),
        ("p <<'E'\n$(a)\nE\nb", ["p", "b"]),
        ("p <<-E\n\tx\n\tE\nb", ["p", "b"]),
        ("p <<A <<B\n1\nA\n2\nB\nb", ["p", "b"]),
        ("p <<E && b\nx\nE", ["p", "b"]),
        ("p \"$(cat <<'E'\n)\nE\n)\"", ["p )", "cat"]),
        ('p <<< "$(a)"', ["p", "a"]),
        ("CI=$(a) p", ["a", "p"]),
        ("x=(1 $(a))", ["a"]),
        ("p # a; b\nc", ["p", "c"]),
        ("p a#b", ["p a#b"]),
        ("p $(a # )\n)", ["p ‹$(a # )\n)›", "a"]),
        ("p $(case x in x) a;; esac; b)", ["p ‹$(case x in x) a;; esac; b)›", "a", "b"]),
        ("p &&\\\n q", ["p", "q"]),
        ("p \\\n  x", ["p x"]),
        ("if p do; then q; fi", ["p do", "q"]),
        ("p > >(a)", ["p", "a"]),
        ("p >&-x 2>&-- <&-", ["p x -"]),
        ("p $'\\''; q '", []),
    ],
)
def test_each_command_is_found(said: Says, text: str, runs: list[str]) -> None:
    assert said(text).runs == runs


@pytest.mark.parametrize(
    "text",
    [
        "p 'open",
        'p "open',
        "p `open",
        "p $(open",
        "p ${open",
        "p <<E\nno end",
        "p )",
        "( p",
        "{ p; ",
        "if p; then q",
        "p |",
        "p &&",
        "&& p",
        "p ;; q",
        "p\x00q",
        "p\x1bq",
        "p\u200bq",
        "p\u202eq",
        "p\ud800",
        "p\rq",
        "p()",
        "f() { p; }; f",
        "function f { p; }",
        "coproc p",
        "select x in a; do p; done",
        "true &\\\n& p",
        "p |\\\n| q",
        "2\\\n>x",
        "p {fd}>x",
        "p a[1]=2 >&$x <&$y",
        "a[1]=2",
        "A[ 1 ]=2",
        "p $x\\\ny",
        "x\\\n=1 p",
        "ti\\\nme p",
        "i\\\nf p; then q; fi",
        "p <<E\nEO\\\nE\n",
        "p $(cat <<E\nE)\n)",
        "p <<$x\n$x\n",
        "alias p=q",
        "enable -n p",
        "shopt -s extglob",
        "set -o posix",
        "hash -p x p",
        "let x=1",
        "p $((a[1]))",
        "((a[$(p)]))",
        "[[ -v a[0] ]]",
        "[[ x -eq $(p) ]]",
        "eval $x",
        "bash -c $x",
        'trap "$x" EXIT',
        "$x",
        "$(a) b",
        "/bin/r? x",
        "HOME=x p",
        "p; " * 301,
        "for x in a; do " + "p; " * 301 + "done",
        "p | " * 301 + "p",
        "p " + "$(q) " * 301,
        "bash -c '" + "p; " * 301 + "'",
    ],
)
def test_what_is_not_certain_is_opaque_with_a_reason(said: Says, text: str) -> None:
    found = said(text).opaque
    assert found
    assert all(found)


@pytest.mark.parametrize("text", ["p; " * 299, "p | " * 290 + "p", "p " + "$(q) " * 149])
def test_as_many_parts_as_a_text_may_have_are_read(said: Says, text: str) -> None:
    assert not said(text).opaque


@pytest.mark.parametrize(
    "text", ['git push && echo "', "git push; f() { x; }", "coproc git push", "r\\\nm x; eval $y; git push"]
)
def test_deny_rules_still_see_the_words_of_opaque_texts(said: Says, text: str) -> None:
    whole = said(text)
    words = [*whole.opaque_words, *(w for run in whole.runs for w in run.split())]
    assert ("git", "push") in list(pairwise(words))


def test_a_comment_alone_runs_nothing(said: Says) -> None:
    assert said("# git log").accesses == ()


def test_an_opaque_text_says_nothing_else(said: Says) -> None:
    found = said("a; { b; { c; HOME=x; }; }; d")
    assert (found.runs, len(found.accesses), found.reading.tree.kids) == ([], 1, [])
    assert said("x; bash -c 'a; { HOME=x; }'; y").runs == ["x", "y"]


def test_the_tree_says_which_accesses_are_whose(said: Says) -> None:
    tree = said("a | b; if c; then d; fi; p $(e)").reading.tree

    def drawn(node: Any) -> Any:
        return (node.kind, node.first, node.last, [drawn(kid) for kid in node.kids])

    assert drawn(tree) == (
        "text",
        0,
        6,
        [("pipeline", 0, 2, []), ("condition", 2, 4, []), ("substitution", 5, 6, [])],
    )
