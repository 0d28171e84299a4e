"""The store as a command finds it: the one that is named, without starting an agent; and how times are told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitl_cli.store.sqlite import SqliteStore


def store_path(given: str | None) -> Path:
    """The file of the store: `--store`, `HITL_STORE`, else the one in the state folder."""
    import os

    from hitl_cli.paths import locate

    return Path(given or os.environ.get("HITL_STORE") or locate().store)


@contextmanager
def opened(given: str | None) -> Iterator[SqliteStore]:
    store = SqliteStore(store_path(given))
    try:
        yield store
    finally:
        store.close()


def age(since: float, now: float | None = None) -> str:
    """How long ago, in the largest fitting unit: `4 s`, `12 min`, `3 h`, `9 d`."""
    seconds = max(0.0, (time.time() if now is None else now) - since)
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // 86400)} d"


def stamp(at: float) -> str:
    """Local date and time to the second, with the offset, as ISO 8601 writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(at))
