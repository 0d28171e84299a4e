"""What the screen keeps in mind of a session, folded from the records that it was shown. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_cli.interrupts import Interrupt
from hitl_cli.journal import Began, Changed, Recorded, Replied, Settings, Usage


class Account:
    """
    seq      the last record that was shown
    usage    of the session; context: tokens that the last request held, with its reply
    mode     as it is now
    """

    def __init__(self, mode: str) -> None:
        self.seq, self.usage, self.context, self.mode = 0, Usage(), 0, mode
        self._calls: dict[str, int] = {}  # message ("1.2") -> how many calls it made

    def adopt(self, recorded: Recorded) -> None:
        self.seq = max(self.seq, recorded.seq)
        match recorded.entry:
            case Began() as began:
                self.mode = began.settings.mode
            case Changed(what="mode", value=mode):
                self.mode = str(mode)
            case Replied() as entry:
                if entry.calls:
                    self._calls[_message(entry.calls[0].id)] = len(entry.calls)
                used = entry.reply.usage
                self.usage += used
                self.context = used.input + used.cache_read + used.cache_write + used.output or self.context

    def place(self, interrupt: Interrupt, waiting: int) -> tuple[int, int]:
        """Which of how many: among the calls of its message, or of what waits."""
        message = message_of(interrupt)
        if interrupt.call and message in self._calls:
            return int(interrupt.call.id.rpartition(".")[2]) + 1, self._calls[message]
        return 1, waiting


def message_of(interrupt: Interrupt) -> str:
    """The message of the model that a question belongs to: turn and step."""
    return _message(interrupt.call.id) if interrupt.call else interrupt.id


def _message(call: str) -> str:
    return call.rpartition(".")[0]


def settings_of(records: Sequence[Recorded]) -> Settings | None:
    """What the last turn was run with, its model as changed since; None before a first turn."""
    found: Settings | None = None
    for recorded in records:
        match recorded.entry:
            case Began(settings=settings):
                found = settings
            case Changed(what="model", value=model) if found:
                found = replace(found, model=str(model))
    return found
