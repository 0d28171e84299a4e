"""Who answers when nobody looks: a responder sees what waits and returns answers, or None to let it wait.

Any function of `Suspended`, plain or async, is one; the consoles live in the terminal's own code.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hitl_cli.answers import takes_of
from hitl_cli.interrupts import Answer, Reject
from hitl_cli.journal import Json, Who
from hitl_cli.outcome import Suspended
from hitl_cli.records import Struct

Answers = Mapping[str, Answer | Mapping[str, Json]]
Responder = Callable[[Suspended], Answers | Awaitable[Answers | None] | None]


class _DenyAll(Struct, frozen=True):
    """Refuses every call that waits; reviews and breakpoints, which cannot be refused, go on waiting.

    >>> deny_all(Suspended(session="2f9c")) is None
    True
    """

    who: Who = Who("none")  # nobody was there: the model is told so, and which rule would allow the call

    def __call__(self, run: Suspended) -> Answers | None:
        return {i.id: Reject() for i in run.pending if Reject in takes_of(i)} or None


deny_all = _DenyAll()


def park(run: Suspended) -> None:
    """Let everything wait; another process may answer.

    >>> park(Suspended(session="2f9c"))
    """
