"""Which files there are: a walk that leaves out what git ignores, follows no link, and comes in a fixed order.

`Glob` lists what the walk finds and `Grep` searches it, so both mean the same files whether or not a search program is
installed. Hidden files count; version control's own folders and what no rule lets anyone read do not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from hitl_cli.access import Place, inside
from hitl_cli.tools.globs import Ignore, decided, ignore

_OWN = frozenset({".git", ".hg", ".svn", ".jj"})


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
        if not decided(ignores, path, is_folder)
    ]


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
        if decided(ignores, at, True):
            return ()
    return ignores


def _ignore_file(folder: str) -> Ignore | None:
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="surrogateescape") as file:
            return ignore(folder, file.read())
    except OSError:
        return None
