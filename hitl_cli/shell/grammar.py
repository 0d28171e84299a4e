"""Statements as bash groups words into them: lists, pipelines, compound commands.

A strict part of bash's grammar, written out rule by rule, so that each accepted text has exactly the reading bash gives
it; any other raises `Unreadable`. It reads each character once, whatever the text.

Why not a general grammar of bash behind a list of node kinds: measured on hostile texts of 64 kB the one there is took
up to half a minute, and on honest ones it attaches the redirection of a list's last command to the whole list and
reads two here-documents on a line wrongly. See tests/soundness for what holds this parser to bash itself.
"""

from __future__ import annotations

from hitl_cli.regex import later
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.programs.table import word_set
from hitl_cli.shell.redirections import redirection
from hitl_cli.shell.scan import DEEPEST
from hitl_cli.shell.simple import RESERVED, plain, simple
from hitl_cli.shell.tree import Statement, Unreadable, Word

_FUNCTION = later(r"([\w.:+-]+)[ \t]*\([ \t]*\)")
_KEYWORD = later(r"[a-z]+|[{}!]|\[\[")
_CLOSERS = word_set("then elif else fi do done esac }")
# `time` in front of a pipeline; behind a `|` it is a program.
_TIMED = later(r"time(?:(?:[ \t]|\\\n)+-p(?=[ \t]|\\\n))?(?:(?:[ \t]|\\\n)+--(?=[ \t]|\\\n))?(?:[ \t]|\\\n)+")


def parse(lex: Lexer) -> Statement:
    """The whole text of `lex` as one list."""
    script = _list(lex)
    if lex.i < lex.n:
        lex.blanks()
        if lex.i < lex.n:
            raise Unreadable(f"`{lex.s[lex.i]}` stands where no command can begin")
    if lex.pending:
        raise Unreadable("a here-document is not ended")
    return script


def script_until_parenthesis(lex: Lexer) -> Statement:
    """The list of a substitution, from after `$(` to after `)`."""
    outside, blocked = lex.pending, lex.blocked
    lex.pending, lex.blocked = [], blocked or bool(outside)
    lex.closers += 1
    script = nested(lex)
    if lex.pending:
        raise Unreadable("a here-document is not ended inside its parentheses")
    expect(lex, ")")
    lex.closers -= 1
    lex.pending, lex.blocked = outside, blocked
    return script


def nested(lex: Lexer) -> Statement:
    lex.depth += 1
    if lex.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    script = _list(lex)
    lex.depth -= 1
    return script


def expect(lex: Lexer, mark: str) -> None:
    lex.newlines()
    if not lex.peek(mark):
        raise Unreadable(f"`{mark}` is missing")
    lex.i += len(mark)


def keyword(lex: Lexer) -> str:
    """The reserved word that stands here, else ""."""
    found = _KEYWORD.match(lex.s, lex.i)
    if found is None or found.group() not in RESERVED:
        return ""
    after = lex.s[found.end() : found.end() + 1]
    return found.group() if not after or after in " \t\n;&|()<>" else ""


def _list(lex: Lexer) -> Statement:
    """Statements up to the end, or to what closes the list, which is not taken; of one that no operator ends, itself."""
    start = lex.i
    kids: list[Statement] = []
    op = ""
    while True:
        first = lex.i
        kid = plain(lex)
        if kid is None:
            lex.newlines()
            if lex.i > first:  # in front of the first statement: behind an operator they are taken already
                start = lex.i
                continue
            if first >= lex.n or lex.s[first] == ")" or keyword(lex) in _CLOSERS or lex.peek(";;"):
                break
            kid = _other(lex)
        op = kid.op
        if op == "|" or (not op and lex.i < lex.n):
            kid = _pipeline(lex, first, kid)
            op = kid.op
        if not op and not kids:
            return kid
        kids.append(kid)
        if not op:
            break
    if op == "&&" or op == "||":
        raise Unreadable(f"nothing follows `{op}`")
    end = kids[-1].end if kids else start
    return Statement("list", end, lex.s[start:end], kids)


def _pipeline(lex: Lexer, start: int, kid: Statement) -> Statement:
    """The pipeline that begins at `start` with `kid`, and the operator behind it."""
    kids = [kid]
    while True:
        if not kid.op:
            kid.op = _operator(lex)
        if kid.op != "|":
            break
        following = plain(lex)
        if following is None:
            if keyword(lex) == "!":
                raise Unreadable("`!` stands inside a pipeline")
            following = command(lex)
        kid = following
        kids.append(kid)
    return kid if len(kids) == 1 else Statement("pipeline", kid.end, lex.s[start : kid.end], kids, kid.op)


def _operator(lex: Lexer) -> str:
    """The operator behind a command, taken with the lines to the next one; "" at the end and before what closes the list."""
    if lex.i >= lex.n:
        return ""
    one = lex.s[lex.i]
    if one == "\n":
        lex.newlines()
        return ";"
    two = lex.s[lex.i : lex.i + 2]
    if one == ")" or two == ";;" or two == ";&":
        return ""
    if two == "&&" or two == "||":
        one = two
    elif one not in "&;|":
        raise Unreadable(f"`{one}` stands where a command should end")
    lex.i += 2 if two == "|&" else len(one)
    if one != two:
        lex.complete("|&" if one == "|" else "&;>")
        if one == "&" and lex.peek(">"):
            raise Unreadable("`&` stands before a redirection")
    lex.newlines()
    return one


def _other(lex: Lexer) -> Statement:
    """What does not begin with a literal word: a command, or a pipeline behind `!` or `time`."""
    start = lex.i
    if (found := _TIMED.match(lex.s, lex.i)) is not None:
        lex.i = found.end()
        words: list[Word] = [*found.group().replace("\\\n", "").split()]
        kid = _single(lex)
        return Statement("timed", kid.end, lex.s[start : kid.end], [kid], kid.op, words)
    if keyword(lex) == "!":
        lex.i += 1
        lex.blanks()
        kid = _single(lex)
        return Statement("not", kid.end, lex.s[start : kid.end], [kid], kid.op)
    return command(lex)


def _single(lex: Lexer) -> Statement:
    """The pipeline after `!` or `time`."""
    lex.depth += 1
    if lex.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    start = lex.i
    made = _pipeline(lex, start, plain(lex) or _other(lex))
    lex.depth -= 1
    return made


def command(lex: Lexer) -> Statement:
    """One command that does not begin with plain words."""
    from hitl_cli.shell import compound  # its parts are commands in turn

    s, i = lex.s, lex.i
    c = s[i : i + 1]
    if c == "(":
        made = compound.computed(lex) if s.startswith("((", i) else compound.subshell(lex)
    elif c in "{[!ifwucesdt}" and (word := keyword(lex)):
        made = compound.compound(lex, word)
    elif (found := _FUNCTION.match(s, i)) is not None:
        lex.i = found.end()
        return compound.function(lex, i, found.group(1))
    else:
        return simple(lex, i, i)
    made.redirs = redirs = []
    while True:
        lex.blanks()
        redirect = redirection(lex)
        if redirect is None:
            break
        redirs.append(redirect)
    made.text = s[i : lex.i]
    made.end = lex.i
    return made
