"""What text looks like: a few style names, and what they mean to the two libraries that draw.

A screen line is a list of (style name, text). Text in it is already clean and cut to the width in cells, so a line can be
handed to prompt_toolkit or to rich as it stands. Colours are the terminal's own sixteen, so they follow its light or
dark background; nothing is told by colour alone, so `NO_COLOR` loses no meaning.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.styles import Style
    from rich.text import Text

Fragment = tuple[str, str]
Line = list[Fragment]

# name: (attributes, colour); both libraries read these words, the colour with "ansi" in front for prompt_toolkit.
STYLES: dict[str, tuple[str, str]] = {
    "": ("", ""),
    "title": ("bold", "magenta"),  # the head of something that waits for a person
    "code": ("bold", ""),  # what will happen, literally
    "part": ("bold underline", ""),  # the part of it that made hitl ask
    "dim": ("dim", ""),  # what may be overlooked
    "key": ("bold", "cyan"),  # a key that does something
    "pick": ("bold", "cyan"),  # the highlighted choice
    "warn": ("bold", "red"),
    "good": ("bold", "green"),
    "mark": ("reverse", ""),  # a visible stand-in for a character that would not be seen
    "cursor": ("reverse", ""),
    "add": ("", "green"),
    "del": ("", "red"),
    "add.word": ("bold underline", "green"),
    "del.word": ("bold underline", "red"),
}

_SGR = {"bold": "1", "dim": "2", "underline": "4", "reverse": "7"} | {
    ink: str(30 + number) for number, ink in enumerate(("black", "red", "green", "yellow", "blue", "magenta", "cyan"))
}


def rich_style(name: str, colour: bool = True) -> str:
    """The style as rich writes it."""
    attributes, ink = STYLES[name]
    return f"{attributes} {ink if colour else ''}".strip()


def rich_text(line: Line, colour: bool = True) -> Text:
    from rich.text import Text

    text = Text(no_wrap=True, end="")
    for name, part in line:
        text.append(part, rich_style(name, colour))
    return text


def prompt_style(colour: bool = True) -> Style:
    """Classes of the same names, a dot in a name becoming a dash, for an Application's style."""
    from prompt_toolkit.styles import Style

    return Style([(_class(name), _prompt(*look, colour)) for name, look in STYLES.items() if name])


def prompt_fragments(lines: list[Line]) -> StyleAndTextTuples:
    """Lines as prompt_toolkit formatted text, with a line end between them."""
    fragments: StyleAndTextTuples = []
    for index, line in enumerate(lines):
        if index:
            fragments.append(("", "\n"))
        fragments += [(f"class:{_class(name)}" if name else "", text) for name, text in line]
    return fragments


def _class(name: str) -> str:
    return name.replace(".", "-")


def _prompt(attributes: str, ink: str, colour: bool) -> str:
    return f"{attributes} {'ansi' + ink if ink and colour else ''}".strip()


def plain(line: Line) -> str:
    """The text of a line without its looks."""
    return "".join(text for _, text in line)


def ansi(lines: list[Line], colour: bool) -> str:
    """Lines as text for the terminal, each with its line end."""
    return "".join("".join(_styled(name, text, colour) for name, text in line) + "\n" for line in lines)


def _styled(name: str, text: str, colour: bool) -> str:
    start = _sequence(name, colour) if name else ""
    return f"{start}{text}\x1b[0m" if start else text


@lru_cache
def _sequence(name: str, colour: bool) -> str:
    """What the terminal is sent to begin the style; rich, which knows it too, takes a while to load."""
    codes = ";".join(_SGR[word] for word in rich_style(name, colour).split())
    return f"\x1b[{codes}m" if codes else ""
