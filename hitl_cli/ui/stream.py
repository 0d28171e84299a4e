"""Streamed Markdown that only ever appends: text in, finished blocks out, each rendered once.

A `Splitter` takes pieces of any size and returns the blocks that are finished: no later text can change how they look.
What is left, the tail, is shown raw below until its block ends. Every character is looked at a bounded number of times, so
the cost is linear in the text. A list is cut at its items and a long code block at its lines (a border is where the
code has a blank line, or after `CODE_LINES`), so that nothing has to wait long for its end; a table waits for its last row,
because the widths of its columns need it.

Text is clean when it comes here; `rendered` turns a block into lines once.
"""

from __future__ import annotations

from hitl_cli.records import Struct
from hitl_cli.regex import later

CODE_LINES = 40
_FENCE = later(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_ITEM = later(r" {0,3}([-+*]|\d{1,9}[.)])(\s|$)")
_HEADING = later(r" {0,3}#{1,6}(\s|$)")


class Block(Struct, frozen=True):
    """`kind`: "text", "item" of a list, or "code". `joined` is true when it goes on right below the block before."""

    kind: str
    text: str
    joined: bool = False
    language: str = ""


class Splitter:
    """Feed pieces with `feed`, end with `end`; both return finished blocks. `tail` is the text still open."""

    def __init__(self) -> None:
        self._partial: list[str] = []  # pieces of the line that has no end yet
        self._lines: list[str] = []  # finished lines of the open block
        self._kind = ""
        self._fence = ""
        self._language = ""
        self._marker = ""  # last character of the open list item's marker: "-", "*", "+", "." or ")"
        self._blank = False  # a blank line was seen after the open block's text
        self._joined = False

    @property
    def tail(self) -> str:
        return "\n".join([*self._lines[-12:], "".join(self._partial)[-2000:]])

    @property
    def open(self) -> bool:
        return bool(self._lines or self._partial)

    def feed(self, text: str) -> list[Block]:
        out: list[Block] = []
        first, *rest = text.split("\n")
        self._partial.append(first)
        for piece in rest:
            self._line("".join(self._partial).removesuffix("\r"), out)
            self._partial = [piece]
        return out

    def end(self) -> list[Block]:
        out: list[Block] = []
        last = "".join(self._partial)
        self._partial = []
        if last:
            self._line(last, out)
        self._close(out)
        self._kind, self._marker, self._joined = "", "", False
        return out

    def _line(self, line: str, out: list[Block]) -> None:
        if self._kind == "code":
            self._code_line(line, out)
        elif not line.strip():
            self._blank = bool(self._lines)
        elif (self._kind == "item" and line.startswith((" ", "\t")) and self._indented(line)) or (
            self._kind == "item" and not self._blank and not self._starts(line)
        ):
            if self._blank:
                self._lines.append("")
            self._add(line)
        elif self._blank or self._starts(line):
            self._close(out)
            self._open(line)
        else:
            self._add(line)

    def _indented(self, line: str) -> bool:
        """Does the line belong to the open item: at least as far in as its text, or as two blanks?"""
        marker = _ITEM.match(self._lines[0])
        inner = min(marker.end() if marker else 2, 4)
        return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) >= min(inner, 2)

    def _starts(self, line: str) -> bool:
        """Does the line begin a block of its own without a blank line before it?"""
        if _FENCE.match(line) or _HEADING.match(line):
            return True
        if not self._lines or self._kind == "heading":
            return True
        item = _ITEM.match(line)
        # In the middle of a paragraph only a list that counts from 1 can begin: "in the year\n1986. It was".
        return item is not None and (self._kind == "item" or item[1][:-1] in ("", "1"))

    def _open(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence:
            self._kind, self._fence, self._marker = "code", fence[1], ""
            self._language, self._joined = fence[2].strip().split(" ")[0], False
            return
        item = _ITEM.match(line)
        marker = item[1][-1] if item else ""
        self._kind = "item" if item else "heading" if _HEADING.match(line) else "text"
        self._joined = bool(item) and marker == self._marker
        self._marker = marker
        self._lines = [line]

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._blank = False

    def _code_line(self, line: str, out: list[Block]) -> None:
        mark = line.strip()
        if mark.startswith(self._fence) and set(mark) == {self._fence[0]}:
            if not self._lines and not self._joined:
                self._lines = [""]
            self._close(out)
            self._kind, self._joined = "", False
            return
        self._lines.append(line)
        if len(self._lines) >= CODE_LINES or (len(self._lines) >= CODE_LINES // 2 and not mark):
            self._close(out)
            self._joined = True

    def _close(self, out: list[Block]) -> None:
        if self._lines:
            kind = "text" if self._kind == "heading" else self._kind
            language = self._language if kind == "code" else ""
            out.append(Block(kind, "\n".join(self._lines), self._joined, language))
        self._lines, self._blank = [], False


def rendered(block: Block, width: int, colour: bool) -> str:
    """The block as text for the terminal, a blank line in front unless it goes on below the one before.

    All of it stands behind a margin of two: the first column is not the model's (see `approval.body`).
    """
    from hitl_cli.ui.markdown import code, markdown

    body = (
        code(block.text, block.language, width - 2, colour)
        if block.kind == "code"
        else markdown(block.text, width - 2, colour)
    )
    body = "".join(f"  {line}\n" if line else "\n" for line in body.removesuffix("\n").split("\n"))
    return body if block.joined else "\n" + body
