"""Where paths really lead: with every link followed, seen from the disk as it is now.

Links are followed component by component, as the kernel does (a link before `..` counts), with three differences that
make the answer hold for the command that will run and not for this process: `/proc/self/cwd` is the folder of the call,
`/proc/self/root` is `/`, and descriptors (`/dev/fd/3`) stay what they are called. What is dangling resolves to the name
it would create. A real path below the real workspace is given below the workspace as it is spelled, so that a workspace
reached through a link is no obstacle.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Sequence
from functools import lru_cache

from hitl_cli.access import Opaque, Place, ReadPath, WritePath, inside, lexical
from hitl_cli.below import Trees
from hitl_cli.records import Struct, replace
from hitl_cli.regex import later

_LINKS = 40  # the kernel's own limit
_PROCESS = later(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/(cwd|root)\Z")
_DESCRIPTOR = later(r"/dev/(?:fd(?:/.*)?|stdin|stdout|stderr)|/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/fd(?:/.*)?")


def real(path: str, place: Place) -> str | None:
    """`path` (absolute or from the place's folder) with every link followed; None for a loop of links."""
    return Look(place).follow(posixpath.join(place.cwd, path))


class Spelling(Struct, frozen=True, gc=False):
    """A root or the home folder: where it really is, as it is spelled, and what it and the paths below it begin with, of
    both."""

    real: str
    folder: str
    start: str
    base: str


@lru_cache(maxsize=64)
def _spelled(place: Place) -> tuple[tuple[Spelling, ...], tuple[Spelling, ...]]:
    """The roots and the home folder, and those of them that are reached through a link. Kept: where they lie when the
    program starts is where the workspace is, and a path that leads elsewhere later is outside."""
    look = Look(place, ((), ()))
    found = tuple(
        Spelling(real, folder, folder.rstrip("/"), real.rstrip("/"))
        for folder in (*place.roots, place.home)
        if (real := look._walk(folder))
    )
    return found, tuple(each for each in found if each.real != each.folder)


class Look:
    """One look at the disk: what was found out about a name is not asked again."""

    __slots__ = ("_trees", "followed", "linked", "place", "spelled", "there")

    def __init__(self, place: Place, spelled: tuple[tuple[Spelling, ...], tuple[Spelling, ...]] | None = None) -> None:
        self.place = place
        self.followed: dict[str, str | None] = {}
        # What a link holds, the status of what is no link, None where nothing is to be found.
        self.there: dict[str, str | os.stat_result | None] = {}
        self.spelled, self.linked = spelled or _spelled(place)
        self._trees: Trees | None = None

    @property
    def trees(self) -> Trees:
        self._trees = trees = self._trees or Trees()
        return trees

    def at(self, access: ReadPath | WritePath) -> ReadPath | WritePath | Opaque:
        """The access with what its path leads to; most lead nowhere else."""
        path, alias = access.path, None
        if "\0" in path:
            return Opaque("the path holds a NUL", path, (path,))
        found = (type(access) is WritePath and access.removes and self._removed_link(access)) or self.follow(path)
        if found == path:
            return access
        if found is None:
            return Opaque("its links lead in a circle", path, (path,))
        if self.place.holds(found) and not self.place.holds(lexical(path, "/")):
            alias = self._alias(path)
        return replace(access, real=found, alias=alias)

    def status(self, access: ReadPath | WritePath) -> os.stat_result | None:
        """Of what its path leads to; None: of nothing."""
        path = access.real or access.path
        found = self.there.get(path, "")
        if isinstance(found, str):
            # It is a link that is removed, or else a root or seen from one, which may be reached through a link itself.
            try:
                return os.stat(path, follow_symlinks=not found)
            except (OSError, ValueError):
                return None
        return found

    def _removed_link(self, access: WritePath) -> str | None:
        """The link itself, where that is what is removed and not what it leads to."""
        folder, _, name = access.path.rpartition("/")
        if access.follows or name in ("", ".", ".."):
            return None
        found = posixpath.join(self.follow(folder or "/") or "", name)
        return found if isinstance(self.found(found), str) else None

    def follow(self, path: str) -> str | None:
        if path in self.followed:
            return self.followed[path]
        found = self._walk(path)
        for known in self.linked:
            if found is not None and inside(found, known.real):
                found = known.folder + found[len(known.real) :] if known.real != "/" else found
                break
        self.followed[path] = found
        return found

    def _walk(self, path: str) -> str | None:
        """As realpath(3), by hand; None after too many links."""
        here, left = "", _LINKS
        for known in self.spelled:
            if path.startswith(known.start) and (rest := path[len(known.start) :])[:1] in ("", "/"):
                here, path = known.base, rest
                break
        while True:
            parts = path.split("/")
            for n, part in enumerate(parts, 1):
                if not part or part == ".":
                    continue
                if part == "..":
                    here = here.rpartition("/")[0]
                    continue
                at = f"{here}/{part}"
                there = self.found(at)
                if there is None:  # nothing is below what is not there
                    ahead = parts[n:]
                    if ".." not in ahead:
                        return self._missing(at, ahead) if ahead else at
                elif isinstance(there, str):
                    left -= 1
                    if not left:
                        return None
                    here = "" if there[:1] == "/" else here
                    path = "/".join((there, *parts[n:]))
                    break
                here = at
            else:
                return here or "/"

    def _missing(self, at: str, ahead: Sequence[str]) -> str:
        """The path that goes on from one where nothing is to be found."""
        path = "/".join((at, *ahead))
        if "." in ahead or "" in ahead:
            path = lexical(path, "/")
        self.there[path] = None
        return path

    def found(self, path: str) -> str | os.stat_result | None:
        """What stands at `path`. A descriptor is no name of the disk, and stays what it is called."""
        if path in self.there:
            return self.there[path]
        found: str | os.stat_result | None
        if path.startswith(("/proc/", "/dev/")) and (kind := _PROCESS.match(path) or _DESCRIPTOR.fullmatch(path)):
            found = {"root": "/", "cwd": self.place.cwd}.get(kind[kind.lastindex or 0])
        else:
            try:
                found = os.lstat(path)
                if stat.S_ISLNK(found.st_mode):
                    found = os.readlink(path)
            except (OSError, ValueError):  # it is not there, cannot be looked at, or is no name the system could hold
                found = None
        self.there[path] = found
        return found

    def _alias(self, path: str) -> str | None:
        """`path` from the workspace, when one of the folders it goes through is the workspace itself."""
        found = self.other_name(path)
        return found[1] + lexical(path, "/")[len(found[0]) :] if found else None

    def other_name(self, path: str) -> tuple[str, str] | None:
        """The folder on the way of `path` that is a root of the workspace, and that root."""
        if path.startswith("/proc/") or not self.place.holds(self.follow(path) or ""):
            return None
        parts = lexical(path, "/").split("/")
        for n in range(len(parts), 1, -1):
            folder = "/".join(parts[:n])
            real = self._walk(folder)
            for root in self.spelled[: len(self.place.roots)]:
                if root.real == real:
                    return folder, root.folder
        return None
