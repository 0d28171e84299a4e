"""Which files there are: a walk that leaves out what git ignores, follows no link, and comes in a fixed order.

`Glob` lists what the walk finds and `Grep` searches it, so both mean the same files whether or not a search program is
installed. Hidden files count; version control's own folders and what no rule lets anyone read do not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hitl_cli.access import Place, inside
from hitl_cli.tools.declare import Failed

if TYPE_CHECKING:
    import pathspec

_OWN = frozenset({".git", ".hg", ".svn", ".jj"})
_BRACES = re.compile(r"\{([^{}]*)\}")
_MANY = 200  # patterns that braces may stand for


@dataclass(frozen=True, slots=True)
class Ignore:
    """The ignore file of one folder."""

    folder: str
    spec: pathspec.GitIgnoreSpec

    def says(self, path: str, folder: bool) -> bool | None:
        """Whether `path` (below the folder) is ignored, or taken back with `!`; None when no pattern speaks of it."""
        below = path[len(self.folder) :].lstrip("/")
        return self.spec.check_file(below + "/" if folder else below).include


def walk(start: str, place: Place, readable: Callable[[str], bool]) -> Iterator[tuple[str, bool]]:
    """Every file below `start` (absolute, links resolved) in order of its path, and whether it is a link.

    Raises OSError when `start` itself cannot be listed; folders below that cannot are left out.
    """
    ahead = [(start, _above(start, place), True, False)]  # path, the ignore files above it, folder, link
    while ahead:
        path, ignores, is_folder, is_link = ahead.pop()
        if is_folder:
            ahead += reversed(_entries(path, ignores, must=path == start))
        elif readable(path):
            yield path, is_link


def _entries(folder: str, ignores: tuple[Ignore, ...], must: bool) -> list[tuple[str, tuple[Ignore, ...], bool, bool]]:
    """What a folder holds and nobody ignores, in order; `must`: it is an error when it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in entries]
    except OSError:
        if must:
            raise
        return []
    if own := _ignore_file(folder):
        ignores = (*ignores, own)
    found.sort(key=lambda entry: entry[0] + "/" if entry[1] else entry[0])
    paths = [(os.path.join(folder, name), is_folder, is_link) for name, is_folder, is_link in found if name not in _OWN]
    return [
        (path, ignores, is_folder, is_link)
        for path, is_folder, is_link in paths
        if not _ignored(path, is_folder, ignores)
    ]


def _ignored(path: str, folder: bool, ignores: tuple[Ignore, ...]) -> bool:
    """The deepest ignore file that speaks of a path decides, as in git."""
    for ignore in reversed(ignores):
        if (said := ignore.says(path, folder)) is not None:
            return said
    return False


def _above(start: str, place: Place) -> tuple[Ignore, ...]:
    """The ignore files that hold at `start`; none when it is itself ignored: who names such a folder means it."""
    root = next((root for root in place.roots if inside(start, root)), start)
    between = os.path.relpath(start, root).split(os.sep) if start != root else []
    ignores: tuple[Ignore, ...] = ()
    at = root
    for name in between:
        if own := _ignore_file(at):
            ignores = (*ignores, own)
        at = os.path.join(at, name)
        if _ignored(at, True, ignores):
            return ()
    return ignores


def _ignore_file(folder: str) -> Ignore | None:
    import pathspec  # most programs of hitl need it not

    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return Ignore(folder, pathspec.GitIgnoreSpec.from_lines(file.read().splitlines()))
    except (OSError, ValueError):  # ValueError: a pattern that cannot be read
        return None


@lru_cache(maxsize=64)
def matcher(pattern: str) -> re.Pattern[str]:
    """A glob as an expression over paths relative to the searched folder.

    `*` and `?` stay within a name, `**` crosses folders, `{a,b}` is either, `[...]` a set. A pattern without a slash
    means names at any depth. Raises Failed for what leaves the folder.
    """
    if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise Failed(f"the pattern {pattern} leaves the folder that is searched: give the folder as path")
    patterns = _expanded(pattern)
    return re.compile("|".join(_translated(p.removeprefix("./")) for p in patterns), re.DOTALL)


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
    if "/" not in glob:
        glob = f"**/{glob}"
    if glob.endswith("/"):
        glob += "**"
    out, at = [], 0
    for piece in re.finditer(r"(?:^|(?<=/))\*\*/|(?<=/)\*\*$|\*+|\?|\[!?\]?[^\]/]*\]|\\.", glob):
        out.append(re.escape(glob[at : piece.start()]))
        out.append(_piece(piece[0]))
        at = piece.end()
    return "(?:" + "".join(out) + re.escape(glob[at:]) + r")\Z"


def _piece(piece: str) -> str:
    if piece == "**/":
        return "(?:[^/]+/)*"
    if piece == "**":
        return ".+"
    if piece[0] == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece[0] == "\\":
        return re.escape(piece[1])
    inner = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"(?!/)[^{inner[1:]}]" if inner.startswith("!") else f"(?!/)[{inner}]"
