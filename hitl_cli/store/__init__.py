"""Where journals are kept: an append-only list per session, a lease for who may append, and an index for listings.

The protocol is small enough that a database server can meet it. What a session *is* is never stored here except as
the index row, which is a fold of the journal made by the appender (`Head`), so that listings cost what they list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from hitl_cli.journal import Entry, Json, Recorded
from hitl_cli.records import Struct


class Head(Struct, frozen=True):
    """One line of `sessions list`; `pending` are the dumped interrupts that wait (what `hitl pending` lists)."""

    session: str
    title: str = ""
    cwd: str = ""
    status: str = "idle"  # idle | running | suspended | interrupted | failed | damaged
    turns: int = 0
    updated: float = 0.0
    pending: tuple[Mapping[str, Json], ...] = ()
    project: str = ""


class Lease(Struct, frozen=True):
    """The right to append to a session; `token` grows with every claim, so a late holder is refused."""

    session: str
    token: int


class Store(Protocol):
    """Blocking calls; each is short. Raises StoreError, SessionBusy, StaleLease, StateTooNew, UnknownSession."""

    def create(self, session: str | None = None) -> str: ...
    def find(self, prefix: str) -> str:
        """The session whose id is `prefix`, else the only one that begins with it; UnknownSession otherwise."""

    def read(self, session: str, after: int = 0) -> list[Recorded]: ...
    def entries(
        self, types: Sequence[str], *, session: str | None = None, since: float = 0.0, until: float | None = None
    ) -> Iterator[tuple[str, Recorded]]:
        """Entries of some types (`judged`, `answered`) over all sessions, oldest first; at last StoreError when some
        could not be read."""

    def append(self, entries: Sequence[Entry], head: Head, lease: Lease, after: int) -> list[Recorded]:
        """All or nothing, durable on return; refused (StaleLease) unless the lease is current and `after` is the last seq."""

    def claim(self, session: str, ttl: float = 30.0) -> Lease:
        """SessionBusy while another live holder has it; void at once when that holder's process on this host is gone."""

    def renew(self, lease: Lease, ttl: float = 30.0) -> None: ...
    def release(self, lease: Lease) -> None: ...
    def heads(
        self, *, session: str | None = None, pending: bool = False, cwd: str | None = None, limit: int | None = None
    ) -> list[Head]:
        """Newest first; `session`: only this one; `pending`: only sessions in which something waits. A damaged session
        is a Head too."""

    def delete(self, session: str) -> None: ...
    def close(self) -> None: ...
