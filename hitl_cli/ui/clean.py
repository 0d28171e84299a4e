r"""What other people's text may do to the screen: nothing.

Tool output, file names, model text, names and descriptions of servers, rules, errors: all of it passes here before it is
printed. Two readings of one table:

    clean(text)    text that is read. Terminal sequences are taken out whole, what else could not be seen or would move
                   the cursor is shown as `␛` or `<U+202E>`, tabs become spaces. Joiners in their proper place (emoji,
                   Persian, Indic scripts) and typographic spaces lose their finesse, nothing more.
    reveal(text)   text that will be acted on: a command, a path, an address, a rule. Nothing is taken out. Each odd
                   character is shown, look-alike letters too, and a literal `<U+202E>` or `␛` cannot pass for one.

A `Cleaner` cleans a stream in pieces; where the pieces are cut does not change the result. Widths are in terminal cells,
a character counted alone: composed sequences can only take less. Plain ASCII costs one search.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from functools import lru_cache

from hitl_cli.regex import later
from hitl_cli.ui import lookalike

TAB = 8
_ODD = later(r"[^\n\x20-\x7e]")

# ECMA-48 section 5.4 and 5.6, xterm's ctlseqs: strings (OSC, DCS, SOS, PM, APC) end at ST or BEL and are given up at an
# ESC; a string with a control character in it or longer than 4,096 is none, and only its introducer goes.
_STRING = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"
_INSIDE = r"[^\x00-\x1f\x7f\x90-\x9f]{0,4096}+"
_SEQUENCE = (
    rf"{_STRING}{_INSIDE}(?:\x07|\x9c|\x1b\\|(?=\x1b))|{_STRING}"
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}+[ -/]{0,8}+[@-~]?"
    r"|\x1b[ -/]{1,8}+[0-~]?|\x1b[0-~]"
)
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSEEN = (
    "\u00ad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2028\u2029"
    "\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SURROGATE = "\ud800-\udfff"
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_OVERLAYS = "\u0334-\u0338\u0488\u0489\u20d0-\u20ff"  # drawn over the letter: they can strike it out
_PILED = f"(?<=[{_MARKS}]{{3}})[{_MARKS}]"  # more marks on one letter than any language puts there

_JOINING = "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff"
_EMOJI = "#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_J = "[\u200d\ufe0e\ufe0f]"
_JOINER = f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]{_J})|(?<=[{_EMOJI}]{_J}{_J})){_J}|(?<=[{_JOINING}])[\u200c\u200d]"
_CONTEXT = 3  # raw characters before a piece that the look-behinds above may need

_UNPRINTED = f"[{_CONTROL}{_BIDI}{_UNSEEN}{_SURROGATE}]|{_PILED}"
_CLEANED = later(rf"(?P<gone>{_SEQUENCE}|{_JOINER})|(?P<end>\r\n?)|(?P<space>[{_SPACES}])|(?P<shown>{_UNPRINTED})")
_UNFINISHED = later(rf"(?:{_STRING}{_INSIDE}\x1b?|(?:\x1b\[|\x9b)[0-?]{{0,64}}+[ -/]{{0,8}}+|\x1b[ -/]{{0,8}}+|\r)\Z")
_STARTS = later(r"[\x1b\r\x90\x98\x9b\x9d-\x9f]")
_LONGEST = 4200  # more than any sequence that _UNFINISHED can match

_REVEALED = later(rf"{_UNPRINTED}|[{_SPACES}{_OVERLAYS}\u2400-\u2426]|<(?=U\+[0-9A-F]{{4,6}}>)")


def clean(text: str) -> str:
    """`text` as it may be printed. Only `\\n` is left of the control characters; a lone `\\r` ends a line too."""
    if not _ODD.search(text):
        return text
    cleaner = Cleaner()
    return cleaner.feed(text) + cleaner.end()


class Cleaner:
    """`clean` for a stream: the joined results of `feed` and `end` are `clean` of the joined pieces."""

    def __init__(self) -> None:
        self._held = ""  # the beginning of a sequence whose end has not come
        self._before = ""  # the last raw characters that were used
        self._column = 0

    def feed(self, piece: str) -> str:
        text = self._held + piece
        self._held = ""
        if _STARTS.search(text, max(0, len(text) - _LONGEST)):
            unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST))
            if unfinished:
                self._held = unfinished.group()
                text = text[: unfinished.start()]
        return self._take(text)

    def end(self) -> str:
        text, self._held = self._held, ""
        return self._take(text)

    def _take(self, text: str) -> str:
        if not text:
            return ""
        if not _ODD.search(text):
            self._before = text[-_CONTEXT:]
            self._advance(text)
            return text
        raw = self._before + text
        out: list[str] = []
        at = len(self._before)
        # What is held may end a string that began before it; no match that begins before it reaches into it.
        for match in _CLEANED.finditer(raw + self._held, at):
            if match.start() >= len(raw):
                break
            out += raw[at : match.start()], _replacement(match)
            at = match.end()
        out.append(raw[at:])
        self._before = raw[-_CONTEXT:]
        return self._untab("".join(out))

    def _untab(self, text: str) -> str:
        first, *rest = text.split("\t")
        self._advance(first)
        out = [first]
        for part in rest:
            gap = TAB - self._column % TAB
            self._column += gap
            self._advance(part)
            out += " " * gap, part
        return "".join(out)

    def _advance(self, text: str) -> None:
        line = text.rfind("\n")
        self._column = cells(text[line + 1 :]) + (self._column if line < 0 else 0)


def _replacement(match: re.Match[str]) -> str:
    if match.lastgroup == "gone":
        return ""
    if match.lastgroup == "end":
        return "\n"
    if match.lastgroup == "space":
        return "  " if match.group() == "\u3000" else " "
    return visible(match.group())


def visible(character: str) -> str:
    """A stand-in that can be seen: `␛` for a control character, else `<U+202E>`."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def reveal(text: str) -> str:
    """`text` with every character that could deceive shown; line ends and tabs stay."""
    return "".join(part for _, part in revealed(text))


def revealed(text: str, alone: bool = True) -> list[tuple[bool, str]]:
    """`reveal` in pieces: true for each stand-in, false for text as it was. `alone`: see `lookalike.positions`."""
    if not _ODD.search(text) and "<U+" not in text:
        return [(False, text)] if text else []
    odd = {match.start() for match in _REVEALED.finditer(text)} | lookalike.positions(text, alone)
    pieces: list[tuple[bool, str]] = []
    at = 0
    for index in sorted(odd):
        if index > at:
            pieces.append((False, text[at:index]))
        pieces.append((True, visible(text[index])))
        at = index + 1
    if at < len(text):
        pieces.append((False, text[at:]))
    return pieces


_REASONS = (
    ("control characters", later(f"[{_CONTROL}]")),
    ("characters that reorder text", later(f"[{_BIDI}]")),
    ("invisible characters", later(f"[{_UNSEEN}{_SURROGATE}]|{_PILED}")),
    ("spaces that are not the ordinary space", later(f"[{_SPACES}]")),
    ("marks drawn over letters", later(f"[{_OVERLAYS}]")),
)
_PROPER = later(f"(?<=[{_EMOJI}]){_J}+\u20e3?|\r$", re.MULTILINE)


def suspicious(text: str) -> list[str]:
    """Why a person could misread `text`, in words; [] when it is what it looks like. Emoji and CRLF are no reason."""
    if not _ODD.search(text):
        return []
    bare = _PROPER.sub("", text)
    reasons = [words for words, pattern in _REASONS if pattern.search(bare)]
    if lookalike.positions(text):
        reasons.append("letters that look like others")
    return reasons


def cells(text: str) -> int:
    """The width of clean text on the screen."""
    return len(text) if text.isascii() else sum(map(_cell, text))


@lru_cache(4096)
def _cell(character: str) -> int:
    from wcwidth import wcwidth  # 30 ms to import, and plain text never needs it

    return max(0, wcwidth(character))


def fold(text: str, width: int, solid: Sequence[tuple[int, int]] = ()) -> list[str]:
    """One line of clean text as rows of at most `width` cells that join to exactly `text`; broken after blanks where
    that costs less than half a row, and not within the stretches `solid` (in order) unless one is wider than a row."""
    width = max(width, 2)
    if cells(text) <= width:
        return [text]
    rows: list[str] = []
    start = 0
    while start < len(text):
        end = _fit(text, start, width)
        if end < len(text):
            blank = text.rfind(" ", start + (end - start) // 2, end)
            end = blank + 1 if blank >= 0 else end
            near = bisect(solid, (end,)) - 1
            if near >= 0 and start < solid[near][0] < end < solid[near][1]:
                end = solid[near][0]
        rows.append(text[start:end])
        start = end
    return rows


def _fit(text: str, start: int, width: int) -> int:
    """Where a row that begins at `start` must end; marks of no width stay with their letter."""
    near = text[start : start + width + 1]
    if near.isascii():
        return min(start + width, len(text))
    room, at = width, start
    while at < len(text) and (room := room - _cell(text[at])) >= 0:
        at += 1
    return at


def cut(text: str, width: int) -> str:
    """The first `width` cells of one line, the last of them an ellipsis when something is missing. Never for content that
    a person decides about."""
    if cells(text) <= width:
        return text
    return text[: _fit(text, 0, max(0, width - 1))] + "…" if width > 0 else ""
