"""Path patterns, found by a path: by its folders, by a name in it, by its ending.

Strict is for allow rules: a pattern has to match the path itself, or to name a folder above it literally. For deny and ask
rules it is enough to match any folder above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from typing import Generic, TypeVar

from hitl_cli.access import Place
from hitl_cli.permissions import wordtree
from hitl_cli.permissions.automaton import ANY, STAY, Automaton, Pattern, automata
from hitl_cli.permissions.globs import WILD, Path, steps

R = TypeVar("R")


class Index(Generic[R]):
    """Path patterns with what they stand for, found by an absolute, normalised path."""

    def __init__(self, place: Place, *, strict: bool) -> None:
        """`strict`: patterns have to match the path itself, as allow rules do."""
        self.strict, self.folds = strict, place.folds_case
        roots = [root.casefold() if self.folds else root for root in place.roots]
        self.tops = [_parts(root) for root in roots]
        self.roots = [(root, root.rstrip("/") + "/") for root in roots]  # with what the paths below it begin with
        self.everything: list[R] = []  # no pattern at all
        self.anchored = wordtree.Index[R]()  # below each root
        self.absolute = wordtree.Index[R]()
        self.named: dict[str, list[tuple[Path, R]]] = {}  # at any depth, a literal name
        self.suffixed: dict[str, wordtree.Index[R]] = {}  # at any depth, `*.ext` by its last dot
        self.wild = wordtree.Index[R]()  # at any depth, another pattern
        self.all: list[tuple[Path, R]] = []
        self.sought: list[Automaton[R]] = []  # of `all`, as soon as they are needed
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
        if pattern.anywhere:
            if pattern.literal:
                self.named.setdefault(pattern.segments[0], []).append((pattern, it))
            elif self.strict and pattern.folder:
                pass  # nothing: a folder above is only named literally
            elif re.fullmatch(r"\*[^*?\[\\]*\.[^*?\[\\.]+", pattern.segments[0]):
                self._lay(
                    self.suffixed.setdefault(pattern.segments[0].rpartition(".")[2], wordtree.Index()), pattern, it
                )
            else:
                self._lay(self.wild, pattern, it)
        elif pattern.base:
            base = tuple(part for part in pattern.base.split("/") if part)
            self._lay(self.absolute, Path("/", base + pattern.segments, False, pattern.folder), it)
        else:
            self._lay(self.anchored, pattern, it)

    def _lay(self, tree: wordtree.Index[R], pattern: Path, it: R) -> None:
        literal, row = pattern.segments[: pattern.literal], steps(pattern.segments)
        if row[-1:] == [STAY]:
            row[-1:] = ANY, STAY  # all that is below, and not the folder
        if len(literal) < len(row):
            tree.lay(literal, row, not self.strict or pattern.folder, it)
        else:  # with all below it; a strict folder that alone
            tree.lay(literal, (*literal, ANY, STAY) if self.strict and pattern.folder else literal, True, it)

    def places(self, wanted: Callable[[R], bool]) -> Iterator[tuple[str, R]]:
        """The files and folders that the patterns of those `wanted` spell, as far as they are literal; of names at any depth
        those in the roots."""
        for pattern, it in self.all:
            segments = pattern.segments[pattern.segments[:1] == ("**",) :]
            literal = tuple(takewhile(lambda segment: not WILD.search(segment), segments))
            if literal and wanted(it):
                for base in [pattern.base] if pattern.base else [root for root, _ in self.roots]:
                    yield "/".join((base.rstrip("/"), *literal)), it

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
        if self.absolute.all:
            found += self.absolute.find(_parts(path))
        for root, below in self.roots:
            inner = path.removeprefix(below)
            if inner != path or path == root:
                parts = inner.split("/") if path != root else []
                found += self.anchored.find(parts)
                if self.named or self.suffixed or self.wild.all:
                    found += self._anywhere(parts)
        return found

    def _anywhere(self, parts: Sequence[str]) -> Iterator[R]:
        """What matches at any depth."""
        for part in dict.fromkeys(parts) if self.named else ():
            for pattern, it in self.named.get(part, ()):
                if not (self.strict and pattern.folder) or parts.index(part) < len(parts) - 1:
                    yield it
        tried = parts[-1:] if self.strict else parts
        by_ending: dict[str, list[str]] = {}
        for part in tried:
            if (ending := part.rpartition(".")[2]) in self.suffixed:
                by_ending.setdefault(ending, []).append(part)
        for ending, some in by_ending.items():
            yield from self.suffixed[ending].within(some)
        if self.wild.all:
            yield from self.wild.within(tried)

    def may(self, glob: str, wanted: Callable[[R], bool]) -> Iterator[R]:
        """Which of those `wanted` could match some path that the shell pattern `glob` names (absolute; `/**`: any path)."""
        yield from filter(wanted, self.everything)
        if not self.all:
            return
        if self.folds:
            glob = glob.casefold()
        row = steps(_parts(glob))
        self.sought = self.sought or automata(self._absolute())
        for automaton in self.sought:
            yield from filter(wanted, automaton.meets(row))

    def _absolute(self) -> Iterator[Pattern[R]]:
        """Each pattern from the file system's root on, below every root that it may be meant in."""
        for pattern, it in self.all:
            inner = steps(("**", *pattern.segments) if pattern.anywhere else pattern.segments)
            for top in [_parts(pattern.base)] if pattern.base else self.tops:
                yield [*top, *inner], True, it


def _parts(path: str) -> list[str]:
    return [*filter(None, path.split("/"))]
