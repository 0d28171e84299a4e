"""A store on a bad day: full, read-only, locked, cut short, newer than the program, partly damaged; a clock that jumps.

Each time the program says what is wrong and what to do, ends with the code of its kind, and loses nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitl_cli.errors import SessionBusy, StateTooNew, StoreError
from hitl_cli.journal import Changed
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore
from tests.cli.program import Said
from tests.durable.told import House, Server

NOTE = ("Bash", {"command": "echo ran >> log"})
ROOM = "\n  Make room on that disk; what was stored before is kept.\n"


@pytest.fixture
def home(tmp_path: Path, server: Server | None) -> House:
    return House(tmp_path, server)


def parked(home: House) -> str:
    """A session that waits for an approval."""
    home.calls(NOTE)
    said = home.at(0, "run", "go", "--output", "json", *home.model)
    assert said.code == 4, said
    return str(json.loads(said.out)["session"])


@contextlib.contextmanager
def changed(home: House) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(home.state / "sessions.db", isolation_level=None)
    yield db
    db.close()


@pytest.fixture
def disk(home: House) -> Iterator[Path]:
    """A disk of its own, of 400 kB, that holds the state folder."""
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", home.state]).returncode:
        pytest.skip("a disk can be mounted by root alone")
    yield home.state
    subprocess.run(["umount", home.state], check=True)


def fill(disk: Path) -> Path:
    file = disk / "fill"
    with file.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(b"x" * 512)
    return file


def test_a_full_disk_refuses_an_answer_and_takes_it_when_there_is_room(home: House, disk: Path) -> None:
    session = parked(home)
    filled = fill(disk)
    for command in (["answer", session, "--approve"], ["run", "more", *home.model]):
        said = home.at(0, *command)
        assert (said.code, said.out) == (1, "")
        assert "\n  Make room on that disk" in said.err
    assert home.log == []
    filled.unlink()
    assert home.at(0, "answer", session, "--approve").code == 0
    assert home.log == ["ran"]


def test_a_disk_that_fills_up_under_a_command_leaves_its_fate_to_a_person(home: House, disk: Path) -> None:
    home.calls(("Bash", {"command": "echo ran >> log; head -c 1000000 /dev/zero | tr '\\0' x"}))
    said = home.at(0, "run", "go", "--mode", "bypass", *home.model)
    assert (said.code, said.err.endswith(ROOM)) == (1, True), said
    shutil.rmtree(disk / "outputs")  # what the command said filled it
    head = home.head()
    assert head is not None
    assert head.status == "interrupted"
    said = home.at(0, "recover", head.session, "--output", "json")
    (waits,) = json.loads(said.out)["pending"]
    assert (said.code, waits["id"]) == (4, "1.1.0:uncertain")
    assert home.at(0, "answer", head.session, "--result", "it ran").code == 0
    assert home.log == ["ran"]


def test_a_store_that_cannot_be_written_can_be_read(home: House, disk: Path) -> None:
    session = parked(home)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert "1.1.0:approval" in home.at(0, "pending").out
    assert session in home.at(0, "sessions", "list").out
    assert "ask" in home.at(0, "log").out
    assert session in home.at(0, "show", session).out
    for command in (["answer", session, "--approve"], ["run", "more", *home.model]):
        said = home.at(0, *command)
        assert said.code == 1
        assert "Make it writable, or name another one with --store or HITL_STORE." in said.err
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert home.at(0, "answer", session, "--approve").code == 0
    assert home.log == ["ran"]


@pytest.mark.slow
def test_a_store_locked_by_another_program_is_waited_for_and_then_for_later(home: House) -> None:
    session = parked(home)
    with changed(home) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert home.at(0, "pending").out.count("1.1.0:approval") == 2  # reading goes on
        said = home.at(0, "answer", session, "--approve")
        assert said == Said(
            75,
            "",
            f"hitl: The store {home.state}/sessions.db failed: database is locked.\n"
            "  Another program holds it; try again when that is done. A stopped hitl holds it until it goes on or ends.\n",
        )
        db.execute("ROLLBACK")
    assert home.at(0, "answer", session, "--approve").code == 0
    assert home.log == ["ran"]


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_file_where_the_state_folder_should_be(home: House, below: str) -> None:
    (home.root / "file").write_text("mine")
    home.env["HITL_STATE_DIR"] = f"{home.root}/file{below}"
    home.script('[[turn]]\n[[turn.reply]]\ntext = "Hello."\n')
    for command in (["pending"], ["sessions", "list"], ["run", "go", *home.model]):
        said = home.at(0, *command)
        assert (said.code, said.out) == (1, "")
        assert said.err.endswith(
            "  A file stands where a folder should be: move it away, or name another store with --store or HITL_STORE.\n"
        )
    assert (home.root / "file").read_text() == "mine"


def test_a_store_of_a_newer_program_is_refused_by_every_command(home: House) -> None:
    session = parked(home)
    with changed(home) as db:
        db.execute("PRAGMA user_version = 99")
    for command in (["pending"], ["sessions", "list"], ["answer", session, "--approve"], ["log"], ["recover", session]):
        assert home.at(0, *command) == Said(
            2,
            "",
            f"hitl: {home.state}/sessions.db was written by a newer hitl (format 99).\n  Update hitl to use it.\n",
        )
    with changed(home) as db:
        db.execute("PRAGMA user_version = 1")
    assert home.at(0, "answer", session, "--approve").code == 0


def test_an_entry_of_a_newer_program_closes_its_session_alone(home: House) -> None:
    new, old = parked(home), parked(home)
    with changed(home) as db:
        db.execute("UPDATE entries SET body = json_set(body, '$.v', 99) WHERE session = ?", (new,))
    for command in (["answer", new, "--approve"], ["recover", new], ["show", new], ["sessions", "export", new]):
        said = home.at(0, *command)
        assert (said.code, said.out) == (2, "")
        assert "written by a newer hitl (format 99).\n  Update hitl to use it.\n" in said.err
    assert old in home.at(0, "pending").out
    assert old in home.at(0, "sessions", "list").out
    said = home.at(0, "log")
    assert (said.code, old in said.out, new in said.out) == (1, True, False)
    assert f"Not all of session {new} could be read." in said.err
    assert home.at(0, "answer", old, "--approve").code == 0


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET body = '{cut' WHERE session = ?",
        "UPDATE entries SET body = CAST(x'7bff7d' AS TEXT) WHERE session = ?",
        "UPDATE pending SET body = '[]' WHERE session = ?",
        "UPDATE pending SET body = '{cut' WHERE session = ?",
        "UPDATE pending SET body = CAST(x'ff' AS TEXT) WHERE session = ?",
        'UPDATE pending SET body = \'{"kind": "approval"}\' WHERE session = ?',
        "UPDATE sessions SET title = CAST(x'ffff' AS TEXT) WHERE id = ?",
        "DELETE FROM entries WHERE seq = 2 AND session = ?",
    ],
)
def test_a_damaged_session_hides_no_other_and_can_be_deleted(home: House, damage: str) -> None:
    bad, good = parked(home), parked(home)
    with changed(home) as db:
        db.execute(damage, (bad,))
    for command in (["pending"], ["pending", "--json"], ["sessions", "list"], ["sessions", "list", "--json"], ["log"]):
        said = home.at(0, *command)
        assert said.code == 0 or (command == ["log"] and "could be read" in said.err), (command, said)
        assert good in said.out
    for command in (["answer", bad, "--approve"], ["show", bad], ["sessions", "export", bad]):
        said = home.at(0, *command)
        assert "inside hitl" not in said.err, said
    assert home.at(0, "sessions", "delete", bad) == Said(0, f"deleted {bad}\n", "")
    assert home.at(0, "answer", good, "--approve").code == 0


def trouble(file: Path) -> str:
    """What is wrong with a store when everything in it is read; "" for nothing."""
    try:
        with contextlib.closing(SqliteStore(file)) as store:
            for head in store.heads():
                store.read(head.session)
            return store.check()
    except StoreError as error:
        return str(error)


def test_a_store_cut_short_anywhere_is_an_error_that_says_so_and_is_left_as_it_is(home: House) -> None:
    for _ in range(3):
        parked(home)
    store, whole = home.state / "sessions.db", home.root / "whole.db"
    shutil.copy(store, whole)
    size = whole.stat().st_size
    refused = 0
    for cut in range(0, size, 1000):
        content = whole.read_bytes()[:cut]
        store.write_bytes(content)
        if wrong := trouble(store):
            refused += 1
            assert str(store) in wrong or "is damaged" in wrong
            assert "\n  " in wrong
            assert store.read_bytes() == content
        if cut % 10_000 == 0:
            store.write_bytes(content)
            for command in (["pending"], ["run", "go", *home.model], ["log"]):
                said = home.at(0, *command)
                assert said.code in ((0, 4) if cut == 0 else (0, 1, 4)), (cut, said)
                assert "inside hitl" not in said.err
        for beside in home.state.glob("sessions.db-*"):
            beside.unlink()
    assert refused >= size // 1000 - 5


def test_a_journal_beside_the_store_cut_short_loses_only_what_was_not_committed(tmp_path: Path) -> None:
    live, kept = tmp_path / "live.db", tmp_path / "kept"
    kept.mkdir()
    store = SqliteStore(live)
    session = store.create()
    lease = store.claim(session)
    for n in range(20):
        store.append([Changed("title", str(n))], Head(session, title=str(n)), lease, n)
    wal = Path(f"{live}-wal").read_bytes()
    seen = set()
    for cut in range(0, len(wal), 1000):
        shutil.copy(live, kept / "cut.db")
        (kept / "cut.db-wal").write_bytes(wal[:cut])
        (kept / "cut.db-shm").unlink(missing_ok=True)
        with contextlib.closing(SqliteStore(kept / "cut.db")) as cut_short:
            heads = cut_short.heads()
            entries = cut_short.read(session) if heads else []
            assert [r.entry.value for r in entries] == [str(n) for n in range(len(entries))]  # type: ignore[union-attr]
            assert [h.title for h in heads] == ([str(len(entries) - 1)] if entries else [])
        seen.add(len(entries))
    assert len(seen) > 10
    store.close()


def test_a_lease_does_not_follow_the_wall_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "store.db")
    session, real = store.create(), time.time
    store.claim(session)
    for jump in (86_400.0, -86_400.0):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        with pytest.raises(SessionBusy):
            store.claim(session)
    other = store.create()
    store.claim(other, ttl=0.0)
    store.claim(other)
    store.close()


def test_a_clock_that_is_set_back_keeps_the_journal_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "store.db")
    session, real = store.create(), time.time
    lease = store.claim(session)
    for n, jump in enumerate((0.0, 7200.0, -7200.0, 0.0)):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        store.append([Changed("title", str(n))], Head(session, title=str(n)), lease, n)
    assert [(r.seq, r.entry.value) for r in store.read(session)] == [(n + 1, str(n)) for n in range(4)]  # type: ignore[union-attr]
    assert store.heads()[0].title == "3"
    store.close()


def test_an_entry_of_a_newer_program_is_told_after_all_others_were_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    found = []
    for n in range(2):
        session = store.create()
        lease = store.claim(session)
        store.append([Changed("title", str(n))], Head(session), lease, 0)
        found.append(session)
    store._db.execute("UPDATE entries SET body = json_set(body, '$.v', 99) WHERE session = ?", (found[0],))
    with pytest.raises(StateTooNew):
        store.read(found[0])
    entries = store.entries(["changed"])
    assert next(entries)[0] == found[1]
    with pytest.raises(StoreError, match=f"Not all of session {found[0]} could be read"):
        next(entries)
    store.close()
