"""The tools where they live: a scripted model, an agent with rules, a session on disk that another process continues."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from hitl_cli.access import Place
from hitl_cli.agent import Agent
from hitl_cli.interrupts import Approve, Reply
from hitl_cli.journal import Settled
from hitl_cli.models import open_model
from hitl_cli.outcome import Completed, Run, Suspended
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.tools import Jobs, builtin
from hitl_cli.tools.processes import members


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path


def agent(
    folder: Path, script: str, allow: Iterable[str] = (), deny: Iterable[str] = (), mode: str = "default"
) -> Agent:
    """A new one each time, as another process would make it; the session is on disk."""
    (folder / "script.toml").write_text(f"format = 1\nchunk = 0\n[[turn]]\n{script}")
    work = str(folder / "work")
    place = Place(work, (work,), str(folder))
    rules = [codec.parse(text, Decision.ALLOW) for text in allow] + [codec.parse(text, Decision.DENY) for text in deny]
    policy = Policy(rules, place)
    tools = builtin(place, folder / "outputs", jobs=Jobs(), readable=lambda path: policy.readable(path, path, now=0.0))
    model = open_model(f"script:{folder / 'script.toml'}")
    return Agent(model, tools, mode=mode, rules=policy, place=place, store=SqliteStore(folder / "store.db"))


_numbers = (f"call{n}" for n in count())


def call(tool: str, **input: object) -> str:
    fields = ", ".join(f"{key} = {_toml(value)}" for key, value in input.items())
    return f'[[turn.reply]]\ncalls = [{{ name = "{next(_numbers)}", tool = "{tool}", input = {{ {fields} }} }}]\n'


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    return str(value).lower() if isinstance(value, bool) else f"'''{value}'''"


def results(folder: Path, session: str) -> list[str]:
    entries = [recorded.entry for recorded in SqliteStore(folder / "store.db").read(session)]
    return [str(entry.result.content) for entry in entries if isinstance(entry, Settled)]


def test_what_was_read_is_known_in_another_process(folder):
    (folder / "work" / "a.txt").write_text("one\n")
    read = call("Read", file_path="a.txt")
    change = call("Edit", file_path="a.txt", old_string="one", new_string="two")
    script = f"{read}{change}"
    first = asyncio.run(agent(folder, script, allow=["Read"]).run("go"))
    assert isinstance(first, Suspended)
    (waiting,) = first.pending
    assert waiting.preview.body == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
    second = asyncio.run(agent(folder, script, allow=["Read"]).resume(first.session, {waiting.id: Approve()}))
    assert isinstance(second, Completed)
    assert (folder / "work" / "a.txt").read_text() == "two\n"


def test_an_approved_edit_of_a_file_that_changed_meanwhile_asks_again(folder):
    file = folder / "work" / "a.txt"
    file.write_text("one\n")
    script = call("Read", file_path="a.txt") + call("Edit", file_path="a.txt", old_string="one", new_string="two")
    first = asyncio.run(agent(folder, script, allow=["Read"]).run("go"))
    file.write_text("one\nand more\n")
    again = asyncio.run(agent(folder, script, allow=["Read"]).resume(first.session, {first.pending[0].id: Approve()}))
    assert isinstance(again, Suspended)
    assert again.pending[0].preview.body == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+two\n and more\n"
    assert file.read_text() == "one\nand more\n"


def test_a_read_deny_closes_glob_and_grep(folder):
    (folder / "work" / "secret").mkdir()
    (folder / "work" / "secret" / "key.txt").write_text("needle\n")
    (folder / "work" / "open.txt").write_text("needle\n")
    script = call("Glob", pattern="*") + call("Grep", pattern="needle") + call("Read", file_path="secret/key.txt")
    run = asyncio.run(agent(folder, script, allow=["Read", "Glob", "Grep"], deny=["Read(secret/**)"]).run("go"))
    listed, found, read = results(folder, run.session)
    assert (listed, found) == ("open.txt", "open.txt")
    assert "needle" not in read


def test_questions_suspend_the_turn_and_the_answers_reach_the_model(folder):
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
    script = call("AskUser", questions=questions)
    first = asyncio.run(agent(folder, script).run("go"))
    assert isinstance(first, Suspended)
    (waiting,) = first.pending
    assert (waiting.kind, waiting.fields[0].choices[1].label) == ("question", "B")
    run = asyncio.run(agent(folder, script).resume(first.session, {waiting.id: Reply({"q1": ["B"]})}))
    assert isinstance(run, Completed)
    assert results(folder, run.session) == ["Which?\nB"]


def test_a_plan_is_approved_like_a_call_and_ends_plan_mode(folder):
    script = call("Write", file_path="a.txt", content="x") + call("Plan", plan="Do it.") + call("Todo", items=[])
    first = asyncio.run(agent(folder, script, mode="plan").run("go"))
    assert isinstance(first, Suspended)
    assert not (folder / "work" / "a.txt").exists()
    run: Run = asyncio.run(agent(folder, script, mode="plan").resume(first.session, {first.pending[0].id: Approve()}))
    assert isinstance(run, Completed)
    assert results(folder, run.session)[1:] == ["The plan is approved: carry it out.", "(the list is empty)"]


def test_a_stopped_turn_ends_its_command(folder):
    script = call("Bash", command="echo $$ > pid; sleep 1000")

    async def story() -> int:
        running = asyncio.ensure_future(agent(folder, script, mode="bypass").run("go"))
        async with asyncio.timeout(20):
            while not (folder / "work" / "pid").exists() or not (folder / "work" / "pid").read_text():
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait([running])
        return int((folder / "work" / "pid").read_text())

    assert members(asyncio.run(story())) == []
