"""Expansions with an inside: `$((…))`, `$(…)`, `${…}`, backquotes and process substitutions, read to after their end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hitl_cli.regex import later
from hitl_cli.shell.arithmetic import arithmetic
from hitl_cli.shell.tree import Nested, Part, Raw, Statement, Unreadable

if TYPE_CHECKING:
    from hitl_cli.shell.lexer import Lexer

NUMBERS = frozenset("?#$")  # parameters that are numbers
_BRACED = later(
    r"(?P<length>#)?(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?#$@*!-])(?P<index>\[(?:[@*]|[0-9]+)\])?"
    r"(?P<op>\}|:?[-+=?]|##?|%%?|//?[#%]?|\^\^?|,,?|:(?= ?-?[0-9])|@(?=[QULuEakKA]\}))"
)
_SLICE = later(r" ?-?[0-9]+(?::[0-9]+)?\}")
_OPERAND = later(r"(?:[^\"'\\`${}\n<>]|[<>](?!\()|\\[/.*?\[\]+-])+")


def substituted(lex: Lexer, raw: Raw, c: str, in_quotes: bool) -> None:
    """`$((…))`, `$(…)` or `${…}`."""
    s, i = lex.s, lex.i
    if c == "(":
        if s.startswith("((", i + 1):
            lex.i = i + 3
            raw.nested.extend(arithmetic(lex, "$((…))"))
            raw.parts.append(Part("number", s[i : lex.i], in_quotes))
            return
        lex.i = i + 2
        lex.whole()
        script = _script(lex)
        raw.nested.append(Nested("substitution", script))
        fed = _fed_through(script) if in_quotes else None
        raw.parts.append(Part("other", s[i : lex.i], in_quotes) if fed is None else Part("quoted", fed, True))
    else:
        lex.i = i + 2
        _braced(lex, raw, i, in_quotes)


def _fed_through(script: Statement) -> str | None:
    """What `$(cat <<'EOF' …)` becomes, the way to write a text of several lines: the literal here-document, without the
    ends of its last lines."""
    made = script.kids[0] if len(script.kids) == 1 else script
    if made.kind != "simple" or made.words != ["cat"] or made.assigns or len(made.redirs) != 1:
        return None
    only = made.redirs[0]
    if only.body is None or only.fd not in ("", "0") or any(part.kind != "quoted" for part in only.body.parts):
        return None
    return "".join(part.text for part in only.body.parts).rstrip("\n")


def _braced(lex: Lexer, raw: Raw, start: int, in_quotes: bool) -> None:
    found = _BRACED.match(lex.s, lex.i)
    if found is None:
        raise Unreadable("it holds an expansion `${…}` that is not read")
    lex.i = found.end()
    length, name, index, op = found.group("length", "name", "index", "op")
    if length and op != "}":
        raise Unreadable("it holds an expansion `${#…}` that is not read")
    if op == ":":
        found = _SLICE.match(lex.s, lex.i)
        if found is None:
            raise Unreadable("it holds a `${x:…}` whose numbers are computed")
        lex.i = found.end()
    elif op != "}":
        if op in (":=", "="):
            lex.note("assigned", name)
        _operand(lex, raw, in_quotes)
        if op in (":=", "="):
            lex.note("given", lex.s[start : lex.i])
    text = lex.s[start : lex.i]
    if length or (name in NUMBERS and op == "}"):
        raw.parts.append(Part("number", text, in_quotes))
    elif op == "}" and not index and name not in "@*!-":
        raw.parts.append(Part("value", name, in_quotes))
    else:
        raw.parts.append(Part("other", text, in_quotes and name != "@" and index != "[@]"))


def _operand(lex: Lexer, raw: Raw, in_quotes: bool) -> None:
    """What follows the operator of `${x:-…}`, to after the brace; its own expansions are read, its text is not."""
    inner = Raw("", [])
    while True:
        if (found := _OPERAND.match(lex.s, lex.i)) is not None:
            lex.i = found.end()
        c = lex.s[lex.i : lex.i + 1]
        if c == "}":
            lex.i += 1
            break
        if c == "$" and not lex.s.startswith(("$'", '$"'), lex.i):
            lex.dollar(inner, in_quotes)
        elif c == "`":
            backquote(lex, inner, in_quotes)
        else:
            raise Unreadable("it holds an expansion `${…}` with quotes or braces in it")
    raw.nested.extend(inner.nested)


def backquote(lex: Lexer, raw: Raw, in_quotes: bool) -> None:
    start = lex.i
    found = re.compile(r"(?:[^`\\]|\\[\s\S])*").match(lex.s, start + 1)
    assert found is not None
    if found.end() >= lex.n or lex.s[found.end()] != "`":
        raise Unreadable("a backquote is not closed")
    inner = found.group()
    if in_quotes and '\\"' in inner:
        raise Unreadable("backquotes inside double quotes hold an escaped quote")
    lex.i = found.end() + 1
    script = _apart(lex, re.sub(r"\\([`$\\])", r"\1", inner))
    raw.nested.append(Nested("substitution", script))
    raw.parts.append(Part("other", lex.s[start : lex.i], in_quotes))


def process_substitution(lex: Lexer, raw: Raw) -> None:
    start = lex.i
    if any(part.kind == "bare" for part in raw.parts):
        raise Unreadable("a process substitution stands inside a word")
    lex.i += 2
    raw.nested.append(Nested("process substitution", _script(lex)))
    raw.parts.append(Part("file", lex.s[start : lex.i], True))


def _script(lex: Lexer) -> Statement:
    """The commands up to the closing parenthesis, and over it."""
    from hitl_cli.shell.grammar import script_until_parenthesis

    return script_until_parenthesis(lex)


def _apart(lex: Lexer, text: str) -> Statement:
    from hitl_cli.shell.grammar import parse

    inner = lex.inner(text)
    script = parse(inner)
    lex.notes += inner.notes
    return script
