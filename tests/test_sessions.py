"""What may be done with a stored session as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hitl_cli import sessions
from hitl_cli.errors import SessionBusy, SessionPending, Unfinished, UnknownSession
from hitl_cli.journal import Began, Changed, Ended, ModelReply, Replied, Settings, Usage
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore

ENTRIES = (
    Began(1, "password = hunter22", Settings("m", "default", "/w")),
    Replied(1, 1, ModelReply(({"type": "text", "text": "Seen."},), "end", Usage(1, 1))),
    Ended(1, "completed"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "store.db")
    yield made
    made.close()


def kept(store: SqliteStore, *, pending: tuple[dict[str, str], ...] = ()) -> str:
    id = store.create()
    lease = store.claim(id)
    store.append(ENTRIES, Head(id, "a title", "/w", "idle", 1, pending=pending), lease, 0)
    store.release(lease)
    return id


def test_a_new_title_is_an_entry_and_the_listing_shows_it(store: SqliteStore) -> None:
    id = kept(store)
    sessions.rename(store, id, "another")
    assert store.read(id)[-1].entry == Changed("title", "another")
    assert sessions.head_of(store, id).title == "another"


def test_a_session_that_is_run_is_not_renamed(store: SqliteStore) -> None:
    id = kept(store)
    store.claim(id)
    with pytest.raises(SessionBusy):
        sessions.rename(store, id, "another")


def test_a_fork_holds_all_and_leaves_the_first_as_it_is(store: SqliteStore) -> None:
    id = kept(store)
    copy = sessions.fork(store, id)
    assert [r.entry for r in store.read(copy)] == [*ENTRIES, Changed("title", f"a title (fork of {id})")]
    assert [r.entry for r in store.read(id)] == list(ENTRIES)
    assert {head.session: head.title for head in store.heads()} == {id: "a title", copy: f"a title (fork of {id})"}


def test_a_turn_that_runs_is_busy_and_one_that_was_cut_off_is_to_be_recovered_before_a_fork(store: SqliteStore) -> None:
    id = store.create()
    lease = store.claim(id)
    store.append(ENTRIES[:1], Head(id, "a title", "/w", "running", 1), lease, 0)
    with pytest.raises(SessionBusy):
        sessions.fork(store, id)
    store.release(lease)
    with pytest.raises(Unfinished, match=f"hitl recover {id}"):
        sessions.fork(store, id)
    store.release(store.claim(id))  # nothing holds it


def test_what_waits_is_not_forked(store: SqliteStore) -> None:
    id = kept(store, pending=({"id": "1.1.0:approval"},))
    with pytest.raises(SessionPending) as caught:
        sessions.fork(store, id)
    assert caught.value.ids == ("1.1.0:approval",)


def test_exports_mask_secrets_in_both_forms(store: SqliteStore) -> None:
    id = kept(store)
    head = sessions.head_of(store, id)
    assert sessions.as_object(head, store.read(id))["entries"][0]["text"] == "password = hunt…[masked]"
    text = sessions.as_markdown(head, store.read(id))
    assert text.startswith("# a title\n\nSession ")
    assert "## You\n\npassword = hunt…[masked]\n\n## hitl\n\nSeen." in text


def test_a_session_that_is_not_there_is_named(store: SqliteStore) -> None:
    with pytest.raises(UnknownSession, match="'zz'"):
        sessions.head_of(store, "zz")
