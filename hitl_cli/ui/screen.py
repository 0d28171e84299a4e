"""What a conversation asks of the screen, be it drawn or plain lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hitl_cli.ui.compose import Typed
from hitl_cli.ui.theme import Line

if TYPE_CHECKING:
    from hitl_cli.ui.waiting import Outcome, Waiting


SHOWN = 3  # turns of an earlier conversation that are printed when it is reopened


class Screen(Protocol):
    def begin_teller(self) -> None:
        """What is shown from now on is of another session."""

    def show(self, event: object) -> None:
        """Print and redraw what an event of the run changes."""

    def glimpse(self, event: object) -> None:
        """Show that something goes on; nothing of it is printed."""

    def say(self, words: str, style: str = "dim") -> None:
        """Words above the bottom."""

    def print(self, lines: list[Line]) -> None:
        """Lines as they are: what is to be copied is folded by the terminal alone."""

    def busy(self, on: bool) -> None: ...

    async def ask(self, waiting: Waiting) -> Outcome:
        """Put a question to the person."""

    def give_back(self, typed: Sequence[Typed]) -> None:
        """Messages that were not sent after all."""

    def command(self, typed: Typed) -> None:
        """Do the slash command that waited in the queue for its turn, then let the conversation go on."""
