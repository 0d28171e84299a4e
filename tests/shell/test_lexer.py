"""Literal words read at once are those that are read one character after the other."""

from __future__ import annotations

import random
import shlex

import pytest

from hitl_cli.access import Command, Opaque, Place, Unknown
from hitl_cli.shell.grammar import parse
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.reader import read
from hitl_cli.shell.scan import WORDS
from hitl_cli.shell.tree import Raw

_PLACE = Place("/w", ("/w",), "/h")
_PIECES = ("a", "b-c", "=", "]", "!", "x=1", "a#b", "'q r'", '"d  e"', "''", "'\"'", "1", " ", "  ", "\t", " ", " ")


def test_literal_words_are_those_of_a_splitter_whatever_stands_side_by_side() -> None:
    choose = random.Random(4)
    for _ in range(4_000):
        text = "cmd " + "".join(choose.choices(_PIECES, k=choose.randrange(1, 9)))
        found = [access for access in read(text, _PLACE).accesses if isinstance(access, Command)]
        assert [list(access.words) for access in found] == [shlex.split(text)], text


@pytest.mark.parametrize("text", ["$x", '"$x"'])
@pytest.mark.parametrize("behind", ["", " ", "\n", ";", "|b", ")"])
def test_a_variable_alone_is_the_word_that_its_parts_make(text: str, behind: str) -> None:
    alone, apart = Lexer(text + behind, len(text + behind)), Lexer(text + "''" + behind, len(text + behind) + 2)
    word, longer = alone.word(), apart.word()
    assert isinstance(word, Raw)
    assert isinstance(longer, Raw)
    assert (word.text, word.parts, word.nested) == (text, longer.parts[:1], longer.nested)
    assert alone.i == apart.i - 2 == len(text)


@pytest.mark.parametrize("text", ["$x$y", '$x"', "$xé", "$x\\\ny", "$1", "$@", "$$", '"$x$y"'])
def test_a_variable_that_goes_on_is_no_word_alone(text: str) -> None:
    found = [word for access in read(f"a {text}", _PLACE).accesses for word in getattr(access, "words", ())]
    assert Unknown("$x") not in found
    assert Unknown('"$x"', single=True) not in found


@pytest.mark.parametrize("word", ["a", "'a'", "$x", '"$x"', "*"])
def test_words_without_number_are_not_read(word: str) -> None:
    kinds = [type(read("cmd" + f" {word}" * count, _PLACE).accesses[0]) for count in (WORDS - 1, WORDS)]
    assert kinds == [Command, Opaque]


def test_a_command_of_plain_words_has_an_operator_behind() -> None:
    made = parse(Lexer("a b | c 'd e' && f", 18))
    assert [kid.kind for kid in made.kids] == ["pipeline", "plain"]
    assert [list(kid.words) for kid in made.kids[0].kids] == [["a", "b"], ["c", "d e"]]
