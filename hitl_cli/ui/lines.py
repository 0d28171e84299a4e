"""Literal text as screen lines: nothing hidden, nothing lost, never wider than asked.

A span (start, end, style) names raw characters that look different: changed words of a diff, the cursor of a text field.
Long runs of blanks are shown as a mark with their number, because they push what follows out of sight.
"""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.regex import later
from hitl_cli.ui.clean import TAB, cells, clean, fold, revealed
from hitl_cli.ui.theme import Line

Span = tuple[int, int, str]
MARGIN: Line = [("", "  ")]
PADDING = 40  # blanks in a row that count as padding
_PADDING = later(f" {{{PADDING},}}")


def literal(text: str, style: str = "", spans: Sequence[Span] = (), *, alone: bool = True) -> Line:
    """Raw text as the fragments of one line: odd characters and line ends revealed, tabs as blanks, padding as a mark."""
    line: Line = []
    column = at = 0
    for odd, shown in revealed(text, alone):
        size = 1 if odd else len(shown)
        for start, end, look in _split(at, at + size, spans):
            name = "mark" if odd and look != "cursor" else look or style
            part = shown if odd else _untab(shown[start - at : end - at], column)
            column += cells(part)
            line.append((name, part.replace("\n", "␊")))
        at += size
    return [piece for fragment in line for piece in _unpad(*fragment)]


def _split(start: int, end: int, spans: Sequence[Span]) -> list[Span]:
    """The stretch start..end cut at the borders of the spans, each piece with the style of its span or ""."""
    pieces: list[Span] = []
    for first, last, look in spans:
        if last <= start or first >= end:
            continue
        if first > start:
            pieces.append((start, first, ""))
        pieces.append((max(start, first), min(end, last), look))
        start = min(end, last)
    return [*pieces, (start, end, "")] if start < end else pieces


def _untab(text: str, column: int) -> str:
    if "\t" not in text:
        return text
    out: list[str] = []
    for index, part in enumerate(text.split("\t")):
        if index:
            gap = TAB - column % TAB
            column += gap
            out.append(" " * gap)
        column += cells(part)
        out.append(part)
    return "".join(out)


def _unpad(style: str, text: str) -> Line:
    if " " * PADDING not in text:
        return [(style, text)]
    line: Line = []
    at = 0
    for run in _PADDING.finditer(text):
        if run.start() > at:
            line.append((style, text[at : run.start()]))
        line.append(("mark", f"⟨{len(run.group())} blanks⟩"))
        at = run.end()
    return [*line, (style, text[at:])] if at < len(text) else line


def said(words: str, style: str, width: int) -> list[Line]:
    """What hitl says, which may quote others: its lines behind a margin."""
    rows = (row.rstrip() for line in clean(words).split("\n") for row in fold(line, width - 2))
    return [[*MARGIN, (style, row)] if row else [] for row in rows]


def width_of(line: Line) -> int:
    return sum(cells(text) for _, text in line)


def wrap(line: Line, width: int) -> list[Line]:
    """The line as rows of at most `width` cells which hold every character of it. A mark stays in one piece."""
    if width_of(line) <= width:
        return [line]
    rows: list[Line] = []
    solid: list[tuple[int, int]] = []
    at = 0
    for style, text in line:
        if style == "mark":
            solid.append((at, at + len(text)))
        at += len(text)
    pieces = iter(line)
    style, left = next(pieces)
    for row in fold("".join(text for _, text in line), width, solid):
        out: Line = []
        need = len(row)
        while need:
            while not left:
                style, left = next(pieces)
            out.append((style, left[:need]))
            need, left = need - len(left[:need]), left[need:]
        rows.append(out)
    return rows


def hang(line: Line, width: int, first: Line, rest: Line | None = None) -> list[Line]:
    """The line wrapped beside a margin: `first` before its first row, `rest`, of the same width, before the others."""
    rest = [("", " " * width_of(first))] if rest is None else rest
    rows = wrap(line, max(2, width - width_of(first)))
    return [[*(rest if index else first), *row] for index, row in enumerate(rows)]


def keys(items: Sequence[tuple[str, str]], width: int, margin: str = "  ") -> list[Line]:
    """A line of keys and what they do, `y once · n no · …`, broken only between items."""
    rows: list[Line] = [[("", margin)]]
    for key, words in items:
        item: Line = [("key", key), ("", f" {words}" if key and words else words)]
        fresh = len(rows[-1]) == 1
        if not fresh and width_of(rows[-1]) + 3 + width_of(item) > width:
            rows.append([("", margin)])
            fresh = True
        rows[-1] += item if fresh else [("dim", " · "), *item]
    return [row for line in rows for row in hang(line[1:], width, line[:1])]
