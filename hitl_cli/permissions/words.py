"""Patterns over the words of a command, and the index that finds the rules a command meets.

A pattern is split as a shell splits words, so quotes and backslash make text literal. What is left unquoted has three
meanings: `*` inside a word stays in that word, a lone `*` is one or more words, and `:*` or a lone `*` at the end is any
further words. Everything else is itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from hitl_cli.access import Word
from hitl_cli.errors import RuleError
from hitl_cli.permissions.automaton import ANY, STAY, Open, Step, between
from hitl_cli.records import Struct
from hitl_cli.regex import later


class Star(Struct, frozen=True):
    """A word with `*` in it: `text` are the literal pieces between the stars."""

    pieces: tuple[str, ...]

    @property
    def written(self) -> str:
        return "*".join(self.pieces)

    def steps(self) -> Iterator[str | Open]:
        """Its characters, and what its stars are between them."""
        first, *more = self.pieces
        yield from first
        for piece in more:
            yield STAY
            yield from piece

    @property
    def expression(self) -> str:
        return between([re.escape(piece) for piece in self.pieces])

    def fits(self, word: str) -> bool:
        first, *middle, last = self.pieces
        at, end = len(first), len(word) - len(last)
        if at > end or not word.startswith(first) or not word.endswith(last):
            return False
        for piece in middle:
            at = word.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


class Many:
    """One or more words."""

    def __repr__(self) -> str:
        return "*"


MANY = Many()
Item = str | Star | Many


class Words(Struct):
    """A compiled pattern: its items, and whether any further words may follow.

    literal  the literal words it begins with
    words    all the words that it names literally
    spelled  how many leading words of a command it spells out, so that it consents to what they do
    """

    items: tuple[Item, ...]
    rest: bool
    literal: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    spelled: int = 0

    @property
    def exact(self) -> bool:
        """Whether it names one command alone."""
        return not self.rest and self.spelled == len(self.items)

    def __post_init__(self) -> None:
        self.words = tuple([item for item in self.items if isinstance(item, str)])
        if len(self.words) == len(self.items):
            self.literal, self.spelled = self.words, len(self.words)
            return
        self.literal = tuple(takewhile(lambda item: isinstance(item, str), self.items))  # type: ignore[arg-type]
        self.spelled = next(n for n, item in enumerate((*self.items, MANY)) if not _spells(item))

    @property
    def steps(self) -> Sequence[Step]:
        """Its items as an automaton takes them."""
        if len(self.literal) == len(self.items):
            return self.literal
        return [step for item in self.items for step in ((ANY, STAY) if isinstance(item, Many) else (item,))]


def _spells(item: Item) -> bool:
    """True for a literal word, and for what names an option and leaves only its value open (`--output=*`)."""
    return isinstance(item, str) or (isinstance(item, Star) and "=" in item.pieces[0])


def key(word: Word) -> str | None:
    """The text a literal pattern may equal. A file pattern counts as it is written: that some name it becomes could act is
    an act of its command, and no rule spells that."""
    if isinstance(word, str):
        return word
    return word.text if word.glob else None


# Literal words, one blank between two, that do not end in a colon; and what stands for any further words.
_PLAIN = later(r"((?:[A-Za-z0-9_./@%+,:=^-]+ )*[A-Za-z0-9_./@%+,:=^-]*[A-Za-z0-9_./@%+,=^-])(:\*| \*)?")
_CONTROL = ";&|<>()`\n"
_BLANK = " \t"
_RUN = later(r"""[^ \t'"\\*;&|<>()`\n]+""")  # characters that mean themselves


def parse(pattern: str, home: str = "~") -> Words:
    """Compile a pattern; RuleError says what is wrong and what to write. `home` replaces an unquoted leading `~/`."""
    plain = _PLAIN.fullmatch(pattern)
    if plain is None:
        return _parse(pattern, home)
    return Words(tuple(plain[1].split(" ")), plain[2] is not None)


def check(pattern: str) -> None:
    """RuleError where `parse` would raise it."""
    if not _PLAIN.fullmatch(pattern):
        _parse(pattern, "~")


def _parse(pattern: str, home: str) -> Words:
    body, rest = pattern, False
    if body.endswith(":*") and not body.endswith("\\:*"):
        body, rest = body[:-2], True
        if body.endswith(tuple(_BLANK)):
            raise RuleError(
                f"`{pattern}` has a blank before `:*`, so it would only match an argument that is `:`",
                remedy=f"Write `{body.rstrip()}:*`.",
            )
    items = _split(body, pattern, home)
    if items and isinstance(items[-1], Many) and not rest:
        items, rest = items[:-1], True
    if not items:
        raise RuleError(f"`{pattern}` names no word", remedy="Write the tool alone, `Bash`, to mean every command.")
    for n, item in enumerate(items):
        if isinstance(item, Star) and any(piece.endswith(":") for piece in item.pieces[:-1]):
            raise RuleError(
                f"`:*` means any further words and can only stand at the end of a pattern; in `{pattern}` it does not",
                remedy="End the pattern there, or write `*` alone for one or more words"
                + (f": `{_shown(items[: n + 1])}`." if n + 1 < len(items) else "."),
            )
    return Words(items, rest)


def _shown(items: Sequence[Item]) -> str:
    return " ".join(
        i if isinstance(i, str) else "*" if isinstance(i, Many) else "*".join(i.pieces).removesuffix(":*") + ":*"
        for i in items
    )


def _split(body: str, whole: str, home: str) -> tuple[Item, ...]:
    """The words of `body` as bash would cut them, with unquoted stars kept apart."""
    items: list[Item] = []
    i, size = 0, len(body)
    while i < size:
        if body[i] in _BLANK:
            i += 1
            continue
        pieces, i, quoted = _word(body, i, whole)
        if pieces[0].startswith("~/") and not quoted:
            pieces[0] = home + pieces[0][1:]
        elif pieces == ["~"] and not quoted:
            pieces = [home]
        if len(pieces) == 1:
            items.append(pieces[0])
        else:
            items.append(MANY if pieces == ["", ""] else Star(tuple(pieces)))
    return tuple(items)


def _word(body: str, i: int, whole: str) -> tuple[list[str], int, bool]:
    """One word from `i` on: its literal pieces between stars, where it ends, whether it begins with a quote."""
    quoted = body[i] in "'\"\\"
    pieces = [""]
    while i < len(body) and body[i] not in _BLANK:
        c = body[i]
        if c == "'" or c == '"':
            end = _closing(body, i)
            if end < 0:
                raise RuleError(
                    f"the quote {c} in `{whole}` is not closed",
                    remedy=f"Close it, or write \\{c} for the character itself.",
                )
            text = body[i + 1 : end]
            pieces[-1] += text if c == "'" else re.sub(r'\\([$`"\\])', r"\1", text)
            i = end
        elif c == "\\":
            if i + 1 == len(body):
                raise RuleError(
                    f"`{whole}` ends in a backslash", remedy="Write \\\\ for the character itself, or take it away."
                )
            i += 1
            pieces[-1] += body[i]
        elif c == "*":
            pieces.append("")
        elif c in _CONTROL:
            raise RuleError(
                f"`{'line break' if c == chr(10) else c}` in `{whole}` is a shell operator: "
                "a pattern is matched against one simple command",
                remedy="Write a rule for each command of the list, or quote the character to mean itself.",
            )
        else:
            run = _RUN.match(body, i)
            assert run
            pieces[-1] += run.group()
            i = run.end() - 1
        i += 1
    return [p for n, p in enumerate(pieces) if p or n in (0, len(pieces) - 1)], i, quoted


def _closing(body: str, start: int) -> int:
    if body[start] == "'":
        return body.find("'", start + 1)
    i = start + 1
    while i < len(body) and body[i] != '"':
        i += 2 if body[i] == "\\" else 1
    return i if i < len(body) else -1


def quote(word: str) -> str:
    """The word as a pattern spells it: quoted where it holds anything a pattern would read differently."""
    if word and re.fullmatch(r"[A-Za-z0-9_./@%+,:=^{}\[\]?!#$-]+", word) and not word.endswith(":"):
        return word
    if "'" not in word:
        return f"'{word}'"
    return '"' + re.sub(r'([$`"\\])', r"\\\1", word) + '"'
