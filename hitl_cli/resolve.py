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

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from hitl_cli.access import Access, Command, Opaque, Place, ReadPath, Unnamed, WritePath, inside, lexical
from hitl_cli.below import COMPARED, Trees, all_below, brought, matches, some_below, with_twins
from hitl_cli.records import Struct, replace
from hitl_cli.regex import later

_LINKS = 40  # the kernel's own limit
_MATCHES = 2_000  # links below a folder that are looked at
_LONGEST = 4096  # no path is longer (PATH_MAX), and a pattern that is takes long to follow
_PROCESS = later(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/(cwd|root)\Z")
_DESCRIPTOR = later(r"/dev/(?:fd(?:/.*)?|stdin|stdout|stderr)|/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/fd(?:/.*)?")


def resolve(accesses: Sequence[Access], disk: Look) -> tuple[Access, ...]:
    """The accesses in their order, paths with `real` (and `alias`) filled in, followed by what else they stand for."""
    out: list[Access] = []
    more: list[Access] = []
    for access in accesses:
        if type(access) is Command:
            if access.words[:1] == ("git",):
                more += _planted(access, accesses, disk)
        elif type(access) is ReadPath or type(access) is WritePath:
            if access.glob:
                more += disk.met(access)
                access = some_below(access, disk.trees)
            else:
                access = disk.at(access)
                if type(access) is not Opaque and disk.there.get(access.real or "", "") is not None:  # it is there
                    more += disk.beyond(access, accesses)
                    access = with_twins(access, disk.there.get(access.real or access.path), disk.trees)
        elif type(access) is Unnamed:
            access = brought(access, disk.follow, disk.trees)
        out.append(access)
    return (*out, *more)


def _enters(accesses: Sequence[Access], path: ReadPath | WritePath) -> bool:
    """Whether the path belongs to a command such as `cd`."""
    command = accesses[path.by_command] if accesses and path.by_command is not None else None
    return isinstance(command, Command) and bool(command.free)


def real(path: str, place: Place) -> str | None:
    """`path` (absolute or from the place's folder) with every link followed; None for a loop of links."""
    return Look(place).follow(posixpath.join(place.cwd, path))


class Spelling(Struct, frozen=True):
    """A root or the home folder: where it really is, as it is spelled, and what the paths below it begin with."""

    real: str
    folder: str
    start: str


@lru_cache(maxsize=64)
def _spelled(place: Place) -> tuple[tuple[Spelling, ...], tuple[Spelling, ...]]:
    """The roots and the home folder, and those of them that are reached through a link. Kept: where they lie when the
    program starts is where the workspace is, and a path that leads elsewhere later is outside."""
    look = Look(place, ((), ()))
    found = tuple(
        Spelling(real, folder, folder.rstrip("/") + "/")
        for folder in (*place.roots, place.home)
        if (real := look._walk(folder))
    )
    return found, tuple(each for each in found if each.real != each.folder)


class Look:
    """One look at the disk: what was found out about a name is not asked again."""

    __slots__ = ("_trees", "followed", "left", "linked", "listed", "place", "spelled", "there")

    def __init__(self, place: Place, spelled: tuple[tuple[Spelling, ...], tuple[Spelling, ...]] | None = None) -> None:
        self.place = place
        self.followed: dict[str, str | None] = {}
        self.left = COMPARED
        self.listed: dict[str, Sequence[str]] = {}
        # What a link holds, the status of what is no link, None where nothing is to be found.
        self.there: dict[str, str | os.stat_result | None] = {}
        self.spelled, self.linked = spelled or _spelled(place)
        self._trees: Trees | None = None

    @property
    def trees(self) -> Trees:
        self._trees = trees = self._trees or Trees()
        return trees

    def at(self, access: ReadPath | WritePath) -> ReadPath | WritePath | Opaque:
        path, alias = access.path, None
        if "\0" in path:
            return Opaque("the path holds a NUL", path, (path,))
        found = (type(access) is WritePath and self._removed_link(access)) or self.follow(path)
        if found is None:
            return Opaque("its links lead in a circle", path, (path,))
        if found != path and self.place.holds(found) and not self.place.holds(lexical(path, "/")):
            alias = self._alias(path)
        return replace(access, real=found, alias=alias)

    def _removed_link(self, access: WritePath) -> str | None:
        """The link itself, where that is what is removed and not what it leads to."""
        folder, _, name = access.path.rpartition("/")
        if not access.removes or access.follows or name in ("", ".", ".."):
            return None
        found = posixpath.join(self.follow(folder or "/") or "", name)
        return found if os.path.islink(found) else None

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
            if path.startswith(known.start):
                here, path = known.real.rstrip("/"), path[len(known.start) :]
                break
        ahead = path.split("/")[::-1]
        while ahead:
            part = ahead.pop()
            if not part or part == ".":
                continue
            if part == "..":
                here = here.rpartition("/")[0]
                continue
            here = f"{here}/{part}"
            there = self.there[here] if here in self.there else self._find(here)
            if there is None:  # nothing is below what is not there
                if ".." not in ahead:
                    here = lexical("/".join((here, *reversed(ahead))), "/") if ahead else here
                    self.there[here] = None
                    return here
            elif isinstance(there, str):
                left -= 1
                if not left:
                    return None
                here = "" if there.startswith("/") else here.rpartition("/")[0]
                ahead += there.split("/")[::-1]
        return here or "/"

    def _find(self, path: str) -> str | os.stat_result | None:
        """What stands at `path`, noted. A descriptor is no name of the disk, and stays what it is called."""
        found: str | os.stat_result | None = None
        kind = _PROCESS.match(path) if path.startswith("/proc/") else None
        if kind is not None:
            found = "/" if kind.group(1) == "root" else self.place.cwd
        elif not (path.startswith(("/proc/", "/dev/")) and _DESCRIPTOR.fullmatch(path)):
            try:
                found = os.lstat(path)
                if stat.S_ISLNK(found.st_mode):
                    found = os.readlink(path)
            except (OSError, ValueError):  # it is not there, cannot be looked at, or is no name the system could hold
                pass
        self.there[path] = found
        return found

    def _alias(self, path: str) -> str | None:
        """`path` from the workspace, when one of the folders it goes through is the workspace itself."""
        found = self.other_name(path)
        return found[1] + lexical(path, "/")[len(found[0]) :] if found else None

    def other_names(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Folders on the way of absolute `paths` that are a root of the workspace under another name."""
        return tuple(dict.fromkeys(found[0] for path in paths if (found := self.other_name(path))))

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

    def beyond(self, access: ReadPath | WritePath, accesses: Sequence[Access] = ()) -> list[Access]:
        """What else `access`, one of `accesses`, stands for; a folder that is only entered for nothing."""
        path = access.real or access.path
        if isinstance(status := self.there.get(path, ""), str):  # reached under another name, or a link that is removed
            try:
                status = os.lstat(path)
            except (OSError, ValueError):
                return []
        if status is None:
            return []
        if stat.S_ISDIR(status.st_mode):
            listed = isinstance(access, ReadPath) and access.listing
            if access.by_command is None or listed or _enters(accesses, access):
                return []
            # A rule that closes what is in the folder itself says nothing of the link that leads to it.
            led = path != lexical(access.path, "/")
            seen = (access, replace(access, path=path)) if led else (access,)
            below = [all_below(each, path, self.trees) for each in seen]
            return [*below, *(self._through(access, path) if access.follows else ())]
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            others = self.trees.others(status, self.place)
            return [replace(access, path=o, real=o, alias=None) for o in others if o != path]
        return []

    def _through(self, access: ReadPath | WritePath, folder: str) -> Iterator[Access]:
        """Where the links in a folder lead that is read with all of them followed."""
        key = folder, access.by_command, type(access)
        if key in self.trees.passed or self.left < 0:
            return  # that there are too many is said once
        self.trees.passed.add(key)
        links = self.trees.links(folder, access.only not in ("shown", "some"), self.place.holds)
        self.left -= 1 + len(links or ())
        if links is None or len(links) > _MATCHES or self.left < 0:
            yield Opaque("there is more in it than is looked at for links", folder, (folder,))
            return
        for link in links:
            met = self.at(replace(access, path=posixpath.join(link, ""), real=None, alias=None, follows=False))
            if isinstance(met, Opaque):
                yield met
            elif not inside(met.real or link, folder):
                yield met
                yield from self.beyond(met)

    def _at_home(self, path: str) -> bool:
        return self.place.holds(path) or inside(path, self.place.home)

    def met(self, access: ReadPath | WritePath) -> Iterator[Access]:
        """The links, and what has other names, among the files that a pattern matches today."""
        pattern = access.path
        if pattern == "/**" or not posixpath.isabs(pattern) or self.left < 0:
            return  # that there are too many is said once
        # Outside of the workspace it asks by itself: only what leads home is more than that, and names are free.
        outside = not self.place.holds(pattern)
        if outside and (pattern.endswith("*/**") or (isinstance(access, ReadPath) and access.listing)):
            return
        if len(pattern) > _LONGEST:
            yield Opaque("the pattern is longer than a path can be", pattern, (pattern,))
            return
        found, self.left = matches(pattern, self.left, self.listed)
        if self.left < 0:
            yield Opaque("the patterns meet more files than are looked at for links", pattern, (pattern,))
            return
        for path in found:
            concrete = replace(access, path=path, glob=False)
            met = self.at(concrete)
            if outside and not (isinstance(met, Opaque) or self._at_home(met.real or path)):
                continue
            if isinstance(met, Opaque) or met.real != lexical(path, "/"):
                yield met
            if not isinstance(met, Opaque):
                yield from self.beyond(met)


def _planted(command: Command, accesses: Sequence[Access], disk: Look) -> Iterator[Access]:
    """A folder that is itself the data of a repository, or lies in such a one: git takes the configuration there, which
    can name programs to run. Above the workspace nobody plants."""
    entered = [command.cwd or disk.place.cwd]
    if command.cwd is None:
        entered += [a.path for a in accesses if isinstance(a, ReadPath) and _enters(accesses, a)]
    for folder in tuple(entered):
        for form in command.forms:
            at = folder
            for word, after in pairwise(form):
                if word == "-C" and isinstance(after, str):
                    at = posixpath.join(at, after)
                    entered.append(at)
    passed: set[str] = set()
    for folder in dict.fromkeys(disk.follow(each) or each for each in entered):
        while folder not in passed and disk.place.holds(folder):
            passed.add(folder)
            if disk.trees.repository(folder):
                reason = f"{folder} is itself a repository's data, and git would follow its configuration"
                yield Opaque(reason, command.text)
            folder = posixpath.dirname(folder)
