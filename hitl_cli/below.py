"""What lies below a folder that a call reads or writes whole, as the disk has it now.

A rule that closes one file (`Read(.env)`) says nothing about `grep -r x .` by its text alone. Which files are there
settles it: the list is made only when a rule could forbid one of them, and is bounded.
"""

from __future__ import annotations

import glob
import os
import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from hitl_cli.access import Below, Named, ReadPath, Unnamed, WritePath, inside, lexical
from hitl_cli.globbing import COMPARED, matches
from hitl_cli.records import Struct, replace
from hitl_cli.tracked import tracked
from hitl_cli.twins import Key, Twins

_MOST = 20_000  # names below a folder that are looked at
_ENTRIES = 60_000  # of all folders of a call
_LINKS = 2_000  # links below a folder that are followed
_NAMED_BELOW = re.compile(r"(/[^*?\[]+)/\*\*")


class Walked(Struct, gc=False):
    """The names below a folder, as they go on from its own (`/src/a.py`), links not followed; which of them are links; and
    whether every folder could be listed. What git packs away has no names of its own."""

    names: list[str]
    links: list[str]
    whole: bool


class Trees:
    """What is below the folders of one call, and what other names its files have: each is looked at once, however often it
    is named, and all folders share what may be looked at."""

    def __init__(self) -> None:
        self.left = _ENTRIES
        self.twins = Twins()
        self.known: dict[tuple[str, str, bool, bool, bool], tuple[Below, Named]] = {}
        self.walks: dict[tuple[str, bool], Walked | None] = {}
        self.passed: set[object] = set()  # folders whose links were stated
        # Of patterns: how many names they may still be compared with, and those in folders.
        self.compared = COMPARED
        self.listed: dict[str, Sequence[str]] = {}

    def within(
        self, folder: str, real: str, *, only_tracked: bool = False, hidden: bool = True, every: bool = True
    ) -> tuple[Below, Named]:
        """What is below a folder, and what tells other names of the files there."""
        key = (folder, real, only_tracked, hidden, every)
        if key not in self.known:
            inner = _Inner(
                lambda: tracked(folder, real, _MOST) if only_tracked else self._paths(folder, real, hidden), self.twins
            )
            self.known[key] = Below(lambda: inner.paths, every), self.twins.among(lambda: inner.files)
        return self.known[key]

    def links(
        self, folder: str, hidden: bool, follow: Callable[[str], str | None], enters: Callable[[str], bool]
    ) -> Sequence[str] | None:
        """The links below a real folder, and below those folders they lead to, as `follow` has it, that `enters` takes. None
        for too many, or too much to look at. Who cannot list a folder cannot follow what is in it."""
        found: list[str] = []
        pending, seen = [folder], [folder]
        while pending:
            inner = pending.pop()
            walked = self._walk(inner, hidden)
            if walked is None or len(found) + len(walked.links) > _LINKS:
                return None
            for name in walked.links:
                found.append(inner + name)
                target = follow(inner + name) or ""
                if enters(target) and not any(_walks(top, target, hidden) for top in seen) and os.path.isdir(target):
                    seen.append(target)
                    pending.append(target)
        return found

    def _paths(self, folder: str, real: str, hidden: bool) -> Sequence[str] | None:
        """The paths below a folder, by its name and by its real one; None for too many, for a link that leads out of it, and
        for a folder that cannot be listed."""
        walked = self._walk(real, hidden)
        if walked is None or not walked.whole:
            return None
        found = [folder + name for name in walked.names]
        if real != folder:
            found += [real + name for name in walked.names]
        for name in walked.links:
            target = os.path.realpath(real + name)
            if not inside(target, real):
                return None
            found.append(target)
        return found

    def _walk(self, real: str, hidden: bool) -> Walked | None:
        key = real, hidden
        if key not in self.walks:
            self.walks[key] = self._walked(real, hidden) if self.left >= 0 else None
        return self.walks[key]

    def _walked(self, real: str, hidden: bool) -> Walked | None:
        """None for too many."""
        names: list[str] = []
        links: list[str] = []
        whole = True
        pending = [""]
        while pending:
            inner = pending.pop()
            try:
                with os.scandir(real + inner) as entries:
                    for entry in entries:
                        self.left -= 1
                        name = entry.name
                        if not hidden and name[0] == ".":
                            continue
                        at = f"{inner}/{name}"
                        names.append(at)
                        if entry.is_symlink():
                            links.append(at)
                        elif entry.is_dir() and not at.endswith("/.git/objects"):
                            pending.append(at)
            except OSError:
                whole = False
            if len(names) > _MOST or self.left < 0:
                return None
        return Walked(names, links, whole)


def _walks(folder: str, inner: str, hidden: bool) -> bool:
    """Whether who walks through a folder comes to the inner one."""
    return inside(inner, folder) and (hidden or "/." not in inner[len(folder) :])


class _Inner:
    """The paths in a folder, and those of the files that have other names: found out when they are first wanted."""

    def __init__(self, find: Callable[[], Sequence[str] | None], twins: Twins) -> None:
        self._find, self._twins = find, twins

    @cached_property
    def paths(self) -> Sequence[str] | None:
        return self._find()

    @cached_property
    def files(self) -> Collection[Key] | None:
        return self._twins.touched(self.paths)


def all_below(access: ReadPath | WritePath, real: str, trees: Trees) -> ReadPath | WritePath:
    """The access to a folder (`real` with links followed) as one to everything in it."""
    folder = lexical(access.path, "/")
    writes, only = isinstance(access, WritePath), access.only
    hides = not writes and only in ("shown", "some")
    below, twins = trees.within(folder, real, only_tracked=only == "tracked", hidden=not hides, every=only != "some")
    if isinstance(access, WritePath):
        named = None if access.removes else twins  # a name that is removed is only that
        path = f"{folder}/**"
        return replace(access, path=path, real=None, alias=None, glob=True, removes=False, below=below, twins=named)
    path = posixpath.join(folder, "**/*" if hides else "**")
    return replace(access, path=path, real=None, alias=None, glob=True, below=below, twins=twins)


def some_below(access: ReadPath | WritePath, trees: Trees) -> ReadPath | WritePath:
    """A pattern for files somewhere below a folder (`find src -exec cat {} +`), with what is there."""
    found = _NAMED_BELOW.fullmatch(access.path)
    if found is None or (isinstance(access, ReadPath) and access.listing):
        return access
    folder = lexical(found.group(1), "/")
    below, twins = trees.within(folder, os.path.realpath(folder), every=False)
    removes = isinstance(access, WritePath) and access.removes
    return replace(access, below=below, twins=None if removes else twins)


def brought(access: Unnamed, follow: Callable[[str], str | None], trees: Trees) -> Unnamed:
    """Files of unknown names with what can be known of them now: nothing is below a file, and copies have their names."""
    real, like = follow(access.path) or "", (access.like and follow(access.like)) or ""
    several = glob.has_magic(like)
    folder = posixpath.dirname(like).rstrip("/") if several else like

    def paths() -> Sequence[str] | None:
        if any(map(os.path.isfile, (real, posixpath.dirname(real), like))):
            return ()
        if several:
            if glob.has_magic(folder):
                return None
            sources, trees.compared = matches(like, trees.compared, trees.listed)
            return sources if sources and all(map(os.path.isfile, sources)) else None
        return trees.within(like, like)[0].paths() if os.path.isdir(like) else None

    return replace(access, like=folder, real=real, below=Below(paths))
