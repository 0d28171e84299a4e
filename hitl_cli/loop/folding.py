"""Sessions as they are known here: the fold of each one's journal, kept so that the next turn reads only what is new."""

from __future__ import annotations

from hitl_cli.journal import Recorded
from hitl_cli.state import State
from hitl_cli.store import Store

KEPT = 8  # sessions, the ones used last


class Folds:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[State, list[Recorded]]] = {}

    def of(self, session: str) -> tuple[State, list[Recorded]]:
        """Its state and history: what is known of it here, and what was stored since."""
        state, history = self._known.pop(session) if session in self._known else (State(session), [])
        new = self._store.read(session, len(history))
        state.fold_all(recorded.entry for recorded in new)
        history.extend(new)
        self._known[session] = state, history
        if len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return state, history

    def forget(self, session: str) -> None:
        """What is known of it here is not what is stored: read it anew."""
        self._known.pop(session, None)
