"""How a run comes out, and what a watcher sees on the way: the durable records, live pieces, and at last the run.

A run that needs a person is a value, `Suspended`, not an error; `unwrap` raises for programs that prefer that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hitl_cli.errors import HitlError
from hitl_cli.interrupts import Interrupt
from hitl_cli.journal import Json, Recorded, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What every run has. `messages` in the shape of the Messages protocol; `text` is the model's last answer."""

    session: str
    text: str = ""
    messages: Sequence[Mapping[str, Json]] = ()
    usage: Usage = Usage()
    state: Mapping[str, Json] = field(default_factory=dict)
    denied: Sequence[Mapping[str, Json]] = ()  # {"call","tool","part","by","rule","layer","help"} of refused calls

    def unwrap(self) -> Outcome:
        """Itself when completed; raises `NotCompleted` otherwise."""
        if isinstance(self, Completed):
            return self
        raise NotCompleted(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed(Outcome):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended(Outcome):
    """`pending` is ordered by kind (approval, question, external, review, breakpoint), then as raised."""

    pending: tuple[Interrupt, ...] = ()

    def __str__(self) -> str:
        tools = ", ".join(sorted({i.call.name for i in self.pending if i.call}))
        return f"waiting for {len(self.pending)} answer(s)" + (f": {tools}" if tools else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked(Outcome):
    """A guardrail ended the turn; `by` names it."""

    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(Outcome):
    """A limit (`limit`: steps, tokens, cost, refusals) or a person (`interrupted`) ended the turn."""

    why: str = ""
    reason: str = ""


Run = Completed | Suspended | Blocked | Stopped


class NotCompleted(HitlError):
    def __init__(self, run: Outcome) -> None:
        super().__init__(str(run))
        self.run = run


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output of a running body; what is kept is the result."""

    call: str
    text: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    run: Run


# Recorded (durable, with seq), the deltas of hitl_cli.models, ToolOutput, and RunEnded as the last.
Durable = Recorded
