"""Globs as people write them in a search and as git reads them in an ignore file: one translation for both.

A pattern is turned into an expression over a path relative to the folder it belongs to. `*` and `?` stay within a name,
`**` as a whole name crosses folders, `[...]` is a set. Only a search knows `{a,b}`; only an ignore file knows `!` and a
slash at the end (gitignore(5)). hitl's rules have globs of their own (`permissions`), stricter in what they accept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from hitl_cli.records import Struct
from hitl_cli.regex import later
from hitl_cli.tools.declare import Failed
from hitl_cli.tools.search import POSIX

_BRACES = later(r"\{([^{}]*)\}")
_MANY = 200  # patterns that braces may stand for
_ITEM = r"\[:\w+:\]|\\.|[^\]\\]"  # of a set
_PIECE = later(
    r"(?P<folders>(?:^|(?<=/))\*\*/)|(?P<below>(?<=/)\*\*\Z)|(?P<star>\*+)|\\."
    rf"|\[[!^]?+(?:\]|{_ITEM})(?:{_ITEM})*\]|.",
    re.DOTALL,
)


@lru_cache(maxsize=64)
def matcher(pattern: str) -> re.Pattern[str]:
    """A pattern of a search. One without a slash means names at any depth. Raises Failed for what leaves the folder."""
    if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise Failed(f"the pattern {pattern} leaves the folder that is searched: give the folder as path")
    parts = [part.removeprefix("./") for part in _expanded(pattern)]
    parts = [part + "**" if part.endswith("/") else part if "/" in part else f"**/{part}" for part in parts]
    try:
        return re.compile("|".join(f"(?:{_translated(part)})" for part in parts) + r"\Z", re.DOTALL)
    except re.error as error:
        raise Failed(f"the pattern {pattern} cannot be read: {error}") from None


def _expanded(pattern: str) -> list[str]:
    done: list[str] = []
    open_ = [pattern]
    while open_ and len(done) + len(open_) <= _MANY:
        text = open_.pop()
        if braces := _BRACES.search(text):
            open_ += [text[: braces.start()] + part + text[braces.end() :] for part in braces[1].split(",")]
        else:
            done.append(text)
    if open_:
        raise Failed(f"the pattern {pattern} stands for more than {_MANY} patterns")
    return done


def _translated(glob: str) -> str:
    """The expression without its end. No step back is ever taken past the first fit of what stands between two stars,
    which loses no match and keeps a hostile pattern from taking for ever."""
    return _folders([_token(found) for found in _PIECE.finditer(glob)])


def _token(found: re.Match[str]) -> tuple[str, str]:
    """Kind (folders, below, star, slash, one) and expression of a piece."""
    piece = found[0]
    if found.lastgroup or piece == "/":
        return found.lastgroup or "slash", "/" if piece == "/" else ""
    if piece == "?":
        return "one", "[^/]"
    if len(piece) < 3:
        return "one", re.escape(piece[-1])
    negated = piece[1] in "!^"
    inner = re.sub(r"\[:(\w+):\]|\\(.)|([\[\]&~|^\\])", _in_set, piece[1 + negated : -1], flags=re.DOTALL)
    return "one", f"(?!/)[{'^' * negated}{inner}]"


def _folders(tokens: list[tuple[str, str]]) -> str:
    """Tokens with what stands between two `**/` fitted at its first place."""
    at = [n for n, (kind, _) in enumerate(tokens) if kind == "folders"]
    if not at:
        return _names(tokens)
    out = _names(tokens[: at[0]])
    for start, end in pairwise([*at, len(tokens)]):
        between = _names(tokens[start + 1 : end])
        out += f"(?:[^/]+/)*{between}" if end == len(tokens) else f"(?>(?:[^/]+/)*?{between})"
    return out


def _names(tokens: list[tuple[str, str]]) -> str:
    """Tokens with what stands between two stars of a name fitted at its first place."""
    out, held = "", ""  # held: what followed the last star so far
    starred = False
    for kind, expression in [*tokens, ("end", "")]:
        if kind == "one":
            held += expression
            continue
        if starred:
            held = f"(?>[^/]*?{held})" if kind == "star" else f"[^/]*{held}"
        out += held + (".+" if kind == "below" else expression)
        held, starred = "", kind == "star"
    return out


def _in_set(found: re.Match[str]) -> str:
    if found[1]:
        return POSIX.get(found[1], "")
    return re.escape(found[2] or found[3])


class Ignore(Struct, frozen=True):
    """The ignore file of one folder: (ignores, folders alone, expression) for each line, and one that no other escapes."""

    folder: str
    lines: tuple[tuple[bool, bool, re.Pattern[str]], ...]
    any: re.Pattern[str]

    def says(self, path: str, is_folder: bool) -> bool | None:
        """Whether `path`, below the folder, is ignored, or taken back with `!`; None when no line speaks of it."""
        below = path[len(self.folder) :].lstrip("/")
        if not self.any.match(below):
            return None
        for ignores, folders_alone, expression in reversed(self.lines):
            if (is_folder or not folders_alone) and expression.match(below):
                return ignores
        return None


def ignore(folder: str, text: str) -> Ignore:
    """A line that means nothing matches nothing, as in git, and spoils no other line."""
    lines = [read for line in text.split("\n") if (read := _line(line.removesuffix("\r")))]
    every = "|".join(f"(?:{expression.pattern})" for _, _, expression in lines)
    return Ignore(folder, tuple(lines), re.compile(every if lines else r"(?!)", re.DOTALL))


def _line(line: str) -> tuple[bool, bool, re.Pattern[str]] | None:
    if line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\)((?:\\\\)*) +\Z", r"\1", line)
    ignores = not line.startswith("!")
    pattern = line.removeprefix("!")
    folders_alone = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or any(found[0] in ("[", "\\") for found in _PIECE.finditer(pattern)):
        return None  # a set that is never closed, a backslash that escapes nothing
    pattern = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    try:
        return ignores, folders_alone, re.compile(_translated(pattern) + r"\Z", re.DOTALL)
    except re.error:
        return None


def decided(ignores: Sequence[Ignore], path: str, is_folder: bool) -> bool:
    """Whether a path is ignored: the deepest ignore file that speaks of it decides, and in it the last line."""
    for one in reversed(ignores):
        if (said := one.says(path, is_folder)) is not None:
            return said
    return False
