"""What the keys of the REPL do, outside the input line's own text and outside a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_cli.ui.wording import expanded

if TYPE_CHECKING:
    from hitl_cli.ui.repl import Repl

MODES = ("default", "accept-edits", "plan")  # what Shift-Tab goes round


class Hands:
    """`keys.Acts` for one REPL."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self._expanded = (0, 0)  # how many results there were, and how far back Ctrl-O has gone in them

    @property
    def draft(self) -> str:
        return self._repl.prompt.draft

    @property
    def running(self) -> bool:
        return self._repl.talk.working and not self._repl.asking.open

    @property
    def queued(self) -> bool:
        return bool(self._repl.talk.queue)

    @property
    def panel_open(self) -> bool:
        return self._repl.asking.open

    def interrupt(self) -> None:
        """Ctrl-C."""
        if self.running:
            self.stop()
        else:
            self._repl.prompt.interrupt()

    def stop(self) -> None:
        self._repl.app.create_background_task(self._repl.talk.stop())

    def leave(self) -> None:
        self._repl.leave()

    def next_mode(self) -> None:
        mode = self._repl.talk.mode
        following = MODES[(MODES.index(mode) + 1) % len(MODES)] if mode in MODES else MODES[0]
        self._repl.app.create_background_task(self._set_mode(following))

    async def _set_mode(self, mode: str) -> None:
        await self._repl.talk.set_mode(mode)
        self._repl.refresh()

    def expand(self) -> None:
        """Ctrl-O: the newest result whole; again: the one before it."""
        results = self._repl.teller.results
        if not results:
            self._repl.prompt.hint("Nothing to show yet")
            return
        known, back = self._expanded
        back = back % len(results) + 1 if known == len(results) else 1
        self._expanded = len(results), back
        self._repl.print(expanded(*results[-back], self._repl.width))

    def take_back(self) -> None:
        """Up: the message queued last becomes the draft."""
        self._repl.composer.put(self._repl.talk.queue.pop().shown)
        self._repl.refresh()

    def edit_draft(self) -> None:
        self._repl.app.create_background_task(self._edit_draft())

    async def _edit_draft(self) -> None:
        composer = self._repl.composer
        edited = await self._repl.edit(composer.expanded(self.draft), ".md")
        if edited is None:
            self._repl.prompt.hint("The editor failed; the draft is as it was. $VISUAL or $EDITOR names the editor.")
        else:
            composer.put(edited)
