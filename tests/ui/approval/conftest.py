"""A panel on its own clock, with a judge whose rules are shell globs."""

import fnmatch
from collections.abc import Mapping

import pytest

from hitl_cli.interrupts import Approval, Interrupt, Preview, Suggestion
from hitl_cli.journal import Call
from hitl_cli.permissions.codec import several
from hitl_cli.ui.approval import Panel
from hitl_cli.ui.theme import Line, plain


class Globs:
    """`Tool(glob)` over the command or path; commands that begin with `forbidden` are denied."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {
            "session": "until this session ends",
            "project": "projects/app.toml",
            "user": "rules.toml",
        }

    def problem(self, decision: str, rules: str, input: Mapping[str, object]) -> str:
        texts = several(rules)
        if any("(" in text and not text.endswith(")") for text in texts):
            return "The last parenthesis is missing."
        touched = str(input.get("command", input.get("file_path", ""))).split(" && ")
        every = any if decision == "deny" else all
        covered = every(any(self._covers(text, part) for text in texts) for part in touched)
        return "" if covered else f"{rules} does not cover this call."

    @staticmethod
    def _covers(rule: str, text: str) -> bool:
        _, bracket, pattern = rule.removesuffix(")").partition("(")
        word = pattern.removesuffix(":*")
        return not bracket or fnmatch.fnmatchcase(text, pattern) or (pattern.endswith(":*") and text.startswith(word))

    def preview(self, input: Mapping[str, object]) -> tuple[Preview, str]:
        command = str(input.get("command", ""))
        verdict = "ask: no rule covers it"
        if command.startswith("forbidden"):
            verdict = "deny: rule Bash(forbidden:*) at rules.toml:3"
        if command.startswith("true"):
            verdict = "allow: it does nothing"
        return Preview("command", "Bash", command), verdict

    def explain(self, input: Mapping[str, object]) -> list[str]:
        return [f"part 1  {input.get('command')}  ask  no rule covers it"]

    def destinations(self) -> Mapping[str, str]:
        return self.places


class Driver:
    """Feeds keys half a second and more apart and keeps what was printed."""

    def __init__(
        self, interrupt: Interrupt, width: int = 80, height: int = 24, number: int = 1, total: int = 1, **rest
    ) -> None:
        self.width = width
        self.now = 1000.0
        self.panel = Panel(interrupt, number=number, total=total, judge=Globs(), now=self.now, height=height, **rest)
        self.printed: list[Line] = self.panel.body(width)
        self.panel.bottom(width, self.now)
        self.now += 1

    def press(self, *keys: str, pause: float = 1.0) -> "Driver":
        for key in keys:
            self.panel.press(key, self.now)
            self.printed += self.panel.more(self.width)
            self.now += pause
        return self

    def type(self, text: str) -> "Driver":
        return self.press(*text, pause=0.05).rest()

    def paste(self, text: str) -> "Driver":
        self.panel.press("<bracketed-paste>", self.now, text)
        return self.rest()

    def rest(self) -> "Driver":
        self.now += 1
        return self

    @property
    def outcome(self):
        return self.panel.outcome

    @property
    def text(self) -> list[str]:
        return [plain(line).rstrip() for line in self.printed]

    @property
    def bottom(self) -> list[str]:
        return [plain(line).rstrip() for line in self.panel.bottom(self.width, self.now)]


@pytest.fixture
def drive():
    return Driver


@pytest.fixture
def bash():
    def make(command: str, purpose: str = "", **changes: object) -> Approval:
        known: dict[str, object] = {
            "id": "1.1.0:approval",
            "call": Call("1.1.0", "Bash", {"command": command}),
            "reason": f"no rule covers `{command.splitlines()[0]}`",
            "suggested": (
                Suggestion("Bash(make deploy)", "this command"),
                Suggestion("Bash(make:*)", "every make command"),
            ),
            "preview": Preview("command", "Bash", command, purpose=purpose),
        }
        return Approval(**(known | changes))  # type: ignore[arg-type]

    return make
