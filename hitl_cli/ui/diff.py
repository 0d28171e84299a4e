"""A unified diff as screen lines: line numbers, signs, and within changed pairs the words that differ.

The hunk headers say how many lines belong to a hunk, so a line of the file that looks like a header cannot end one. The
cost is linear: pairs are compared by place, word by word over a bounded stretch, and only so many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from hitl_cli.records import Struct
from hitl_cli.regex import later
from hitl_cli.ui.lines import Span, hang, literal
from hitl_cli.ui.theme import Line

WORDS = 80  # words of a line that are compared one by one
PAIRS = 2000  # pairs of lines that get word highlights
_HUNK = later(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_WORD = later(r"\w+|\s+|[^\w\s]")
_STYLE = {"+": "add", "-": "del", " ": "", "\\": "dim"}


class Row(Struct):
    """A line of the diff. `sign`: + - or blank for lines of the file, @ for the gap before a hunk, \\ for a remark.
    `number` is that of the new file, for removed lines that of the old one. `hot`: the words that differ."""

    sign: str
    number: int
    text: str
    hot: Sequence[Span] = ()


def parse(diff: str) -> list[Row]:
    """The rows of the hunks; file headers are left out. Text that is no diff becomes remarks, so nothing is lost."""
    rows: list[Row] = []
    old = new = old_left = new_left = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        sign, text = line[:1] or " ", line[1:]
        if (old_left or new_left) and sign in "+- ":
            rows.append(Row(sign, old if sign == "-" else new, text))
            old, old_left = (old + 1, old_left - 1) if sign != "+" else (old, old_left)
            new, new_left = (new + 1, new_left - 1) if sign != "-" else (new, new_left)
        elif header := _HUNK.match(line):
            old, new = int(header[1]), int(header[3])
            old_left, new_left = int(header[2] or 1), int(header[4] or 1)
            rows.append(Row("@", new, header[5]))
        elif rows or not line.startswith(("--- ", "+++ ")):
            rows.append(Row("\\", 0, line.removeprefix("\\ ")))
    _strip_carriage_returns(rows)
    _mark_words(rows)
    return rows


def counts(rows: Sequence[Row]) -> tuple[int, int]:
    """Lines added and removed."""
    return sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows)


def draw(rows: Sequence[Row], width: int) -> list[tuple[int, Line]]:
    """The rows as screen lines, each with the index of its row."""
    digits = len(str(max((row.number for row in rows), default=0)))
    return [(index, line) for index, row in enumerate(rows) for line in _draw(row, index, digits, width)]


def _draw(row: Row, index: int, digits: int, width: int) -> list[Line]:
    blank = " " * (digits + 2)
    if row.sign == "@":
        if not index and not row.text:
            return []
        return hang(literal(row.text, "dim"), width, [("dim", f"{'⋯':>{digits + 2}}   ")])
    if row.sign == "\\":
        return hang(literal(row.text, "dim"), width, [("dim", blank + " \\ ")], [("dim", blank + " ↪ ")])
    style = _STYLE[row.sign]
    first = [("dim", f"{row.number:>{digits + 2}}"), (style, f" {row.sign} ")]
    return hang(literal(row.text, style, row.hot, alone=False), width, first, [("", blank), ("dim", " ↪ ")])


def _strip_carriage_returns(rows: list[Row]) -> None:
    """A file that ends all its lines with CR LF is shown without the CRs, and says so once."""
    lines = [row for row in rows if row.sign in "+- "]
    if lines and all(row.text.endswith("\r") for row in lines):
        for row in lines:
            row.text = row.text[:-1]
        rows.append(Row("\\", 0, "Lines end with CR LF."))


def _mark_words(rows: list[Row]) -> None:
    for count, (gone, came) in enumerate(_pairs(rows)):
        if count == PAIRS:
            return
        gone.hot, came.hot = _changed(gone.text, came.text)


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Removed and added lines that stand for each other: the nth of a block of - with the nth of the + after it."""
    removed: list[Row] = []
    added: list[Row] = []
    for row, after in zip_longest(rows, rows[1:]):
        if row.sign in "+-":
            (added if row.sign == "+" else removed).append(row)
        if after is None or after.sign not in "+-" or (after.sign == "-" and added):
            yield from zip(removed, added, strict=False)
            removed, added = [], []


def _changed(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """The stretches that differ; none when the lines have too little in common for that to help."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(map(len, middle)) <= WORDS:
        blocks = SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks()
    else:
        blocks = []
    same = [
        range(head),
        *(range(head + b.a, head + b.a + b.size) for b in blocks),
        range(len(before) - tail, len(before)),
    ]
    kept = {index for stretch in same for index in stretch}
    shared = sum(len(before[index].strip()) for index in kept)
    if shared * 3 < max(len(old.strip()), len(new.strip())):
        return [], []
    same_new = {
        *range(head),
        *(head + b.b + i for b in blocks for i in range(b.size)),
        *range(len(after) - tail, len(after)),
    }
    return _spans(before, kept, "del.word"), _spans(after, same_new, "add.word")


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    size = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        size += 1
    return size


def _spans(words: Sequence[str], same: set[int], style: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for index, word in enumerate(words):
        end = at + len(word)
        if index not in same:
            if spans and spans[-1][1] == at:
                spans[-1] = (spans[-1][0], end, style)
            else:
                spans.append((at, end, style))
        at = end
    return spans
