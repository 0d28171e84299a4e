"""The journals in one SQLite file (the only home of sqlite3).

WAL with `synchronous=FULL`: when `append` returns, the entries are on disk. Each append is one `BEGIN IMMEDIATE`
transaction that checks the lease's token and the last number before it writes, so a holder that was taken over, however
late it wakes, can change nothing. One connection, used by one thread at a time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hitl_cli.errors import HitlError, SessionBusy, StaleLease, StateTooNew, StoreBusy, StoreError, UnknownSession
from hitl_cli.journal import Entry, Recorded, type_of
from hitl_cli.store import Head, Lease, bodies, process

FORMAT = 1  # the number of steps in migrations/
BUSY_SECONDS = 5.0
COLUMNS = "seq, at, CAST(body AS BLOB)"  # of an entry; as bytes, so that one that is no UTF-8 spoils no other


class SqliteStore:
    """`path` is a file, made with its folder (private to the user) when missing, or `:memory:`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._lock = threading.RLock()
        self._me = process.me()
        with self._errors():
            self._db = self._open()
            self._migrate()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # --- sessions ---------------------------------------------------------------------------------------------------

    def create(self, session: str | None = None) -> str:
        """Reserve an id; the session is listed once something was appended to it."""
        import secrets  # loads ciphers, and most commands only read

        with self._transaction() as db:
            width = 2 if db.execute("SELECT count(*) FROM sessions").fetchone()[0] < 1000 else 4
            while True:
                id = session or secrets.token_hex(width)
                done = db.execute("INSERT OR IGNORE INTO sessions (id) VALUES (?)", (id,))
                if done.rowcount:
                    return id
                if session:
                    raise StoreError(f"session {session} exists already")

    def find(self, prefix: str) -> str:
        with self._reading() as db:
            exact = db.execute("SELECT id FROM sessions WHERE id = ?", (prefix,)).fetchone()
            if exact:
                return str(exact[0])
            rows = db.execute(
                "SELECT id FROM sessions WHERE substr(id, 1, ?) = ? AND last_seq > 0 LIMIT 5", (len(prefix), prefix)
            ).fetchall()
        if len(rows) == 1 and prefix:
            return str(rows[0][0])
        if rows and prefix:
            several = ", ".join(r[0] for r in rows)
            raise UnknownSession(f"Several sessions begin with {prefix}: {several}.\n  Give more of the id.")
        raise UnknownSession(f"There is no session {prefix!r}.\n  `hitl sessions list` shows those that there are.")

    def delete(self, session: str) -> None:
        """SessionBusy while a live process runs it."""
        with self._transaction() as db:
            self._refuse_busy(db, session)
            db.execute("DELETE FROM sessions WHERE id = ?", (session,))

    def heads(
        self, *, session: str | None = None, pending: bool = False, cwd: str | None = None, limit: int | None = None
    ) -> list[Head]:
        given = _given({"id = ?": session, "cwd = ?": cwd})
        where = ["last_seq > 0", *given, *(["id IN (SELECT session FROM pending)"] if pending else [])]
        sql = (
            "SELECT id, title, cwd, status, turns, updated, project, holder, expires FROM sessions"
            f" LEFT JOIN leases ON leases.session = id WHERE {' AND '.join(where)} ORDER BY updated DESC LIMIT ?"
        )
        bodies: dict[str, list[str]] = {}
        with self._reading() as db:
            rows = db.execute(sql, (*given.values(), -1 if limit is None else limit)).fetchall()
            # All that waits in one query, not one for each session that is listed.
            for id, body in db.execute("SELECT session, body FROM pending ORDER BY session, position"):
                bodies.setdefault(id, []).append(body)
        return [self._head(row, bodies.get(row[0], ())) for row in rows]

    def _head(self, row: Sequence[Any], bodies: Iterable[str]) -> Head:
        id, title, cwd, status, turns, updated, project, holder, expires = row
        if status == "running" and (holder is None or self._void(holder, expires)):
            status = "interrupted"
        try:
            waiting = tuple(json.loads(body) for body in bodies)
        except ValueError:
            status, waiting = "damaged", ()
        return Head(id, title, cwd, status, turns, updated, waiting, project)

    def check(self) -> str:
        """What SQLite finds wrong with the file, "" for nothing."""
        from hitl_cli.store.remedies import remedy

        with self._reading() as db:
            found = "; ".join(row[0] for row in db.execute("PRAGMA quick_check(5)").fetchall())
        return "" if found == "ok" else f"{found}\n{remedy('malformed')}"

    # --- journals ---------------------------------------------------------------------------------------------------

    def read(self, session: str, after: int = 0) -> list[Recorded]:
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM entries WHERE session = ? AND seq > ? ORDER BY seq", (session, after)
            ).fetchall()
        entries = [self._decode(session, *row) for row in rows]
        if any(entry.seq != after + number for number, entry in enumerate(entries, 1)):
            raise self._damaged(session, "entries are missing")
        return entries

    def entries(
        self, types: Sequence[str], *, session: str | None = None, since: float = 0.0, until: float | None = None
    ) -> Iterator[tuple[str, Recorded]]:
        """Entries of some types over all sessions, oldest first, as (session, entry).

        Raises StoreError after the last of them when some could not be read: those hide no other.
        """
        given = _given({"at <= ?": until, "session = ?": session})
        where = [f"type IN ({', '.join('?' * len(types))})", "at >= ?", *given]
        sql = f"SELECT session, {COLUMNS} FROM entries WHERE {' AND '.join(where)} ORDER BY at, session, seq"
        with self._reading() as db:
            rows = db.execute(sql, [*types, since, *given.values()]).fetchall()
        unread: dict[str, HitlError] = {}
        for id, *row in rows:
            try:
                yield id, self._decode(id, *row)
            except (StoreError, StateTooNew) as error:
                unread[id] = error
        if unread:
            raise StoreError("\n".join(f"Not all of session {id} could be read. {why}" for id, why in unread.items()))

    def append(self, entries: Sequence[Entry], head: Head, lease: Lease, after: int) -> list[Recorded]:
        at = time.time()
        recorded = [Recorded(after + number, at, entry) for number, entry in enumerate(entries, 1)]
        rows = [(head.session, r.seq, at, type_of(r.entry), bodies.text(r.entry)) for r in recorded]
        with self._transaction() as db:
            done = db.execute(
                "UPDATE sessions SET last_seq=?, title=?, cwd=?, project=?, status=?, turns=?, updated=?"
                " WHERE id = ? AND last_seq = ? AND (SELECT token FROM leases WHERE session = id) = ?",
                (
                    *(after + len(rows), head.title, head.cwd, head.project, head.status, head.turns, at),
                    *(lease.session, after, lease.token),
                ),
            )
            if not done.rowcount:
                raise self._stale(db, lease)
            db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
            db.execute("DELETE FROM pending WHERE session = ?", (head.session,))
            db.executemany(
                "INSERT INTO pending VALUES (?, ?, ?)",
                [(head.session, n, json.dumps(i, ensure_ascii=False)) for n, i in enumerate(head.pending)],
            )
        return recorded

    def _stale(self, db: sqlite3.Connection, lease: Lease) -> StaleLease:
        token = db.execute("SELECT token FROM leases WHERE session = ?", (lease.session,)).fetchone()
        if token is None or token[0] != lease.token:
            return StaleLease(f"Another process has taken over session {lease.session}; nothing was written.")
        last = db.execute("SELECT last_seq FROM sessions WHERE id = ?", (lease.session,)).fetchone()
        return StaleLease(f"Session {lease.session} has moved on to entry {last and last[0]}; nothing was written.")

    def _decode(self, session: str, seq: int, at: float, body: bytes) -> Recorded:
        try:
            return Recorded(seq, at, bodies.read(body))
        except StateTooNew:
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(session, f"entry {seq} cannot be read ({error})") from error

    def _damaged(self, session: str, what: str) -> StoreError:
        try:
            with self._transaction() as db:
                db.execute("UPDATE sessions SET status = 'damaged' WHERE id = ?", (session,))
        except HitlError:
            pass  # a store that cannot be written: the mark only serves listings
        return StoreError(
            f"Session {session} is damaged: {what}.\n"
            f"  Other sessions are not touched by this. `hitl sessions delete {session}` removes it."
        )

    # --- leases -----------------------------------------------------------------------------------------------------

    def claim(self, session: str, ttl: float = 30.0) -> Lease:
        with self._transaction() as db:
            if not db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone():
                raise UnknownSession(f"There is no session {session!r}.")
            self._refuse_busy(db, session)
            (token,) = db.execute(
                "INSERT INTO leases VALUES (?1, 1, ?2, ?3) ON CONFLICT (session) DO UPDATE"
                " SET token = token + 1, holder = ?2, expires = ?3 RETURNING token",
                (session, self._me, process.now(self._me) + ttl),
            ).fetchone()
        return Lease(session, token)

    def renew(self, lease: Lease, ttl: float = 30.0) -> None:
        with self._transaction() as db:
            done = db.execute(
                "UPDATE leases SET expires = ? WHERE session = ? AND token = ?",
                (process.now(self._me) + ttl, lease.session, lease.token),
            )
            if not done.rowcount:
                raise StaleLease(f"Another process has taken over session {lease.session}.")

    def release(self, lease: Lease) -> None:
        with self._transaction() as db:
            db.execute("UPDATE leases SET expires = 0 WHERE session = ? AND token = ?", (lease.session, lease.token))

    def _refuse_busy(self, db: sqlite3.Connection, session: str) -> None:
        row = db.execute("SELECT holder, expires FROM leases WHERE session = ?", (session,)).fetchone()
        if row and not self._void(*row):
            raise SessionBusy(process.busy(session, *row))

    def _void(self, holder: str, expires: float) -> bool:
        return expires <= process.now(holder) or process.gone(holder)

    # --- the file ---------------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self.path == ":memory:":
            return sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
        folder = os.path.dirname(os.path.abspath(self.path))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.path.exists(self.path):
            # SQLite gives its -wal and -shm files the mode of the main file.
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        writable = os.access(self.path, os.W_OK) and os.access(folder, os.W_OK)
        uri = Path(os.path.abspath(self.path)).as_uri()
        if not writable:
            # Without a file of a writer's beside it, it holds everything; SQLite would want to make one.
            uri += "?mode=ro" if os.path.exists(f"{self.path}-wal") else "?immutable=1"
        db = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        if writable:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return db

    def _migrate(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise StateTooNew(f"{self.path} was written by a newer hitl (format {version}).\n  Update hitl to use it.")
        if version < FORMAT:
            from hitl_cli.store.migrations import migrate

            with self._transaction() as db:
                migrate(db)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            yield self._db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            from hitl_cli.store.remedies import remedy

            said = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) else str(error)
            kind = StoreBusy if "locked" in said else StoreError
            raise kind(f"The store {self.path} failed: {said}.\n  {remedy(said)}") from error


def _given(conditions: dict[str, Any]) -> dict[str, Any]:
    """The conditions that were given, each with its value."""
    return {condition: value for condition, value in conditions.items() if value is not None}
