"""A question on the screen: the panel machine given its keys, its clock and its place, until something comes of it.

The panel's body is printed once above; only its key line and forms are live. While it is open the store is watched: another
process may answer first, and then the panel closes at once and says who it was. The file under a diff is watched too: when
it changes, what was shown is no longer what would happen, so the question is put anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from hitl_cli.ui.approval import Editor, Panel
from hitl_cli.ui.errands import edit_text
from hitl_cli.ui.terminal import Paper
from hitl_cli.ui.theme import Line, ansi
from hitl_cli.ui.waiting import POLL, Outcome, Waiting


class Asking:
    """At most one panel at a time. `lines` is what the bottom of the screen shows, [] when nothing is asked."""

    def __init__(
        self, paper: Paper, refresh: Callable[[], None], leave: Callable[[], None], expand: Callable[[], None]
    ) -> None:
        self._paper, self._refresh, self._leave, self._expand = paper, refresh, leave, expand
        self._panel: Panel | None = None
        self._done: asyncio.Future[Outcome] | None = None
        self._size = (0, 0)
        self._timer: asyncio.TimerHandle | None = None
        self._editing: asyncio.Future[None] | None = None
        self._epoch = time.time() - time.monotonic()

    @property
    def open(self) -> bool:
        return self._panel is not None

    async def put(self, waiting: Waiting) -> Outcome:
        """Show the panel of `waiting` until it has an outcome, or until what happens behind it gives one."""
        panel = waiting.panel(self._now(), self._paper.height)
        self._panel, self._done = panel, asyncio.get_running_loop().create_future()
        self._size = (self._paper.width, self._paper.height)
        watcher = asyncio.create_task(self._watch(panel, waiting))
        try:
            self._print([*([] if self._paper.blank else [[]]), *panel.body(self._paper.width)])
            self._rouse()
            return await self._done
        finally:
            watcher.cancel()
            if self._timer:
                self._timer.cancel()
            self._panel = self._done = None
            self._refresh()

    def close(self, outcome: Outcome) -> None:
        if self._done and not self._done.done():
            self._done.set_result(outcome)

    def press(self, key: str, data: str) -> None:
        panel = self._panel
        if panel is None or self._done is None or self._done.done():
            return
        if key == "c-d" and not panel.typing:
            self._leave()  # answers nothing: the question is parked
            return
        if key == "c-o" and not panel.typing:
            self._expand()
            panel.again()
        else:
            panel.press(key, self._now(), data)
        self._after(panel)

    def lines(self) -> list[Line]:
        panel = self._panel
        if panel is None:
            return []
        size = (self._paper.width, self._paper.height)
        if size != self._size:
            self._size = size
            panel.resize(*size, self._now())
        return panel.bottom(self._paper.width, self._now())

    def _after(self, panel: Panel) -> None:
        self._print(panel.more(self._paper.width))
        if isinstance(panel.outcome, Editor):
            self._editing = asyncio.ensure_future(self._edit(panel, panel.outcome))
        elif panel.outcome is not None:
            self.close(panel.outcome)
        self._rouse()

    async def _edit(self, panel: Panel, editor: Editor) -> None:
        async with self._paper.lent():
            text = await asyncio.to_thread(edit_text, editor.text, editor.suffix)
        panel.edited(text, self._now())
        self._after(panel)

    def _rouse(self) -> None:
        """Draw now, and again when the panel says that it will look different."""
        self._refresh()
        if self._timer:
            self._timer.cancel()
        at = self._panel.wake() if self._panel else None
        if at is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, at - self._now()) + 0.001, self._rouse)

    async def _watch(self, panel: Panel, waiting: Waiting) -> None:
        while True:
            await asyncio.sleep(POLL)
            outcome = waiting.look(panel, self._now())
            if outcome is not None:
                self.close(outcome)
                return
            self._print(panel.more(self._paper.width))
            self._rouse()

    def _print(self, lines: list[Line]) -> None:
        if lines:
            self._paper.print(ansi(lines, self._paper.colour))

    def _now(self) -> float:
        """Seconds since the epoch, by a clock that nobody sets: what shortens the panel's wait must not be the date."""
        return self._epoch + time.monotonic()
