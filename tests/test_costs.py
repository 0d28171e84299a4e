"""What is done how often, counted: queries of a listing, commits of a call, bytes of a stream."""

from __future__ import annotations

import asyncio
import os

from hitl_cli import below, globbing, twins
from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.agent import Agent
from hitl_cli.journal import Began, ModelReply, Settings
from hitl_cli.models import TextDelta
from hitl_cli.permissions import codec, judging
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.tooldef import tool
from hitl_cli.ui.render import Teller


class Statements:
    """The SQL that a store runs."""

    def __init__(self, store: SqliteStore) -> None:
        self.seen: list[str] = []
        store._db.set_trace_callback(self.seen.append)

    def count(self, word: str) -> int:
        return sum(statement.startswith(word) for statement in self.seen)


class CallsOnce:
    """A model that wants one call made, then is content."""

    name, window = "calls-once", 1000

    async def stream(self, request):
        if len(request.messages) == 1:
            yield ModelReply(({"type": "tool_use", "id": "a", "name": "look", "input": {}},), "tool_use")
        else:
            yield ModelReply(({"type": "text", "text": "Done."},), "end")

    async def close(self):
        pass


@tool
def look() -> str:
    """Look."""
    return "seen"


def filled(count: int) -> SqliteStore:
    store = SqliteStore(":memory:")
    for number in range(count):
        session = store.create()
        head = Head(session, str(number), "/", "suspended", 1, pending=({"id": "1.1.0:approval"},))
        store.append([Began(1, "go", Settings("m", "default", "/"))], head, store.claim(session), 0)
    return store


def test_a_listing_takes_two_queries_however_many_sessions_it_lists():
    found = {}
    for count in (1, 50):
        store = filled(count)
        statements = Statements(store)
        assert len(store.heads(pending=True)) == count
        found[count] = statements.count("SELECT")
    assert found == {1: 2, 50: 2}


def test_the_line_of_one_session_does_not_read_the_others():
    store = filled(50)
    (newest, *_) = store.heads(limit=1)
    assert store.heads(session=newest.session) == [newest]


def test_a_turn_with_one_call_commits_a_handful_of_times():
    store = SqliteStore(":memory:")
    statements = Statements(store)
    run = asyncio.run(Agent(CallsOnce(), [look], store=store).run("go"))
    assert run.unwrap().text == "Done."
    assert statements.count("COMMIT") <= 10  # three for the session and its lease, one for each step of the journal


def test_what_is_printed_of_a_stream_grows_with_its_text_alone():
    text = "A paragraph of some words.\n\n- one\n- two\n\n```python\nprint(1)\n```\n\n"
    teller = Teller(80, True)
    printed = [sum(len(teller.tell(TextDelta(text[at : at + 3]))) for at in range(0, len(text), 3)) for _ in range(30)]
    assert len(set(printed[1:])) == 1


def test_a_folder_is_listed_once_however_many_patterns_of_a_call_are_compared_with_it(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(globbing, "listing", lambda folder: seen.append(folder) or ["a.py", "b.md"])
    place = Place(str(tmp_path), (str(tmp_path),), str(tmp_path / "home"))
    accesses_of("Bash", {"command": "cat *.py *.md *.txt"}, place)
    assert seen == [str(tmp_path)]


def test_a_folder_is_looked_at_once_however_often_a_command_names_it(tmp_path, monkeypatch):
    """With a rule about files below it, with links followed, and with files of several names."""
    (tmp_path / "deep").mkdir()
    for name in ("a", "deep/b"):
        (tmp_path / name).write_text("x")
    (tmp_path / "deep/c").hardlink_to(tmp_path / "a")
    (tmp_path / "deep/l").symlink_to("/etc")
    place = Place(str(tmp_path), (str(tmp_path),), "/home/u")
    policy = Policy([codec.parse("Read(deep/*)", Decision.DENY), codec.parse("Bash", Decision.ALLOW)], place)
    scanned = []
    monkeypatch.setattr(below.os, "scandir", lambda path, scan=os.scandir: scanned.append(path) or scan(path))

    def scans(command: str) -> int:
        scanned.clear()
        policy.judge(accesses_of("Bash", {"command": command}, place), mode="default", now=0, tool="Bash")
        return len(scanned)

    for command in ("grep -R x {}", "cp -rL {} /tmp", "cat {}"):
        one, many = (scans(command.format(" ".join(["deep", "a"] * times))) for times in (1, 300))
        assert many == one


def test_a_folder_that_is_copied_is_judged_once_however_often_a_command_names_it(tmp_path, monkeypatch):
    for name in ("deep", "to"):
        (tmp_path / name).mkdir()
    (tmp_path / "deep/a").write_text("x")
    place = Place(str(tmp_path), (str(tmp_path),), "/home/u")
    policy = Policy([codec.parse("Write(to/**/b)", Decision.DENY)], place)
    judged = []
    monkeypatch.setattr(
        judging, "brings", lambda at, it, brings=judging.brings: judged.append(it.path) or brings(at, it)
    )
    command = f"cp -r {' '.join(['deep', './deep'] * 300)} to"
    policy.judge(accesses_of("Bash", {"command": command}, place), mode="default", now=0, tool="Bash")
    assert judged == [str(tmp_path / "to/deep")]


def test_a_folder_is_walked_once_for_what_is_in_it_and_for_its_links(tmp_path, monkeypatch):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a").write_text("x")
    place = Place(str(tmp_path), (str(tmp_path),), "/home/u")
    policy = Policy([codec.parse("Read(**/b)", Decision.DENY), codec.parse("Bash", Decision.ALLOW)], place)
    scanned = []
    monkeypatch.setattr(below.os, "scandir", lambda path, scan=os.scandir: scanned.append(path) or scan(path))
    for command in ("grep -R x deep", "cp -rL deep b", "rg -L --hidden x deep && rg --hidden x deep"):
        scanned.clear()
        policy.judge(accesses_of("Bash", {"command": command}, place), mode="default", now=0, tool="Bash")
        assert sorted(scanned) == [f"{tmp_path}/deep", f"{tmp_path}/deep/er"]


def test_protected_names_are_looked_at_once_however_many_files_have_other_names(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(twins, "_protected", lambda place: looked.append(place) or [])
    for n in range(9):
        (tmp_path / f"a{n}").write_text("x")
        (tmp_path / f"b{n}").hardlink_to(tmp_path / f"a{n}")
    place = Place(str(tmp_path), (str(tmp_path),), "/home/u")
    accesses_of("Bash", {"command": "cat a* b1 b2"}, place)
    assert looked == [place]


def test_folders_of_one_call_share_what_may_be_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(below, "_ENTRIES", 50)
    for folder in range(20):
        (tmp_path / f"f{folder}").mkdir()
        for name in range(10):
            (tmp_path / f"f{folder}" / f"{name}").write_text("x")
    place = Place(str(tmp_path), (str(tmp_path),), "/home/u")
    policy = Policy([codec.parse("Read(secret)", Decision.DENY), codec.parse("Bash", Decision.ALLOW)], place)

    def decision(folders: int) -> Decision:
        command = "grep -r x " + " ".join(f"f{folder}" for folder in range(folders))
        return policy.judge(
            accesses_of("Bash", {"command": command}, place), mode="default", now=0, tool="Bash"
        ).decision

    assert decision(4) is Decision.ALLOW
    assert decision(20) is Decision.ASK  # what was not looked at may be what the rule closes
