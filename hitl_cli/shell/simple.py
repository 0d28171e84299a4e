"""Simple commands: assignments, words, redirections."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitl_cli.regex import later
from hitl_cli.shell.arithmetic import is_number
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.programs.table import word_set
from hitl_cli.shell.redirections import redirection
from hitl_cli.shell.scan import WORDS
from hitl_cli.shell.tree import Assignment, Raw, Redirect, Statement, Unreadable, Word

RESERVED = word_set("if then elif else fi for while until do done case esac select function { } ! [[ ]] in coproc")
_MANY = f"a command has more than {WORDS:,} words"
_NOT_PLAIN = RESERVED | {"time"}
_ASSIGNMENT = later(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_SUBSCRIPT = later(r"[A-Za-z_][A-Za-z0-9_]*\[")
# Words that are literal texts: runs of plain characters and blanks, and quotations in which nothing is expanded. What
# follows has to end the last word, or it goes on: a run gives its last word back then, nothing else ever is. Behind them,
# redirections that touch nothing, and how the command ends: with an operator when another certainly begins behind it.
_DOUBLE = r""""[^"$`\\]*+(?:\\(?![$`"\\\n])[^"$`\\]*+)*\""""
_ENDED = r"(?![^ \t\n;&|)])"
_RUN = r"[A-Za-z0-9_./:@%+,^\]!= \t-]*(?<![ \t])"
_LITERAL = rf"{_RUN}(?:[ \t]++(?:'[^']*+'|{_DOUBLE}){_ENDED}{_RUN})*"
_NOWHERE = rf"(?:[ \t]++(?=[0-9&>])(?:[0-9]?>&[0-9]|[0-9&]?>>?[ \t]*+/dev/null){_ENDED}){{0,2}}"
_COMMAND = re.compile(
    rf"([A-Za-z0-9_./:@%+,^-][A-Za-z0-9_./:@%+,\]!^#-]*+{_ENDED}(?![ \t]*\(){_LITERAL}){_ENDED}({_NOWHERE})[ \t]*+"
    r"((?:[|;]|&&|\|\|)(?=[ \t]++[A-Za-z0-9_./])|\Z|(?=[|;\n)]))?[ \t]*+",
    re.ASCII,
)
_LITERALS = later(rf"(?=[ \t]++[A-Za-z0-9_./:@%+,^\]!='\"-]){_LITERAL}{_ENDED}", re.ASCII)
_QUOTATION = later(r"""('[^']*'|"[^"]*")""")


def plain(lex: Lexer) -> Statement | None:
    """The command that begins here with a literal word, and the operator behind it when that is plain, too; None
    when something else begins here."""
    start = lex.i
    found = _COMMAND.match(lex.s, start)
    if found is None:
        return None
    text, nowhere, op = found.groups()
    words = _literal(text) if "'" in text or '"' in text else text.split()
    if words[0] in _NOT_PLAIN:
        return None
    lex.i, end = found.end(), found.end(2)
    if op is None:
        return simple(lex, start, end, words)
    if len(words) > WORDS:
        raise Unreadable(_MANY)
    return Statement("plain", end, lex.s[start:end] if nowhere else text, (), op, tuple(words))


def _literal(text: str) -> list[str]:
    """What the literal words of `text` say."""
    pieces = _QUOTATION.split(text)  # every other one is a quotation
    words = pieces[0].split()
    for at in range(1, len(pieces), 2):
        words.append(pieces[at][1:-1])
        words += pieces[at + 1].split()
    return words


def simple(lex: Lexer, start: int, end: int, literal: Sequence[str] = ()) -> Statement:
    """A simple command that begins at `start` with the words `literal`, which end at `end`."""
    s, n = lex.s, lex.n
    words: list[Word] = [*literal]
    raws: list[Raw] = []
    assigns: list[Assignment] = []
    redirs: list[Redirect] = []
    while True:
        if lex.i < n and s[lex.i] in " \t\\#":
            lex.blanks()
        if lex.i >= n:
            break
        c = s[lex.i]
        if c in "|;\n)" or (c == "&" and not lex.peek("&>")):
            break
        if (c in "<>&" or c.isdigit()) and (redirect := redirection(lex)) is not None:
            redirs.append(redirect)
        elif not words and (found := _ASSIGNMENT.match(s, lex.i)) is not None:
            assigns.append(_assignment(lex, found))
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
            if isinstance(word, Raw):
                raws.append(word)
            if lex.i < n and s[lex.i] in " \t" and s[lex.i + 1 : lex.i + 2] != "$":  # nothing literal begins there
                more = _LITERALS.match(s, lex.i)
                if more is not None:
                    words += _literal(more[0])
                    lex.i = more.end()
        end = lex.i
        if len(words) + len(redirs) + len(assigns) > WORDS:
            raise Unreadable(_MANY)
    if not (words or assigns or redirs):
        raise Unreadable(f"`{s[start : start + 1] or 'the end'}` stands where a command should begin")
    return Statement("simple", end, s[start:end], words=words, raws=raws, assigns=assigns, redirs=redirs)


def bounded(words: list[Word]) -> None:
    if len(words) > WORDS:
        raise Unreadable(_MANY)


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
        lex.note("assigned", name)
        return Assignment(name, "", lex.s[start : lex.i], bool(found.group(2)), items)
    if lex.peek("\\\n"):
        raise Unreadable("a line is continued in the middle of an assignment")
    value = lex.word()
    value = value if value is not None else ""
    lex.note("counted" if is_number(value) else "assigned", name)
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
