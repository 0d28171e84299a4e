"""The demo played by itself: the real tools, rules, store and loop, in one scratch folder."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

from hitl_cli import rulebook
from hitl_cli.agent import Agent
from hitl_cli.demo import Demo, answers, lay
from hitl_cli.journal import Answered, Judged, Settled
from hitl_cli.models import open_model
from hitl_cli.outcome import Completed, RunEnded
from hitl_cli.paths import place_for
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.tools import Jobs, builtin


async def played(demo: Demo) -> tuple[Completed, list[Any]]:
    place = place_for(demo.repository, [], demo.paths)
    jobs, store = Jobs(), SqliteStore(demo.paths.store)
    agent = Agent(
        open_model(demo.model),
        builtin(place, demo.paths.outputs, jobs=jobs),
        mode="default",
        place=place,
        rules=rulebook.load(place, demo.paths).policy,
        store=store,
        save_rules=lambda grants, call: [
            rulebook.add(rulebook.granted(grant, "user"), "user", place, demo.paths) for grant in grants
        ],
        responder=lambda run: answers(demo.script, run),
    )
    events = [event async for event in agent.stream(demo.message)]
    await jobs.close()
    store.close()
    assert isinstance(events[-1], RunEnded)
    assert isinstance(events[-1].run, Completed)
    return events[-1].run, [event.entry for event in events if hasattr(event, "entry")]


def test_it_reads_edits_tests_is_refused_and_is_not_asked_again_for_what_was_saved(tmp_path: Path) -> None:
    demo = lay(tmp_path)
    run, entries = asyncio.run(played(demo))
    answered = [
        verb for entry in entries if isinstance(entry, Answered) for said in entry.answers.values() for verb in said
    ]
    assert answered == ["approve", "approve", "reject"]
    judged = {entry.call: (entry.decision, entry.who.kind) for entry in entries if isinstance(entry, Judged)}
    assert judged["1.3.0"] == ("allow", "rule")  # the second run of the tests
    kinds = [entry.result.kind for entry in entries if isinstance(entry, Settled)]
    assert kinds[-1] == "refused"
    assert run.text.startswith("Understood: the build folder and the server stay as they are.")
    assert '"Bash(python3 -m unittest)"' in demo.paths.user_rules.read_text()
    assert (demo.repository / "build" / "report.txt").exists()
    tests = subprocess.run(["python3", "-m", "unittest"], cwd=demo.repository, capture_output=True)
    assert tests.returncode == 0
