"""Files with several names (hard links): what a rule says of one name holds for the others, as far as rules spell files or
their folders.

A file does not know its names. So they are looked for where rules point: which files there have several names, and is one
of them among those that a call touches. All of it is bounded, and past a bound the answer is that nobody knows (None),
never that there are none.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from hitl_cli.access import Named, Place
from hitl_cli.globbing import listing
from hitl_cli.permissions.places import NAMES_IN_GIT, NAMES_IN_HOME

_MOST = 20_000  # names that are looked at where the rules of a call point
_TOUCHED = 60_000  # of all that it touches
_STATUS = 5  # as how many names a file counts whose status is asked for

Key = tuple[int, int]  # a file, whatever it is called: its device and its number there


class Twins:
    """Of one call: what is looked at is looked at once, however often the call names it."""

    def __init__(self) -> None:
        self.left = _TOUCHED
        self.named: dict[tuple[str, ...], Mapping[Key, Sequence[str]] | None] = {}
        self.protected: Mapping[Key, Sequence[str]] | None = None

    def among(self, files: Callable[[], Collection[Key] | None]) -> Named:
        """What tells the names of `files`, which are asked for last: None when they are too many to know."""

        def names(places: tuple[str, ...]) -> Sequence[str] | None:
            if places not in self.named:
                self.named[places] = _named(places)
            named = self.named[places]
            if named is not None and not named:
                return ()
            touched = files()
            if touched is not None and not touched:
                return ()
            if named is None or touched is None:
                return None
            return [name for key in touched for name in named.get(key, ())]

        return names

    def touched(self, paths: Sequence[str] | None) -> Collection[Key] | None:
        """Those of the files that have several names; None when there are too many to ask each for its status."""
        self.left -= _STATUS * len(paths or ())
        if paths is None or self.left < 0:
            return None
        return {key for path in paths if (key := key_of(_status(path)))}

    def of(self, path: str) -> Named | None:
        """What tells other names of what a path leads to, where it has some."""
        key = key_of(_status(path, follow=True))
        return self.among(lambda: (key,)) if key else None

    def protected_names(self, key: Key, place: Place) -> Sequence[str]:
        """The names of the file that are protected."""
        if self.protected is None:
            self.protected = _by_file((at, _status(at, follow=True)) for at in _protected(place))
        return self.protected.get(key, ())


def key_of(status: os.stat_result | str | None) -> Key | None:
    """The file of this status, where it is one that has several names."""
    if not isinstance(status, os.stat_result) or status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return None
    return status.st_dev, status.st_ino


def _status(path: str, *, follow: bool = False) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None


def _by_file(names: Iterable[tuple[str, os.stat_result | None]]) -> dict[Key, list[str]]:
    """Of the files of these names and statuses those with several names."""
    found: dict[Key, list[str]] = {}
    for name, status in names:
        if key := key_of(status):
            found.setdefault(key, []).append(name)
    return found


def _named(places: Iterable[str]) -> Mapping[Key, Sequence[str]] | None:
    """The files with several names at and below some places, each with its names there."""
    there = [(place, _status(place)) for place in places]
    found = _by_file(there)
    # What is no file is a folder, or a link that may lead to one.
    pending = [place for place, status in there if status is not None and not stat.S_ISREG(status.st_mode)]
    left = _MOST
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        left -= _STATUS
                        if key := key_of(_status(entry.path)):
                            found.setdefault(key, []).append(entry.path)
                    if left < 0:
                        return None
        except OSError:
            continue  # who cannot list it cannot give what is in it another name
    return found


def _protected(place: Place) -> Iterator[str]:
    """The protected names of the workspace and the home folder, there or not."""
    workspace = place.workspace
    hooks = os.path.join(workspace, ".git", "hooks")
    yield from (os.path.join(place.home, name) for name in NAMES_IN_HOME)
    yield from (os.path.join(workspace, ".git", name) for name in NAMES_IN_GIT)
    yield from (os.path.join(hooks, name) for name in listing(hooks))
    yield from (os.path.join(workspace, name) for name in listing(workspace) if name.startswith("."))
    for at in place.protected:
        yield at
        yield from (os.path.join(at, name) for name in listing(at))
