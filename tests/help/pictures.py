"""The pictures of the README: the program's own screen in a terminal of a fixed size, drawn as SVG."""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pexpect
import pyte
from rich import _export_format
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS, ROWS = 84, 24
PATIENCE = 30.0
NAMES = ("panel", "always", "edit")
FOLDER = Path(__file__).parent.parent.parent / "hitl_cli/help"
COLOURS = {"brown": "yellow", "brightblack": "bright_black"}
NORMAL = ("#24292e", "#b02b2b", "#28783c", "#8c6400", "#1e5aaa", "#823c8c", "#00737d", "#5a6068")
BRIGHT = ("#6e7681", "#c83232", "#2d8c46", "#a07300", "#2869c3", "#9646a0", "#00828c", "#24292e")


def _rgb(name: str) -> tuple[int, int, int]:
    return int(name[1:3], 16), int(name[3:5], 16), int(name[5:], 16)


THEME = TerminalTheme(_rgb("#fafaf8"), _rgb("#24292e"), list(map(_rgb, NORMAL)), list(map(_rgb, BRIGHT)))
# rich's own frame without the fonts that it would load from elsewhere
FRAME = re.sub(r"@font-face \{\{.*?\}\}\s*|<!--.*?-->\s*", "", _export_format.CONSOLE_SVG_FORMAT, flags=re.DOTALL)
STORY = """format = 1
[[turn]]
[[turn.reply]]
[[turn.reply.calls]]
name = "look"
tool = "Read"
input = { file_path = "prices.py" }

[[turn.reply]]
text = "The tests pass, so I tag the release and publish it."

[[turn.reply.calls]]
name = "push"
tool = "Bash"
input = { command = "git tag v1.1 && git push --tags origin main", description = "Publish version 1.1" }

[[turn.reply.calls]]
name = "fix"
tool = "Edit"
input.file_path = "prices.py"
input.old_string = "return sum(prices)"
input.new_string = "return round(sum(prices), 2)"

[[turn.reply]]
text = "Done."
"""


class Screen:
    def __init__(self, home: Path, *arguments: str) -> None:
        env = {
            k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "ANTHROPIC_", "GIT_", "LC_", "NO_COLOR"))
        }
        env |= {"HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        env |= {"HITL_CONFIG_DIR": str(home / ".config/hitl"), "HITL_STATE_DIR": str(home / ".local/state/hitl")}
        self._home = str(home)
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._child = pexpect.spawn(
            sys.executable, ["-m", "hitl_cli", *arguments], cwd=str(home / "shop"), env=env, dimensions=(ROWS, COLUMNS)
        )  # type: ignore[arg-type]
        self._child.delaybeforesend = None

    def wait(self, words: str) -> None:
        end = time.monotonic() + PATIENCE
        while words not in "\n".join(self._screen.display):
            assert time.monotonic() < end, "\n".join(self._screen.display)
            try:
                self._stream.feed(self._child.read_nonblocking(65536, timeout=0.05))
            except pexpect.TIMEOUT:
                continue

    def type(self, keys: str) -> None:
        self._child.send(keys.encode())

    def close(self) -> None:
        self._child.close(force=True)

    def lines(self) -> list[Text]:
        """The screen down to its last line that is not empty, in the colours of the terminal; the home is /home/you."""
        lines = [Text.assemble(*self._spans(row)) for row in range(ROWS)]
        last = max((n for n, line in enumerate(lines) if line.plain.strip()), default=0)
        return lines[: last + 1]

    def _spans(self, row: int) -> Iterator[tuple[str, Style]]:
        cells = [self._screen.buffer[row][column] for column in range(COLUMNS)]
        for style, same in groupby(cells, key=_style):
            text = "".join(cell.data for cell in same).replace(self._home, "/home/you")
            for piece in re.split(r"(^ +| +$)", text):  # some viewers drop blanks at the ends of a piece
                yield piece, style


def _style(cell: pyte.screens.Char) -> Style:
    return Style(
        color=_colour(cell.fg), bgcolor=_colour(cell.bg), bold=cell.bold, italic=cell.italics,
        underline=cell.underscore, reverse=cell.reverse, strike=cell.strikethrough,
    )  # fmt: skip


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    return f"#{name}" if re.fullmatch(r"[0-9a-f]{6}", name) else COLOURS.get(name, name.replace("bright", "bright_"))


def drawn(lines: list[Text]) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for line in lines:
        console.print(line, no_wrap=True, crop=True)
    text = console.export_svg(title="hitl", theme=THEME, code_format=FRAME, unique_id="hitl")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@contextmanager
def repository() -> Iterator[Path]:
    """A home with a repository `shop` in it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shop = home / "shop"
        shop.mkdir()
        (shop / "prices.py").write_text("def total(prices):\n    return sum(prices)\n")
        (home / "story.toml").write_text(STORY)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=shop, check=True)
        yield home


def taken() -> dict[str, str]:
    """Each picture by its name, as SVG."""
    with repository() as home:
        screen = Screen(home, "--model", f"script:{home}/story.toml", "Publish version 1.1")
        try:
            screen.wait("y once")
            panel = drawn(screen.lines())
            screen.type("a")
            screen.wait("enter save and run")
            always = drawn(screen.lines())
            screen.type("\x1b")
            screen.wait("y once")
            screen.type("n")
            screen.wait("enter")
            screen.type("\r")
            screen.wait("2 of 2")
            screen.wait("y once")
            return dict(zip(NAMES, (panel, always, drawn(screen.lines())), strict=True))
        finally:
            screen.close()


def words(svg: str) -> list[str]:
    """The lines of text that a picture shows."""
    return [html.unescape(re.sub(r"<[^>]+>", "", text)) for text in re.findall(r"<text[^>]*>.*?</text>", svg)]
