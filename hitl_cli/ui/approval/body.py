"""What the panel shows of an interrupt, apart from keys: title, the whole content, why, and the model's own words.

Beside the bar on the left, in the first column of the screen, stands what will happen, and all of it; below, without the
bar, what hitl says of it. Nothing else that is printed sets this bar or brings other people's text into the first column,
so no text can pass for a panel or for the end of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from textwrap import indent

from hitl_cli.interrupts import Approval, Breakpoint, External, Interrupt, Preview, Question, Review
from hitl_cli.journal import Call, Json
from hitl_cli.records import Struct
from hitl_cli.regex import later
from hitl_cli.ui import diff
from hitl_cli.ui.clean import suspicious
from hitl_cli.ui.lines import Span, hang, literal, width_of
from hitl_cli.ui.theme import Line

NUMBERED = 12  # lines of content from which they are numbered
FAMILIAR = ("Read", "Glob", "Grep", "WebFetch", "BashOutput", "BashKill")  # tools that need no words about them
LINE = 240  # characters of a question that its form shows
BLANKS = 4  # blank lines in a row from which they are shown as a number
_PART = later("`([^`\n]+)`")
BAR: Line = [("title", "▌ ")]
Numbered = list[tuple[int, Line]]  # screen lines, each with the index of the line of content it belongs to


class Sheet(Struct, frozen=True):
    """One thing to decide about. `facts`: label and words; `content` is a diff when `rows` is set, else literal text."""

    title: str
    content: str
    badges: tuple[tuple[str, str], ...] = ()  # (style, text)
    facts: tuple[tuple[str, str], ...] = ()
    claims: str = ""
    odd: tuple[str, ...] = ()
    command: bool = False
    rows: Sequence[diff.Row] = ()

    @property
    def count(self) -> int:
        """Lines of content."""
        return len(self.rows) or self.content.count("\n") + bool(self.content)

    def head(self, width: int) -> list[Line]:
        line = literal(self.title.replace("\n", " "), "title")
        for style, text in self.badges:
            line += [("dim", "  "), (style, text)]
        return hang(line, width, BAR, BAR)

    def whole(self, width: int, alerts: Sequence[str] = ()) -> list[Line]:
        """All of it, for a place without keys."""
        body = (line for _, line in self.body(width))
        return [*self.head(width), *body, *self.tail(width, alerts)]

    def body(self, width: int) -> Numbered:
        if self.rows:
            drawn = diff.draw(self.rows, width)
        else:
            lines = self.content.split("\n") if self.content else []
            drawn = [(at, line) for at, text in shorten(lines) for line in self._row(at, text, len(lines), width)]
        return [(index, _barred(line)) for index, line in drawn]

    def _row(self, index: int, text: str | int, count: int, width: int) -> list[Line]:
        if count >= NUMBERED:
            digits = len(str(count))
            first: Line = [("dim", f"  {index + 1:>{digits}} │ ")]
            rest: Line = [("dim", f"  {'↪':>{digits}} │ ")]
        else:
            first = [("key" if self.command else "dim", "  $ " if self.command and not index else "    ")]
            rest = [("dim", "  ↪ ")]
        if isinstance(text, int):
            return hang([("mark", f"⟨{text} blank lines⟩")], width, first, rest)
        return hang(literal(text, "code", self._asked(text)) if self.command else literal(text), width, first, rest)

    def _asked(self, text: str) -> list[Span]:
        """Where the part of the command stands that the reason names, when that is not all of it."""
        part = next((found[1] for _, words in self.facts if (found := _PART.search(words))), "")
        at = text.find(part) if part and part != self.content else -1
        return [(at, at + len(part), "part")] if at >= 0 and text.find(part, at + 1) < 0 else []

    def tail(self, width: int, alerts: Sequence[str] = ()) -> list[Line]:
        lines = self.warnings(alerts, width)
        for label, words in self.facts:
            rows = _fact(label, literal(words.replace("\n", " ")), width)
            lines += _clipped(rows) if label == "why" else rows
        if self.claims:
            lines += _clipped(_fact("model", literal(f"“{' '.join(self.claims.split())}”", "dim"), width))
        return lines

    def warnings(self, alerts: Sequence[str], width: int) -> list[Line]:
        texts = [literal(text.replace("\n", " "), "warn") for text in alerts]
        if self.odd:
            texts.append(
                [
                    ("warn", f"It holds {_and(self.odd)}: shown as "),
                    ("mark", "␛"),
                    ("warn", " or "),
                    ("mark", "<U+202E>"),
                ]
            )
        return [row for text in texts for row in hang(text, width, [("warn", "  ! ")])]


def _barred(line: Line) -> Line:
    """A row of content, which leaves its first column free, with the bar in it."""
    (style, margin), *rest = line
    return [("title", "▌"), (style, margin[1:]), *rest]


def _clipped(rows: list[Line]) -> list[Line]:
    """Words about the content, which is there whole, take no more than three rows."""
    return rows if len(rows) <= 3 else [*rows[:2], [("dim", "         …")]]


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _fact(label: str, words: Line, width: int) -> list[Line]:
    name = literal(f"  {label.replace(chr(10), ' '):<6} ", "dim")
    return hang(words, width, name) if width_of(name) * 2 <= width else hang([*name, *words], width, [])


def shorten(lines: Sequence[str]) -> Iterator[tuple[int, str | int]]:
    """The lines with their index; a long run of blank ones as its number."""
    index = 0
    while index < len(lines):
        end = index
        while end < len(lines) and not lines[end].strip(" \t"):
            end += 1
        if end - index >= BLANKS:
            yield index, end - index
        else:
            yield from ((at, lines[at]) for at in range(index, min(end, len(lines))))
        if end < len(lines):
            yield end, lines[end]
        index = end + 1


def sheet(interrupt: Interrupt, now: float) -> Sheet:
    """What there is to see of any interrupt; `now` only to say how long it may still be answered."""
    match interrupt:
        case Approval():
            ran = (("warn", "it may have run already"),) if interrupt.source == "uncertain" else ()
            return of_call(interrupt.call, interrupt.preview, _why(interrupt), (*ran, *_expiry(interrupt, now)))
        case Question(call=call):
            chooses = any(f.choices for f in interrupt.fields)
            asks = "\n\n".join(f.description for f in interrupt.fields if brief(f.description) != f.description)
            asks = asks if interrupt.payload is None else _text(interrupt.payload)
            given = {f.name for f in interrupt.fields}
            known = {name: value for name, value in (call.input or {}).items() if name not in given}
            shown = asks if asks or chooses else arguments(known)
            title = "Question" if chooses else f"{call.name} asks"
            return Sheet(title, shown, _expiry(interrupt, now), odd=_odd(shown, call.name))
        case External(call=call):
            facts = (("why", "this call is made outside; give its result here"),)
            return of_call(call, None, facts, _expiry(interrupt, now))
        case Review():
            return _review(interrupt, now)
        case Breakpoint(call=call):
            where = f"Stopped {interrupt.phase} {f'the call of {call.name}' if call else f'the {interrupt.step} step'}"
            return Sheet(where, arguments(call.input or {}) if call else "", _expiry(interrupt, now))


def brief(question: str) -> str:
    """A question as one line of a form; what is longer stands whole in the body."""
    line = question.partition("\n")[0][:LINE]
    return line if line == question else f"{line} …"


def of_call(
    call: Call,
    preview: Preview | None,
    facts: tuple[tuple[str, str], ...],
    badges: tuple[tuple[str, str], ...] = (),
    input: Mapping[str, Json] | None = None,
) -> Sheet:
    """A call as it would run; `input` is the edited one where there is one."""
    given = (call.input or {}) if input is None else input
    if preview is None:
        content = arguments(given)
        return Sheet(call.name, content, badges, facts, odd=_odd(call.name, content, *_strings(given)))
    title = preview.title if preview.title.startswith(call.name) else f"{call.name} {preview.title}".strip()
    if preview.path and not preview.path.endswith(title.rpartition(" ")[2]):
        title = f"{title}  {preview.path}"
    rows: Sequence[diff.Row] = ()
    if preview.kind == "diff":
        rows = diff.parse(preview.body)
        added, removed = diff.counts(rows)
        fresh = (("good", "new file"),) if preview.before == "" else ()
        badges = (*fresh, ("add", f"+{added}"), *((("del", f"−{removed}"),) if removed else ()), *badges)
    elif preview.kind == "command" and given.get("background") is True:
        badges = (("warn", "in the background"), *badges)
    body = preview.body if preview.kind != "text" or not _is_json(preview.body, given) else arguments(given)
    content = body.removesuffix("\n") or "(nothing would change)"
    odd = _odd(title, content, *_strings(given))
    if preview.about and call.name not in FAMILIAR:
        facts = (("tool", preview.about), *facts)
    return Sheet(title, content, badges, facts, preview.purpose, odd, preview.kind == "command", rows)


def _why(approval: Approval) -> tuple[tuple[str, str], ...]:
    facts = [("why", approval.reason)] if approval.reason else []
    if approval.source not in ("rules", "tool", "uncertain"):
        facts.append(("asked", f"by {approval.source}"))
    return tuple(facts)


def _review(review: Review, now: float) -> Sheet:
    payload = review.payload
    facts: tuple[tuple[str, str], ...] = ()
    content = _text(payload)
    if isinstance(payload, Mapping) and isinstance(payload.get("text"), str):
        facts = tuple((name, _text(value)) for name, value in payload.items() if name != "text")
        content = payload["text"]
    hook = review.hook.replace("_", " ")
    title = f"{review.middleware} asks {hook}{f' · {review.call.name}' if review.call else ''}"
    return Sheet(title, content, _expiry(review, now), facts, odd=_odd(title, content))


def _expiry(interrupt: Interrupt, now: float) -> tuple[tuple[str, str], ...]:
    if interrupt.expires is None:
        return ()
    left = max(0, interrupt.expires - now)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if left >= size:
            return (("dim", f"expires in {left // size:.0f} {unit}"),)
    return (("warn", f"expires in {left:.0f} s"),)


def arguments(input: Mapping[str, Json]) -> str:
    """Arguments for reading: one a line, texts of several lines below their name, the rest as JSON."""
    lines: list[str] = []
    for name, value in input.items():
        text = _text(value)
        # Lines of a value stand further in than names: a text cannot pass for another argument.
        lines.append(f"{name}:\n{indent(text, '    ', lambda _: True)}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines) or "(no arguments)"


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    short = json.dumps(value, ensure_ascii=False, default=str)
    return short if len(short) <= 60 else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _is_json(text: str, input: Mapping[str, Json]) -> bool:
    """True when `text` is nothing but the arguments as JSON, which read better one by one."""
    with suppress(ValueError, RecursionError):
        return bool(json.loads(text) == dict(input))
    return False


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _odd(*texts: str) -> tuple[str, ...]:
    reasons = [reason for text in texts for reason in suspicious(text)]
    return tuple(dict.fromkeys(reasons))
