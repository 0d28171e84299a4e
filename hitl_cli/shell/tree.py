"""What the parser makes of a text: statements, and words not yet expanded.

Plain records without judgement. A word of plain characters is a `str`; any other is a `Raw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hitl_cli.records import Struct, field

WORD_END = frozenset(" \t\n;&|<>()")  # the characters that end a word of bash


class Unreadable(Exception):
    """The text is not in the part of the language that is read; the message says why, in words."""


# A part of a word, told apart by `kind`:
#   bare    unquoted text: braces, tilde and wildcards are alive in it
#   quoted  text that stands for itself
#   value   a variable, `$x` or `${x}`
#   number  what can only expand to digits and a sign: `$?`, `${#x}`, `$((1+2))`
#   other   any other expansion: `$(…)`, `${x:-y}`, `$@`
#   file    a process substitution: the name of a pipe
#   tilde   `~` or `~user` at a place where it is expanded
PartKind = Literal["bare", "quoted", "value", "number", "other", "file", "tilde"]


# What a text does with a variable:
#   evaluated  as arithmetic
#   counted    given a number
#   given      given a value by an expansion
#   assigned   given a value that is not certainly a number
NoteKind = Literal["evaluated", "counted", "given", "assigned"]


class Part(Struct, gc=False):
    kind: PartKind
    text: str  # for value the name, else the source text
    in_quotes: bool = False


class Nested(Struct, gc=False):
    """A script inside a word: its text is run by a shell of its own."""

    kind: str  # "substitution", "process substitution"
    script: Statement
    integer: bool = False  # it only prints a number


class Raw(Struct, gc=False):
    text: str
    parts: list[Part]
    nested: list[Nested] = field(default_factory=list)


Word = str | Raw


class Redirect(Struct, gc=False):
    op: str  # `<`, `>`, `>>`, `>|`, `<>`, `>&`, `<&`, `&>`, `&>>`, `<<`, `<<<`
    fd: str  # the digits in front, "" when there are none
    target: Word
    text: str = ""
    body: Raw | None = None  # of a here-document


class Assignment(Struct, gc=False):
    name: str
    value: Word  # "" when nothing follows the sign
    text: str
    append: bool = False
    items: list[Word] | None = None  # of an array, `x=(a b)`


StatementKind = Literal[
    "plain", "simple", "list", "pipeline", "not", "timed", "group", "subshell", "if", "loop", "for", "case", "arithmetic",
    "test", "function",
]  # fmt: skip


class Statement(Struct, gc=False):
    """`text` is its source, `end` where that ends in the text it was parsed from, `op` what stands behind it: `&&`, `||`,
    `;`, `&`, `|`, or "" at the end of a list. A plain one is a simple command of literal words alone.

    `kids` by kind: the items of a list, the commands of a pipeline, the one body of not, timed, group, subshell and
    function; condition and body of a loop; the body of for and of each branch of case; for if: condition, body, condition,
    body, …, and a last body if odd.
    """

    kind: StatementKind
    end: int = 0
    text: str = ""
    kids: Sequence[Statement] = ()
    op: str = ""
    words: Sequence[Word] = ()
    raws: Sequence[Raw] = ()  # of the words of a simple command those that are not literal
    assigns: Sequence[Assignment] = ()
    redirs: Sequence[Redirect] = ()
    name: str = ""  # of a function, of the variable of a for loop

    @property
    def empty(self) -> bool:
        """Whether it is a list of nothing."""
        return self.kind == "list" and not self.kids
