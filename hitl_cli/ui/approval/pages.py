"""The content of a panel, a screenful at a time, and how far it was shown.

What was printed stays printed. A new width only changes the rows still to come; the line of content that the old width had
cut is then shown again from its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hitl_cli.ui.approval.body import Numbered, Sheet
from hitl_cli.ui.lines import hang, literal
from hitl_cli.ui.theme import Line

BELOW = 6  # rows of the screen kept free for the key line and what surrounds the content


class Pages:
    def __init__(self, sheet: Sheet, alerts: Sequence[str], height: int) -> None:
        self.height = height
        self._explained: list[str] = []
        self._begun = False  # something was shown, perhaps of another sheet
        self.turn_to(sheet, alerts)

    def turn_to(self, sheet: Sheet, alerts: Sequence[str]) -> None:
        """Something is to be shown, from its start."""
        self.sheet, self._alerts = sheet, alerts
        self.ended = False  # everything was shown
        self.several = False  # it took more than one page
        self._wanted: Literal["", "page", "all"] = "page"
        self._shown = 0  # rows, as laid out for _width
        self._width = 0
        self._rows: Numbered = []

    def turn(self) -> None:
        self._wanted = "page"

    def whole(self) -> None:
        """Everything at once, from the start."""
        self._wanted = "all"

    def explain(self, lines: Sequence[str]) -> None:
        self._explained = list(lines) or ["No rule speaks of this call."]

    @property
    def place(self) -> str:
        """How far it was shown, in words."""
        size = f"{len(self.sheet.content):,} characters"
        if self.sheet.count <= 1:
            return f"row {self._shown:,} of {len(self._rows):,} · {size}"
        line = self._rows[self._shown - 1][0] + 1 if self._shown else 0
        return f"line {line:,} of {self.sheet.count:,} · {size}"

    def take(self, width: int) -> list[Line]:
        """The lines to print now."""
        lines = [
            row for text in self._explained for row in hang(literal(text.replace("\n", " ")), width, [("dim", "  ? ")])
        ]
        self._explained = []
        if self._wanted == "all":
            self._shown, self._width = 0, 0
        if self._wanted:
            lines += self._page(width)
        return lines

    def _page(self, width: int) -> list[Line]:
        self._lay_out(width)
        head = [] if self._shown else self.sheet.head(width)
        if head and self._begun:
            head = [[], *head]  # set off from what stands above it
        self._begun = True
        tail = self.sheet.tail(width, self._alerts)
        left = self._rows[self._shown :]
        room = self._room(head)
        if self._wanted == "all" or len(left) + len(tail) <= room:
            shown = left
        else:
            self.several = True
            if head:  # why it is asked stands above what does not fit, and below its end again
                head += tail
            shown = left[: self._room(head)]
        self._shown += len(shown)
        self._wanted = ""
        self.ended = self._shown == len(self._rows)
        return [*head, *(line for _, line in shown), *(tail if self.ended else [])]

    def _room(self, head: list[Line]) -> int:
        return max(3, self.height - BELOW - len(head))

    def _lay_out(self, width: int) -> None:
        if width == self._width:
            return
        at = self._rows[self._shown][0] if self._shown < len(self._rows) else None
        self._rows, self._width = self.sheet.body(width), width
        if self._shown:
            self._shown = next((i for i, row in enumerate(self._rows) if row[0] == at), len(self._rows))
