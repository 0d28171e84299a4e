"""A session as others see it: its line in a listing, how its run has come out, a snapshot. All folds of the journal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from hitl_cli import interrupts, transcript
from hitl_cli.journal import Recorded
from hitl_cli.outcome import Blocked, Completed, Run, Snapshot, Stopped, Suspended
from hitl_cli.state import State
from hitl_cli.store import Head
from hitl_cli.texts import Texts


def status_of(state: State) -> str:
    """What a listing says; `running` counts as interrupted once nobody holds the session's lease."""
    if state.pending and not state.uncertain:
        return "suspended"
    if state.unfinished or state.pending:
        return "running"
    return "failed" if state.ended and state.ended.status == "failed" else "idle"


def head_of(session: str, state: State, cwd: str, project: str) -> Head:
    return Head(
        session=session,
        title=state.title,
        cwd=state.settings.cwd if state.settings else cwd,
        status=status_of(state),
        turns=state.turn,
        updated=time.time(),
        pending=tuple(interrupts.dump(i) for i in state.ordered()),
        project=project,
    )


def outcome_of(session: str, state: State, history: Sequence[Recorded], texts: Texts) -> Run:
    """How the last run has come out, as things stand."""
    common: dict[str, Any] = {
        "session": session,
        "messages": transcript.messages([r.entry for r in history], texts),
        "usage": state.spent,
        "state": dict(state.values),
        "denied": tuple(state.denied),
    }
    if state.pending or state.unfinished:
        return Suspended(**common, pending=state.ordered())
    ended, text = state.ended, state.reply.text if state.reply else ""
    if ended is None:  # stopped before anything of its first turn was on record
        return Stopped(**common, why="interrupted")
    if ended.status == "completed":
        return Completed(**common, text=text if ended.text is None else ended.text)
    if ended.status == "blocked":
        return Blocked(**common, by=ended.by, reason=ended.reason)
    return Stopped(**common, text=text, why=ended.why, reason=ended.reason)


def snapshot_of(session: str, state: State, history: Sequence[Recorded], texts: Texts, live: bool) -> Snapshot:
    status = status_of(state)
    return Snapshot(
        session=session,
        status="running" if live else "interrupted" if status == "running" else status,
        pending=state.ordered(),
        messages=transcript.messages([r.entry for r in history], texts),
        state=dict(state.values),
        usage=state.usage,
        history=tuple(history),
        settings=state.settings,
        mode=state.mode,
        model=state.model,
        title=state.title,
        denied=tuple(state.denied),
        grants=tuple(state.grants),
    )
