"""The look before anything is parsed."""

from __future__ import annotations

import pytest

from hitl_cli.shell.scan import SEARCHED, look, rough_words


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("git log", ""),
        ("a\tb\nc", ""),
        ("echo 👩‍💻 ❤️ é 日本", ""),
        ("a\x00b", "it holds the unseen character U+0000"),
        ("git\u200b log", "it holds the unseen character U+200B"),
        ("a\u202eb", "it holds the unseen character U+202E"),
        ("a\ud800", "it holds the unseen character U+D800"),
        ("a" * 64_001, "it is longer than 64,000 characters"),
        ("a|" * 2_001, "it has more than 2,000 parts"),
        ("a $(" * 2_001, "it has more than 2,000 substitutions"),
        ("a " * 10_001, "it has more than 10,000 words"),
        ("a/" * 10_001, "it has more than 10,000 words"),
        ("a  b" * 10_000, ""),
    ],
)
def test_a_text_is_refused_with_the_reason(text: str, reason: str) -> None:
    assert look(text) == reason


def test_the_words_of_any_text_are_told_without_understanding_it() -> None:
    assert rough_words('g"it" pu\\\nsh && echo "$(rm -rf \'x') == ("git", "push", "echo", "rm", "-rf", "x")


def test_of_many_words_one_more_is_told_than_is_searched():
    assert len(rough_words("a " * SEARCHED)) == SEARCHED
    assert len(rough_words(" a" * (SEARCHED + 1))) == len(rough_words(";a" * 40 * SEARCHED)) == SEARCHED + 1
    assert (
        rough_words("a/" * SEARCHED * 40) == rough_words("a/" * SEARCHED + "a b") == ("/".join("a" * (SEARCHED + 1)),)
    )
    assert rough_words("a" * 500_000 + " git push")[1:] == ("git", "push")
