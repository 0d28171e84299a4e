"""A text field as a pure machine: keys in, text and cursor out. Digits, letters and Shift-Tab are text or nothing here,
never commands; what ends the field (Enter, Esc) is for the form around it."""

from __future__ import annotations

from hitl_cli.ui.clean import cells
from hitl_cli.ui.lines import Span, hang, literal
from hitl_cli.ui.theme import Line

PASTE = "<bracketed-paste>"
# prompt_toolkit's names of keys that have two
_ALIASES = {
    "c-m": "enter",
    "c-i": "tab",
    "c-h": "backspace",
    "space": " ",
    "c-[": "escape",
    "escape escape": "escape",
    "escape c-c": "c-c",
    "escape c-m": "c-j",
    "escape enter": "c-j",
    "escape c-h": "escape backspace",
}
_SAME = {
    "c-b": "left",
    "c-f": "right",
    "c-a": "home",
    "c-e": "end",
    "c-p": "up",
    "c-n": "down",
    "escape b": "c-left",
    "escape f": "c-right",
    "c-d": "delete",
}


def named(key: str, data: str = "") -> str:
    """One name a key; a character is its own name."""
    return data if key == "<any>" and len(data) == 1 else _ALIASES.get(key, key)


def typed(key: str, data: str) -> str:
    """The text that a key types, "" when it is a command. A paste types its text with plain line ends."""
    if key == PASTE:
        return data.replace("\r\n", "\n").replace("\r", "\n")
    if key == "<any>":
        return data if data.isprintable() else ""
    return key if len(key) == 1 and key.isprintable() else ""


class TextField:
    """`text` with a cursor. With `several` lines Ctrl-J makes a new one; else a pasted line end becomes a blank."""

    def __init__(self, text: str = "", *, several: bool = False) -> None:
        self.text, self.several = text, several
        self.cursor = len(text)

    def press(self, key: str, data: str = "") -> bool:
        """True when the key was for the field."""
        text = "\n" if key == "c-j" and self.several else typed(key, data)
        if text:
            self._replace(self.cursor, text if self.several else text.replace("\n", " "))
            return True
        key = _SAME.get(key, key)
        if key in _DELETIONS:
            start, end = sorted((self.cursor, self._target(_DELETIONS[key])))
            self.text, self.cursor = self.text[:start] + self.text[end:], start
            return True
        if key in _MOVES:
            self.cursor = self._target(key)
            return True
        return False

    def _replace(self, at: int, text: str) -> None:
        self.text = self.text[:at] + text + self.text[at:]
        self.cursor = at + len(text)

    def _target(self, move: str) -> int:
        """Where the cursor would stand after a move."""
        text, at = self.text, self.cursor
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at) if "\n" in text[at:] else len(text)
        match move:
            case "left":
                return max(0, at - 1)
            case "right":
                return min(len(text), at + 1)
            case "home":
                return start
            case "end":
                return end
            case "up":
                above = text.rfind("\n", 0, max(0, start - 1)) + 1
                return min(above + at - start, start - 1) if start else at
            case "down":
                below = text.find("\n", end + 1)
                return min(end + 1 + at - start, below if below >= 0 else len(text)) if end < len(text) else at
            case "c-left":
                return len(text[:at].rstrip().rpartition(" ")[0]) + (" " in text[:at].rstrip())
            case _:
                rest = text[at:].lstrip()
                return len(text) - len(rest) + (rest.find(" ") if " " in rest else len(rest))

    def lines(self, width: int, margin: str = "  › ", rows: int = 10) -> list[Line]:
        """The text with its cursor, at most `rows` rows around it."""
        drawn: list[tuple[bool, Line]] = []
        at = 0
        first: Line = [("key", margin)]
        rest: Line = [("", " " * cells(margin))]
        for text in self.text.split("\n"):
            here = at <= self.cursor <= at + len(text)
            column = self.cursor - at
            spans: list[Span] = [(column, column + 1, "cursor")] if here and column < len(text) else []
            line = literal(text, "", spans) + ([("cursor", " ")] if here and not spans else [])
            for row in hang(line, width, rest if drawn else first):
                drawn.append((here and any(style == "cursor" for style, _ in row), row))
            at += len(text) + 1
        cursor = next((index for index, (has, _) in enumerate(drawn) if has), 0)
        top = max(0, min(cursor - rows // 2, len(drawn) - rows))
        return [row for _, row in drawn[top : top + rows]]


_MOVES = ("left", "right", "home", "end", "up", "down", "c-left", "c-right")
_DELETIONS = {
    "backspace": "left",
    "delete": "right",
    "c-w": "c-left",
    "escape backspace": "c-left",
    "c-u": "home",
    "c-k": "end",
    "c-delete": "c-right",
}
