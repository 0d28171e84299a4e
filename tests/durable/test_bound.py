"""An answer counts for what was asked, once, in time; what was accepted is kept; every decision is in the log."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Agent, approve, tool
from hitl_cli.errors import StaleLease
from hitl_cli.interrupts import Approval
from hitl_cli.journal import Changed, Grant, Judged
from hitl_cli.loop import leasing
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Told
from tests.cli.program import Said, until
from tests.durable.told import House, Server

EDIT = """
[[turn]]
[[turn.reply]]
calls = [{ name = "r", tool = "Read", input = { file_path = "f.txt" } }]
[[turn.reply]]
calls = [{ name = "e", tool = "Write", input = { file_path = "f.txt", content = "mine\\n" } }]
[[turn.reply]]
text = "All done."
"""
ECHO = """
import sys
import time
from mcp.server.mcpserver import MCPServer
server = MCPServer("echo")

@server.tool()
def say(text: str) -> str:
    open("log", "a").write(text + "\\n")
    return text

server.run()
"""


@pytest.fixture
def home(tmp_path: Path, server: Server | None) -> House:
    found = House(tmp_path, server)
    (found.work / "f.txt").write_text("one\n")
    return found


def log(home: House, *filters: str) -> list[tuple[str, str, str, str]]:
    rows = [json.loads(line) for line in home.at(0, "log", "--json", *filters).out.splitlines()]
    return [(r["tool"], r["decision"], f"{r['by']['kind']} {r['by']['detail']}".strip(), r["reason"]) for r in rows]


def session(home: House) -> str:
    head = home.head()
    assert head is not None
    return head.session


def test_a_file_that_changed_after_the_question_is_asked_about_anew_and_the_log_says_so(home: House) -> None:
    home.script(EDIT)
    assert home.at(0, "run", "go", *home.model).code == 4
    (home.work / "f.txt").write_text("theirs\n")
    said = home.at(0, "answer", session(home), "--approve", "--output", "json")
    (asked,) = json.loads(said.out)["pending"]
    assert (said.code, asked["id"]) == (4, "1.2.0:approval~2")
    assert asked["reason"].startswith("it is no longer what was approved")
    assert "-theirs" in asked["preview"]["body"]
    rows = log(home, "--tool", "Write")
    assert [row[1] for row in rows] == ["ask", "approve", "ask"]
    assert [row[2] for row in rows[::2]] == ["mode default", "mode default"]
    assert rows[1][2].startswith("person")
    assert rows[2][3].startswith("it is no longer what was approved")
    assert (home.work / "f.txt").read_text() == "theirs\n"


def test_an_approved_file_that_changed_under_an_allowing_rule_is_asked_about_and_logged_as_that(home: House) -> None:
    home.script(EDIT)
    assert home.at(0, "run", "go", *home.model).code == 4
    home.at(0, "answer", session(home), "--approve", "--no-continue")
    (home.work / "f.txt").write_text("theirs\n")
    home.allow("Write(f.txt)")
    assert home.at(0, "recover", session(home)).code == 4
    assert log(home, "--tool", "Write")[-1][:3] == ("Write", "ask", "program changed since it was approved")


def test_an_edit_is_checked_against_the_deny_rules_and_the_request_is_kept(home: House) -> None:
    home.script(EDIT)
    assert home.at(0, "run", "go", "--deny", "Write(secret)", *home.model).code == 4
    edited = json.dumps({"file_path": "secret", "content": "x"})
    said = home.at(0, "answer", session(home), "--edit", edited)
    assert (said.code, "writing `secret` is denied by Write(secret)" in said.err) == (2, True)
    assert home.at(0, "answer", session(home), "--edit", edited.replace("secret", "open")).code == 0
    assert (home.work / "open").read_text() == "x"


def test_what_nobody_answered_in_time_has_expired_and_was_not_refused_by_anybody(home: House) -> None:
    home.calls(("Bash", {"command": "echo ran >> log"}))
    assert home.at(0, "run", "go", "--expires", "1s", *home.model).code == 4
    head = home.head()
    assert head is not None
    until(lambda: time.time() > head.pending[0]["expires"])
    said = home.at(0, "answer", head.session, "--approve")
    assert (said.code, "expired" in said.err) == (2, True)
    assert home.at(0, "recover", head.session).code == 3
    assert "Expired: nobody answered in time" in home.at(0, "show", head.session).out
    assert [row[2] for row in log(home)] == ["mode default", "expiry"]
    assert home.log == []


def test_a_call_of_a_server_that_is_gone_waits_until_the_server_is_back(home: House) -> None:
    (home.root / "echo.py").write_text(ECHO)
    (home.config / "config.toml").write_text(
        f"[mcp.echo]\ncommand = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(home.root / 'echo.py'))}]\n"
    )
    home.script(
        '[[turn]]\n[[turn.reply]]\ncalls = [{ name = "s", tool = "mcp__echo__say", input = { text = "hello" } }]\n'
        '[[turn.reply]]\ntext = "All done."\n'
    )
    assert home.at(0, "run", "go", *home.model).code == 4
    (home.root / "echo.py").rename(home.root / "away.py")
    for answer in (["--approve"], ["--approve", "--no-continue"], ["--edit", '{"text": "bye"}']):
        said = home.at(0, "answer", session(home), *answer)
        assert (said.code, said.out) == (2, "")
        assert "1.1.0:approval: the server 'echo', whose tool this is, is not there; what waits is kept" in said.err
    (home.root / "away.py").rename(home.root / "echo.py")
    said = home.at(0, "answer", session(home), "--approve")
    assert (said.code, said.out) == (0, "All done.\n")
    assert home.log == ["hello"]


def test_a_folder_that_is_gone_is_refused_and_the_request_is_kept(home: House) -> None:
    home.calls(("Bash", {"command": "echo ran >> log"}))
    assert home.at(0, "run", "go", *home.model).code == 4
    home.work.rename(home.root / "moved")
    home.work = home.root
    for command in (["answer", session(home), "--approve"], ["recover", session(home)]):
        said = home.at(0, *command)
        assert said.code == 2
        assert "is not a folder" in said.err
        assert "What waits in it is kept." in said.err
    (home.root / "moved").rename(home.root / "work")
    home.work = home.root / "work"
    assert home.at(0, "answer", session(home), "--approve").code == 0
    assert home.log == ["ran"]


def test_a_turn_that_is_not_over_is_not_forked_since_both_would_run_what_was_approved(home: House) -> None:
    home.calls(("Bash", {"command": "echo ran >> log"}))
    assert home.at(0, "run", "go", *home.model).code == 4
    first = session(home)
    assert home.at(0, "answer", first, "--approve", "--no-continue").code == 0
    assert home.at(0, "sessions", "fork", first) == Said(
        2, "", f"hitl: Session {first} is in the middle of a turn.\n  `hitl recover {first}`, then fork.\n"
    )
    assert home.at(0, "recover", first).code == 0
    assert home.at(0, "sessions", "fork", first).code == 0
    assert home.log == ["ran"]


class Died(BaseException):
    pass


def test_a_rule_accepted_by_a_process_that_died_is_written_by_the_next_answer(tmp_path: Path) -> None:
    """Even where another question still waits, so that nobody need recover the session; and only once."""
    kept: list[Grant] = []

    def dies(grants: Any, call: Any) -> None:
        raise Died

    @tool(approve=True)
    async def work(n: int) -> str:
        """Work."""
        return f"did {n}"

    @tool(approve=True)
    async def rest() -> str:
        """Rest."""
        return "rested"

    def process(save: Any, *replies: Any) -> Agent:
        return Agent(Told(*replies), [work, rest], store=SqliteStore(tmp_path / "store.db"), save_rules=save)

    async def story() -> None:
        first = process(dies, [("work", {"n": 1}), ("rest", {})])
        run: Any = await first.run("go")
        one, two = run.pending
        with pytest.raises(Died):
            await first.answer(run.session, {one.id: approve(["work(n:1)"], "user")})
        await first.close()
        second = process(lambda grants, call: kept.extend(grants), "done")
        loaded = await second.load(run.session)
        assert (loaded.status, [i.id for i in loaded.pending]) == ("suspended", [two.id])
        run = await second.resume(run.session, {two.id: approve()})
        assert kept == [Grant("allow", "work(n:1)", "user")]
        saved = [r.entry for r in (await second.load(run.session)).history if isinstance(r.entry, Changed)]
        assert [entry.what for entry in saved] == ["saved"]
        await second.close()

    asyncio.run(story())


def test_a_verdict_that_changes_before_the_start_is_in_the_journal_with_its_question(tmp_path: Path) -> None:
    asked = []

    def sometimes(input: Any, context: Any) -> bool:
        asked.append(input)
        return len(asked) > 1

    @tool(approve=sometimes)
    async def work() -> str:
        """Work."""
        return "ok"

    async def story() -> None:
        agent = Agent(Told([("work", {})], "done"), [work], store=SqliteStore(tmp_path / "store.db"))
        run: Any = await agent.run("go")
        history = [r.entry for r in (await agent.load(run.session)).history]
        assert [e.decision for e in history if isinstance(e, Judged)] == ["allow", "ask"]
        assert isinstance(run.pending[0], Approval)
        await agent.close()

    asyncio.run(story())


def test_a_body_ends_when_another_process_takes_the_session_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leasing, "RENEW", 0.05)

    async def story() -> None:
        inside, ended = asyncio.Event(), []

        @tool
        async def work() -> str:
            """Go on for good."""
            inside.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)
            return ""

        store, other = SqliteStore(tmp_path / "store.db"), SqliteStore(tmp_path / "store.db")
        agent = Agent(Told([("work", {})]), [work], store=store)
        session = store.create()
        late = asyncio.create_task(agent.run("go", session))
        await inside.wait()
        other._db.execute("UPDATE leases SET expires = 0")  # as if it had been frozen for as long as a lease lasts
        other.claim(session)
        with pytest.raises(StaleLease, match="taken over"):
            await late
        assert ended == [True]
        assert (await agent.load(session)).status == "interrupted"
        await agent.close()
        other.close()

    asyncio.run(story())
