"""Which files a shell pattern matches, as the disk has them now."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

COMPARED = 60_000  # names in folders that the patterns of one call are compared with
_COMPILED, _LISTED, _FOLLOWED = 200, 50, 20  # as how many names a pattern, a folder and a file that it matches count
# A character that was quoted, and what stands in brackets: a `]` at its beginning and classes (`[[:alpha:]]`) do not end it.
_QUOTED_OR_BRACKETS = re.compile(r"\\(.)|\[([!^]?)(\]?(?:\[([:.=]).*?\4\]|[^\]])*)\]")


def matches(pattern: str, left: int, listed: dict[str, Sequence[str]]) -> tuple[list[str], int]:
    """The files that a shell pattern (absolute) matches, `**` as `*`, and how many of the names `left` to be compared with
    patterns are left after it: less than none when it took too many. What takes longer counts as several. `listed`: the
    names in folders, as far as they were looked at."""
    found, named = [""], True
    for part in filter(None, pattern.split("/")):
        named = not glob.has_magic(part) and "\\" not in part
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
    return re.compile(fnmatch.translate(_QUOTED_OR_BRACKETS.sub(_plain, part))).match


def _plain(found: re.Match[str]) -> str:
    """As Python has it, which knows neither backslash nor `^`, and no classes: any character may be in these."""
    quoted, negated, inner, is_class = found.groups()
    return glob.escape(quoted) if quoted else "?" if is_class else f"[{'!' if negated else ''}{inner}]"


def listing(folder: str) -> Sequence[str]:
    """The names in a folder; none when it cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return ()
