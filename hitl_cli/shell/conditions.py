"""The inside of `[[ … ]]`: words and operators, without word splitting.

Its arithmetic comparisons evaluate their operands, so that a value such as `a[$(rm x)]` would run a command: operands
have to be numbers, or variables of which the reader checks that they only ever hold numbers.
"""

from __future__ import annotations

from hitl_cli.regex import later
from hitl_cli.shell.arithmetic import is_number
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.scan import WORDS
from hitl_cli.shell.tree import Raw, Unreadable, Word

_OPERATOR = later(r"&&|\|\||[()]|[<>](?!\()")
_END = later(r"\]\](?=[\s;&|()<>]|\Z)")
_ARITHMETIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_SUBSCRIPTED = frozenset(("-v", "-R"))
_INTEGER = later(r"[+-]?[0-9]+\Z")
_VARIABLE = later(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def condition(lex: Lexer) -> list[Word]:
    """The words and operators up to `]]`, and over it."""
    tokens: list[Word] = []
    while True:
        lex.newlines()
        if (found := _END.match(lex.s, lex.i)) is not None:
            lex.i = found.end()
            break
        if (found := _OPERATOR.match(lex.s, lex.i)) is not None:
            lex.i = found.end()
            tokens.append(found.group())
            continue
        word = lex.word()
        if word is None:
            raise Unreadable("a test `[[ … ]]` is not ended")
        tokens.append(word)
        if len(tokens) > WORDS:
            raise Unreadable(f"a test has more than {WORDS:,} words")
    if not tokens:
        raise Unreadable("a test `[[ ]]` is empty")
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        if not isinstance(token, str):
            continue
        if token in _ARITHMETIC:
            _evaluated(lex, before)
            _evaluated(lex, after)
        elif token in _SUBSCRIPTED and not (isinstance(after, str) and _VARIABLE.match(after)):
            raise Unreadable("a test `-v` evaluates a subscript")
    return tokens


def _evaluated(lex: Lexer, word: Word) -> None:
    if isinstance(word, Raw):
        if len(word.parts) == 1:
            part = word.parts[0]
            if is_number(word):
                return
            if part.kind == "value":
                lex.note("evaluated", part.text)
                return
    elif _INTEGER.match(word):
        return
    elif _VARIABLE.match(word):
        lex.note("evaluated", word)
        return
    raise Unreadable("a test compares as a number what may itself be a command")
