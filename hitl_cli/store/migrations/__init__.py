"""The steps that bring a store's file to the format of today, one SQL file each; never edited once released."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path


def migrate(db: sqlite3.Connection) -> None:
    """Take the steps that the file has not taken yet. Within a transaction: it has taken all of them or none."""
    version = db.execute("PRAGMA user_version").fetchone()[0]  # read in it: another process may have been quicker
    steps = sorted(Path(__file__).parent.glob("*.sql"))
    for number, step in enumerate(steps[version:], version + 1):
        for statement in _statements(step.read_text(encoding="utf-8")):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {number}")


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
