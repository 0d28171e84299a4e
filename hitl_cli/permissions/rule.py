"""Decisions are ordered and the strictest wins; a verdict says which part decided it and why."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Literal

from hitl_cli.access import Access
from hitl_cli.records import Struct


class Decision(IntEnum):
    """Combined by `max`."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    def __str__(self) -> str:
        return self.name.lower()


Mode = Literal["declared", "default", "accept-edits", "plan", "dont-ask", "bypass"]
Layer = Literal["managed", "flag", "session", "project", "user", "repository", "pack"]
# What settled a part: a rule, the floor, a guarded place, the library's own policy, a tool's read-only flag, the mode,
# a part that needs no rule, a part that cannot be proved, or that nothing covers it.
By = Literal["rule", "floor", "guarded", "policy", "read-only", "mode", "free", "opaque", "none"]


class Source(Struct, frozen=True):
    """Where a rule stands: its layer, and the file and 1-based line when it has one."""

    layer: Layer
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or self.layer


class Rule(Struct, frozen=True):
    """Decision, tool and pattern; `pattern` None covers every call of the tool.

    `until` and `added` are seconds since the epoch. `match` and `not_match` are examples checked by whoever loads it.
    """

    decision: Decision
    tool: str
    pattern: str | None = None
    source: Source = Source("session")
    reason: str = ""
    until: float | None = None
    added: float | None = None
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The rule as people write it: `Tool` or `Tool(pattern)`."""
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


# A text, or what makes it of the part when somebody wants to read it.
Why = str | Callable[["Part"], str]


def told(why: Why, part: Part) -> str:
    return why if isinstance(why, str) else why(part)


class Part(Struct, frozen=True, gc=False):
    """The verdict on one access. `number` counts the command's simple commands from 1, 0 for other accesses."""

    access: Access
    decision: Decision
    by: By
    why: Why
    rule: Rule | None = None
    number: int = 0

    @property
    def reason(self) -> str:
        return told(self.why, self)


class Verdict(Struct, frozen=True, gc=False):
    """The strictest of its parts; `part` is the one that decided, None when there is nothing to judge."""

    decision: Decision
    parts: tuple[Part, ...] = ()
    part: Part | None = None

    @property
    def reason(self) -> str:
        if self.part is None:
            return "there is nothing in it that a rule could cover"
        total = max(p.number for p in self.parts)
        if total <= 1 or not self.part.number:
            return self.part.reason
        if self.decision is Decision.ALLOW:
            return f"each of its {total} parts is allowed"
        return f"{self.part.reason}; part {self.part.number} of {total}"

    @property
    def rule(self) -> Rule | None:
        return self.part.rule if self.part else None

    @property
    def safety(self) -> bool:
        """True when it asks and no allow rule could turn it into allow."""
        return self.decision is Decision.ASK and any(
            p.decision is Decision.ASK and (p.by in ("floor", "opaque") or (p.by == "rule")) for p in self.parts
        )


class Suggestion(Struct, frozen=True):
    """A rule on offer: its literal text, what it would cover in words, and where it is saved unless a person differs.

    A call of several parts that nothing covers may need a rule for each: `also` are those that are kept together with
    `rule`, in the order of the parts. Only all of them allow the call.
    """

    rule: str
    covers: str = ""
    scope: Literal["session", "project", "user"] = "user"
    also: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        return (self.rule, *self.also)

    @property
    def text(self) -> str:
        """All of its rules on one line, as `codec.several` reads them."""
        return " + ".join(self.rules)
