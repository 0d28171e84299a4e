"""Reading along while another process runs the session."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from hitl_cli.ui.waiting import POLL

if TYPE_CHECKING:
    from hitl_cli.ui.session import Conversation

ABANDONED = 3.0  # seconds without anybody running it, after which an answered turn is taken up here


class Following:
    """`active` while it goes on; made False, it ends."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self.active = False

    async def along(self, patience: float = ABANDONED) -> bool:
        """Until this process may speak again: then True.

        A turn that nobody has run for `patience` seconds is taken up here.
        """
        talk = self._talk
        assert talk.session
        self.active = True
        talk.screen.busy(True)
        alone: float | None = None  # since when nobody runs it
        try:
            while self.active:
                talk.read_along()
                status = talk.look()
                if status not in ("running", "interrupted"):
                    return True
                alone = None if status == "running" else alone or time.monotonic()
                if alone is not None and time.monotonic() - alone >= patience:
                    return await talk.watch(talk.agent.stream_recover(talk.session))
                await asyncio.sleep(POLL)
            talk.screen.say(f"No longer watching. Session {talk.session} goes on elsewhere.")
            talk.pending = ()
            return False
        finally:
            self.active = False
            talk.screen.busy(False)
