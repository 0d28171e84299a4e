"""What is printed of a session, as lines: a fold of its records, the same live and when a session is reopened.

A `Teller` takes events in order and returns text for the terminal, each piece once and for good. Text of the model
appears block by block as it streams; a call is told when it is settled, in one line, with the first lines of what a command
printed; the whole result is kept for `expand`. Everything said by a model or a tool is cleaned here, and none of it
begins in the first column, which holds only marks of our own; output of tools stays behind a rule that it cannot leave.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Json,
    Raised,
    Recorded,
    Replied,
    Result,
    Settled,
    Started,
)
from hitl_cli.models import Retrying, TextDelta
from hitl_cli.outcome import Notice
from hitl_cli.texts import PLAN_APPROVED
from hitl_cli.ui.clean import Cleaner, cells, clean, cut, fold, reveal
from hitl_cli.ui.diff import counts, draw, parse
from hitl_cli.ui.lines import hang
from hitl_cli.ui.stream import Block, Splitter, rendered
from hitl_cli.ui.theme import Line, rich_style

PREVIEW = 3  # lines of a command's output that are shown without asking
CHANGED = 40  # lines of a change
# The argument of a call that tells a person most about it.
TELLING = ("command", "file_path", "path", "pattern", "url", "query", "name", "plan")
MARGIN: Line = [("", "  ")]
WHOLE = ("Todo", "AskUser")  # tools whose results are what the person wants to see


def said(words: str, style: str, width: int) -> list[Line]:
    """What hitl says, which may quote others: its lines behind a margin."""
    rows = (row.rstrip() for line in clean(words).split("\n") for row in fold(line, width - 2))
    return [[*MARGIN, (style, row)] if row else [] for row in rows]


def ansi(lines: list[Line], colour: bool) -> str:
    """Lines as text for the terminal, each with its line end."""
    return "".join("".join(_styled(name, text, colour) for name, text in line) + "\n" for line in lines)


def _styled(name: str, text: str, colour: bool) -> str:
    start = _sequence(name, colour) if name else ""
    return f"{start}{text}\x1b[0m" if start else text


@lru_cache
def _sequence(name: str, colour: bool) -> str:
    from rich.color import ColorSystem
    from rich.style import Style

    return (
        Style.parse(rich_style(name, colour) or "none")
        .render("\0", color_system=ColorSystem.STANDARD)
        .partition("\0")[0]
    )


def call_words(name: str, input: Mapping[str, Json] | None, raw: str = "") -> str:
    """Tool and what it is about, on one line; what could deceive in it is shown."""
    if input is None:
        about = raw
    else:
        about = next((str(input[key]) for key in TELLING if input.get(key)), "")
        about = about.lstrip("# ") if name == "Plan" else about
        if isinstance(questions := input.get("questions"), list):
            about = " · ".join(str(q.get("question", "")) for q in questions if isinstance(q, dict))
        if not about and input and name != "Todo":
            about = json.dumps(dict(input), ensure_ascii=False, default=str)
    first, *rest = about.strip().split("\n")
    more = f" … {len(rest) + 1} lines" if rest else ""
    return reveal(f"{name} {first}".strip().replace("\t", " ")) + more


def result_text(result: Result) -> str:
    """What a result holds as text; other blocks are named."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(str(b.get("text", f"[{b.get('type', 'block')}]")) for b in result.content)


def message_lines(text: str, width: int) -> list[Line]:
    """A message of the person, set off by a blank line."""
    rows = [row for line in clean(text).split("\n") for row in fold(line, width - 3)]
    return [[], *([("key", "  " if number else "> "), ("code", row)] for number, row in enumerate(rows))]


def call_lines(call: Call, result: Result, seconds: float, width: int, seen: bool = False) -> list[Line]:
    """The line of a settled call, and below it what a person wants to see without asking: the beginning of what a
    command printed, a change (unless a panel showed it: `seen`), a list of what is to do."""
    good = result.ok
    body = clean(result_text(result)).rstrip("\n")
    lines = body.split("\n") if body not in ("", "(no output)") else []
    tail = _outcome(result, lines, seconds)
    words = cut(call_words(call.name, call.input, call.raw), max(width - cells(tail) - 4, 12))
    head: Line = [("good" if good else "warn", "✓ " if good else "✗ "), ("", words), ("dim", f"  {tail}")]
    if result.data.get("diff"):
        rows = [] if seen else [line for _, line in draw(parse(str(result.data["diff"])), width)]
        return [head, *_beginning(rows, CHANGED)]
    if good and call.name in WHOLE:
        return [head, *([("", "    " + row)] for line in lines for row in fold(line, width - 5))]
    if good and call.name != "Bash":
        return [head]
    if result.kind != "ran":
        lines = [row for line in lines for row in fold(line, width - 5)]
    rows = [[("dim", "  │ " + cut(line, width - 5))] for line in lines]
    return [head, *_beginning(rows, PREVIEW, end=not good)]


def _beginning(rows: list[Line], most: int, end: bool = False) -> list[Line]:
    """The first (or last) rows, and how many more there are."""
    left = len(rows) - most
    if left <= 0:
        return rows
    more = f"  │ … {left} more {'line, Ctrl-O shows it' if left == 1 else 'lines, Ctrl-O shows them'}"
    return [[("dim", more)], *rows[-most:]] if end else [*rows[:most], [("dim", more)]]


def _outcome(result: Result, lines: list[str], seconds: float) -> str:
    if result.kind == "refused":
        return "refused"
    if result.kind == "interrupted":
        return "interrupted"
    parts = [] if result.ok else ["failed"]
    if diff := result.data.get("diff"):
        added, removed = counts(parse(str(diff)))
        return f"+{added} −{removed}" if removed else f"+{added}"
    parts.append("no output" if not lines else "1 line" if len(lines) == 1 else f"{len(lines)} lines")
    if seconds >= 1:
        parts.append(f"{seconds:.0f} s")
    return " · ".join(parts)


def expanded(call: Call, result: Result, width: int) -> list[Line]:
    """A call and its result, whole; folded here, so that no row of it leaves its place."""
    head = hang([("title", call_words(call.name, call.input, call.raw))], width - 1, MARGIN)
    body = clean(result_text(result)).rstrip("\n") or "(nothing)"
    rows = [row for line in body.split("\n") for row in fold(line, width - 5)]
    return [[], *head, *([("dim", "  │ "), ("", row)] for row in rows)]


def questions(number: int) -> str:
    return "1 question" if number == 1 else f"{number} questions"


def answer_line(answer: Mapping[str, Json], by: str) -> Line:
    """An answer as it was accepted (`interrupts.dump_answer`), and by whom when that was not here."""
    kind, fields = next(iter(answer.items()))
    words = {
        "approve": "approved",
        "edit": "approved with changes",
        "reject": "rejected",
        "reply": "answered",
        "result": "result given",
        "proceed": "going on",
    }[kind]
    if kind == "reject" and fields.get("reason"):
        words += ": " + clean(str(fields["reason"])).replace("\n", " ")
    line: Line = [("warn" if kind == "reject" else "good", "  " + words)]
    if by:
        line.append(("dim", f" by {clean(by)}"))
    return line


def rule_lines(answer: Mapping[str, Json]) -> list[Line]:
    """The rules that an answer adds."""
    _, fields = next(iter(answer.items()))
    rules = fields.get("rules", ()) if isinstance(fields, Mapping) else ()
    return [
        [("dim", "  rule: "), ("", clean(f"{r['decision']} {r['rule']}")), ("dim", f"  ({r.get('scope', 'session')})")]
        for r in rules
    ]


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
        self._streamed = False  # text of the reply that is coming was told already

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
                return self.lines([*lines, *([("dim", "  attached: " + clean(name))] for name in files)])
            case Replied():
                return self._replied(entry)
            case Answered():
                by = "" if entry.who.kind == "person" else f"{entry.who.kind} {entry.who.detail}".strip()
                self._rejected |= {id.partition(":")[0] for id, answer in entry.answers.items() if "reject" in answer}
                lines = [line for id, a in entry.answers.items() for line in self._answer(id.partition(":")[0], a, by)]
                return self.lines(lines)
            case Raised():
                self._seen |= {str(raised["id"]).partition(":")[0] for raised in entry.interrupts}
            case Started():
                self._started[entry.call] = recorded.at
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
        return rule_lines(answer) if again else [answer_line(answer, by), *rule_lines(answer)]

    def _replied(self, entry: Replied) -> str:
        self.calls |= {call.id: call for call in entry.calls}
        text = "" if self._streamed else self._blocks(self.splitter.feed(clean(entry.reply.text)))
        told = text + self._cut()
        if entry.reply.stop == "length":
            told += self.said("The answer was cut off: the model reached its limit of output.", "warn")
        return told + ("\n" if told and entry.calls else "")

    def _settled(self, entry: Settled, at: float) -> str:
        call = self.calls.get(entry.call) or Call(entry.call, entry.call, {})
        self.results.append((call, entry.result))
        if entry.result.kind == "refused" and entry.call in self._rejected:
            return ""
        seconds = at - self._started.get(entry.call, at)
        lines = call_lines(call, entry.result, seconds, self.width, entry.call in self._seen)
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
