"""A small reader of awk programs: does a program start others, write files, or read files it names itself?

A program whose text holds none of the dangerous spellings at all is harmless whatever its grammar says. Else its
tokens are walked: strings, regular expressions and comments are stepped over, `>` counts as a redirection only in a
print statement outside parentheses. Where the grammar leaves it open whether a slash divides or begins an expression,
the reader gives up, and the spelling decides.
"""

from __future__ import annotations

import re

from hitl_cli.access import Unknown, Word
from hitl_cli.regex import later
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row

_RUNS = "starts another program"
_WRITES = "writes to a file it names"
_READS = "reads a file it names"
_SUSPECT = later(r"system|\||getline|@|>|ARGV|extension")

_TOKEN = later(
    r"""
    (?P<blank>[ \t\r]+|\\\n|\#[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.|\\\n)*")
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<mark>\|\||\|&|&&|>>|>=|<=|==|!=|\+\+|--|[-+*/%^]=|\*\*|[-+*%^!<>|?:~,;(){}\[\]$=@&\n])
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX = later(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:[^\]\\\n/]|\\.)*\])*/", re.DOTALL)
_STANDARD = later(r'[ \t]*"/dev/std(?:err|out)"[ \t]*(?=[;}\n]|$)')
_KEYWORDS = frozenset(
    ["print", "printf", "return", "in", "case", "else", "do", "if", "while", "for", "getline", "delete", "switch"]
)
_EITHER = frozenset(["length", "getline", "++", "--", "$"])  # the awks disagree whether a slash behind them divides
_CONTROL = frozenset(["if", "while", "for", "switch"])


def acts_of(text: str) -> str:
    """Why the program is an act, or "" when it only computes and prints."""
    suspect = _SUSPECT.search(text)
    if suspect is None:
        return ""
    verdict = _walk(text)
    if verdict is None:
        return f"holds a program that could not be read ({suspect.group()!r} is in it)"
    return verdict


def _walk(text: str) -> str | None:
    """The first dangerous token's reason, "" when there is none, None when the text cannot be tokenised surely."""
    at, previous, printing, reading = 0, "", False, False
    parens: list[bool] = []  # for each open bracket: does it belong to if, while, for, switch?
    depth = 0
    operand = closes_control = False  # does the last token end an operand, and was it the `)` of a condition?
    while at < len(text):
        if text[at] == "/" and previous in _EITHER:
            return None
        if text[at] == "/" and not (operand and not closes_control):
            match = _REGEX.match(text, at)
            if match is None:
                return None
            at, operand, closes_control, previous = match.end(), True, False, "/"
            continue
        if text[at] == "/":
            at += 2 if text[at : at + 2] == "/=" else 1
            operand, closes_control, previous = False, False, "/"
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at = match.end()
        kind, token = match.lastgroup, match.group()
        if kind == "blank":
            continue
        closes_control = False
        if kind == "name":
            if token in ("system", "extension"):
                return _RUNS
            if token == "ARGV":
                return _READS
            if token in ("print", "printf"):
                printing, depth = True, len(parens)
            reading = reading or token == "getline"
            operand = token not in _KEYWORDS
        elif kind in ("string", "number"):
            operand = True
        else:
            if token in ("|", "|&"):
                return _RUNS
            if token == "@":
                return "calls a function named at run time, or loads code"
            if token in (">", ">>") and printing and len(parens) <= depth and not _STANDARD.match(text, at):
                return _WRITES
            if token == "<" and reading:
                return _READS
            if token in "([":
                parens.append(token == "(" and previous in _CONTROL)
            elif token in ")]":
                closes_control = parens.pop() if parens else False
            elif token in ";\n{}":
                printing = reading = False
            operand = token in (")", "]", "$", "++", "--")
        previous = token
    return ""


def _awk(reading: Reading) -> None:
    sources = list(reading.values("-e"))
    operands = reading.operands
    if not sources and not reading.has("-f", "-E") and operands:
        sources, operands = reading.placed()[:1], operands[1:]
    for at, source in sources:
        if isinstance(source, Unknown):
            reading.act(at, "holds a program that is known only at run time")
        elif reason := acts_of(source):
            reading.act(at, reason)
    in_place = any(isinstance(value, str) and "inplace" in value for _, value in reading.values("-i"))
    for word in operands:
        if not _assigns(word):
            reading.reads.append(word)
            if in_place:
                reading.write(word)


def _assigns(word: Word) -> bool:
    return isinstance(word, str) and re.match(r"[A-Za-z_]\w*=", word) is not None


PROGRAMS: dict[str, Row] = {
    "awk": Row(
        "GNU awk manual, mawk(1), POSIX awk",
        """
        -f --file = takes its program from a file
        -E --exec = takes its program from a file
        -i --include = loads code from a file
        -l --load = loads a library
        -d --dump-variables ? writes a file
        -o --pretty-print ? writes a file
        -p --profile ? writes a file
        -D --debug ? starts the debugger
        -W = gives options of the implementation
        -e --source =
        -F --field-separator -v --assign =
        """,
        stops=1,
        wary=True,
        then=_awk,
    )
}
