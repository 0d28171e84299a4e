"""The commands that the REPL prints work in another window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitl_cli.paths import Paths
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.ui.setup import Setup


@pytest.mark.parametrize(
    ("environ", "store", "line"),
    [
        ({}, "state/sessions.db", "hitl answer 1"),
        ({}, "my store.db", "hitl answer 1 --store '{tmp}/my store.db'"),
        ({"HITL_STORE": "{tmp}/other.db"}, "other.db", "hitl answer 1"),
        (
            {"HITL_CONFIG_DIR": "/home/me/config", "HITL_STATE_DIR": "/home/me/state"},
            "state/sessions.db",
            "HITL_CONFIG_DIR={tmp}/config HITL_STATE_DIR={tmp}/state hitl answer 1",
        ),
    ],
)
def test_a_command_finds_its_store_from_elsewhere(environ: Any, store: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    unset: Any = None
    paths = Paths(tmp_path / "config", tmp_path / "state")
    usual = {"HITL_CONFIG_DIR": str(paths.config), "HITL_STATE_DIR": str(paths.state)}
    there = usual | {name: value.format(tmp=tmp_path) for name, value in environ.items()}
    setup = Setup(unset, unset, SqliteStore(tmp_path / store), paths, unset, unset, environ=there)
    assert setup.command("answer 1") == line.format(tmp=tmp_path)


def test_nothing_is_said_of_reopening_what_is_not_kept(tmp_path: Path) -> None:
    unset: Any = None
    paths = Paths(tmp_path, tmp_path)
    there = {"HITL_CONFIG_DIR": str(tmp_path), "HITL_STATE_DIR": str(tmp_path)}
    setup = Setup(unset, unset, SqliteStore(paths.store), paths, unset, unset, environ=there)
    assert setup.farewell("1", 2) == [
        "Session 1 is kept. Reopen it: hitl resume 1",
        "2 questions waiting: hitl pending",
    ]
    setup.kept = False
    assert setup.farewell("1", 2) == []
