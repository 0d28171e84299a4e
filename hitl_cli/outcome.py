"""How a run comes out, and what a watcher sees on the way: the durable records, live pieces, and at last the run.

A run that needs a person is a value, `Suspended`, not an error; `unwrap` raises for programs that prefer that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hitl_cli.errors import HitlError
from hitl_cli.interrupts import External, Interrupt
from hitl_cli.journal import Grant, Json, Recorded, Settings, Usage
from hitl_cli.records import Struct, field, text_without


class Outcome(Struct, frozen=True, kw_only=True):
    """What every run has. `messages` in the shape of the Messages protocol; `text` is the model's last answer."""

    session: str
    text: str = ""
    messages: Sequence[Mapping[str, Json]] = ()
    usage: Usage = Usage()
    state: Mapping[str, Json] = field(default_factory=dict)
    denied: Sequence[Mapping[str, Json]] = ()  # {"call","tool","part","by","rule","layer","help"} of refused calls

    def __repr__(self) -> str:
        return text_without(self, "messages")  # asyncio.run makes the text of its result

    def unwrap(self) -> Outcome:
        """Itself when completed; raises `NotCompleted` otherwise."""
        if isinstance(self, Completed):
            return self
        raise NotCompleted(self)


class Completed(Outcome, frozen=True, kw_only=True):
    pass


class Suspended(Outcome, frozen=True, kw_only=True):
    """`pending` is ordered by kind (approval, question, external, review, breakpoint), then as raised."""

    pending: tuple[Interrupt, ...] = ()

    def __str__(self) -> str:
        """In words what it waits for; nothing about external tools that are to be silent."""
        spoken = [i for i in self.pending if not (isinstance(i, External) and i.silent)]
        kinds = {i.kind: [j for j in spoken if j.kind == i.kind] for i in spoken}
        return f"waiting for {', '.join(_words(kind, those) for kind, those in kinds.items())}" if kinds else ""


def _words(kind: str, those: Sequence[Interrupt]) -> str:
    what = {"external": "external result"}.get(kind, kind)
    tools = ", ".join(dict.fromkeys(i.call.name for i in those if i.call))
    return f"{len(those)} {what}{'s' if len(those) > 1 else ''}" + (f" ({tools})" if tools else "")


class Blocked(Outcome, frozen=True, kw_only=True):
    """A guardrail ended the turn; `by` names it."""

    by: str = ""
    reason: str = ""


class Stopped(Outcome, frozen=True, kw_only=True):
    """A limit (`limit`: steps, tokens, cost, refusals) or a person (`interrupted`) ended the turn."""

    why: str = ""
    reason: str = ""


Run = Completed | Suspended | Blocked | Stopped


class NotCompleted(HitlError):
    def __init__(self, run: Outcome) -> None:
        super().__init__(str(run))
        self.run = run


class ToolOutput(Struct, frozen=True):
    """Live output of a running body; what is kept is the result."""

    call: str
    text: str


class Notice(Struct, frozen=True):
    """Words for whoever watches, about what the program does by itself."""

    text: str


class RunEnded(Struct, frozen=True):
    run: Run


class Snapshot(Struct, frozen=True):
    """A session as it stands, read from the store.

    `status`: idle, running, suspended, interrupted (needs `recover`) or failed. `usage` is that of the whole session.
    """

    session: str
    status: str
    pending: tuple[Interrupt, ...]
    messages: Sequence[Mapping[str, Json]]
    state: Mapping[str, Json]
    usage: Usage
    history: Sequence[Recorded]
    settings: Settings | None
    mode: str
    model: str
    title: str
    denied: Sequence[Mapping[str, Json]]
    grants: Sequence[Grant]

    def __repr__(self) -> str:
        return text_without(self, "messages", "history")


# What `agent.stream` yields: Recorded (durable, with seq), live pieces (the deltas of hitl_cli.models, ToolOutput,
# Notice), and RunEnded as the last.
