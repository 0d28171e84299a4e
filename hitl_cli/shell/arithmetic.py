"""Arithmetic: what it may hold, and what certainly is a number.

Bash evaluates the value of a variable as arithmetic again, and a subscript in it runs commands: `x='a[$(rm y)]'; ((x))`.
So only names, numbers and operators are read, the names are handed to the reader, which knows what they may hold, and
the output of a command counts only when it can be nothing but a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_cli.regex import later
from hitl_cli.shell.tree import Nested, Raw, Statement, Unreadable, Word

if TYPE_CHECKING:
    from hitl_cli.shell.lexer import Lexer

_ARITHMETIC = later(r"[0-9A-Za-z_+\-*/%<>=!&|^~?:;, \t\n]+")
_SEQUENCE = later(r"\{[0-9]+\.\.[0-9]+\}\Z")
_INTEGER = later(r"-?(?:0|[1-9][0-9]*)\Z")
_HEX_OR_NAME = later(r"(?<![0-9A-Za-z_])[A-Za-z_][A-Za-z0-9_]*")


def arithmetic(lex: Lexer, what: str) -> list[Nested]:
    """An arithmetic text up to `))` and over it; its names are noted."""
    inner = Raw("", [])
    level = 0
    while True:
        if (found := _ARITHMETIC.match(lex.s, lex.i)) is not None:
            lex.note("evaluated", *_HEX_OR_NAME.findall(found.group()))
            lex.i = found.end()
        c = lex.s[lex.i : lex.i + 1]
        if level == 0 and lex.peek("))"):
            lex.i += 2
            return inner.nested
        if c == "(":
            level += 1
            lex.i += 1
        elif c == ")" and level:
            level -= 1
            lex.i += 1
        elif c == "$" and not lex.s.startswith(("$'", '$"'), lex.i):
            _expansion(lex, inner)
        else:
            raise Unreadable(f"it holds arithmetic `{what}` that is not read")


def _expansion(lex: Lexer, inner: Raw) -> None:
    before = len(inner.nested)
    lex.dollar(inner, in_quotes=True)
    part = inner.parts[-1]
    if part.kind == "value":
        lex.note("evaluated", part.text)
    elif part.kind == "other":
        if not is_number(Raw("", [part], inner.nested[before:])):
            raise Unreadable("arithmetic is computed on the output of a command, which may itself be a command")
    elif part.kind == "quoted":
        raise Unreadable("it holds arithmetic that is not read")


def is_number(value: Word) -> bool:
    """True when the word can only become numbers."""
    if isinstance(value, str):
        return value == "" or _INTEGER.match(value) is not None
    if all(part.kind == "number" for part in value.parts) or _SEQUENCE.match(value.text):
        return True
    if len(value.parts) != 1 or len(value.nested) != 1 or not value.parts[0].text.startswith(("$(", "`")):
        return False  # `${x:-$(date +%s)}` is whatever x is
    return prints_a_number(value.nested[0].script)


def prints_a_number(script: Statement) -> bool:
    """True when the script's output can only be a number: `date +%s`, `… | wc -l`."""
    while script.kind in ("list", "pipeline") and script.kids:
        if script.kind == "list" and len(script.kids) != 1:
            return False
        script = script.kids[-1]
    if script.kind not in ("plain", "simple") or script.assigns or not script.words:
        return False
    words = [*script.words]
    if words[0] == "seq":
        return all(isinstance(w, str) and _INTEGER.match(w) for w in words[1:])
    if words[:2] == ["date", "+%s"] or words == ["nproc"]:
        return len(words) <= 2 and not script.redirs and ">" not in script.text
    return len(words) > 1 and words[0] == "wc" and all(w in ("-l", "-c", "-w", "-m") for w in words[1:])
