"""What the REPL draws at the bottom besides input line and panel: what goes on, what is queued, how things stand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from hitl_cli.ui.bottom import Status, short_folder
from hitl_cli.ui.clean import clean, cut
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.live import Live
from hitl_cli.ui.session import Conversation
from hitl_cli.ui.terminal import Paper
from hitl_cli.ui.theme import Line

HINT = 2.0  # seconds that a hint stands in place of the status


class View:
    def __init__(self, paper: Paper, refresh: Callable[[], None]) -> None:
        self._paper, self._refresh = paper, refresh
        self.live, self.status = Live(), Status()

    def going_on(self, tail: str, queue: Sequence[Typed]) -> list[Line]:
        """The lines above the input: the end of what streams, the spinner, messages typed ahead."""
        width = self._paper.width
        lines = self.live.lines(tail, width, self._paper.height // 2, time.monotonic())
        for typed in queue:
            first = clean(typed.shown).split("\n")[0]
            lines.append([("dim", cut(f"  next: {first}", width - 1))])
        if queue:
            lines[-1] = [*lines[-1], ("dim", cut("  (Up takes it back)", max(0, width - 30)))]
        return lines

    def status_line(self, talk: Conversation) -> Line:
        setup, account, status = talk.setup, talk.account, self.status
        window = talk.agent.model.window
        status.mode, status.model = talk.mode, clean(talk.partner.settings.model)
        status.folder = clean(short_folder(setup.place.cwd, setup.place.home))
        status.left = max(0, 100 - 100 * talk.used // window) if talk.used and window else None
        status.cost = account.usage.cost
        return status.line(self._paper.width)

    def hint(self, words: str) -> None:
        """In place of the status line for a moment."""
        self.status.hint = words
        self._refresh()
        asyncio.get_running_loop().call_later(HINT, self._unhint, words)

    def _unhint(self, words: str) -> None:
        if self.status.hint == words:
            self.status.hint = ""
            self._refresh()
