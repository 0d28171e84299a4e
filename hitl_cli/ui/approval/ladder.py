"""The form for a rule to keep: one of a ladder from narrow to wide, its text editable, with where and until when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from hitl_cli.interrupts import Suggestion
from hitl_cli.journal import Grant
from hitl_cli.permissions.codec import several
from hitl_cli.regex import later
from hitl_cli.times import to_come
from hitl_cli.ui.approval.field import PASTE, TextField
from hitl_cli.ui.approval.forms import Sign, Step, head, note, window
from hitl_cli.ui.approval.terms import Input, Judge, Outcome
from hitl_cli.ui.lines import hang, keys, literal, width_of
from hitl_cli.ui.theme import Line

Scope = Literal["session", "project", "user"]
SCOPES: tuple[Scope, ...] = ("session", "project", "user")
ENDS = (("no end", 0.0), ("1 hour", 3600.0), ("8 hours", 28800.0), ("7 days", 604800.0))


class RuleForm:
    """One rule out of a ladder, its text editable, with where it is kept and until when."""

    def __init__(
        self,
        decision: Literal["allow", "deny"],
        ladder: Sequence[Suggestion],
        input: Input,
        judge: Judge,
        done: Callable[[tuple[Grant, ...]], Outcome],
    ) -> None:
        self.decision, self._input, self._judge, self._done = decision, input, judge, done
        self.ladder = list(ladder)
        self.places = judge.destinations()
        self.at = 0
        self.scope: Scope = self._allowed(self.ladder[0].scope)
        self._scope_chosen = False
        self.end = 0  # index in ENDS, or len(ENDS) for a time of one's own
        self.own_end = ""
        self.field: TextField | None = None
        self._typing: Literal["rule", "end"] = "rule"
        self.problem = ""

    def _allowed(self, scope: Scope) -> Scope:
        return scope if scope in self.places else next((s for s in SCOPES if s in self.places), "session")

    def press(self, key: str, now: float, data: str) -> Step:
        if self.field:
            return self._type(self.field, key, now, data)
        self.problem = ""
        if key in ("up", "down"):
            self._pick((self.at + (1 if key == "down" else -1)) % len(self.ladder))
        elif key.isdecimal() and 1 <= int(key) <= len(self.ladder):
            self._pick(int(key) - 1)
        elif key == "s":
            allowed = [scope for scope in SCOPES if scope in self.places] or ["session"]
            self.scope = (
                allowed[(allowed.index(self.scope) + 1) % len(allowed)] if self.scope in allowed else allowed[0]
            )
            self._scope_chosen = True
        elif key == "u":
            self.end = (self.end + 1) % (len(ENDS) + bool(self.own_end))
        elif key in ("e", "t"):
            self._typing = "rule" if key == "e" else "end"
            self.field = TextField(self.ladder[self.at].text if key == "e" else self.own_end)
        elif key == "enter":
            return self._save(now)
        else:
            return Sign.CLOSE if key == "escape" else Sign.STRAY
        return Sign.STAY

    def _pick(self, index: int) -> None:
        self.at = index
        if not self._scope_chosen:
            self.scope = self._allowed(self.ladder[index].scope)

    def _type(self, field: TextField, key: str, now: float, data: str) -> Step:
        if key == "escape":
            self.field, self.problem = None, ""
        elif key == "enter" and self._typing == "rule":
            self.problem = self._judge.problem(self.decision, field.text.strip(), self._input)
            if not self.problem:
                old = self.ladder[self.at]
                first, *also = several(field.text)
                self.ladder[self.at] = Suggestion(first, "as you wrote it", old.scope, tuple(also))
                self.field = None
        elif key == "enter":
            try:
                to_come(field.text, now)
            except ValueError as error:
                self.problem = str(error)
            else:
                self.own_end, self.end, self.field, self.problem = field.text.strip(), len(ENDS), None, ""
        elif field.press(key, data) and key != PASTE:
            self.problem = ""
        return Sign.STAY

    def _save(self, now: float) -> Step:
        chosen = self.ladder[self.at]
        self.problem = self._judge.problem(self.decision, chosen.text, self._input)
        end = None
        if not self.problem and self.end:
            try:
                end = to_come(self.own_end, now) if self.end == len(ENDS) else now + ENDS[self.end][1]
            except ValueError as error:  # a moment that has passed since it was written
                self.problem = str(error)
        if self.problem:
            return Sign.STAY
        return self._done(tuple(Grant(self.decision, rule, self.scope, end) for rule in chosen.rules))

    def lines(self, width: int, height: int) -> list[Line]:
        title = "always: a rule to keep" if self.decision == "allow" else "never: a rule to keep"
        above = head([("title", title)], width)
        column = max(width_of(literal(s.text)) for s in self.ladder) + 2
        rungs = [
            self.field.lines(width, f"› {index + 1} ")
            if index == self.at and self.field and self._typing == "rule"
            else self._rung(index, suggestion, column, width)
            for index, suggestion in enumerate(self.ladder)
        ]
        below = self._terms(width)
        room = height - 1 - len(above) - len(below) - len(keys(self.keys(), width))
        return [*above, *window(rungs, self.at, room), *below]

    def _terms(self, width: int) -> list[Line]:
        """Where the rule is kept, until when, and what is wrong with it."""
        where = f"{self.scope} · {self.places.get(self.scope, '')}".rstrip(" ·")
        lines = hang(literal(where), width, [("dim", "    in     ")])
        if self.field and self._typing == "end":
            lines += self.field.lines(width, "    until  ")
        else:
            end = ENDS[self.end][0] if self.end < len(ENDS) else self.own_end
            lines += hang(literal(end), width, [("dim", "    until  ")])
        return [*lines, *note(self.problem, width)]

    def _rung(self, index: int, suggestion: Suggestion, column: int, width: int) -> list[Line]:
        picked = index == self.at
        margin: Line = [("pick", "› ") if picked else ("", "  "), ("key", f"{index + 1} ")]
        rule = literal(suggestion.text, "pick" if picked else "")
        covers = literal(suggestion.covers.replace("\n", " "), "dim")
        if covers and 4 + column + width_of(covers) <= width:
            return hang([*rule, ("", " " * (column - width_of(rule))), *covers], width, margin)
        below = hang(covers, width, [("", "      ")]) if covers else []
        return [*hang(rule, width, margin), *below]

    def keys(self) -> list[tuple[str, str]]:
        if self.field:
            how = [("", "1h, 8h, 7d, or a day such as 2027-01-31")] if self._typing == "end" else []
            return [("enter", "take it"), ("esc", "back"), *how]
        save = "save and run" if self.decision == "allow" else "save and refuse"
        choose = [("↑↓", "choose")] if len(self.ladder) > 1 else []
        return [
            ("enter", save),
            *choose,
            ("e", "edit rule"),
            ("s", "where"),
            ("u", "until"),
            ("t", "type a time"),
            ("esc", "back"),
        ]


def _covers(rule: str) -> str:
    """What one rule of several covers, in the words of the rungs themselves."""
    tool, _, pattern = rule.removesuffix(")").partition("(")
    if tool == "Bash":
        return f"every `{pattern.removesuffix(':*')}`" if pattern.endswith(":*") else "exactly this command"
    if tool not in ("Read", "Write", "Edit"):
        return ""
    does = "reading" if tool == "Read" else "writing"
    folder = pattern.removesuffix("/**")
    if pattern == "**":
        return f"{does} the whole workspace"
    return f"{does} all below {folder}" if folder != pattern else f"{does} this file"


_PROGRAM = later(r"(?:^|[|&;\n(])\s*([\w./+-]+)(?:[ \t]+([a-z][a-z-]*)(?=\s|$))?")
_PROGRAMS = 6  # of a list of commands


def denials(tool: str, ladder: Sequence[Suggestion], input: Input, judge: Judge) -> list[Suggestion]:
    """Deny rules on offer: the ladder's own, the programs of a command, the tool. Only what hits this call; never empty.

    One rule is enough to refuse, so what an allow needs several rules for is offered one by one. The programs are guessed
    from the text, which the judge then puts right.
    """
    found = [Suggestion(rule, _covers(rule) if s.also else s.covers, s.scope) for s in ladder for rule in s.rules]
    command = input.get("command")
    if tool == "Bash" and isinstance(command, str):
        programs = [match for match in _PROGRAM.finditer(command[:2000]) if match[1] != "cd"]
        for match in programs[:_PROGRAMS]:
            starts = [f"{match[1]} {match[2]}"] if match[2] else []
            found += [Suggestion(f"Bash({start}:*)", f"every `{start}`") for start in [*starts, match[1]]]
    found.append(Suggestion(tool, f"every call of {tool}"))
    unique = {suggestion.rule: suggestion for suggestion in reversed(found)}
    hits = [s for s in reversed(unique.values()) if not judge.problem("deny", s.rule, input)]
    return hits or [Suggestion(tool, f"every call of {tool}")]
