"""What is printed of a session, as lines: a fold of its records, the same live and when a session is reopened.

A `Teller` takes events in order and returns text for the terminal, each piece once and for good. Text of the model
appears block by block as it streams; a call is told when it is settled, in one line, with the first lines of what a command
printed; the whole result is kept for `expand`. Everything said by a model or a tool is cleaned here, and none of it
begins in the first column, which holds only marks of our own; output of tools stays behind a rule that it cannot leave.
"""

from __future__ import annotations

from collections.abc import Mapping

from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Json,
    Judged,
    Recorded,
    Replied,
    Result,
    Settled,
    Started,
)
from hitl_cli.models import Retrying, TextDelta
from hitl_cli.outcome import Notice
from hitl_cli.records import replace
from hitl_cli.texts import PLAN_APPROVED
from hitl_cli.ui.clean import Cleaner, clean
from hitl_cli.ui.lines import said
from hitl_cli.ui.stream import Block, Splitter, rendered
from hitl_cli.ui.theme import Line, ansi
from hitl_cli.ui.wording import answer_line, call_lines, call_words, message_lines, rule_lines


class Teller:
    """`results` holds every settled call with its result, oldest first."""

    def __init__(self, width: int, colour: bool) -> None:
        self.width, self.colour = width, colour
        self.splitter = Splitter()
        self._cleaner = Cleaner()
        self.calls: dict[str, Call] = {}
        self.results: list[tuple[Call, Result]] = []
        self._folder = ""
        self._started: dict[str, float] = {}
        self._seen: set[str] = set()  # calls that a panel showed
        self._approved: set[str] = set()  # calls that a person said yes to
        self._rejected: set[str] = set()  # calls whose refusal by a person was told already
        self._denied: dict[str, str] = {}  # why calls were refused by something other than a person
        self._streamed = False  # text of the reply that is coming was told already
        self._bare = False  # the message of the person is what was told last
        self._faced = ""  # the call whose panel is what stands above

    def face(self, call: str) -> None:
        """The panel of `call` stands above from now on; "": that of something else."""
        self._faced = call
        self._seen.add(call)

    def tell(self, event: object) -> str:
        """What to print for `event`, "" for nothing."""
        if isinstance(event, TextDelta):
            self._streamed = True
            return self._blocks(self.splitter.feed(self._cleaner.feed(event.text)))
        if isinstance(event, Retrying):
            return self._cut()
        if isinstance(event, Notice):
            return self._cut() + self.said(event.text)
        if isinstance(event, Recorded):
            return self._record(event)
        return ""

    def lines(self, lines: list[Line]) -> str:
        return ansi(lines, self.colour)

    def said(self, words: str, style: str = "dim") -> str:
        return self.lines(said(words, style, self.width))

    def _record(self, recorded: Recorded) -> str:
        entry = recorded.entry
        match entry:
            case Began():
                self._folder = f"{entry.settings.cwd}/"
                files = [str(f["name"]) for block in entry.content if (f := block.get("_file"))]
                lines = message_lines(entry.text, self.width) if entry.text else []
                self._bare = bool(lines)
                return self.lines([*lines, *([("dim", "  attached: " + clean(name))] for name in files)])
            case Replied():
                return self._replied(entry)
            case Answered():
                by = "" if entry.who.kind == "person" else f"{entry.who.kind} {entry.who.detail}".strip()
                self._rejected |= {id.partition(":")[0] for id, answer in entry.answers.items() if "reject" in answer}
                told = [self._answer(id.partition(":")[0], answer, by) for id, answer in entry.answers.items()]
                return self.lines([line for lines in told for line in lines])
            case Judged(decision="deny"):
                self._denied[entry.call] = entry.reason
            case Started():
                self._started[entry.call] = recorded.at
                if (call := self.calls.get(entry.call)) and entry.input:
                    self.calls[entry.call] = replace(call, input=entry.input)  # as it runs, perhaps edited
            case Settled():
                return self._settled(entry, recorded.at)
            case Changed(what="mode" | "model"):
                why = f" ({entry.who.detail})" if entry.who.detail == PLAN_APPROVED else ""
                return self.said(f"{entry.what}: {entry.value}{why}")
            case Changed(what="summary"):
                size = f"{len(str(entry.value)):,} characters"
                return self.said(f"What was said so far is summed up in {size}; the model goes on from that.")
            case Changed(what="unsaved"):
                rule, problem = entry.value["grant"]["rule"], entry.value["why"]
                return self.said(f"Not saved: {rule}: {problem}. It holds for this session.", "warn")
            case Ended():
                return self._ended(entry)
        return ""

    def _answer(self, call: str, answer: Mapping[str, Json], by: str) -> list[Line]:
        """A yes that counts anew, since what it is about had changed when it was given, is told once."""
        again = call in self._approved and "approve" in answer
        self._approved |= {call} if "approve" in answer else set()
        if again:
            return rule_lines(answer)
        unseen = self.calls.get(call) if call != self._faced else None
        about = call_words(unseen.name, unseen.input, unseen.raw) if unseen else ""
        return [answer_line(answer, by, about, self.width), *rule_lines(answer)]

    def _replied(self, entry: Replied) -> str:
        self.calls |= {call.id: call for call in entry.calls}
        text = "" if self._streamed else self._blocks(self.splitter.feed(clean(entry.reply.text)))
        told = text + self._cut()
        if entry.reply.stop == "length":
            told += self.said("The answer was cut off: the model reached its limit of output.", "warn")
        bare, self._bare = self._bare and not told, False
        return told + ("\n" if (told or bare) and entry.calls else "")

    def _settled(self, entry: Settled, at: float) -> str:
        call = self.calls.get(entry.call) or Call(entry.call, entry.call, {})
        self.results.append((call, entry.result))
        if entry.result.kind == "refused" and entry.call in self._rejected:
            return ""
        seconds = at - self._started.get(entry.call, at)
        shown = entry.result
        if shown.kind == "refused" and self._denied.get(entry.call):  # what the model is told is for `expand`
            shown = replace(shown, content=self._denied[entry.call])
        lines = call_lines(call, shown, seconds, self.width, entry.call in self._seen)
        files = (str(file).removeprefix(self._folder) for file in entry.result.data.get("instructions", ()))
        return self.lines(lines) + "".join(self.said(f"instructions: {file}") for file in files)

    def _ended(self, entry: Ended) -> str:
        told = self._cut()
        reason = entry.reason
        if entry.status in ("interrupted", "stopped"):
            plain = entry.why == "interrupted" or not reason
            told += self.said("Stopped." if plain else f"Stopped: {reason}", "warn")
        elif entry.status in ("failed", "blocked"):
            told += self.said(f"{entry.status.capitalize()}: {reason or 'no reason was given'}", "warn")
        return told

    def _cut(self) -> str:
        """What has come of an answer that is over, or will not go on."""
        self._streamed = False
        last = self.splitter.feed(self._cleaner.end())
        return self._blocks(last + self.splitter.end())

    def _blocks(self, blocks: list[Block]) -> str:
        return "".join(rendered(block, self.width, self.colour) for block in blocks)
