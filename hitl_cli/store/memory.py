"""A store that ends with the process: for programs that need nothing kept, and for tests."""

from __future__ import annotations

from hitl_cli.store.sqlite import SqliteStore


def MemoryStore() -> SqliteStore:
    return SqliteStore(":memory:")
