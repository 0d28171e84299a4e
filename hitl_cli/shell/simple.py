"""Simple commands: assignments, words, redirections."""

from __future__ import annotations

import re

from hitl_cli.regex import later
from hitl_cli.shell.arithmetic import is_number
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.programs.table import word_set
from hitl_cli.shell.redirections import redirection
from hitl_cli.shell.scan import WORDS
from hitl_cli.shell.tree import Assignment, Statement, Unreadable, Word

RESERVED = word_set("if then elif else fi for while until do done case esac select function { } ! [[ ]] in coproc")
_ASSIGNMENT = later(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_SUBSCRIPT = later(r"[A-Za-z_][A-Za-z0-9_]*\[")
# Words without quotes or expansions, each followed by a blank and another such word or the end of the line.
_PLAIN_WORDS = later(r"((?:[ \t]+[A-Za-z0-9_./:@%+,^-][A-Za-z0-9_./:@%+,\]!^=#-]*)+)(?=[ \t\n;&|)]|\Z)", re.ASCII)


def simple(lex: Lexer) -> Statement:
    start = end = lex.i
    made = Statement("simple", start, start, "")
    words, s, n = made.words, lex.s, lex.n
    while True:
        if words and (run := _PLAIN_WORDS.match(s, lex.i)) is not None:
            words += run.group().split()
            end = lex.i = run.end(1)
        if lex.i < n and s[lex.i] in " \t\\#":
            lex.blanks()
        if lex.i >= n:
            break
        c = s[lex.i]
        if (c in "<>&" or c.isdigit()) and (redirect := redirection(lex)) is not None:
            made.redirs.append(redirect)
        elif not words and (found := _ASSIGNMENT.match(s, lex.i)) is not None:
            made.assigns.append(_assignment(lex, found))
        else:
            word = lex.word()
            if word is None:
                if c == "(":
                    raise Unreadable("a parenthesis stands where it has no meaning")
                break
            if not words:
                _check_first(word)
            if lex.i < n and s[lex.i] in "<>":
                _check_glued(word)
            words.append(word)
        end = lex.i
        if len(words) + len(made.redirs) + len(made.assigns) > WORDS:
            raise Unreadable(f"a command has more than {WORDS:,} words")
    if not (words or made.assigns or made.redirs):
        raise Unreadable(f"`{s[start : start + 1] or 'the end'}` stands where a command should begin")
    lex.i = made.end = end
    made.text = s[start:end]
    return made


def bounded(words: list[Word]) -> None:
    if len(words) > WORDS:
        raise Unreadable(f"a command has more than {WORDS:,} words")


def _written(word: Word) -> str:
    """How the word stands in the text once bash has joined the lines."""
    return word if isinstance(word, str) else word.text.replace("\\\n", "")


def _check_first(word: Word) -> None:
    text = _written(word)
    if text in RESERVED or (text == "time" and not isinstance(word, str)):
        raise Unreadable(f"`{text}` stands where it is not read")
    if _ASSIGNMENT.match(text):
        raise Unreadable("a line is continued in the middle of an assignment")
    if _SUBSCRIPT.match(text):
        raise Unreadable("an element of an array is assigned")


def _check_glued(word: Word) -> None:
    """A word right in front of a redirection may name its descriptor."""
    text = _written(word)
    if text.isdigit() or re.fullmatch(r"\{\w+(\[.*\])?\}", text):
        raise Unreadable("a redirection names its descriptor in a way that is not read")


def _assignment(lex: Lexer, found: re.Match[str]) -> Assignment:
    start, name = lex.i, found.group(1)
    lex.i = found.end()
    if lex.peek("("):
        items = _array(lex)
        lex.assigned.append(name)
        return Assignment(name, "", lex.s[start : lex.i], bool(found.group(2)), items)
    if lex.peek("\\\n"):
        raise Unreadable("a line is continued in the middle of an assignment")
    value = lex.word()
    value = value if value is not None else ""
    (lex.counted if is_number(value) else lex.assigned).append(name)
    return Assignment(name, value, lex.s[start : lex.i], bool(found.group(2)))


def _array(lex: Lexer) -> list[Word]:
    lex.i += 1
    items: list[Word] = []
    while True:
        lex.newlines()
        if lex.peek(")"):
            lex.i += 1
            return items
        word = lex.word()
        if word is None:
            raise Unreadable("an array holds more than words")
        text = word if isinstance(word, str) else word.text
        if text.startswith("["):
            raise Unreadable("an array is given by its subscripts")
        items.append(word)
        bounded(items)
