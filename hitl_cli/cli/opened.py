"""The store as a command finds it: the one that is named, without starting an agent; and how times are told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from hitl_cli.errors import SessionBusy
from hitl_cli.paths import locate
from hitl_cli.store.sqlite import SqliteStore

T = TypeVar("T")


def store_path(given: str | None) -> Path:
    """The file of the store: `--store`, `HITL_STORE`, else the one in the state folder."""
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
    """A moment for programs: RFC 3339, UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def local(at: str) -> str:
    """What `stamp` gave, for people: the time of this place, to the second."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def patiently(work: Callable[[], T]) -> T:
    """What `work` gives, tried again for 5 s while another process runs the session; at last SessionBusy."""
    end = time.monotonic() + 5
    while True:
        try:
            return work()
        except SessionBusy:
            if time.monotonic() > end:
                raise
        time.sleep(0.1)
