"""What lies below a folder that a call reads or writes whole, and what a file pattern matches, as the disk has it now.

A rule that closes one file (`Read(.env)`) says nothing about `grep -r x .` by its text alone. Which files are there
settles it: the list is made only when a rule could forbid one of them, and is bounded.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial

from hitl_cli.access import Below, Place, ReadPath, Unnamed, WritePath, inside, lexical
from hitl_cli.permissions.places import NAMES_IN_GIT, NAMES_IN_HOME
from hitl_cli.records import replace

_MOST = 20_000  # paths below a folder that are looked at
_ENTRIES = 60_000  # of all folders of a call
COMPARED = 60_000  # names in folders that the patterns of one call are compared with
_COMPILED, _LISTED, _FOLLOWED = 200, 50, 20  # as how many names a pattern, a folder and a file that it matches count
_NAMED_BELOW = re.compile(r"(/[^*?\[]+)/\*\*")


class Trees:
    """What is below the folders of one call, and what other names its files have: each is looked at once, however often it
    is named, and all folders share what may be looked at."""

    def __init__(self) -> None:
        self.left = _ENTRIES
        self.known: dict[tuple[str, str, bool, bool, bool], Below] = {}
        self.links = cache(links_below)
        self.repository = cache(is_repository)
        self.named: dict[tuple[int, int], Callable[[tuple[str, ...]], Sequence[str]]] = {}
        self.protected: dict[tuple[int, int], Sequence[str]] = {}
        self.passed: set[object] = set()  # folders whose links were stated

    def below(self, folder: str, real: str, *, tracked: bool = False, hidden: bool = True, every: bool = True) -> Below:
        key = (folder, real, tracked, hidden, every)
        if key not in self.known:
            paths = cache(lambda: _tracked(folder, real) if tracked else self._tree(folder, real, hidden))
            self.known[key] = Below(paths, every)
        return self.known[key]

    def twins(self, status: os.stat_result) -> Callable[[tuple[str, ...]], Sequence[str]]:
        """What tells, of the files at and below some places, those with this status."""
        key = status.st_dev, status.st_ino
        if key not in self.named:
            self.named[key] = cache(partial(_twins, status))
        return self.named[key]

    def others(self, status: os.stat_result, place: Place) -> Sequence[str]:
        """Protected names of the file with that status."""
        key = status.st_dev, status.st_ino
        if key not in self.protected:
            self.protected[key] = list(_other_names(status, place))
        return self.protected[key]

    def _tree(self, folder: str, real: str, hidden: bool) -> Sequence[str] | None:
        """The paths below a folder, by its name and by its real one, links not followed; None for too many, for a link
        that leads out of it, and for a folder that cannot be listed. What git packs away has no names of its own."""
        found: list[str] = []
        pending = [""]
        while pending:
            inner = pending.pop()
            try:
                with os.scandir(real + inner) as entries:
                    for entry in entries:
                        self.left -= 1
                        if not hidden and entry.name.startswith("."):
                            continue
                        at = f"{inner}/{entry.name}"
                        found.append(folder + at)
                        if real != folder:
                            found.append(real + at)
                        if entry.is_symlink():
                            target = os.path.realpath(real + at)
                            if not inside(target, real):
                                return None
                            found.append(target)
                        elif entry.is_dir(follow_symlinks=False) and not at.endswith("/.git/objects"):
                            pending.append(at)
            except OSError:
                return None
            if len(found) > _MOST or self.left < 0:
                return None
        return found


def all_below(access: ReadPath | WritePath, real: str, trees: Trees) -> ReadPath | WritePath:
    """The access to a folder (`real` with links followed) as one to everything in it."""
    folder = lexical(access.path, "/")
    only = access.only
    if isinstance(access, WritePath):
        below = trees.below(folder, real, tracked=only == "tracked", every=only != "some")
        return replace(access, path=f"{folder}/**", real=None, alias=None, glob=True, removes=False, below=below)
    hides = only in ("shown", "some")
    path = posixpath.join(folder, "**/*" if hides else "**")
    below = trees.below(folder, real, tracked=only == "tracked", hidden=not hides, every=only != "some")
    return replace(access, path=path, real=None, alias=None, glob=True, below=below)


def some_below(access: ReadPath | WritePath, trees: Trees) -> ReadPath | WritePath:
    """A pattern for files somewhere below a folder (`find src -exec cat {} +`), with what is there."""
    found = _NAMED_BELOW.fullmatch(access.path)
    if found is None or (isinstance(access, ReadPath) and access.listing):
        return access
    folder = lexical(found.group(1), "/")
    return replace(access, below=trees.below(folder, os.path.realpath(folder), every=False))


def brought(access: Unnamed, follow: Callable[[str], str | None], trees: Trees) -> Unnamed:
    """Files of unknown names with what can be known of them now: nothing is below a file, and copies have their names."""
    real, like = follow(access.path) or "", (access.like and follow(access.like)) or ""

    def paths() -> Sequence[str] | None:
        if any(map(os.path.isfile, (real, posixpath.dirname(real), like))):
            return ()
        return trees.below(like, like).paths() if os.path.isdir(like) else None

    return replace(access, like=like, real=real, below=Below(paths))


def links_below(folder: str, hidden: bool, enters: Callable[[str], bool]) -> Sequence[str] | None:
    """The links below a real folder, and below those folders they lead to that `enters` takes; those that stay below
    where they stand left out. None for too many, or too much to look at."""
    found: list[str] = []
    pending, seen, left = [folder], {folder}, _MOST
    while pending:
        inner = pending.pop()
        try:
            with os.scandir(inner) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return None
                    if not hidden and entry.name.startswith("."):
                        continue
                    at = posixpath.join(inner, entry.name)
                    if entry.is_symlink():
                        found.append(at)
                        at = os.path.realpath(at)
                        if not enters(at) or not os.path.isdir(at):
                            continue
                    elif not entry.is_dir(follow_symlinks=False) or at.endswith("/.git/objects"):
                        continue
                    if at not in seen:
                        seen.add(at)
                        pending.append(at)
        except OSError:
            continue  # who cannot list it cannot follow what is in it
    return found


def _tracked(folder: str, real: str) -> Sequence[str] | None:
    """The paths below a folder that the index of its repository holds; None when that cannot be read.

    The format is that of gitformat-index(5), versions 2 and 3: 62 bytes (64 with more flags), the name, NULs up to a
    multiple of 8.
    """
    top = real
    while not os.path.isdir(f"{top}/.git"):
        if top in ("", "/"):
            return None
        top = posixpath.dirname(top)
    try:
        with open(f"{top}/.git/index", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []  # nothing was ever added
    except OSError:
        return None
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3) or count > _MOST:
        return None
    found, at = [], 12
    for _ in range(count):
        name = at + (64 if data[at + 60] & 0x40 else 62)
        end = data.find(b"\0", name)
        if end < 0:
            return None
        path = f"{top}/{os.fsdecode(data[name:end])}"
        if inside(path, real):
            found += [path, folder + path[len(real) :]]
        at += (end - at) // 8 * 8 + 8
    return found


def matches(pattern: str, left: int, listed: dict[str, Sequence[str]]) -> tuple[list[str], int]:
    """The files that a shell pattern (absolute) matches, `**` as `*`, and how many of the names `left` to be compared with
    patterns are left after it: less than none when it took too many. What takes longer counts as several. `listed`: the
    names in folders, as far as they were looked at."""
    found, named = [""], True
    for part in filter(None, pattern.replace("**", "*").split("/")):
        named = not glob.has_magic(part)
        if named:
            found = [f"{folder}/{part}" for folder in found]
            continue
        left -= _COMPILED
        if left < 0:
            return [], left
        fits = _fits(part)
        below = []
        for folder in found:
            if folder not in listed:
                listed[folder] = listing(folder or "/")
            names = listed[folder]
            left -= _LISTED + len(names)
            if left < 0:
                return [], left
            below += [f"{folder}/{name}" for name in filter(fits, names) if name[0] != "." or part[0] == "."]
        found = below
    left -= _FOLLOWED * len(found)
    if left < 0:
        return [], left
    return [path for path in found if os.path.lexists(path)] if named else found, left  # what was listed is there


@lru_cache(maxsize=500)
def _fits(part: str) -> Callable[[str], object]:
    try:
        return re.compile(fnmatch.translate(part)).match
    except re.error:
        return lambda name: False


def with_twins(access: ReadPath | WritePath, status: object, trees: Trees) -> ReadPath | WritePath:
    """The access to a file of this status, with what tells its other names where it has some. A removed name is only that."""
    if not isinstance(status, os.stat_result) or not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
        return access
    if isinstance(access, WritePath) and access.removes:
        return access
    return replace(access, twins=trees.twins(status))


def _twins(status: os.stat_result, places: tuple[str, ...]) -> Sequence[str]:
    """Of the files at and below `places` those with this status, so far as they are not too many to look at."""
    found: list[str] = []
    left = _MOST
    for place in places:
        if _is_same(status, place):
            found.append(place)
        for folder, _, names in os.walk(place):
            left -= len(names) + 1
            if left < 0:
                return found
            found += [at for name in names if _is_same(status, at := f"{folder}/{name}")]
    return found


def _is_same(status: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(status, os.lstat(path))
    except (OSError, ValueError):
        return False


def listing(folder: str) -> Sequence[str]:
    """The names in a folder; none when it cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def is_repository(folder: str) -> bool:
    """As git finds one: its head may be a link to what is not there, and the rest lie in a common folder."""
    if not os.path.lexists(f"{folder}/HEAD"):
        return False
    return os.path.isfile(f"{folder}/commondir") or (
        os.path.isdir(f"{folder}/objects") and os.path.isdir(f"{folder}/refs")
    )


def _other_names(status: os.stat_result, place: Place) -> Iterator[str]:
    """Protected names, of the workspace and the home folder, of the file with that status."""
    workspace = place.workspace
    folder = os.path.join(workspace, ".git", "hooks")
    candidates = [os.path.join(place.home, name) for name in NAMES_IN_HOME]
    candidates += [os.path.join(workspace, ".git", name) for name in NAMES_IN_GIT]
    candidates += [os.path.join(folder, name) for name in listing(folder)]
    candidates += [os.path.join(workspace, name) for name in listing(workspace) if name.startswith(".")]
    for at in place.protected:
        candidates += [at, *(os.path.join(at, name) for name in listing(at))]
    for candidate in candidates:
        try:
            other = os.stat(candidate)
        except OSError:
            continue
        if (other.st_dev, other.st_ino) == (status.st_dev, status.st_ino):
            yield candidate
