"""The same questions put line by line: shown once, then answered with typed words. For consoles without live keys.

A dialogue says no more than it must, asks again until the answer can be used, has no default that means yes, and at
the end of input the question goes on waiting.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, Protocol

from hitl_cli.answers import takes_of
from hitl_cli.interrupts import (
    Answer,
    Approval,
    Approve,
    Breakpoint,
    Edit,
    External,
    Field,
    Interrupt,
    Proceed,
    Question,
    Reject,
    Reply,
    Review,
    Suggestion,
    Supply,
)
from hitl_cli.journal import Grant, Json
from hitl_cli.permissions.codec import several
from hitl_cli.times import to_come
from hitl_cli.ui.approval.body import Sheet, of_call, sheet
from hitl_cli.ui.approval.entries import Choose, Entry, Write, shown
from hitl_cli.ui.approval.field import TextField
from hitl_cli.ui.approval.ladder import SCOPES, Scope, denials
from hitl_cli.ui.approval.questions import form, heading
from hitl_cli.ui.approval.terms import Answered, AnsweredRest, Input, Judge, Parked, Stopped

Outcome = Answered | AnsweredRest | Parked | Stopped


class Teller(Protocol):
    """Where a dialogue takes place. `read` raises EOFError at the end of input."""

    def show(self, sheet: Sheet, alerts: Sequence[str]) -> None: ...

    def say(self, text: str) -> None: ...

    def read(self, prompt: str) -> str: ...


class Dialogue:
    """One interrupt. Without a judge (a program's own console) rules are offered as they are and edits go unexplained."""

    def __init__(
        self, teller: Teller, interrupt: Interrupt, judge: Judge | None, *, number: int, total: int, now: float
    ):
        self.teller, self.interrupt, self.judge = teller, interrupt, judge
        self.number, self.total, self.now = number, total, now
        self.input: Input = (interrupt.call.input if interrupt.call else None) or {}
        self.sheet = sheet(interrupt, now)
        self.edited = False

    def run(self, alerts: Sequence[str] = ()) -> Outcome:
        """What came of it; at the end of input it is parked."""
        if self.total > 1:
            self.teller.say(f"Question {self.number} of {self.total}")
        self.teller.show(self.sheet, alerts)
        if isinstance(self.interrupt, Question | Review):
            asked = form(self.interrupt)
            for field, entry in zip(asked.fields, asked.entries, strict=True):
                self._announce(field, entry)
        try:
            while not (outcome := self._answer()):
                pass
            return outcome
        except EOFError:
            return Parked()

    def _answer(self) -> Outcome | None:
        offered = self._offered()
        said = self.teller.read(f"{', '.join(f'{key} {words}' for key, words, _ in offered)}: ").strip().lower()
        key = next((key for key, _, names in offered if said in (key, *names)), None)
        if key is None:
            self.teller.say(f"Please answer {', '.join(key for key, _, _ in offered)}.")
            return None
        match key:
            case "p":
                return Parked()
            case "s":
                return Stopped()
            case "n":
                return Answered(Reject(self._reason()))
            case "x":
                return AnsweredRest(Reject(self._reason()))
            case "r":
                return Answered(self._reply())
            case "?":
                for line in self._explanation():
                    self.teller.say(line.lstrip("│├└─ "))
                return None
        return Answered(Proceed()) if isinstance(self.interrupt, Breakpoint) else self._approval(key)

    def _offered(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Keys with their words and other ways to say them."""
        park = [("p", "park", ("park",)), ("s", "stop", ("stop",))]
        no = [("n", "no", ("no",))] if Reject in takes_of(self.interrupt) else []
        if isinstance(self.interrupt, Breakpoint):
            return [("y", "go on", ("yes",)), *park]
        if not isinstance(self.interrupt, Approval):
            return [("r", "reply", ("reply", "result")), *no, *park]
        sure = self.interrupt.source == "uncertain"
        always = self._rules() and not self.interrupt.safety and not self.sheet.odd
        return [
            ("y", "yes, run it again" if sure else "yes once", ("yes",)),
            *no,
            *([("x", "no to all", ("no to all",))] if self.number < self.total else []),
            *([("a", "always", ("always",))] if always else []),
            *([("r", "it ran: give the result", ("result",))] if sure else [("m", "modify", ("modify", "e", "edit"))]),
            ("d", "never", ("never",)),
            ("?", "explain", ("explain",)),
            *park,
        ]

    def _approval(self, key: str) -> Outcome | None:
        assert isinstance(self.interrupt, Approval)
        match key:
            case "y":
                return Answered(self._yes(()))
            case "m":
                return self._modify()
            case "a":
                return Answered(self._yes(self._grants("allow", self._rules())))
        tool, rules = self.interrupt.call.name, self.interrupt.suggested
        if self.judge:
            rules = tuple(denials(tool, rules, self.input, self.judge))
        return Answered(Reject("", self._grants("deny", rules or (Suggestion(tool),))))

    def _yes(self, rules: tuple[Grant, ...]) -> Answer:
        return Edit(dict(self.input), rules) if self.edited else Approve(rules)

    def _rules(self) -> tuple[Suggestion, ...]:
        rules = self.interrupt.suggested if isinstance(self.interrupt, Approval) else ()
        if not self.edited:
            return rules
        if not self.judge or self.judge.preview(self.input)[1].startswith("allow"):
            return ()
        return tuple(s for s in rules if not self.judge.problem("allow", s.text, self.input))

    def _reason(self) -> str:
        return self.teller.read("Why? The model is told; may stay empty: ").strip()

    def _explanation(self) -> Sequence[str]:
        trace = self.interrupt.trace if isinstance(self.interrupt, Approval) else ()
        return (self.judge.explain(self.input) if self.judge else None) or trace or ["No rule speaks of this call."]

    # -- a rule to keep

    def _grants(self, decision: Literal["allow", "deny"], ladder: Sequence[Suggestion]) -> tuple[Grant, ...]:
        for number, suggestion in enumerate(ladder, 1):
            self.teller.say(f"{number}  {suggestion.text}  {suggestion.covers}".rstrip())
        while True:
            said = self.teller.read("Number of the rule, or a rule in your own words: ").strip()
            known = ladder[int(said) - 1] if said.isdecimal() and 1 <= int(said) <= len(ladder) else None
            rules = known.text if known else said
            problem = self.judge.problem(decision, rules, self.input) if self.judge and not known else ""
            if rules and not problem and (known or not said.isdecimal()):
                scope, until = self._scope((known or ladder[0]).scope), self._until()
                return tuple(Grant(decision, rule, scope, until) for rule in several(rules))
            self.teller.say(problem or f"Please give a number from 1 to {len(ladder)}, or a rule.")

    def _scope(self, usual: Scope) -> Scope:
        if not self.judge:
            return usual
        places = self.judge.destinations()
        allowed = [scope for scope in SCOPES if scope in places]
        for number, scope in enumerate(allowed, 1):
            self.teller.say(f"{number}  {scope}  {places[scope]}")
        while True:
            said = self.teller.read(f"Where to keep it (empty: {usual}): ").strip().lower()
            if not said and usual in allowed:
                return usual
            if said.isdecimal() and 1 <= int(said) <= len(allowed):
                return allowed[int(said) - 1]
            if said in allowed:
                return next(scope for scope in allowed if scope == said)
            self.teller.say(f"Please give a number from 1 to {len(allowed)}.")

    def _until(self) -> float | None:
        while True:
            said = self.teller.read("Until when (empty: no end; 1h, 8h, 7d, 2027-01-31): ").strip()
            try:
                return to_come(said, self.now) if said else None
            except ValueError as error:
                self.teller.say(str(error))

    # -- another input

    def _modify(self) -> Outcome | None:
        if not self.input:
            self.teller.say("This call has no arguments to modify.")
            return None
        given = {name: self._argument(name, value) for name, value in self.input.items()}
        if given == dict(self.input):
            self.teller.say("Nothing was changed.")
            return None
        if self.judge is None:
            return Answered(Edit(given))
        preview, verdict = self.judge.preview(given)
        if verdict.startswith(("deny", "error")):
            self.teller.say(verdict)
            return None
        assert self.interrupt.call
        self.input, self.edited = given, True
        facts = (("why", "you edited it"), ("rules", verdict))
        self.sheet = of_call(self.interrupt.call, preview, facts, (("warn", "edited"),), given)
        self.teller.show(self.sheet, ())
        return None

    def _argument(self, name: str, value: Json) -> Json:
        while True:
            said = self.teller.read(f"{name} (empty: {shown(value)}): ")
            if not said:
                return value
            if isinstance(value, str):
                return said
            try:
                return json.loads(said)
            except (json.JSONDecodeError, RecursionError):
                self.teller.say("That is not JSON; a text needs quotes.")

    # -- replies

    def _reply(self) -> Answer:
        if isinstance(self.interrupt, Approval | External):
            return self._result()
        assert isinstance(self.interrupt, Question | Review)
        asked = form(self.interrupt)
        values: dict[str, Json] = {}
        for field, entry in zip(asked.fields, asked.entries, strict=True):
            if len(asked.fields) > 1:
                self._announce(field, entry)
            values[field.name] = self._value(entry)
        return Reply(next(iter(values.values())) if asked.bare else values)

    def _announce(self, field: Field, entry: Entry) -> None:
        """What is asked, and between what one can choose."""
        if heading(field):
            self.teller.say(heading(field))
        if isinstance(entry, Choose):
            for number, choice in enumerate(entry.field.choices, 1):
                self.teller.say(f"{number}  {choice.label}  {choice.description}".rstrip())
            if entry.field.free:
                self.teller.say(f"{len(entry.field.choices) + 1}  {entry.named or 'something else'}")

    def _value(self, entry: Entry) -> Json:
        while True:
            taken = self._choose(entry) if isinstance(entry, Choose) else self._write(entry)
            if taken:
                return taken[0]

    def _write(self, entry: Entry) -> tuple[Json] | None:
        assert isinstance(entry, Write)
        default = "" if entry.field.value is None else shown(entry.field.value)
        said = self.teller.read(f"Answer{f' (empty: {default})' if default else ''}: ")
        entry.text = TextField(said or default, several=True)
        taken = entry.press("enter", "")
        if isinstance(taken, tuple):
            return taken
        self.teller.say(entry.problem)
        return None

    def _choose(self, entry: Choose) -> tuple[Json] | None:
        labels = entry.field.choices
        count = len(labels) + entry.field.free
        many = entry.field.multiple
        said = self.teller.read("Numbers, with commas between: " if many else "Number: ").strip()
        numbers = [int(part) for part in said.split(",") if part.strip().isdecimal()]
        fits = numbers and len(numbers) == said.count(",") + 1 and all(1 <= n <= count for n in numbers)
        if not fits or (len(numbers) > 1 and not many):
            self.teller.say(f"Please give {'numbers' if many else 'one number'} from 1 to {count}.")
            return None
        entry.picked = {n - 1 for n in numbers if n <= len(labels)}
        entry.at = max(numbers) - 1
        if entry.at == len(labels):
            entry.own = TextField(self.teller.read("In your words: "), several=True)
        taken = entry.press("enter", "")
        return taken if isinstance(taken, tuple) else None

    def _result(self) -> Answer:
        self.teller.say("The result, and after it a line with only a full stop:")
        lines: list[str] = []
        while (line := self.teller.read("")) != ".":
            lines.append(line)
        while (said := self.teller.read("Did it fail? y or n: ").strip().lower()) not in ("y", "yes", "n", "no"):
            self.teller.say("Please answer y or n.")
        return Supply("\n".join(lines), said.startswith("y"))
