"""When a session is in no state for what is asked of it. Each of these raises a Refusal or returns; none changes anything."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from typing import get_args

from hitl_cli import interrupts, records
from hitl_cli.access import Place
from hitl_cli.errors import (
    Incompatible,
    InvalidAnswers,
    NothingToRecover,
    NotSuspended,
    SessionPending,
    Unfinished,
    UnknownStep,
)
from hitl_cli.interrupts import Review
from hitl_cli.journal import Changed, Grant
from hitl_cli.loop.verdicts import rule_problem
from hitl_cli.middleware import Middleware
from hitl_cli.models import Model, unless_priced
from hitl_cli.permissions.rule import Mode
from hitl_cli.state import State
from hitl_cli.steps import HOLDS, Options, Wait, next_step

REOPENED = ("failed", "interrupted")  # turns that were given up and that `recover` takes up again


def steps(names: Collection[str]) -> frozenset[str]:
    """The steps that breakpoints name; UnknownStep lists every name that is none."""
    names = (names,) if isinstance(names, str) else names
    unknown = sorted(set(names) - set(HOLDS))
    if unknown:
        raise UnknownStep(f"There is no step {', '.join(unknown)} to break at; the steps are {', '.join(HOLDS)}.")
    return frozenset(names)


def unless_idle(session: str, state: State) -> None:
    """For a new message."""
    if state.pending:
        raise _pending(session, state)
    if state.unfinished:
        raise Unfinished(f"The last turn of session {session} was cut off.\n  Go on with it: hitl recover {session}")


def unless_waiting(session: str, state: State, ids: Iterable[str]) -> None:
    """For answers."""
    if state.pending and not state.uncertain:
        return
    if state.unfinished or state.pending:
        raise Unfinished(
            f"A run of session {session} was cut off.\n  Go on with it first: hitl recover {session}",
            list(state.pending),
        )
    answered = {id: f"already answered: {state.answered[id]}" for id in ids if id in state.answered}
    if answered:
        raise InvalidAnswers(answered)
    raise NotSuspended(f"Nothing waits in session {session}.")


def unless_recoverable(session: str, state: State, options: Options) -> None:
    """For going on after a crash or a failure."""
    if not state.unfinished and not state.pending:
        if state.ended is None or state.ended.status not in REOPENED:
            raise NothingToRecover(f"Nothing was cut off in session {session}.")
    elif isinstance(next_step(state, options, time.time()), Wait):
        raise _pending(session, state)


def unless_complete(state: State, model: Model, middleware: Iterable[Middleware], place: Place) -> None:
    """What the session waits for must still be there, and a model that can be held to its limits."""
    if state.settings:
        unless_priced(model, state.settings.max_cost)
    asking = {i.middleware for i in state.pending.values() if isinstance(i, Review)}
    gone = sorted(asking - {m.id for m in middleware})
    if gone:
        raise Incompatible(f"This agent has no middleware {', '.join(gone)}, whose question waits.")
    cwd = state.settings.cwd if state.settings else place.cwd
    if not os.path.isdir(cwd):
        raise Incompatible(f"The session's folder {cwd} is gone.\n  Restore it; the request is kept until then.")


def unless_usable(changed: Changed) -> None:
    """ValueError for a change that the session could not be judged with afterwards."""
    if changed.what == "mode" and changed.value not in get_args(Mode):
        raise ValueError(f"there is no mode {changed.value!r}; the modes are {', '.join(get_args(Mode))}")
    if changed.what == "rules":
        if not isinstance(changed.value, list | tuple):
            raise ValueError("rules are a list")
        wrong = [rule_problem(records.load(Grant, grant)) for grant in changed.value]
        if any(wrong):
            raise ValueError("; ".join(w for w in wrong if w))


def _pending(session: str, state: State) -> SessionPending:
    counts = [(kind, sum(i.kind == kind for i in state.pending.values())) for kind in interrupts.ORDER]
    words = ", ".join(f"{n} {kind}{'s' if n > 1 and kind != 'external' else ''}" for kind, n in counts if n)
    ids = list(state.pending)
    first = f"`hitl pending` shows it; then: hitl answer {session} {ids[0]} …"
    return SessionPending(f"Session {session} waits for {words}: {', '.join(ids)}.\n  {first}", ids)
