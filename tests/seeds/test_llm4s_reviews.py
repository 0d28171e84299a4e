"""llm4s, LS-56 to LS-62: a reviewer in place of a block, and what waits and is answered as plain data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Block, InvalidAnswers, Middleware, Usage, guardrail_review, proceed, reply
from hitl_cli.interrupts import dump
from tests.seeds.stage import Reviews, Stage, asks, ids, outcome

LONG = "far too long"


class Length:
    """Objects to a text of more than ten characters, in other words each time."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, text: str) -> str | None:
        self.seen.append(text)
        return f"objection {len(self.seen)}: {len(text)} characters" if len(text) > 10 else None


def reviewed(stage: Stage, length: Length, *replies: Any, phases: Any = ("input", "output")) -> Any:
    return stage.agent(*replies, middleware=[guardrail_review("length", length, phases)])


def texts(run: Any) -> list[str]:
    return [message["content"][0]["text"] for message in run.messages]


async def test_LS_56_a_guardrails_objection_is_put_to_a_reviewer_and_an_accepted_text_to_nobody(stage: Stage) -> None:
    length = Length()
    agent = reviewed(stage, length, "short", LONG)
    run = await stage.run(agent, "hi")
    assert (outcome(run), run.text, length.seen) == ("Completed", "short", ["hi", "short"])
    run = await stage.run(agent, "hi", run.session)
    [asked] = run.pending
    assert (asked.kind, asked.middleware) == ("review", "length")
    assert asked.payload == {
        "phase": "output",
        "guardrail": "length",
        "reason": "objection 4: 12 characters",
        "text": LONG,
    }


@pytest.mark.parametrize("phase", ["input", "output"])
@pytest.mark.parametrize("verdict", ["allow", {"edit": "another that is also too long"}, "block"])
async def test_LS_57_the_verdict_lets_the_text_through_replaces_it_or_blocks_the_turn(
    verdict: Any, phase: str, stage: Stage
) -> None:
    length = Length()
    said, answer = (LONG, "short") if phase == "input" else ("hi", LONG)
    agent = reviewed(stage, length, answer, phases=[phase])
    run = await stage.run(agent, said)
    assert run.pending[0].payload["phase"] == phase
    run = await stage.resume(agent, run, {ids(run)[0]: reply(verdict)})
    if verdict == "block":
        assert (outcome(run), run.by, run.messages) == ("Blocked", "length", [])
    else:
        passed = LONG if verdict == "allow" else verdict["edit"]
        assert outcome(run) == "Completed"
        assert texts(run) == ([passed, "short"] if phase == "input" else ["hi", passed])
    assert length.seen == [LONG]  # an edited text is not checked again


@pytest.mark.parametrize("verdict", ["allow", {"edit": "as long as that"}, "block"])
async def test_LS_58_a_verdict_holds_for_text_and_phase_whatever_the_words_of_the_objection(
    verdict: Any, stage: Stage
) -> None:
    class AsksToo(Middleware):
        """Makes the stack run once more."""

        id = "asks-too"

        async def after_agent(self, text: str, ctx: Any) -> None:
            ctx.ask("and you?", str)

    length = Length()
    guard = guardrail_review("length", length, ["output"])
    agent = stage.agent(LONG, middleware=[AsksToo(), guard])
    run = await stage.run(agent)
    while outcome(run) == "Suspended":
        run = await stage.resume(
            agent, run, {i.id: reply(verdict if i.middleware == "length" else "ok") for i in run.pending}
        )
    assert length.seen == [LONG]
    assert outcome(run) == ("Blocked" if verdict == "block" else "Completed")


async def test_LS_59_another_text_is_checked_and_may_be_asked_about_again(stage: Stage) -> None:
    class Rewords(Middleware):
        """Gives the answer in the words that a person chose, before it is checked."""

        id = "rewords"

        async def after_agent(self, text: str, ctx: Any) -> str:
            return str(ctx.ask("in which words?", str))

    length = Length()
    agent = stage.agent(LONG, LONG + "!", middleware=[guardrail_review("length", length, ["output"])])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reply("allow")})
    run = await stage.run(agent, "again", run.session)
    assert run.pending[0].payload["text"] == LONG + "!"
    assert length.seen == [LONG, LONG + "!"]
    both = Length()
    agent = stage.agent("short", middleware=[guardrail_review("length", both, ["output"]), Rewords()])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: reply(LONG)})
    assert run.pending[0].payload["text"] == LONG  # not what the model had said
    assert both.seen == [LONG]


@pytest.mark.parametrize("phase", ["input", "output"])
async def test_LS_60_a_blocked_turn_leaves_no_message_and_its_usage_counts(phase: str, stage: Stage) -> None:
    class Topics(Middleware):
        id = "topics"

        async def before_agent(self, text: str, ctx: Any) -> None:
            if text == "cook":
                raise Block("topics", "not about cooking")

        async def after_agent(self, text: str, ctx: Any) -> None:
            if text == "soup":
                raise Block("topics", "not about cooking")

    replies = ["well", *(["soup"] if phase == "output" else []), "fine"]
    agent = stage.agent(*replies, middleware=[Topics()])
    before = await stage.run(agent, "hi")
    run = await stage.run(agent, "cook" if phase == "input" else "and?", before.session)
    assert (outcome(run), run.by, run.reason, run.text) == ("Blocked", "topics", "not about cooking", "")
    assert run.messages == before.messages
    assert (await agent.load(run.session)).messages == before.messages
    assert run.usage == (Usage() if phase == "input" else Usage(10, 5))
    assert (await agent.load(run.session)).usage == (Usage(10, 5) if phase == "input" else Usage(20, 10))
    run = await stage.run(agent, "and now?", run.session)
    assert texts(run) == ["hi", "well", "and now?", "fine"]


async def test_LS_61_what_waits_is_listed_by_kind_and_each_has_only_the_fields_of_its_kind(stage: Stage) -> None:
    tools = [stage.works("held"), stage.works("look"), stage.external(), asks, stage.works("deploy", approve=True)]
    agent = stage.agent([(t.name, {}) for t in tools], tools=tools, middleware=[Reviews("look")])
    run = await stage.run(agent, break_before={"tool"})
    run = await stage.resume(agent, run, {f"1.1.{n}:before_tool": proceed() for n in (1, 2, 3, 4)})
    common = {"kind", "id", "call", "since"}
    assert [(i.kind, set(dump(i)) - common) for i in run.pending] == [
        ("approval", {"reason", "suggested", "digest", "preview", "trace", "part"}),
        ("question", {"payload", "type", "schema", "memo"}),
        ("external", set()),
        ("review", {"middleware", "hook", "payload", "schema", "memo"}),
        ("breakpoint", {"step", "phase"}),
    ]


async def test_LS_62_answers_may_be_plain_json_by_id(stage: Stage, tmp_path: Path) -> None:
    tools = [stage.works("held"), stage.works("look"), stage.external(), asks]
    tools += [stage.works(name, approve=True) for name in ("yes", "no", "other")]
    agent = stage.agent([(t.name, {}) for t in tools], "done", tools=tools, middleware=[Reviews("look")])
    run = await stage.run(agent, break_before={"tool"})
    run = await stage.resume(agent, run, {f"1.1.{n}:before_tool": {"proceed": {}} for n in range(1, 7)})
    file = tmp_path / "answers.json"
    file.write_text(
        """{
            "1.1.0:before_tool": {"proceed": {}},
            "1.1.1:around_tool.reviews": {"reply": {"value": "fine"}},
            "1.1.2:external": {"result": {"output": "3 rows"}},
            "1.1.3:ask": {"reply": {"value": 3}},
            "1.1.4:approval": {"approve": {"rules": ["yes"]}},
            "1.1.5:approval": {"reject": {"reason": "not this"}},
            "1.1.6:approval": {"edit": {"input": {"x": "new"}}}
        }"""
    )
    run = await stage.resume(agent, run, json.loads(file.read_text()))
    assert (run.text, stage.ran) == ("done", ["held", "look", "yes", "other new"])


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"approve": {}, "reject": {}},
        {"Approve": {}},
        {"approve": True},
        {"approve": {"rules": "deploy"}},
        {"approve": {"rules": [{"decision": "allow"}]}},
        {"edit": {}},
        {"edit": {"input": "x"}},
        {"reject": {"reason": 3}},
        {"approve": {"scope": "world", "rules": ["deploy"]}},
        [],
        "approve",
    ],
    ids=json.dumps,
)
async def test_LS_62_malformed_json_is_refused_and_nothing_changes(answer: Any, stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    before = await stage.recorded(run)
    with pytest.raises(InvalidAnswers) as refused:
        await stage.resume(agent, run, {ids(run)[0]: answer})
    assert list(refused.value.problems) == ids(run)
    assert (await stage.recorded(run), stage.ran) == (before, [])


SCRIPT = """
format = 1
[[turn]]
[[turn.reply]]
calls = [{ name = "make", tool = "Bash", input = { command = "mkdir made" } }]
[[turn.reply]]
when = "make ok"
text = "It is made."
"""


def test_LS_62_answers_are_read_from_a_file_at_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "script.toml").write_text(SCRIPT)
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("HITL_", "XDG_"))},
        "HOME": str(tmp_path / "home"),
        "HITL_STORE": str(tmp_path / "store.db"),
    }

    def hitl(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hitl_cli", *arguments]
        return subprocess.run(
            command, cwd=tmp_path / "ws", env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )

    def answered(text: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "answers.json").write_text(text)
        return hitl("answer", session, "--answers", str(tmp_path / "answers.json"))

    ran = hitl("run", "--model", f"script:{tmp_path / 'script.toml'}", "--output", "json", "make it")
    end = json.loads(ran.stdout)
    session, [waiting] = end["session"], end["pending"]
    assert (ran.returncode, waiting["call"]["input"]) == (4, {"command": "mkdir made"})
    for wrong in ("{", "[]", '{"9.9.9:approval": {"approve": {}}}', f'{{"{waiting["id"]}": {{"perhaps": {{}}}}}}'):
        refused = answered(wrong)
        assert refused.returncode == 2, wrong
        assert "Traceback" not in refused.stderr
    assert not (tmp_path / "ws" / "made").exists()
    done = answered(json.dumps({waiting["id"]: {"approve": {}}}))
    assert (done.returncode, (tmp_path / "ws" / "made").is_dir()) == (0, True), done.stderr
    assert "It is made." in done.stdout
