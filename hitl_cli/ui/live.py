"""What goes on right now, as the few lines above the input: the one part of the screen that is redrawn.

Fed with the same events as the teller. Nothing here is kept: as soon as something is finished it is printed above for good
and gone from here.
"""

from __future__ import annotations

from collections import deque

from hitl_cli.journal import Call, Recorded, Replied, Settled, Started
from hitl_cli.models import CallDelta, Retrying, TextDelta, ThinkingDelta
from hitl_cli.outcome import ToolOutput
from hitl_cli.records import Struct, field
from hitl_cli.ui.clean import clean, cut, fold
from hitl_cli.ui.theme import Line
from hitl_cli.ui.wording import call_words

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TAIL = 6  # lines


class _Running(Struct):
    words: str
    since: float
    output: deque[str] = field(default_factory=lambda: deque([""], maxlen=TAIL + 1))

    def add(self, text: str) -> None:
        first, *rest = text[-4000:].split("\n")
        self.output[-1] += first
        self.output.extend(rest)


class Live:
    """`now` is seconds on any steady clock, the same in every call."""

    def __init__(self) -> None:
        self.busy = False
        self._words = ""
        self._since = 0.0
        self._retry: tuple[float, str] | None = None
        self._calls: dict[str, Call] = {}
        self._running: dict[str, _Running] = {}

    def begin(self, now: float) -> None:
        self.busy = True
        self._say("waiting for the model", now)

    def end(self) -> None:
        self.busy = False
        self._running.clear()
        self._retry = None

    def see(self, event: object, now: float) -> None:
        match event:
            case ThinkingDelta():
                self._say("thinking", now)
            case TextDelta():
                self._say("answering", now)
            case CallDelta():
                self._say(f"writing a call of {clean(event.name)}, {event.characters} characters", now, same=True)
            case Retrying():
                self._retry = (now + event.after_s, clean(event.why))
            case ToolOutput():
                if running := self._running.get(event.call):
                    running.add(event.text)
            case Recorded():
                self._record(event.entry, now)

    def _record(self, entry: object, now: float) -> None:
        match entry:
            case Replied():
                self._calls |= {call.id: call for call in entry.calls}
                self._say("working", now)
            case Started():
                call = self._calls.get(entry.call)
                name = call.name if call else entry.call
                self._running[entry.call] = _Running(call_words(name, entry.input or (call.input if call else {})), now)
            case Settled():
                self._running.pop(entry.call, None)
                if not self._running:
                    self._say("waiting for the model", now)

    def _say(self, words: str, now: float, same: bool = False) -> None:
        self._retry = None
        if words != self._words and not (same and self._words.startswith(words.partition(",")[0])):
            self._since = now
        self._words = words

    def lines(self, tail: str, width: int, height: int, now: float) -> list[Line]:
        """At most `height` lines: the end of what streams (`tail`), then one line with the spinner."""
        if not self.busy:
            return []
        frame = FRAMES[int(now * 10) % len(FRAMES)]
        lines: list[Line] = []
        running = list(self._running.values())
        if running:
            lines += [[("dim", "  │ " + cut(clean(line), width - 5))] for line in running[-1].output if line]
        elif tail.strip():
            lines += [[("", "  " + row)] for row in _wrapped(clean(tail), width - 3)]
        lines = lines[-min(TAIL, max(height - 1, 0)) :] if height > 1 else []
        return [*lines, self._spinner(frame, running, width, now)]

    def _spinner(self, frame: str, running: list[_Running], width: int, now: float) -> Line:
        if self._retry and self._retry[0] > now:
            words, since = f"{self._retry[1]}; next try in {self._retry[0] - now:.0f} s", now
        elif running:
            more = f" (+{len(running) - 1} more)" if len(running) > 1 else ""
            words, since = running[-1].words + more, running[-1].since
        else:
            words, since = self._words, self._since
        seconds = f" · {now - since:.0f} s" if now - since >= 1 else ""
        end = f"{seconds} · Esc stops"
        return [("key", frame + " "), ("", cut(words, max(width - len(end) - 4, 8))), ("dim", end)]


def _wrapped(text: str, width: int) -> list[str]:
    """The last rows of `text`; only what can be seen is looked at."""
    return [row for line in text.split("\n")[-TAIL:] for row in fold(line[-width * TAIL :], width)][-TAIL:]
