"""Redirections, and the bodies of here-documents, which begin after the next end of a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hitl_cli.regex import later
from hitl_cli.shell.tree import WORD_END, Part, Raw, Redirect, Unreadable

if TYPE_CHECKING:
    from hitl_cli.shell.lexer import Lexer

# To a descriptor or a plainly named file, and nothing that could belong to it behind.
_PLAIN = later(r"([0-9]*)(?:(>&)(?=[0-9])|(>>?)[ \t]*)([\w./:@%+,^-][\w./:@%+,^=#-]*)(?=[ \t\n;&|)]|\Z)", re.ASCII)
_REDIRECT = later(r"([0-9]*)(<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>)")
_PLAIN_DELIMITER = later(r"""(?:[\w.+%:@/,!^=*?-]|\\.|'[^'\n]*'|"[^"\\$`\n]*")+""")
_IN_BODY = later(r"[^$`\\]+")


def redirection(lex: Lexer) -> Redirect | None:
    """The redirection that begins here, None when none does."""
    if (found := _PLAIN.match(lex.s, lex.i)) is not None:
        fd, copy, write, name = found.groups()
        lex.i = found.end()
        return Redirect(copy or write, fd, name, found.group())
    found = _REDIRECT.match(lex.s, lex.i)
    if found is None or (found.group(2) in "<>" and lex.s.startswith("(", found.end())):
        return None
    start = lex.i
    fd, op = found.groups()
    if fd and op.startswith("&"):
        return None
    lex.i = found.end()
    lex.complete("<>&|(-")
    if op in (">&", "<&") and lex.peek("-"):  # one operator, whatever follows it
        lex.i += 1
        return Redirect(op, fd, "-", lex.s[start : lex.i])
    if op in ("<<", "<<-"):
        return _here(lex, fd, op, start)
    lex.blanks()
    target = lex.word()
    if target is None:
        raise Unreadable("a redirection has no target")
    return Redirect(op, fd, target, lex.s[start : lex.i])


def _here(lex: Lexer, fd: str, op: str, start: int) -> Redirect:
    lex.blanks()
    found = _PLAIN_DELIMITER.match(lex.s, lex.i)
    if found is None or (found.end() < lex.n and lex.s[found.end()] not in WORD_END):
        raise Unreadable("the end mark of a here-document is not a plain word")
    written = found.group()
    lex.i = found.end()
    mark = re.sub(r"\\(.)|'([^']*)'|\"([^\"]*)\"", lambda m: m[1] or m[2] or m[3] or "", written)
    redirect = Redirect(op, fd, mark, lex.s[start : lex.i], Raw(written, []))
    lex.pending.append(redirect)
    return redirect


def body(lex: Lexer, redirect: Redirect) -> None:
    """The lines up to the end mark, which must be there."""
    assert redirect.body is not None
    mark, literal = str(redirect.target), redirect.body.text != redirect.target
    lines: list[str] = []
    joined = False
    while True:
        if lex.i >= lex.n:
            raise Unreadable("a here-document is not ended")
        end = lex.s.find("\n", lex.i)
        line = lex.s[lex.i : lex.n if end < 0 else end]
        lex.i = lex.n if end < 0 else end + 1
        if redirect.op == "<<-":
            line = line.lstrip("\t")
        if line == mark:
            if joined:
                raise Unreadable("the end mark of a here-document follows a backslash")
            break
        if lex.closers and line.startswith(mark) and ")" in line:
            raise Unreadable("a here-document may end at a parenthesis")
        odd = not literal and (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if (odd and mark.startswith(line[:-1])) or (joined and line and mark.endswith(line)):
            raise Unreadable("the end mark of a here-document may be joined by a backslash")
        joined = odd
        lines.append(line)
    text = "".join(line + "\n" for line in lines)
    redirect.body = Raw(text, [Part("quoted", text, True)]) if literal else _expanded(lex, text)


def _expanded(lex: Lexer, text: str) -> Raw:
    inner = lex.inner(text)
    raw = Raw(text, [])
    while inner.i < inner.n:
        if (found := _IN_BODY.match(text, inner.i)) is not None:
            raw.parts.append(Part("quoted", found.group(), True))
            inner.i = found.end()
        else:
            inner.soft(raw, text[inner.i], "$`\\")
    lex.notes += inner.notes
    return raw
