"""agno, AG-36 to AG-52: calls that run elsewhere, what waits as plain data, and what does not count as an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli import (
    Approval,
    Breakpoint,
    Choice,
    External,
    Field,
    InvalidAnswers,
    NotSuspended,
    Preview,
    Question,
    Review,
    SessionPending,
    SqliteStore,
    Suggestion,
    Suspended,
    approve,
    reject,
    reply,
    result,
    tool,
)
from hitl_cli.interrupts import dump, load, load_answer
from hitl_cli.journal import Call, Settled
from hitl_cli.records import replace
from tests.seeds.stage import Stage, asks, ids, outcome, results


@tool(user_fields=["to"])
def mail(subject: str, to: str) -> str:
    """Send a mail."""
    return f"{subject} to {to}"


async def test_AG_36_an_external_call_is_handed_over_and_its_body_never_entered(stage: Stage) -> None:
    agent = stage.agent([("query", {"x": "sql"})], "done", tools=[stage.works("query", external=True)])
    run = await stage.run(agent)
    assert (run.pending[0].kind, run.pending[0].call.input, stage.ran) == ("external", {"x": "sql"}, [])
    run = await stage.resume(agent, run, {ids(run)[0]: result("3 rows")})
    assert (run.text, stage.ran) == ("done", [])


async def test_AG_37_an_external_result_is_the_calls_result_and_is_given_once(stage: Stage) -> None:
    agent = stage.agent([("out", {}), ("asks", {})], "done", tools=[stage.external(), asks])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {"1.1.0:external": result("3 rows")})
    with pytest.raises(InvalidAnswers, match="already answered"):
        await stage.resume(agent, run, {"1.1.0:external": result("4 rows")})
    with pytest.raises(InvalidAnswers, match="result does not answer this question"):
        await stage.resume(agent, run, {"1.1.1:ask": result("x")})
    await stage.resume(agent, run, {"1.1.1:ask": reply(2)})
    assert results(agent) == ["3 rows", "2 of them"]


async def test_AG_38_going_on_without_the_result_that_is_required_is_refused(stage: Stage) -> None:
    agent = stage.agent([("out", {})], tools=[stage.external()])
    run = await stage.run(agent)
    before = await stage.recorded(run)
    with pytest.raises(InvalidAnswers, match="there is no answer in it"):
        await stage.resume(agent, run, {})
    assert (await stage.recorded(run), (await agent.load(run.session)).pending) == (before, run.pending)


async def test_AG_39_the_host_may_call_the_tools_own_function_for_the_result(stage: Stage) -> None:
    @tool(external=True)
    def query(table: str, limit: int = 10) -> str:
        """Look into a table."""
        return f"{limit} rows of {table}"

    agent = stage.agent([("query", {"table": "people", "limit": 3})], "done", tools=[query])
    run = await stage.run(agent)
    assert query.function is not None
    answers = {i.id: result(query.function(**i.call.input)) for i in run.pending}
    await stage.resume(agent, run, answers)
    assert results(agent) == ["3 rows of people"]


@pytest.mark.parametrize("order", [["look", "out"], ["out", "look"]], ids="-".join)
async def test_AG_40_other_calls_of_the_message_run_and_the_model_gets_both_results(
    order: list[str], stage: Stage
) -> None:
    agent = stage.agent([(name, {}) for name in order], "done", tools=[stage.works("look"), stage.external()])
    run = await stage.run(agent)
    assert ([i.call.name for i in run.pending], stage.ran) == (["out"], ["look"])
    await stage.resume(agent, run, {ids(run)[0]: result("from outside")})
    told = {"look": "look done", "out": "from outside"}
    assert (results(agent), stage.ran) == ([told[name] for name in order], ["look"])


@pytest.mark.parametrize("order", [["look", "out"], ["out", "look"]], ids="-".join)
async def test_AG_40_in_messages_one_after_the_other_each_is_treated_in_its_own_way(
    order: list[str], stage: Stage
) -> None:
    agent = stage.agent(*([(name, {})] for name in order), "done", tools=[stage.works("look"), stage.external()])
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: result("from outside")})
    assert (run.text, stage.ran) == ("done", ["look"])


async def test_AG_41_each_external_call_of_a_message_is_required_by_itself(stage: Stage) -> None:
    agent = stage.agent([("out", {"x": "a"}), ("out", {"x": "b"})], "done", tools=[stage.external()])
    run = await stage.run(agent)
    assert [(i.id, i.call.input["x"]) for i in run.pending] == [("1.1.0:external", "a"), ("1.1.1:external", "b")]
    await stage.resume(agent, run, {i.id: result(f"result {i.call.input['x']}") for i in run.pending})
    assert results(agent) == ["result a", "result b"]


async def test_AG_42_a_silent_external_tool_pauses_without_a_word(stage: Stage) -> None:
    run = await stage.run(stage.agent([("out", {})], tools=[stage.external(silent=True)]))
    assert (outcome(run), len(run.pending), str(run)) == ("Suspended", 1, "")
    run = await stage.run(stage.agent([("out", {})], tools=[stage.external()]))
    assert str(run) == "waiting for 1 external result (out)"


KINDS = ("approval", "question", "external")


@pytest.mark.parametrize("kinds", [c for n in (1, 2, 3) for c in combinations(KINDS, n)], ids="+".join)
async def test_AG_43_a_paused_run_says_in_words_what_it_waits_for(kinds: tuple[str, ...], stage: Stage) -> None:
    by_kind = {"question": mail, "approval": stage.works("deploy", approve=True), "external": stage.external()}
    said = {"approval": "1 approval (deploy)", "question": "1 question (mail)", "external": "1 external result (out)"}
    calls = [(by_kind[kind].name, {"subject": "hi"} if kind == "question" else {}) for kind in kinds]
    run = await stage.run(stage.agent(calls, tools=[by_kind[kind] for kind in kinds]))
    assert str(run) == f"waiting for {', '.join(words for kind, words in said.items() if kind in kinds)}"


WORDS = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(WORDS, JSON, max_size=3)
CALLS = st.builds(Call, id=WORDS, name=WORDS, input=st.none() | OBJECTS, raw=WORDS, provider_id=WORDS)
TIMES = {"since": st.floats(0, 4e9), "expires": st.none() | st.floats(0, 4e9)}
CHOICES = st.lists(st.builds(Choice, label=WORDS, description=WORDS), max_size=3).map(tuple)
FIELDS = st.builds(
    Field,
    name=WORDS,
    type=st.sampled_from(["str", "int", "float", "bool", "list", "dict"]),
    description=WORDS,
    value=JSON,
    header=WORDS,
    choices=CHOICES,
    multiple=st.booleans(),
)
OFFERS = st.lists(st.builds(Suggestion, rule=WORDS, covers=WORDS), max_size=2).map(tuple)
PREVIEWS = st.builds(Preview, kind=st.sampled_from(["command", "diff", "text"]), title=WORDS, body=WORDS, about=WORDS)
WAITS = st.one_of(
    st.builds(Approval, id=WORDS, call=CALLS, reason=WORDS, suggested=OFFERS, preview=st.none() | PREVIEWS, **TIMES),
    st.builds(Question, id=WORDS, call=CALLS, fields=st.lists(FIELDS, max_size=3).map(tuple), payload=JSON, **TIMES),
    st.builds(External, id=WORDS, call=CALLS, silent=st.booleans(), **TIMES),
    st.builds(Review, id=WORDS, middleware=WORDS, hook=WORDS, payload=JSON, schema=OBJECTS, **TIMES),
    st.builds(Breakpoint, id=WORDS, step=st.just("tool"), phase=st.just("before"), call=st.none() | CALLS, **TIMES),
)


@given(WAITS)
def test_AG_44_what_is_required_is_plain_data_both_ways(waiting: Any) -> None:
    data = json.loads(json.dumps(dump(waiting)))
    assert load(data) == waiting
    assert "expires" in data or waiting.expires is None  # what is not set is left out


@pytest.mark.parametrize("since", [None, "yesterday", [1]], ids=str)
def test_AG_44_a_bad_time_is_tolerated(since: Any) -> None:
    waiting = External(id="1.1.0:external", call=Call("1.1.0", "out", {}), since=5.0)
    assert load({**dump(waiting), "since": since}) == replace(waiting, since=0.0)


@pytest.mark.parametrize("data", [None, [], "x", {}, {"kind": "other"}, {"kind": "external"}], ids=json.dumps)
def test_AG_44_what_is_no_requirement_is_refused(data: Any) -> None:
    with pytest.raises(ValueError, match=r"an interrupt|must be|needs|missing|one of"):
        load(data)


@pytest.mark.parametrize(
    ("inner", "outer", "counts"),
    [(None, "user", "user"), ("project", None, "project"), ("project", "user", "project"), (None, None, "session")],
)
def test_AG_45_what_is_said_for_the_whole_decision_holds_where_its_parts_say_nothing(
    inner: str | None, outer: str | None, counts: str
) -> None:
    rule = {"rule": "deploy", **({"scope": inner} if inner else {})}
    answer = load_answer({"approve": {"rules": [rule], **({"scope": outer} if outer else {})}})
    assert [grant.scope for grant in answer.rules] == [counts]  # type: ignore[union-attr]


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("name", ["confirmed", "values", "selections", "result"])
async def test_AG_45_a_decision_has_one_place_and_what_waits_never_holds_one(
    name: str, level: str, stage: Stage
) -> None:
    tools = [stage.works("deploy", approve=True), mail, stage.external()]
    run = await stage.run(stage.agent([("deploy", {}), ("mail", {"subject": "hi"}), ("out", {})], tools=tools))
    for waiting in run.pending:
        data = dump(waiting)
        (data if level == "outer" else data["call"])[name] = True
        with pytest.raises(ValueError, match=name):
            load(data)


async def test_AG_46_a_stored_form_that_the_model_filled_in_is_not_answered_by_that(stage: Stage) -> None:
    @tool(user_fields="*")
    def review(subject: str, body: str) -> str:
        """Let the user review a text."""
        return subject

    agent = stage.agent([("review", {"subject": "hi", "body": "there"})], tools=[review])
    run = await stage.run(agent)
    assert all(field.value is not None for field in run.pending[0].fields)
    stored = (await stage.agent(tools=[review], store=stage.elsewhere()).load(run.session)).pending
    assert (stored, load(json.loads(json.dumps(dump(stored[0]))))) == (run.pending, run.pending[0])


async def test_AG_47_what_is_left_undecided_stays_pending_and_is_not_rejected(stage: Stage) -> None:
    """Different: silence is no decision. The other call waits on and can still be confirmed."""
    tools = [stage.works("deploy", approve=True), stage.works("drop", approve=True)]
    agent = stage.agent([("deploy", {}), ("drop", {})], "done", tools=tools)
    run = await stage.run(agent)
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (ids(run), stage.ran) == (["1.1.1:approval"], ["deploy"])
    run = await stage.resume(agent, run, {ids(run)[0]: approve()})
    assert (run.text, stage.ran) == ("done", ["deploy", "drop"])


async def test_AG_48_a_paused_run_does_not_go_on_without_answers(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    before = await stage.recorded(run)
    for attempt, error in (
        (stage.resume(agent, run, {}), InvalidAnswers),
        (stage.recover(agent, run), SessionPending),
        (stage.run(agent, "go on", run.session), SessionPending),
    ):
        with pytest.raises(error):
            await attempt
    assert (await stage.recorded(run), (await agent.load(run.session)).status) == (before, "suspended")


async def test_AG_49_what_a_later_round_requires_takes_the_place_of_what_was(stage: Stage) -> None:
    agent = stage.agent(*[[("asks", {})]] * 3, "done", tools=[asks])
    run, rounds = await stage.run(agent), []
    while isinstance(run, Suspended):
        rounds.append(ids(run))
        run = await stage.resume(agent, run, {id: reply(len(rounds)) for id in ids(run)})
    assert (rounds, run.text) == ([["1.1.0:ask"], ["1.2.0:ask"], ["1.3.0:ask"]], "done")


async def test_AG_50_an_external_result_is_in_the_conversation_once(stage: Stage) -> None:
    agent = stage.agent([("out", {})], "done", tools=[stage.external()])
    paused = await stage.run(agent)
    run = await stage.resume(agent, paused, {ids(paused)[0]: result("3 rows")})
    with pytest.raises((InvalidAnswers, NotSuspended)):
        await stage.resume(agent, paused, {ids(paused)[0]: result("3 rows")})
    blocks = [block for message in run.messages for block in message["content"]]
    assert [b["content"] for b in blocks if b["type"] == "tool_result"] == ["3 rows"]
    assert sum(isinstance(entry, Settled) for entry in await stage.history(run)) == 1


async def test_AG_51_a_program_that_only_runs_external_calls_needs_nobody(stage: Stage) -> None:
    def runs(run: Suspended) -> Any:
        return {i.id: result(f"ran {i.call.input['x']}") for i in run.pending if isinstance(i, External)}

    agent = stage.agent([("out", {"x": "a"})], [("out", {"x": "b"})], "done", tools=[stage.external()], responder=runs)
    run = await stage.run(agent)
    assert (run.text, results(agent)) == ("done", ["ran b"])


SCRIPT = """
format = 1
[[turn]]
[[turn.reply]]
calls = [{ name = "make", tool = "Bash", input = { command = "mkdir made" } }]
[[turn.reply]]
when = "make refused"
text = "Then not."
"""


@pytest.mark.parametrize(
    ("flags", "code", "status"),
    [([], 4, "suspended"), (["--auto-deny"], 3, "idle")],
    ids=["it goes on waiting", "it is refused"],
)
def test_AG_51_a_piped_program_has_a_defined_end_and_no_traceback(
    flags: list[str], code: int, status: str, tmp_path: Path
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "script.toml").write_text(SCRIPT)
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("HITL_", "XDG_"))},
        "HOME": str(tmp_path / "home"),
        "HITL_STORE": str(tmp_path / "store.db"),
    }
    command = [sys.executable, "-m", "hitl_cli", "run", *flags, "--model", f"script:{tmp_path / 'script.toml'}", "go"]
    done = subprocess.run(command, cwd=tmp_path / "ws", env=env, capture_output=True, text=True, input="")
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert not (tmp_path / "ws" / "made").exists()
    with stored(tmp_path / "store.db") as store:
        assert [head.status for head in store.heads()] == [status]


@contextmanager
def stored(path: Path) -> Iterator[Any]:
    store = SqliteStore(path)
    yield store
    store.close()


@pytest.mark.parametrize(("answer", "effects"), [(reject(), []), (approve(), ["charged 5"])], ids=["reject", "confirm"])
async def test_AG_52_reject_leaves_no_side_effect_and_confirm_exactly_one(
    answer: Any, effects: list[str], stage: Stage
) -> None:
    done: list[str] = []

    @tool(approve=True)
    def charge(amount: int) -> str:
        """Charge the card."""
        done.append(f"charged {amount}")
        return "charged"

    agent = stage.agent([("charge", {"amount": 5})], "done", tools=[charge])
    run = await stage.run(agent)
    assert done == []
    run = await stage.resume(agent, run, {ids(run)[0]: answer})
    assert (run.text, done) == ("done", effects)
