"""What a write would change, as a unified diff that is whole, and quick on large files."""

from __future__ import annotations

from collections.abc import Iterator

_AROUND = 3  # lines of context
_COMPARED = 4_000  # lines on a side that are still matched line by line; beyond, the changed block is shown as replaced


def unified(before: str, after: str, path: str, *, new: bool = False) -> str:
    """The diff from `before` to `after`; "" when they are the same. `new`: there is no file yet."""
    if before == after and not new:
        return ""
    old, fresh = _lines(before), _lines(after)
    if "\r\n" in before and "\r\n" in after and not _mixed(before) and not _mixed(after):
        old, fresh = ([line.replace("\r\n", "\n") for line in side] for side in (old, fresh))
    heads = ("/dev/null" if new else f"a/{path.lstrip('/')}", f"b/{path.lstrip('/')}")
    text = [f"--- {heads[0]}\n", f"+++ {heads[1]}\n"]
    for hunk in _hunks(old, fresh):
        text += hunk
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in text)


def counts(diff: str) -> tuple[int, int]:
    """Lines added and removed."""
    lines = diff.split("\n")[2:]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines with their newline. Only a newline ends one: a form feed or a lone return is content."""
    parts = text.split("\n")
    last = parts.pop()
    return [part + "\n" for part in parts] + ([last] if last else [])


def _mixed(text: str) -> bool:
    return text.count("\r\n") != text.count("\n")


def _hunks(old: list[str], fresh: list[str]) -> Iterator[list[str]]:
    codes = _changes(old, fresh)
    group: list[tuple[str, int, int, int, int]] = []
    for code in codes:
        if group and code[1] - group[-1][2] > 2 * _AROUND:
            yield _hunk(group, old, fresh)
            group = []
        group.append(code)
    if group:
        yield _hunk(group, old, fresh)


def _changes(old: list[str], fresh: list[str]) -> list[tuple[str, int, int, int, int]]:
    """What is not equal, as difflib's opcodes; the equal lines at both ends never reach the slow comparison."""
    top = 0
    while top < min(len(old), len(fresh)) and old[top] == fresh[top]:
        top += 1
    tail = 0
    while tail < min(len(old), len(fresh)) - top and old[-1 - tail] == fresh[-1 - tail]:
        tail += 1
    middle = old[top : len(old) - tail], fresh[top : len(fresh) - tail]
    if max(map(len, middle)) > _COMPARED:
        return [("replace", top, len(old) - tail, top, len(fresh) - tail)]
    import difflib  # most sessions change no file

    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    return [
        (what, top + i1, top + i2, top + j1, top + j2)
        for what, i1, i2, j1, j2 in matcher.get_opcodes()
        if what != "equal"
    ]


def _hunk(group: list[tuple[str, int, int, int, int]], old: list[str], fresh: list[str]) -> list[str]:
    start, end = max(group[0][1] - _AROUND, 0), min(group[-1][2] + _AROUND, len(old))
    before = group[0][1] - start
    lines, at = [], start
    for _, i1, i2, j1, j2 in group:
        lines += [" " + line for line in old[at:i1]]
        lines += ["-" + line for line in old[i1:i2]]
        lines += ["+" + line for line in fresh[j1:j2]]
        at = i2
    lines += [" " + line for line in old[at:end]]
    there = group[0][3] - before
    length = group[-1][4] + (end - group[-1][2]) - there
    return [f"@@ -{_span(start, end - start)} +{_span(there, length)} @@\n", *lines]


def _span(start: int, length: int) -> str:
    """As unified diffs count: from 1, and an empty span names the line before it."""
    return f"{start + 1 if length else start}" + ("" if length == 1 else f",{length}")
