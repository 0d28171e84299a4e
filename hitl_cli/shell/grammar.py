"""Statements as bash groups words into them: lists, pipelines, compound commands.

A strict part of bash's grammar, written out rule by rule, so that each accepted text has exactly the reading bash gives
it; any other raises `Unreadable`. It reads each character once, whatever the text.

Why not a general grammar of bash behind a list of node kinds: measured on hostile texts of 64 kB the one there is took
up to half a minute, and on honest ones it attaches the redirection of a list's last command to the whole list and
reads two here-documents on a line wrongly. See tests/soundness for what holds this parser to bash itself.
"""

from __future__ import annotations

import re

from hitl_cli.regex import later
from hitl_cli.shell.arithmetic import arithmetic, is_number
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.programs.table import word_set
from hitl_cli.shell.redirections import redirection
from hitl_cli.shell.scan import DEEPEST
from hitl_cli.shell.simple import RESERVED, bounded, plain_words, simple
from hitl_cli.shell.tree import Raw, Statement, Unreadable, Word

_FUNCTION = later(r"([\w.:+-]+)[ \t]*\([ \t]*\)")
_KEYWORD = later(r"[a-z]+|[{}!]|\[\[")
_VARIABLE = later(r"[A-Za-z_][A-Za-z0-9_]*")
_CLOSERS = word_set("then elif else fi do done esac }")
# `time` in front of a pipeline; behind a `|` it is a program.
_TIMED = later(r"time(?:(?:[ \t]|\\\n)+-p(?=[ \t]|\\\n))?(?:(?:[ \t]|\\\n)+--(?=[ \t]|\\\n))?(?:[ \t]|\\\n)+")


def parse(lex: Lexer) -> Statement:
    """The whole text of `lex` as one list."""
    script = _list(lex)
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
    script = _nested(lex)
    if lex.pending:
        raise Unreadable("a here-document is not ended inside its parentheses")
    _expect(lex, ")")
    lex.closers -= 1
    lex.pending, lex.blocked = outside, blocked
    return script


def _nested(lex: Lexer) -> Statement:
    lex.depth += 1
    if lex.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    script = _list(lex)
    lex.depth -= 1
    return script


def _expect(lex: Lexer, mark: str) -> None:
    lex.newlines()
    if not lex.peek(mark):
        raise Unreadable(f"`{mark}` is missing")
    lex.i += len(mark)


def _keyword(lex: Lexer) -> str:
    """The reserved word that stands here, else ""."""
    found = _KEYWORD.match(lex.s, lex.i)
    if found is None or found.group() not in RESERVED:
        return ""
    after = lex.s[found.end() : found.end() + 1]
    return found.group() if not after or after in " \t\n;&|()<>" else ""


def _take(lex: Lexer, word: str) -> None:
    lex.newlines()
    if _keyword(lex) != word:
        raise Unreadable(f"`{word}` is missing")
    lex.i += len(word)


def _list(lex: Lexer) -> Statement:
    """Statements up to the end, or to what closes the list, which is not taken."""
    lex.newlines()
    start = end = lex.i
    kids: list[Statement] = []
    ops: list[str] = []
    op = ""
    while lex.i < lex.n:
        plain = plain_words(lex)
        if plain is None and (lex.s[lex.i] == ")" or _keyword(lex) in _CLOSERS or lex.peek(";;")):
            break
        kid = _pipeline(lex, plain)
        kids.append(kid)
        end = kid.end
        op = _connector(lex)
        ops.append(op)
        if not op:
            break
        lex.newlines()
    if op == "&&" or op == "||":
        raise Unreadable(f"nothing follows `{op}`")
    return Statement("list", end, lex.s[start:end], kids, ops)


def _connector(lex: Lexer) -> str:
    """The operator behind a statement, taken; "" at the end and before what closes the list."""
    if lex.i >= lex.n:
        return ""
    one = lex.s[lex.i]
    if one == "\n":
        return ";"
    if one == ")":
        return ""
    two = lex.s[lex.i : lex.i + 2]
    if two == "&&" or two == "||":
        lex.i += 2
        return two
    if two == ";;" or two == ";&":
        return ""
    if one == "|":
        raise Unreadable("a pipe stands where a command should end")
    if one != "&" and one != ";":
        raise Unreadable(f"`{one}` stands where a command should end")
    lex.i += 1
    lex.complete("&;>")
    if one == "&" and lex.peek(">"):
        raise Unreadable("`&` stands before a redirection")
    return one


def _pipeline(lex: Lexer, plain: re.Match[str] | None) -> Statement:
    """Commands with pipes between them; the place afterwards is that of the next operator."""
    start = lex.i
    if plain is None:
        if (found := _TIMED.match(lex.s, start)) is not None:
            lex.i = found.end()
            words: list[Word] = [*found.group().replace("\\\n", "").split()]
            kid = _single(lex)
            return Statement("timed", kid.end, "", [kid], words=words)
        if _keyword(lex) == "!":
            lex.i += 1
            lex.blanks()
            kid = _single(lex)
            return Statement("not", kid.end, "", [kid])
    kid = _command(lex, plain)
    kids = [kid]
    while lex.i < lex.n and lex.s[lex.i] == "|" and not lex.peek("||"):
        lex.i += 2 if lex.peek("|&") else 1
        lex.complete("|&")
        lex.newlines()
        plain = plain_words(lex)
        if plain is None and _keyword(lex) == "!":
            raise Unreadable("`!` stands inside a pipeline")
        kid = _command(lex, plain)
        kids.append(kid)
    return kid if len(kids) == 1 else Statement("pipeline", kid.end, lex.s[start : kid.end], kids)


def _single(lex: Lexer) -> Statement:
    """The pipeline after `!` or `time`."""
    lex.depth += 1
    if lex.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    made = _pipeline(lex, plain_words(lex))
    lex.depth -= 1
    return made


def _command(lex: Lexer, plain: re.Match[str] | None) -> Statement:
    """One command; `plain` are the plain words that begin it, when it begins with such."""
    if plain is not None:
        return simple(lex, plain)
    s, i = lex.s, lex.i
    c = s[i : i + 1]
    if c == "(":
        made = _computed(lex) if s.startswith("((", i) else _subshell(lex)
    elif c in "{[!ifwucesdt}" and (word := _keyword(lex)):
        made = _compound(lex, word)
    elif (found := _FUNCTION.match(s, i)) is not None:
        lex.i = found.end()
        return _function(lex, i, found.group(1))
    else:
        return simple(lex, None)
    while True:
        lex.blanks()
        redirect = redirection(lex)
        if redirect is None:
            break
        made.redirs.append(redirect)
    made.text = s[i : lex.i]
    made.end = lex.i
    return made


def _subshell(lex: Lexer) -> Statement:
    lex.i += 1
    body = _nested(lex)
    if not body.kids:
        raise Unreadable("parentheses hold no command")
    _expect(lex, ")")
    return Statement("subshell", kids=[body])


def _computed(lex: Lexer) -> Statement:
    lex.i += 2
    nested = arithmetic(lex, "((…))")
    return Statement("arithmetic", words=[Raw("", [], nested)])


def _body(lex: Lexer, closer: str) -> Statement:
    body = _nested(lex)
    if not body.kids or not body.ops[-1]:
        raise Unreadable(f"no command is ended before `{closer}`")
    return body


def _compound(lex: Lexer, word: str) -> Statement:
    start = lex.i
    lex.i += len(word)
    made = Statement("group")
    if word == "{":
        made.kids = [_body(lex, "}")]
        _take(lex, "}")
    elif word == "if":
        _if(lex, made)
    elif word in ("while", "until"):
        made.kind = "loop"
        made.kids = [_body(lex, "do"), _do(lex)]
    elif word == "for":
        _for(lex, made)
    elif word == "case":
        _case(lex, made)
    elif word == "[[":
        from hitl_cli.shell.conditions import condition

        made.kind = "test"
        made.words = condition(lex)
    elif word == "function":
        lex.blanks()
        found = re.compile(r"([\w.:+-]+)(?:[ \t]*\([ \t]*\))?").match(lex.s, lex.i)
        if found is None:
            raise Unreadable("a function has no plain name")
        lex.i = found.end()
        return _function(lex, start, found.group(1))
    else:
        raise Unreadable(f"`{word}` stands where it is not read")
    return made


def _do(lex: Lexer) -> Statement:
    _take(lex, "do")
    body = _body(lex, "done")
    _take(lex, "done")
    return body


def _if(lex: Lexer, made: Statement) -> None:
    made.kind = "if"
    while True:
        made.kids.append(_body(lex, "then"))
        _take(lex, "then")
        made.kids.append(_body(lex, "fi"))
        lex.newlines()
        word = _keyword(lex)
        lex.i += len(word)
        if word == "fi":
            return
        if word == "else":
            made.kids.append(_body(lex, "fi"))
            _take(lex, "fi")
            return
        if word != "elif":
            raise Unreadable("`fi` is missing")


def _for(lex: Lexer, made: Statement) -> None:
    made.kind = "for"
    lex.blanks()
    if lex.peek("(("):
        lex.i += 2
        made.words = [Raw("", [], arithmetic(lex, "for ((…))"))]
    else:
        found = _VARIABLE.match(lex.s, lex.i)
        if found is None:
            raise Unreadable("a for loop has no plain variable")
        made.name = found.group()
        lex.i = found.end()
        lex.newlines()
        if _keyword(lex) == "in":
            lex.i += 2
            lex.blanks()
            while (word := lex.word()) is not None:
                made.words.append(word)
                lex.blanks()
                bounded(made.words)
        (lex.counted if made.words and all(map(is_number, made.words)) else lex.assigned).append(made.name)
    lex.blanks()
    if lex.peek(";") and not lex.peek(";;"):
        lex.i += 1
    lex.newlines()
    if _keyword(lex) == "{":
        raise Unreadable("a for loop has its body in braces")
    made.kids = [_do(lex)]


def _case(lex: Lexer, made: Statement) -> None:
    made.kind = "case"
    lex.blanks()
    subject = lex.word()
    if subject is None:
        raise Unreadable("a case has no word")
    made.words.append(subject)
    _take(lex, "in")
    while True:
        lex.newlines()
        if _keyword(lex) == "esac":
            lex.i += 4
            return
        if lex.peek("("):
            lex.i += 1
        while True:
            lex.blanks()
            pattern = lex.word()
            if pattern is None:
                raise Unreadable("a branch of a case has no plain pattern")
            made.words.append(pattern)
            lex.blanks()
            if lex.peek("|"):
                lex.i += 1
                continue
            break
        if not lex.peek(")"):
            raise Unreadable("a branch of a case has no plain pattern")
        lex.i += 1
        body = _nested(lex)
        if body.kids:
            made.kids.append(body)
        lex.newlines()
        found = re.compile(r";;&|;;|;&").match(lex.s, lex.i)
        if found is not None:
            lex.i = found.end()
        elif _keyword(lex) != "esac":
            raise Unreadable("a branch of a case is not ended")


def _function(lex: Lexer, start: int, name: str) -> Statement:
    lex.newlines()
    lex.depth += 1
    if lex.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    if not (lex.peek("(") or _keyword(lex)):
        raise Unreadable("a function has no body in braces or parentheses")
    body = _command(lex, None)
    lex.depth -= 1
    return Statement("function", lex.i, lex.s[start : lex.i], [body], name=name)
