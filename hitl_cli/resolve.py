"""Where paths really lead: the accesses of a call with every link followed, seen from the disk as it is now.

Links are followed component by component, as the kernel does (a link before `..` counts), with three differences that
make the answer hold for the command that will run and not for this process: `/proc/self/cwd` is the folder of the call,
`/proc/self/root` is `/`, and descriptors (`/dev/fd/3`) stay what they are called. What is dangling resolves to the name
it would create. A real path below the real workspace is given below the workspace as it is spelled, so that a workspace
reached through a link is no obstacle.

Beyond links, what a path stands for is spelled out as further accesses: a folder that is read stands for all below it,
a file pattern for the links it meets today, a file with several names for its protected name where that can be known.
"""

from __future__ import annotations

import glob
import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from hitl_cli.access import Access, Command, Opaque, Place, ReadPath, WritePath, inside, lexical
from hitl_cli.below import all_below, some_below
from hitl_cli.permissions.places import NAMES_IN_GIT, NAMES_IN_HOME
from hitl_cli.records import replace
from hitl_cli.regex import later

_LINKS = 40  # the kernel's own limit
_MATCHES = 500  # of one file pattern that are looked at
_PROCESS = later(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/(cwd|root)\Z")
_DESCRIPTOR = later(r"/dev/(?:fd(?:/.*)?|stdin|stdout|stderr)|/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/fd(?:/.*)?")


def resolve(accesses: Sequence[Access], place: Place) -> tuple[Access, ...]:
    """The accesses in their order, paths with `real` (and `alias`) filled in, followed by what else they stand for."""
    look: _Look | None = None
    out: list[Access] = []
    more: list[Access] = []
    for access in accesses:
        if not isinstance(access, (ReadPath, WritePath)):
            out.append(access)
            if (
                isinstance(access, Command)
                and access.words[:1] == ("git",)
                and (access.forms or access.cwd != place.workspace)
            ):
                more.extend(_planted(access))
            continue
        look = look or _Look(place)
        if access.glob:
            out.append(some_below(access))
            more.extend(look.met(access))
            continue
        found = look.at(access)
        out.append(found)
        if not isinstance(found, Opaque):
            more.extend(look.beyond(found, enters=_enters(accesses, found)))
    return (*out, *more)


def _enters(accesses: Sequence[Access], path: ReadPath | WritePath) -> bool:
    """Whether the path belongs to a command such as `cd`."""
    command = accesses[path.by_command] if path.by_command is not None else None
    return isinstance(command, Command) and bool(command.free)


def other_names(paths: Iterable[str], place: Place) -> tuple[str, ...]:
    """Folders on the way of absolute `paths` that are a root of the workspace under another name."""
    look, found = _Look(place), []
    for path in paths:
        seen = look.other_name(path)
        if seen is not None:
            found.append(seen[0])
    return tuple(dict.fromkeys(found))


def real(path: str, place: Place) -> str | None:
    """`path` (absolute or from the place's folder) with every link followed; None for a loop of links."""
    return _Look(place).follow(posixpath.join(place.cwd, path))


@lru_cache(maxsize=64)
def _spelled(place: Place) -> tuple[tuple[str, str], ...]:
    """(real, as it is spelled) of each root and the home folder. Kept: where they lie when the program starts is where
    the workspace is, and a path that leads elsewhere later is outside."""
    look = _Look(place, ())
    return tuple((found, folder) for folder in (*place.roots, place.home) if (found := look._walk(folder)))


class _Look:
    """One look at the disk: what was found out about a folder is not asked again."""

    def __init__(self, place: Place, spelled: Sequence[tuple[str, str]] | None = None) -> None:
        self.place = place
        self.links: dict[str, str | None] = {}
        self.missing: set[str] = set()
        self.status: dict[str, os.stat_result] = {}  # of what is no link
        self.spelled = _spelled(place) if spelled is None else spelled

    def at(self, access: ReadPath | WritePath) -> ReadPath | WritePath | Opaque:
        if "\0" in access.path:
            return Opaque("the path holds a NUL", access.path, (access.path,))
        found = self.follow(access.path)
        if found is None:
            return Opaque("its links lead in a circle", access.path, (access.path,))
        alias, written = None, lexical(access.path, "/")
        if found != written and self._in_roots(found) and not self._in_roots(written):
            alias = self._alias(access.path)
        if isinstance(access, ReadPath):
            read = access
            return ReadPath(
                read.path, read.of, read.by_command, read.listing, found, read.glob, alias, read.only, read.below
            )
        return replace(access, real=found, alias=alias)

    def _in_roots(self, path: str) -> bool:
        return any(inside(path, root) for root in self.place.roots)

    def follow(self, path: str) -> str | None:
        found = self._walk(path)
        if found is None:
            return None
        for folder, spelling in self.spelled:
            if folder != spelling and inside(found, folder):
                return spelling + found[len(folder) :] if folder != "/" else found
        return found

    def _walk(self, path: str) -> str | None:
        """As realpath(3), by hand; None after too many links."""
        here, left = "", _LINKS
        for found, folder in self.spelled:
            if path.startswith(folder) and path[len(folder) : len(folder) + 1] == "/":
                here, path = found, path[len(folder) :]
                break
        ahead = [part for part in path.split("/") if part][::-1]
        while ahead:
            part = ahead.pop()
            if part == ".":
                continue
            if part == "..":
                here = here.rpartition("/")[0]
                continue
            step = f"{here}/{part}"
            target = None if here in self.missing else self._link(step)
            if here in self.missing:
                self.missing.add(step)  # nothing is below what is not there
            if target is None:
                here = step
                continue
            left -= 1
            if not left:
                return None
            if target.startswith("/"):
                here = ""
            ahead.extend(p for p in reversed(target.split("/")) if p)
        return here or "/"

    def _link(self, path: str) -> str | None:
        """What the link `path` holds, None when it is none."""
        if path in self.links:
            return self.links[path]
        target: str | None
        if path.startswith(("/proc/", "/dev/")) and (_DESCRIPTOR.fullmatch(path) or _PROCESS.match(path)):
            kind = _PROCESS.match(path)
            target = None if kind is None else "/" if kind.group(1) == "root" else self.place.cwd
        else:
            target = None
            try:
                status = os.lstat(path)
                if stat.S_ISLNK(status.st_mode):
                    target = os.readlink(path)
                else:
                    self.status[path] = status
            except FileNotFoundError:
                self.missing.add(path)
            except (OSError, ValueError):  # it cannot be looked at, or is no name the system could hold
                pass
        self.links[path] = target
        return target

    def _alias(self, path: str) -> str | None:
        """`path` from the workspace, when one of the folders it goes through is the workspace itself."""
        found = self.other_name(path)
        return found[1] + lexical(path, "/")[len(found[0]) :] if found else None

    def other_name(self, path: str) -> tuple[str, str] | None:
        """The folder on the way of `path` that is a root of the workspace, and that root."""
        if path.startswith("/proc/") or not self._in_roots(self.follow(path) or ""):
            return None
        parts = lexical(path, "/").split("/")
        for n in range(len(parts), 1, -1):
            folder = "/".join(parts[:n])
            real = self._walk(folder)
            for found, root in self.spelled[: len(self.place.roots)]:
                if found == real:
                    return folder, root
        return None

    def beyond(self, access: ReadPath | WritePath, enters: bool = False) -> Iterator[Access]:
        """What else `access` stands for; `enters`: a folder is only entered."""
        path = access.real or access.path
        if path in self.missing:
            return
        try:
            status = self.status.get(path) or os.stat(path)
        except (OSError, ValueError):
            return
        if stat.S_ISDIR(status.st_mode):
            if access.by_command is not None and not enters and not (isinstance(access, ReadPath) and access.listing):
                yield all_below(access, path)
        elif stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            for other in self._other_names(status, path):
                yield replace(access, path=other, real=other, alias=None)

    def _other_names(self, status: os.stat_result, path: str) -> Iterator[str]:
        """Protected names, of the workspace and the home folder, of the same file."""
        workspace = self.place.workspace
        folder = os.path.join(workspace, ".git", "hooks")
        candidates = [os.path.join(self.place.home, name) for name in NAMES_IN_HOME]
        candidates += [os.path.join(workspace, ".git", name) for name in NAMES_IN_GIT]
        candidates += [os.path.join(folder, name) for name in _names(folder)]
        candidates += [os.path.join(workspace, name) for name in _names(workspace) if name.startswith(".")]
        for at in self.place.protected:
            candidates += [at, *(os.path.join(at, name) for name in _names(at))]
        for candidate in candidates:
            try:
                other = os.stat(candidate)
            except OSError:
                continue
            if (other.st_dev, other.st_ino) == (status.st_dev, status.st_ino) and candidate != path:
                yield candidate

    def met(self, access: ReadPath | WritePath) -> Iterator[Access]:
        """The links, and what has other names, among the files that a pattern matches today."""
        pattern = access.path
        if pattern == "/**" or not posixpath.isabs(pattern):
            return
        try:
            for n, path in enumerate(glob.iglob(pattern.replace("**", "*"))):
                if n == _MATCHES:
                    return
                concrete = replace(access, path=path, glob=False)
                found = self.at(concrete)
                if isinstance(found, Opaque) or found.real != lexical(path, "/"):
                    yield found
                if not isinstance(found, Opaque):
                    yield from self.beyond(found)
        except (OSError, re.error):
            return


def _planted(command: Command) -> Iterator[Access]:
    """A folder that is itself the data of a repository: git takes its configuration, which can name programs to run."""
    at = command.cwd or ""
    entered = [at] if at else []
    for form in command.forms:
        entered += [
            posixpath.join(at, after) for word, after in pairwise(form) if word == "-C" and isinstance(after, str)
        ]
    for folder in entered:
        if os.path.isfile(f"{folder}/HEAD") and os.path.isdir(f"{folder}/objects") and os.path.isdir(f"{folder}/refs"):
            reason = f"{folder} is itself a repository's data, and git would follow its configuration"
            yield Opaque(reason, command.text)


def _names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()
