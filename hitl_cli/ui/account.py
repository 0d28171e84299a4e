"""What the screen keeps in mind of a session, folded from the records that it was shown. Pure."""

from __future__ import annotations

from hitl_cli import records
from hitl_cli.interrupts import Interrupt
from hitl_cli.journal import Began, Changed, Raised, Recorded, Replied, Settings, Settled, Usage
from hitl_cli.loop.context import Gauge

_TELLING = {Began, Changed, Settled, Raised, Replied}


class Account:
    """
    seq      the last record that was shown
    gauge    how much the next request will hold
    usages   what was spent, by model
    mode     as it is now
    instructions   files of folders that were given with a result
    """

    def __init__(self, mode: str) -> None:
        self.seq, self.mode, self.gauge = 0, mode, Gauge()
        self.usages: dict[str, Usage] = {}
        self.instructions: list[str] = []
        self._model = ""
        self._calls: dict[str, int] = {}  # message ("1.2") -> how many calls it made

    @property
    def usage(self) -> Usage:
        """Of the session."""
        return sum(self.usages.values(), Usage())

    def adopt(self, recorded: Recorded) -> None:
        self.seq = max(self.seq, recorded.seq)
        self.gauge.see(recorded.entry)
        if type(recorded.entry) not in _TELLING:  # eight classes would take long to say so
            return
        match recorded.entry:
            case Began(settings=settings):
                self.mode, self._model = settings.mode, settings.model
            case Changed(what="settings", value=value):
                settings = records.load(Settings, value)
                self.mode, self._model = settings.mode, settings.model
            case Changed(what="mode", value=mode):
                self.mode = str(mode)
            case Changed(what="model", value=model):
                self._model = str(model)
            case Changed(what="summary", usage=used):
                self._spend(self._model, used)
            case Settled(result=result):
                self.instructions += [f for f in result.data.get("instructions", ()) if f not in self.instructions]
            case Raised(usage=used):
                self._spend(self._model, used)
            case Replied(reply=reply, calls=calls):
                if calls:
                    self._calls[_message(calls[0].id)] = len(calls)
                self._model = reply.model or self._model
                self._spend(self._model, reply.usage)

    def _spend(self, model: str, used: Usage) -> None:
        if used != Usage():
            self.usages[model] = self.usages.get(model, Usage()) + used

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
