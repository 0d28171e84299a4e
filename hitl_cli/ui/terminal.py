"""The one place where bytes reach the person's terminal while the REPL runs.

The bottom of the screen belongs to a prompt_toolkit application; all else is printed once above it and never touched
again. `Paper.print` erases the bottom, writes, and draws the bottom again in a single write, so nothing flickers and
nothing that scrolled by is redrawn. While somebody else owns the terminal (an editor, a command of the person's), what is
printed waits.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.output.vt100 import Vt100_Output


class HeldOutput(Vt100_Output):
    """Output whose flushes can be held back until a whole picture is ready. A terminal that has gone away, as a closed
    window has, takes everything: what runs must still be put in order."""

    _held = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self.flush()

    def flush(self) -> None:
        if not self._held:
            try:
                super().flush()
            except OSError:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self.fileno())
                os.close(null)


def open_output(stream: TextIO) -> HeldOutput:
    """Output on `stream` that never asks the terminal anything (a late reply would look like keys)."""

    def size() -> Size:
        try:
            columns, rows = os.get_terminal_size(stream.fileno())
        except OSError:
            columns, rows = 0, 0
        return Size(rows=rows or 24, columns=columns or 80)

    return HeldOutput(stream, size, term=os.environ.get("TERM"), enable_cpr=False)


class Resizing(Application[None]):
    """`resized` is called before the bottom is drawn anew for another size."""

    resized: Callable[[], None]

    def _on_resize(self) -> None:
        self.resized()
        super()._on_resize()


class Paper:
    """What is printed above the bottom of `app`. Texts are clean already and may hold our own colour sequences."""

    def __init__(self, output: HeldOutput, colour: bool) -> None:
        self.output, self.colour = output, colour
        self._app: Application[Any] | None = None
        self._lent = 0
        self._holding = False
        self._waiting: list[str] = []
        self.title = ""
        self.blank = True  # the last line that was printed is a blank one

    def attach(self, app: Application[Any]) -> None:
        """From now on the bottom of the screen is `app`'s. It shrinks again when it has less to show."""
        self._app = app
        app.before_render += lambda _: self._shrink()
        app.after_render += lambda _: self._drawn()

    @property
    def width(self) -> int:
        return self.output.get_size().columns

    @property
    def height(self) -> int:
        return self.output.get_size().rows

    def print(self, text: str) -> None:
        if not text:
            return
        self.blank = text.endswith("\n\n") or text == "\n"
        if self._lent:
            self._waiting.append(text)
            return
        with self.output.hold():
            app = self._app
            live = app is not None and app.is_running
            if app and live:
                app.renderer.erase()
            self.output.write_raw(text.replace("\n", "\r\n") if live else text)
            if app and live:
                app._redraw()

    def begin(self, text: str) -> None:
        """What stands above the bottom when that is drawn for the first time, and not earlier: by then keys are taken."""
        self.blank = text.endswith("\n\n")
        self.output.write_raw(text.replace("\n", "\r\n"))

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """The terminal belongs to somebody else inside; keys typed there never reach us."""
        async with in_terminal():
            self._lent += 1
            try:
                yield
            finally:
                self._lent -= 1
        waiting, self._waiting = self._waiting, []
        self.print("".join(waiting))

    def bell(self) -> None:
        self.output.bell()

    def name(self, title: str) -> None:
        """The window's title; "" gives the name back to the terminal."""
        if title != self.title and self.output.term not in (None, "dumb"):
            self.title = title
            self.output.set_title(title)
            self.output.flush()

    def resized(self) -> None:
        """The window has another width, and a terminal that folds its lines anew has moved what we drew: count the rows
        that it takes up now, so that all of it is erased and nothing above it."""
        app = self._app
        if app is None or not reflows(os.environ):
            return
        screen, at, width = app.renderer._last_screen, app.renderer._cursor_pos, self.width
        if screen is None:
            return
        above = 0
        for y in range(at.y):
            row = screen.data_buffer[y]
            used = max((x + char.width for x, char in row.items() if char.char.strip()), default=0)
            above += max(1, -(-used // width))
        app.renderer._cursor_pos = Point(x=at.x % width, y=above + at.x // width)

    def _shrink(self) -> None:
        """prompt_toolkit keeps the greatest height it ever drew; forget the picture when less is wanted. What is written
        is held until `_drawn`."""
        app = self._app
        assert app is not None
        self.output._held += 1
        self._holding = True
        last = app.renderer._last_screen
        size = self.output.get_size()
        if last and last.height > app.layout.container.preferred_height(size.columns, size.rows).preferred:
            app.renderer.erase()

    def _drawn(self) -> None:
        if self._holding:
            self._holding = False
            self.output._held -= 1
            self.output.flush()


def reflows(environ: Mapping[str, str]) -> bool:
    """Does this terminal fold long lines anew when its width changes? xterm and the Linux console do not."""
    known = ("TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID", "WT_SESSION")
    return any(environ.get(name) for name in (*known, "TERM_PROGRAM"))
