"""What the REPL draws at the bottom besides input line and panel: what goes on, what is queued, how things stand."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hitl_cli.ui.bottom import Status, queued_lines
from hitl_cli.ui.clean import clean, cut
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.live import Live
from hitl_cli.ui.session import Conversation
from hitl_cli.ui.terminal import Paper
from hitl_cli.ui.theme import Line


class View:
    def __init__(self, paper: Paper, status: Status) -> None:
        self._paper, self.status, self.live = paper, status, Live()

    def going_on(self, tail: str, queue: Sequence[Typed]) -> list[Line]:
        """The lines above the input: the end of what streams, the spinner, messages typed ahead."""
        width = self._paper.width
        lines = self.live.lines(tail, width, self._paper.height // 2, time.monotonic())
        queued = queued_lines(queue, width)
        if queued:
            queued[-1].append(("dim", cut("  (Up takes it back)", max(0, width - 30))))
        return [*lines, *queued]

    def status_line(self, talk: Conversation) -> Line:
        account, status = talk.account, self.status
        window = talk.agent.model.window
        status.mode, status.model = talk.mode, clean(talk.partner.settings.model)
        status.left = max(0, 100 - 100 * talk.used // window) if talk.used and window else None
        status.cost = account.usage.cost
        return status.line(self._paper.width)
