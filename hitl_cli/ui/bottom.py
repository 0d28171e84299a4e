"""The bottom of the screen: what goes on, what is queued, the input line or a panel, completions, and one line of status."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.containers import VerticalAlign
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.widgets import SearchToolbar

from hitl_cli.records import Struct
from hitl_cli.ui.clean import cells, clean, cut
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.theme import Line, prompt_fragments

OFFERED = 6  # completions shown at once
QUEUED = 5  # messages shown at once that wait


class Status(Struct):
    """What the last line tells; empty texts are left out, and the least important go first where it is narrow."""

    mode: str = "default"
    model: str = ""
    folder: str = ""
    left: int | None = None  # per cent of the model's window
    cost: float | None = None
    waiting: int = 0
    hint: str = ""

    def line(self, width: int) -> Line:
        if self.hint:
            return [("warn", cut(self.hint, width - 1))]
        pieces: list[tuple[int, str, str]] = [(0, "key" if self.mode == "default" else "warn", self.mode)]
        if self.waiting:
            pieces.append((1, "title", f"{self.waiting} waiting"))
        pieces.append((3, "dim", cut(self.model.rpartition("/")[2], 28)))
        if self.left is not None:
            pieces.append((4, "dim", f"{self.left}% left"))
        if self.cost is not None:
            pieces.append((5, "dim", f"${self.cost:.2f}"))
        pieces.append((6, "dim", self.folder))
        pieces = [piece for piece in pieces if piece[2]]
        while len(pieces) > 1 and sum(cells(text) + 3 for _, _, text in pieces) - 3 > width - 1:
            pieces.remove(max(pieces))
        line: Line = []
        for _, style, text in pieces:
            line += [("dim", " · "), (style, text)] if line else [(style, text)]
        return line


def from_home(path: str, home: str) -> str:
    """`path` with `~` for home."""
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def short_folder(path: str, home: str) -> str:
    """`path` as a prompt shows it: at most its last two names."""
    shown = from_home(path, home)
    parts = shown.split(os.sep)
    return shown if len(parts) <= 3 else os.sep.join(["…", *parts[-2:]])


class Bottom(Struct):
    """`layout` is the application's; focus the composer with `compose`, the panel with `attend`."""

    layout: Layout
    composer: Window
    panel: Window

    def compose(self) -> None:
        self.layout.focus(self.composer)

    def attend(self) -> None:
        self.layout.focus(self.panel)


def build(
    buffer: Buffer,
    compose_keys: KeyBindings,
    panel_keys: KeyBindings,
    live: Callable[[], Sequence[Line]],
    panel: Callable[[], Sequence[Line]],
    status: Callable[[], Line],
) -> Bottom:
    """The layout. `live` and `panel` are asked at every drawing; a panel that has lines takes the input line's place."""
    asking = Condition(lambda: bool(panel()))
    search = SearchToolbar(forward_search_prompt="search: ", backward_search_prompt="search back: ")

    def lines(source: Callable[[], Sequence[Line]]) -> Window:
        control = FormattedTextControl(lambda: prompt_fragments(list(source())))
        return Window(control, dont_extend_height=True, wrap_lines=False)

    def prefix(number: int, wrapped: int) -> StyleAndTextTuples:
        if number or wrapped:
            return [("", "  ")]
        return [("class:warn" if buffer.text.startswith("!") else "class:key", "> ")]

    composer = Window(
        BufferControl(buffer, search_buffer_control=search.control, preview_search=True, key_bindings=compose_keys),
        get_line_prefix=prefix,
        wrap_lines=True,
        dont_extend_height=True,
        height=Dimension(min=1, max=12),
    )
    panel_window = Window(
        FormattedTextControl(
            lambda: prompt_fragments(list(panel())), focusable=True, key_bindings=panel_keys, show_cursor=False
        ),
        dont_extend_height=True,
    )
    root = HSplit(
        [
            ConditionalContainer(lines(live), Condition(lambda: bool(live()))),
            ConditionalContainer(composer, ~asking),
            ConditionalContainer(panel_window, asking),
            search,
            ConditionalContainer(
                lines(lambda: completion_lines(buffer)), ~asking & Condition(lambda: bool(buffer.complete_state))
            ),
            ConditionalContainer(lines(lambda: [status()]), ~asking),
        ],
        align=VerticalAlign.TOP,
    )
    return Bottom(Layout(root, focused_element=composer), composer, panel_window)


def queued_lines(queue: Sequence[Typed], width: int) -> list[Line]:
    """Messages that wait for their turn, a line for each of the last: all that is drawn must fit on the screen."""
    more = [f"  next: {len(queue) - QUEUED} more, then"] if len(queue) > QUEUED else []
    texts = [*more, *(f"  next: {clean(typed.shown)}".split("\n")[0] for typed in queue[-QUEUED:])]
    return [[("dim", cut(text, width - 1))] for text in texts]


def completion_lines(buffer: Buffer) -> list[Line]:
    """The offered completions around the chosen one."""
    state = buffer.complete_state
    if not state or not state.completions:
        return []
    chosen = state.complete_index
    first = max(0, min((chosen or 0) - OFFERED // 2, len(state.completions) - OFFERED))
    offered = state.completions[first : first + OFFERED]
    width = max(cells(c.display_text) for c in offered)
    lines: list[Line] = []
    for number, completion in enumerate(offered, first):
        style = "pick" if number == chosen else ""
        mark = "› " if number == chosen else "  "
        padded = completion.display_text + " " * (width - cells(completion.display_text))
        lines.append([(style, mark + padded), ("dim", "  " + completion.display_meta_text)])
    rest = len(state.completions) - first - len(offered)
    if rest > 0:
        lines.append([("dim", f"  … {rest} more")])
    return lines
