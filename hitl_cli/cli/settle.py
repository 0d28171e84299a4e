"""What a session is run with, settled from what was typed, set and stored.

What a session was started with (model, mode, flag rules, folders, limits) is in its journal and holds when the session
is continued from elsewhere, unless a flag says otherwise; mode bypass is never restored.
"""

from __future__ import annotations

import os
from typing import Any

from hitl_cli import config
from hitl_cli.access import Place
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import UsageError
from hitl_cli.journal import Grant, Settings
from hitl_cli.models import DEFAULT
from hitl_cli.paths import Paths, place_for
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Decision
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.times import duration


def place(turn: Turn, began: Settings | None, paths: Paths, session: str | None) -> Place:
    add_dirs = tuple(turn.add_dir) or (began.add_dirs if began else ())
    try:
        place = place_for(began.cwd if began else here(), add_dirs, paths)
        "".join((place.cwd, *place.roots)).encode()
        return place
    except UnicodeEncodeError:
        raise UsageError("The name of this folder is not UTF-8 text.\n  Rename it, or work in another one.") from None
    except UsageError as error:
        if session is None:
            raise
        raise UsageError(f"Session {session} cannot go on: {error}\n  What waits in it is kept.") from None


def here() -> str:
    """The current folder; UsageError when it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UsageError("The current folder is gone.\n  Change to one that exists.") from None


def flags(turn: Turn, place: Place) -> dict[str, Any]:
    return {
        "model": turn.model,
        "mode": turn.mode,
        "max_steps": turn.max_steps,
        "max_tokens": turn.max_tokens,
        "max_cost": turn.max_cost,
        "expires": duration(turn.expires) if turn.expires else None,
        "add_dirs": place.roots[1:],
        "plain": turn.plain or None,
    }


def settings(turn: Turn, resolved: config.Settings, began: Settings | None, place: Place) -> Settings:
    rules = tuple(
        Grant(decision, text)  # type: ignore[arg-type]
        for decision, texts in (("allow", turn.allow), ("ask", turn.ask), ("deny", turn.deny))
        for text in texts
    )
    for rule in rules:
        codec.parse(rule.rule, Decision[rule.decision.upper()])
    kept = began and began.mode != "bypass"
    return Settings(
        model=turn.model or (began.model if began else "") or resolved.model or DEFAULT,
        mode=turn.mode or (began.mode if began and kept else resolved.mode),
        cwd=place.cwd,
        add_dirs=place.roots[1:],
        rules=rules or (began.rules if began else ()),
        max_steps=turn.max_steps or (began.max_steps if began else resolved.max_steps),
        max_tokens=turn.max_tokens or (began.max_tokens if began else resolved.max_tokens),
        max_cost=turn.max_cost or (began.max_cost if began else resolved.max_cost),
    )


def newest(store: SqliteStore) -> str:
    heads = store.heads(cwd=here(), limit=1)
    if not heads:
        raise UsageError(f"There is no session in {here()} yet.\n  `hitl sessions list` shows those of other folders.")
    return heads[0].session
