"""Path patterns, found by a path: by its folders, by a name in it, by its ending.

Strict is for allow rules: a pattern has to match the path itself, or to name a folder above it literally. For deny and ask
rules it is enough to match any folder above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Generic, TypeVar

from hitl_cli.access import Place, inside
from hitl_cli.permissions.globs import WILD, Path, fits, meet, regex

R = TypeVar("R")


class Index(Generic[R]):
    """Path patterns with what they stand for, found by an absolute, normalised path."""

    def __init__(self, place: Place, *, strict: bool) -> None:
        """`strict`: patterns have to match the path itself, as allow rules do."""
        self.strict, self.folds = strict, place.folds_case
        roots = [root.casefold() if self.folds else root for root in place.roots]
        self.tops = [_parts(root) for root in roots]
        self.roots = [(root, root.rstrip("/") + "/") for root in roots]  # with what the paths below it begin with
        self.nested = any(inside(a, b) for a in place.roots for b in place.roots if a != b)
        self.everything: list[R] = []  # no pattern at all
        self.anchored = _Tree[R]()  # below each root
        self.absolute = _Tree[R]()
        self.named: dict[str, list[tuple[Path, R]]] = {}  # at any depth, a literal name
        self.suffixed: dict[str, list[tuple[Path, R]]] = {}  # at any depth, `*.ext` by its last dot
        self.wild: list[tuple[Path, R]] = []  # at any depth, another pattern
        self.all: list[tuple[Path, R]] = []
        self.first: dict[str, list[tuple[Path, R]]] = {}  # of `all`: anchored ones by their literal first folder
        self.rest: list[tuple[Path, R]] = []  # of `all`: the others
        self.based: list[tuple[Path, R]] = []  # of these: absolute ones
        self.spelled: set[str] = set()  # components that patterns name, up to a wildcard
        self.begins: dict[int, set[str]] = {}  # by their length, those that a component may go on from

    def add(self, pattern: Path | None, it: R) -> None:
        if pattern is None:
            self.everything.append(it)
            return
        for start, wild in pattern.spelled:
            (self.begins.setdefault(len(start), set()) if wild else self.spelled).add(start)
        if self.folds:
            pattern = Path(
                pattern.base.casefold(), tuple(s.casefold() for s in pattern.segments), pattern.anywhere, pattern.folder
            )
        self.all.append((pattern, it))
        by_folder = not (pattern.base or pattern.anywhere) and pattern.literal > 0
        (self.first.setdefault(pattern.segments[0], []) if by_folder else self.rest).append((pattern, it))
        if pattern.base:
            self.based.append((pattern, it))
        if pattern.anywhere:
            if pattern.literal:
                self.named.setdefault(pattern.segments[0], []).append((pattern, it))
            elif re.fullmatch(r"\*[^*?\[\\]*\.[^*?\[\\.]+", pattern.segments[0]):
                self.suffixed.setdefault(pattern.segments[0].rpartition(".")[2], []).append((pattern, it))
            else:
                self.wild.append((pattern, it))
        elif pattern.base:
            base = tuple(part for part in pattern.base.split("/") if part)
            self.absolute.add(Path("/", base + pattern.segments, False, pattern.folder), it)
        else:
            self.anchored.add(pattern, it)

    def names(self, parts: Collection[str]) -> bool:
        """False when no pattern names any of these components (`Path.names`)."""
        if not self.spelled.isdisjoint(parts):
            return True
        return bool(self.begins) and any(part[:n] in starts for n, starts in self.begins.items() for part in parts)

    def find(self, path: str) -> list[R]:
        """What matches the path (an absolute, normalised one)."""
        if not self.all:
            return self.everything
        if self.folds:
            path = path.casefold()
        found = [*self.everything]
        if self.based:
            found += self.absolute.find(_parts(path), self.strict)
        for root, below in self.roots:
            if path.startswith(below) or path == root:
                parts = _parts(path[len(below) :])
                found += self.anchored.find(parts, self.strict)
                if self.named or self.suffixed or self.wild:
                    found += self._anywhere(parts)
        return found

    def _anywhere(self, parts: Sequence[str]) -> Iterator[R]:
        """What matches at any depth."""
        for n, part in enumerate(parts):
            last = n == len(parts) - 1
            for pattern, it in self.named.get(part, ()):
                if not (last and pattern.folder and self.strict):
                    yield it
            if last or not self.strict:
                for pattern, it in (*self.suffixed.get(part.rpartition(".")[2], ()), *self.wild):
                    matched = regex(pattern.segments[0]).fullmatch(part)
                    if matched and not (last and pattern.folder and self.strict):
                        yield it

    def may(self, glob: str, wanted: Callable[[R], bool]) -> Iterator[R]:
        """Which of those `wanted` could match some path that the shell pattern `glob` names (absolute; `/**`: any path)."""
        yield from filter(wanted, self.everything)
        if not self.all:
            return
        if self.folds:
            glob = glob.casefold()
        names = _parts(glob)
        tops = [top for top in self.tops if meet([*top, "**"], names)]
        room = 0 if "**" in names else len(names) - min(map(len, tops), default=0)
        for pattern, it in self._candidates(glob) if tops else self.based:
            if room and not pattern.base and len(pattern.segments) - pattern.segments.count("**") > room:
                continue  # it needs more components
            if not wanted(it):
                continue
            inner = (["**"] if pattern.anywhere else []) + list(pattern.segments)
            for top in [_parts(pattern.base)] if pattern.base else tops:
                if meet([*top, *inner], names) or meet([*top, *inner, "**"], names):
                    yield it
                    break

    def _candidates(self, glob: str) -> Sequence[tuple[Path, R]]:
        """Patterns that could meet `glob`: below a root that it spells out, those of folders it may go on with."""
        for _, below in self.roots if not self.nested else ():
            if glob.startswith(below):
                folder = glob[len(below) :].partition("/")[0]
                if not WILD.search(folder):
                    return [*self.first.get(folder, ()), *self.rest]
                if not any(meet((name,), (folder,)) for name in self.first):
                    return self.rest
        return self.all


def _parts(path: str) -> list[str]:
    return [*filter(None, path.split("/"))]


class _Tree(Generic[R]):
    """Patterns by their leading literal segments."""

    __slots__ = ("below", "ends", "patterns")

    def __init__(self) -> None:
        self.below: dict[str, _Tree[R]] = {}
        self.ends: list[tuple[Path, R]] = []  # literal to the end
        self.patterns: list[tuple[Path, int, R]] = []

    def add(self, pattern: Path, it: R) -> None:
        node, literal = self, pattern.literal
        for segment in pattern.segments[:literal]:
            node = node.below.setdefault(segment, _Tree())
        if literal == len(pattern.segments):
            node.ends.append((pattern, it))
        else:
            node.patterns.append((pattern, literal, it))

    def find(self, parts: Sequence[str], strict: bool) -> list[R]:
        found: list[R] = []
        node, n, last = self, 0, len(parts)
        while True:
            if node.ends:
                found += [it for pattern, it in node.ends if n < last or not (pattern.folder and strict)]
            if node.patterns:
                # A folder pattern takes all below it; a strict one otherwise has to reach the path itself.
                found += [
                    it
                    for pattern, done, it in node.patterns
                    if fits(pattern.segments, parts, strict and not pattern.folder, done, n)
                ]
            following = node.below.get(parts[n]) if n < last else None
            if following is None:
                return found
            node, n = following, n + 1
