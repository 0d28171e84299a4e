"""Choosing one of several sessions with the arrow keys; typing narrows the list."""

from __future__ import annotations

import time
from collections.abc import Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import Output

from hitl_cli.store import Head
from hitl_cli.ui.clean import cells, clean, cut
from hitl_cli.ui.lines import keys as lines_of_keys
from hitl_cli.ui.theme import Line, prompt_fragments, prompt_style

ROWS = 10


class Choice:
    """What is on offer, what was typed to narrow it, and which row is chosen. Pure: keys in, lines out."""

    def __init__(self, heads: Sequence[Head], now: float) -> None:
        self.heads, self.now = list(heads), now
        self.typed = ""
        self.at = 0

    def found(self) -> list[Head]:
        words = self.typed.lower().split()
        return [h for h in self.heads if all(w in f"{h.session} {h.title} {h.cwd}".lower() for w in words)]

    def move(self, by: int) -> None:
        self.at = max(0, min(self.at + by, len(self.found()) - 1))

    def type(self, text: str) -> None:
        self.typed, self.at = self.typed + text, 0

    def erase(self) -> None:
        self.typed, self.at = self.typed[:-1], 0

    @property
    def chosen(self) -> Head | None:
        found = self.found()
        return found[self.at] if found else None

    def lines(self, width: int) -> list[Line]:
        found = self.found()
        first = max(0, min(self.at - ROWS // 2, len(found) - ROWS))
        lines: list[Line] = [[("title", "Which session? "), ("", self.typed), ("cursor", " ")]]
        for number, head in enumerate(found[first : first + ROWS], first):
            picked = number == self.at
            waits = f"  {len(head.pending)} waiting" if head.pending else ""
            title, _, _ = clean(head.title).partition("\n")
            text = f"{'› ' if picked else '  '}{head.session}  {ago(self.now - head.updated):<10}  {title}".rstrip()
            lines.append([("pick" if picked else "", cut(text, width - cells(waits) - 1)), ("dim", waits)])
        if not found:
            lines.append([("dim", "  none fits what you typed")])
        elif len(found) > ROWS:
            lines.append([("dim", f"  {self.at + 1} of {len(found)}")])
        return lines + lines_of_keys([("enter", "opens"), ("esc", "leaves"), ("", "type to narrow")], width)


def ago(seconds: float) -> str:
    """How long ago, in one unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


async def pick(heads: Sequence[Head], output: Output, colour: bool = True) -> str | None:
    """The session that the person chose, None when they left. Needs a terminal that it may draw on."""
    choice = Choice(heads, time.time())
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if choice.chosen:
            event.app.exit(result=choice.chosen.session)

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    for key, by in (("up", -1), ("c-p", -1), ("down", 1), ("c-n", 1), ("pageup", -ROWS), ("pagedown", ROWS)):

        @keys.add(key)
        def _(event: KeyPressEvent, by: int = by) -> None:
            choice.move(by)

    @keys.add("backspace")
    def _(event: KeyPressEvent) -> None:
        choice.erase()

    @keys.add(Keys.Any)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            choice.type(event.data)

    control = FormattedTextControl(
        lambda: prompt_fragments(choice.lines(output.get_size().columns)), focusable=True, show_cursor=False
    )
    app: Application[str | None] = Application(
        Layout(Window(control, dont_extend_height=True)),
        key_bindings=keys,
        style=prompt_style(colour),
        output=output,
        erase_when_done=True,
        mouse_support=False,
    )
    app.ttimeoutlen = 0.05
    return await app.run_async()


def pick_session(heads: Sequence[Head]) -> str | None:
    """`pick` for a command that has no event loop yet."""
    import asyncio
    import os
    import sys

    from hitl_cli.ui.terminal import open_output

    return asyncio.run(pick(heads, open_output(sys.stdout), not os.environ.get("NO_COLOR")))
