"""What a call touches besides what its accesses name, seen from the disk as it is now.

Where a path really leads (`links`) is filled in. Beyond that, what it stands for is spelled out as further accesses: a
folder that is read stands for all below it, a file pattern for the links it meets today, a file with several names for its
protected name where that can be known.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from hitl_cli.access import Access, Command, Opaque, Place, ReadPath, Unnamed, WritePath, inside, lexical
from hitl_cli.below import all_below, brought, some_below
from hitl_cli.globbing import matches
from hitl_cli.links import Look
from hitl_cli.records import replace
from hitl_cli.tracked import is_repository
from hitl_cli.twins import Key, key_of

_LONGEST = 4096  # no path is longer (PATH_MAX), and a pattern that is takes long to follow


def resolve(accesses: Sequence[Access], disk: Look) -> tuple[Access, ...]:
    """The accesses in their order, with `real` (and `alias`) where links lead elsewhere, followed by what else they stand
    for."""
    out: list[Access] = []
    more: list[Access] = []
    for access in accesses:
        if type(access) is Command:
            if access.words and access.words[0] == "git":
                more += _planted(access, accesses, disk)
        elif type(access) is ReadPath or type(access) is WritePath:
            if access.glob:
                access, others = _met(access, disk)
                more += others
                access = some_below(access, disk.trees)
            else:
                access = disk.at(access)
                if type(access) is not Opaque and (status := disk.status(access)) is not None:
                    more += _beyond(access, status, disk, accesses)
                    access = _named(access, status, disk)
        elif type(access) is Unnamed:
            access = brought(access, disk.follow, disk.trees)
        out.append(access)
    out += more
    return tuple(out)


def _enters(accesses: Sequence[Access], path: ReadPath | WritePath) -> bool:
    """Whether the path belongs to a command such as `cd`."""
    command = accesses[path.by_command] if accesses and path.by_command is not None else None
    return isinstance(command, Command) and bool(command.free)


def _named(access: ReadPath | WritePath, status: os.stat_result, disk: Look) -> ReadPath | WritePath:
    """The access to a file of this status with what tells its other names, where it has some."""
    key = key_of(status)
    return _with_twins(access, (key,), disk) if key else access


def _with_twins(access: ReadPath | WritePath, files: Collection[Key], disk: Look) -> ReadPath | WritePath:
    removes = isinstance(access, WritePath) and access.removes  # a name that is removed is only that
    return access if removes else replace(access, twins=disk.trees.twins.among(lambda: files))


def _beyond(
    access: ReadPath | WritePath, status: os.stat_result, disk: Look, accesses: Sequence[Access] = ()
) -> Sequence[Access]:
    """What else `access`, one of `accesses`, to what has this status stands for; a folder that is only entered for
    nothing."""
    path = access.real or access.path
    if stat.S_ISDIR(status.st_mode):
        listed = isinstance(access, ReadPath) and access.listing
        if access.by_command is None or listed or _enters(accesses, access):
            return ()
        # A rule that closes what is in the folder itself says nothing of the link that leads to it.
        led = path != lexical(access.path, "/")
        seen = (access, replace(access, path=path)) if led else (access,)
        below = [all_below(each, path, disk.trees) for each in seen]
        return [*below, *(_through(access, path, disk) if access.follows else ())]
    if key := key_of(status):
        names = disk.trees.twins.protected_names(key, disk.place)
        return [replace(access, path=name, real=None, alias=None) for name in names if name != path]
    return ()


def _through(access: ReadPath | WritePath, folder: str, disk: Look) -> Iterator[Access]:
    """Where the links in a folder lead that is read with all of them followed."""
    key, trees = (folder, access.by_command, type(access)), disk.trees
    if key in trees.passed or trees.compared < 0:
        return  # that there are too many is said once
    trees.passed.add(key)
    links = trees.links(folder, access.only not in ("shown", "some"), disk.follow, disk.place.holds)
    trees.compared -= 1 + len(links or ())
    if links is None or trees.compared < 0:
        yield Opaque("there is more in it than is looked at for links", folder, (folder,))
        return
    for link in links:
        met = disk.at(replace(access, path=posixpath.join(link, ""), real=None, alias=None, follows=False))
        if isinstance(met, Opaque):
            yield met
        elif not inside(met.real or link, folder):
            yield from _whole(met, disk)


def _whole(access: ReadPath | WritePath, disk: Look) -> Iterator[Access]:
    """An access that another one leads to, and what it stands for."""
    status = disk.status(access)
    yield access if status is None else _named(access, status, disk)
    yield from _beyond(access, status, disk) if status is not None else ()


def _at_home(path: str, place: Place) -> bool:
    return place.holds(path) or inside(path, place.home)


def _met(access: ReadPath | WritePath, disk: Look) -> tuple[ReadPath | WritePath, Sequence[Access]]:
    """The access with what tells other names of the files that its pattern matches today; and the links among these,
    and what else they stand for."""
    pattern, trees = access.path, disk.trees
    if pattern == "/**" or not posixpath.isabs(pattern) or trees.compared < 0:
        return access, ()  # that there are too many is said once
    # Outside of the workspace it asks by itself: only what leads home is more than that, and names are free.
    outside = not disk.place.holds(pattern)
    if outside and (pattern.endswith("*/**") or (isinstance(access, ReadPath) and access.listing)):
        return access, ()
    if len(pattern) > _LONGEST:
        return access, [Opaque("the pattern is longer than a path can be", pattern, (pattern,))]
    paths, trees.compared = matches(pattern, trees.compared, trees.listed)
    if trees.compared < 0:
        return access, [Opaque("the patterns meet more files than are looked at for links", pattern, (pattern,))]
    files: set[Key] = set()
    more: list[Access] = []
    for path in paths:
        met = disk.at(replace(access, path=path, glob=False))
        if isinstance(met, Opaque):
            more.append(met)
            continue
        status = disk.status(met)
        if key := key_of(status):
            files.add(key)
        if outside and not _at_home(met.real or path, disk.place):
            continue
        if (met.real or path) != lexical(path, "/"):
            more.append(met)
        if status is not None:
            more += _beyond(met, status, disk)
    return (_with_twins(access, files, disk) if files else access), more


def _planted(command: Command, accesses: Sequence[Access], disk: Look) -> Iterator[Access]:
    """A folder that is itself the data of a repository, or lies in such a one: git takes the configuration there, which
    can name programs to run. Above the workspace nobody plants."""
    starts = [command.cwd or disk.place.cwd]
    if command.cwd is None:
        starts += [a.path for a in accesses if isinstance(a, ReadPath) and _enters(accesses, a)]
    entered = [*starts]
    for form in command.forms:
        for at in starts if "-C" in form else ():
            for word, after in pairwise(form):
                if word == "-C" and isinstance(after, str):
                    at = posixpath.join(at, after)
                    entered.append(at)
    passed: set[str] = set()
    for each in entered:
        folder = disk.follow(each) or each
        while folder not in passed and disk.place.holds(folder):
            passed.add(folder)
            if disk.found(f"{folder}/HEAD") is not None and is_repository(folder):
                reason = f"{folder} is itself a repository's data, and git would follow its configuration"
                yield Opaque(reason, command.text)
            folder = folder.rpartition("/")[0] or "/"
