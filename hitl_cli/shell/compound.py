"""Compound commands as bash groups them: subshells, groups, conditions, loops, cases and functions, rule by rule."""

from __future__ import annotations

import re

from hitl_cli.regex import later
from hitl_cli.shell.arithmetic import arithmetic, is_number
from hitl_cli.shell.conditions import condition
from hitl_cli.shell.grammar import command, expect, keyword, nested
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.scan import DEEPEST
from hitl_cli.shell.simple import bounded
from hitl_cli.shell.tree import Raw, Statement, Unreadable

_VARIABLE = later(r"[A-Za-z_][A-Za-z0-9_]*")


def subshell(lex: Lexer) -> Statement:
    lex.i += 1
    body = nested(lex)
    if body.empty:
        raise Unreadable("parentheses hold no command")
    expect(lex, ")")
    return Statement("subshell", kids=[body])


def computed(lex: Lexer) -> Statement:
    lex.i += 2
    return Statement("arithmetic", words=[Raw("", [], arithmetic(lex, "((…))"))])


def _body(lex: Lexer, closer: str) -> Statement:
    body = nested(lex)
    if body.kind != "list" or body.empty or not body.kids[-1].op:
        raise Unreadable(f"no command is ended before `{closer}`")
    return body


def compound(lex: Lexer, word: str) -> Statement:
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
        made.kind = "test"
        made.words = condition(lex)
    elif word == "function":
        lex.blanks()
        found = re.compile(r"([\w.:+-]+)(?:[ \t]*\([ \t]*\))?").match(lex.s, lex.i)
        if found is None:
            raise Unreadable("a function has no plain name")
        lex.i = found.end()
        return function(lex, start, found.group(1))
    else:
        raise Unreadable(f"`{word}` stands where it is not read")
    return made


def _take(lex: Lexer, word: str) -> None:
    lex.newlines()
    if keyword(lex) != word:
        raise Unreadable(f"`{word}` is missing")
    lex.i += len(word)


def _do(lex: Lexer) -> Statement:
    _take(lex, "do")
    body = _body(lex, "done")
    _take(lex, "done")
    return body


def _if(lex: Lexer, made: Statement) -> None:
    made.kind = "if"
    made.kids = kids = []
    while True:
        kids.append(_body(lex, "then"))
        _take(lex, "then")
        kids.append(_body(lex, "fi"))
        lex.newlines()
        word = keyword(lex)
        lex.i += len(word)
        if word == "fi":
            return
        if word == "else":
            kids.append(_body(lex, "fi"))
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
        if keyword(lex) == "in":
            lex.i += 2
            lex.blanks()
            made.words = words = []
            while (word := lex.word()) is not None:
                words.append(word)
                lex.blanks()
                bounded(words)
        lex.note("counted" if made.words and all(map(is_number, made.words)) else "assigned", made.name)
    lex.blanks()
    if lex.peek(";") and not lex.peek(";;"):
        lex.i += 1
    lex.newlines()
    if keyword(lex) == "{":
        raise Unreadable("a for loop has its body in braces")
    made.kids = [_do(lex)]


def _case(lex: Lexer, made: Statement) -> None:
    made.kind = "case"
    lex.blanks()
    subject = lex.word()
    if subject is None:
        raise Unreadable("a case has no word")
    made.words, made.kids = words, kids = [subject], []
    _take(lex, "in")
    while True:
        lex.newlines()
        if keyword(lex) == "esac":
            lex.i += 4
            return
        if lex.peek("("):
            lex.i += 1
        while True:
            lex.blanks()
            pattern = lex.word()
            if pattern is None:
                raise Unreadable("a branch of a case has no plain pattern")
            words.append(pattern)
            lex.blanks()
            if lex.peek("|"):
                lex.i += 1
                continue
            break
        if not lex.peek(")"):
            raise Unreadable("a branch of a case has no plain pattern")
        lex.i += 1
        body = nested(lex)
        if not body.empty:
            kids.append(body)
        lex.newlines()
        found = re.compile(r";;&|;;|;&").match(lex.s, lex.i)
        if found is not None:
            lex.i = found.end()
        elif keyword(lex) != "esac":
            raise Unreadable("a branch of a case is not ended")


def function(lex: Lexer, start: int, name: str) -> Statement:
    lex.newlines()
    lex.depth += 1
    if lex.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    if not (lex.peek("(") or keyword(lex)):
        raise Unreadable("a function has no body in braces or parentheses")
    body = command(lex)
    lex.depth -= 1
    return Statement("function", lex.i, lex.s[start : lex.i], [body], name=name)
