"""The store's promises, on real files and with real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from hitl_cli.errors import SessionBusy, StaleLease, StateTooNew, StoreError, UnknownSession
from hitl_cli.journal import Changed, Judged, Recorded, Who
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path):
    store = SqliteStore(tmp_path / "state" / "sessions.db" if request.param == "file" else ":memory:")
    yield store
    store.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sessions.db"


def title(text: str) -> Changed:
    return Changed("title", text, Who("person"))


def written(store: SqliteStore, *entries, **head) -> str:
    """A session with these entries, its lease released."""
    session = store.create()
    lease = store.claim(session)
    store.append(entries or [title("one")], Head(session, **head), lease, 0)
    store.release(lease)
    return session


def test_entries_come_back_as_they_were_numbered_from_one(store):
    session = store.create()
    lease = store.claim(session)
    first = store.append([title("a"), title("b")], Head(session, title="b"), lease, 0)
    second = store.append([title("c")], Head(session, title="c"), lease, 2)
    assert [r.seq for r in first + second] == [1, 2, 3]
    assert store.read(session) == first + second
    assert store.read(session, after=2) == second
    assert all(isinstance(r, Recorded) for r in first)


def test_a_reserved_session_without_entries_is_not_listed(store):
    store.create()
    assert store.heads() == []


def test_listing_is_newest_first_and_pending_lists_only_what_waits(store):
    old = written(store, title="old", cwd="/a")
    new = written(store, title="new", cwd="/b", status="suspended", pending=({"id": "1.1.0:approval"},))
    assert [h.session for h in store.heads()] == [new, old]
    assert [h.session for h in store.heads(pending=True)] == [new]
    assert store.heads(pending=True)[0].pending == ({"id": "1.1.0:approval"},)
    assert [h.title for h in store.heads(cwd="/a")] == ["old"]
    assert len(store.heads(limit=1)) == 1


def test_an_append_after_the_wrong_entry_changes_nothing(store):
    session = store.create()
    lease = store.claim(session)
    store.append([title("a")], Head(session), lease, 0)
    with pytest.raises(StaleLease):
        store.append([title("b")], Head(session), lease, 0)
    assert len(store.read(session)) == 1


def test_a_second_claim_is_refused_until_the_first_is_released(store):
    session = store.create()
    lease = store.claim(session)
    with pytest.raises(SessionBusy, match="pid"):
        store.claim(session)
    store.release(lease)
    assert store.claim(session).token == lease.token + 1


def test_a_lease_that_ran_out_is_taken_over_and_the_late_holder_can_do_nothing(store):
    session = store.create()
    late = store.claim(session, ttl=0.0)
    current = store.claim(session)
    for attempt in (
        lambda: store.append([title("late")], Head(session), late, 0),
        lambda: store.renew(late),
    ):
        with pytest.raises(StaleLease):
            attempt()
    store.release(late)  # releasing late does not release the current lease
    store.append([title("current")], Head(session), current, 0)
    with pytest.raises(SessionBusy):
        store.claim(session)


def test_the_lease_of_a_killed_process_is_void_at_once(path):
    store = SqliteStore(path)
    session = written(store, title="x", status="running")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time\nfrom hitl_cli.store.sqlite import SqliteStore\n"
            "s = SqliteStore(sys.argv[1]); s.claim(sys.argv[2]); print('held', flush=True); time.sleep(60)",
            str(path),
            session,
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    here = (
        f"Session {session} is run by another process \\(pid {holder.pid} on {re.escape(os.uname().nodename)}\\).\n  "
    )
    with pytest.raises(
        SessionBusy, match=f"{here}Wait until it is done, or end it \\(kill {holder.pid}\\) and go on here: "
    ):
        store.claim(session)
    holder.send_signal(signal.SIGSTOP)
    os.waitpid(holder.pid, os.WUNTRACED)
    with pytest.raises(
        SessionBusy,
        match=f"{here}It is stopped: let it go on \\(kill -CONT .*, or go on here in .. s: hitl recover {session}",
    ):
        store.claim(session)
    assert store.heads()[0].status == "running"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert store.heads()[0].status == "interrupted"
    assert store.claim(session).token > 1


def test_of_a_holder_on_another_machine_it_is_said_when_its_claim_ends(path, monkeypatch):
    store = SqliteStore(path)
    session = store.create()
    store.claim(session)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename="elsewhere"))
    with pytest.raises(
        SessionBusy, match=f"If it is gone, its claim ends in 30 s; then go on here: hitl recover {session}"
    ):
        store.claim(session)


def test_ids_are_found_by_a_unique_prefix_and_an_exact_id_is_never_a_prefix(store):
    for id in ("ab", "abcd", "cd12"):
        store.create(id)
        lease = store.claim(id)
        store.append([title(id)], Head(id), lease, 0)
    assert store.find("ab") == "ab"
    assert store.find("abc") == "abcd"
    assert store.find("c") == "cd12"
    for prefix, words in (("a", "Several"), ("zz", "no session"), ("", "no session")):
        with pytest.raises(UnknownSession, match=words):
            store.find(prefix)


def test_deleting_takes_everything_of_a_session_and_refuses_a_running_one(store):
    session = written(store, pending=({"id": "x"},))
    lease = store.claim(session)
    with pytest.raises(SessionBusy):
        store.delete(session)
    store.release(lease)
    store.delete(session)
    assert store.heads() == []
    with pytest.raises(UnknownSession):
        store.find(session)


def test_decisions_of_all_sessions_are_read_in_the_order_of_time(store):
    judged = [Judged(f"1.1.{n}", "allow", Who("rule", "x:1"), "because") for n in range(3)]
    a, b = written(store, title("t"), judged[0]), written(store, judged[1])
    found = list(store.entries(["judged"]))
    assert [(s, r.entry) for s, r in found] == [(a, judged[0]), (b, judged[1])]
    assert [s for s, _ in store.entries(["judged"], session=b)] == [b]
    assert list(store.entries(["judged"], since=time.time() + 60)) == []


def test_files_are_private_to_the_user(tmp_path):
    path = tmp_path / "new" / "folder" / "sessions.db"
    store = SqliteStore(path)
    written(store)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o777 for f in path.parent.iterdir()} == {0o600}


def test_a_damaged_session_is_named_and_never_hides_the_others(path):
    store = SqliteStore(path)
    bad, good = written(store, title="bad"), written(store, title="good")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE entries SET body = '{cut' WHERE session = ?", (bad,))
    with pytest.raises(StoreError, match=f"Session {bad} is damaged"):
        store.read(bad)
    assert len(store.read(good)) == 1
    assert {h.session: h.status for h in store.heads()} == {bad: "damaged", good: "idle"}


def test_a_lost_entry_is_damage_too(path):
    store = SqliteStore(path)
    session = written(store, title("a"), title("b"), title("c"))
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM entries WHERE seq = 2")
    with pytest.raises(StoreError, match="entries are missing"):
        store.read(session)


@pytest.mark.parametrize("kind", ["garbage", "cut", "folder"])
def test_a_file_that_is_no_store_is_an_error_that_names_it_and_is_left_alone(path, kind):
    if kind == "folder":
        path.mkdir()
    elif kind == "garbage":
        path.write_bytes(b"not a database at all" * 100)
    else:
        SqliteStore(path).close()
        path.write_bytes(path.read_bytes()[:5000])
    before = None if kind == "folder" else path.read_bytes()
    with pytest.raises(StoreError, match=str(path)):
        written(SqliteStore(path))
    assert before is None or path.read_bytes() == before


def test_a_store_of_a_newer_format_is_refused_unchanged(path):
    SqliteStore(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StateTooNew, match="newer hitl"):
        SqliteStore(path)


def test_an_entry_of_a_newer_version_is_refused(path):
    store = SqliteStore(path)
    session = written(store)
    with sqlite3.connect(path) as db:
        body = json.loads(db.execute("SELECT body FROM entries").fetchone()[0])
        db.execute("UPDATE entries SET body = ?", (json.dumps({**body, "v": 99}),))
    with pytest.raises(StateTooNew):
        store.read(session)


def test_a_store_locked_by_another_program_is_a_clear_error(path, monkeypatch):
    monkeypatch.setattr("hitl_cli.store.sqlite.BUSY_SECONDS", 0.05)
    store = SqliteStore(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="Another program holds it"):
        store.create()
    other.execute("ROLLBACK")
    other.close()
    store.create()


def test_a_full_store_keeps_what_was_there_and_says_what_to_do(path):
    store = SqliteStore(path)
    session = written(store)
    store._db.execute(f"PRAGMA max_page_count = {store._db.execute('PRAGMA page_count').fetchone()[0] + 1}")
    lease = store.claim(session)
    with pytest.raises(StoreError, match="Make room"):
        store.append([title("x" * 100_000)], Head(session), lease, 1)
    assert len(store.read(session)) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_cannot_be_written_can_still_be_read(path):
    written(SqliteStore(path))
    path.chmod(0o400)
    store = SqliteStore(path)
    assert len(store.heads()) == 1
    with pytest.raises(StoreError, match="writable"):
        store.create()


def test_two_threads_use_one_store(store):
    import threading

    sessions = [store.create() for _ in range(8)]

    def fill(session):
        lease = store.claim(session)
        for n in range(20):
            store.append([title(str(n))], Head(session), lease, n)

    threads = [threading.Thread(target=fill, args=(s,)) for s in sessions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [len(store.read(s)) for s in sessions] == [20] * 8
