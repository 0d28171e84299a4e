"""The pieces of a session as lines: a message, a call and its result, an answer and its rules, what hitl says itself.

Each is drawn once, from the record of it. What others wrote stands behind a mark or a margin (see `render`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from hitl_cli.journal import Call, Json, Result
from hitl_cli.regex import later
from hitl_cli.ui.clean import cells, clean, cut, fold, reveal
from hitl_cli.ui.diff import counts, draw, parse
from hitl_cli.ui.lines import MARGIN, hang
from hitl_cli.ui.theme import Line

_BLANKS = later(r"[ \t]+")
PREVIEW = 3  # lines of a command's output that are shown without asking
CHANGED = 40  # lines of a change
# The argument of a call that tells a person most about it.
TELLING = ("command", "file_path", "path", "pattern", "url", "query", "name", "plan")
WHOLE = ("Todo", "AskUser")  # tools whose results are what the person wants to see


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
    return reveal(_BLANKS.sub(" ", f"{name} {first}").strip()) + more


def message_lines(text: str, width: int) -> list[Line]:
    """A message of the person, set off by a blank line."""
    rows = [row for line in clean(text).split("\n") for row in fold(line, width - 3)]
    return [[], *([("key", "  " if number else "> "), ("code", row)] for number, row in enumerate(rows))]


def call_lines(call: Call, result: Result, seconds: float, width: int, seen: bool = False) -> list[Line]:
    """The line of a settled call, and below it what a person wants to see without asking: the beginning of what a
    command printed, a change (unless a panel showed it: `seen`), a list of what is to do."""
    good = result.ok
    body = clean(result.text).rstrip("\n")
    lines = body.split("\n") if body not in ("", "(no output)") else []
    tail = _outcome(call.name, result, lines, seconds)
    whole = good and call.name in WHOLE
    words = call.name if whole else cut(call_words(call.name, call.input, call.raw), max(width - cells(tail) - 4, 12))
    head: Line = [("good" if good else "warn", "✓ " if good else "✗ "), ("", words)]
    head += [("dim", f"  {tail}")] if tail else []
    if result.data.get("diff"):
        rows = [] if seen else [line for _, line in draw(parse(str(result.data["diff"])), width)]
        return [head, *_beginning(rows, CHANGED)]
    if whole:
        return [head, *([("", "    " + row)] for line in lines for row in fold(line, width - 5))]
    if good and call.name != "Bash":
        return [head]
    if result.kind != "ran":
        lines = [row for line in lines for row in fold(line, width - 5)]
    rows = [[("dim", "  │ " + cut(line, width - 5))] for line in lines]
    return [head, *_beginning(rows, PREVIEW, end=not good and result.kind != "refused")]


def _beginning(rows: list[Line], most: int, end: bool = False) -> list[Line]:
    """The first (or last) rows, and how many more there are."""
    left = len(rows) - most
    if left <= 0:
        return rows
    more = f"  │ … {left} more {'line, Ctrl-O shows it' if left == 1 else 'lines, Ctrl-O shows them'}"
    return [[("dim", more)], *rows[-most:]] if end else [*rows[:most], [("dim", more)]]


def _outcome(name: str, result: Result, lines: list[str], seconds: float) -> str:
    if result.kind == "refused":
        return "refused"
    if result.kind == "interrupted":
        return "interrupted"
    parts = [] if result.ok else ["failed"]
    if result.ok and name in (*WHOLE, "Plan"):
        return ""
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
    body = clean(result.text).rstrip("\n") or "(nothing)"
    rows = [row for line in body.split("\n") for row in fold(line, width - 5)]
    return [[], *head, *([("dim", "  │ "), ("", row)] for row in rows)]


def questions(number: int) -> str:
    return "1 question" if number == 1 else f"{number} questions"


def answer_line(answer: Mapping[str, Json], by: str, about: str, width: int) -> Line:
    """An answer as it was accepted (`interrupts.dump_answer`), by whom when that was not here, and which call it is
    about when that does not stand above."""
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
    if about:
        line.append(("dim", " · " + cut(about, max(width - sum(cells(text) for _, text in line) - 3, 12))))
    return line


def rule_lines(answer: Mapping[str, Json]) -> list[Line]:
    """The rules that an answer adds."""
    _, fields = next(iter(answer.items()))
    rules = fields.get("rules", ()) if isinstance(fields, Mapping) else ()
    return [
        [("dim", "  rule: "), ("", clean(f"{r['decision']} {r['rule']}")), ("dim", f"  ({r.get('scope', 'session')})")]
        for r in rules
    ]
