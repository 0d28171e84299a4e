"""Entries as JSON both ways, old and new formats, and records that do not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli import journal
from hitl_cli.errors import StateTooNew
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    Grant,
    Judged,
    ModelReply,
    Raised,
    Replied,
    Result,
    Returned,
    Settings,
    Settled,
    Started,
    Usage,
    Who,
)

texts = st.text(max_size=8)
leaves = st.none() | st.booleans() | st.integers() | texts
leaves_text = st.none() | texts
plain = st.dictionaries(texts, leaves | st.lists(st.integers(), max_size=2), max_size=3)
usages = st.builds(Usage, *[st.integers(0, 9)] * 4, st.none() | st.floats(0, 9))
whos = st.builds(Who, st.sampled_from(["person", "rule", "none", "expiry"]), texts)
calls = st.builds(Call, texts, texts, st.none() | plain, texts, texts)
grants = st.builds(
    Grant,
    st.sampled_from(["allow", "deny"]),
    texts,
    st.sampled_from(["session", "user"]),
    st.none() | st.floats(0, 9),
)
settings = st.builds(
    Settings,
    texts,
    texts,
    texts,
    st.lists(texts, max_size=2).map(tuple),
    st.lists(grants, max_size=2).map(tuple),
    st.integers(1, 9),
    st.none() | st.integers(1, 9),
    st.none() | st.floats(0, 9),
)
blocks = st.lists(plain, max_size=2).map(tuple)
results = st.builds(Result, texts | blocks, st.booleans(), st.sampled_from(["ran", "error", "refused"]), plain)
replies = st.builds(ModelReply, blocks, st.sampled_from(["end", "tool_use", "interrupted"]), usages, texts)
entries = st.one_of(
    st.builds(Began, st.integers(1, 9), texts, settings, blocks),
    st.builds(Replied, st.integers(1, 9), st.integers(1, 9), replies, st.lists(calls, max_size=2).map(tuple)),
    st.builds(Judged, texts, st.sampled_from(["allow", "ask", "deny"]), whos, *[texts] * 7),
    st.builds(Raised, blocks, usages, plain),
    st.builds(Answered, st.dictionaries(texts, plain, max_size=2), whos, plain),
    st.builds(Started, texts, texts, plain),
    st.builds(Returned, texts, results, st.none() | plain),
    st.builds(Settled, texts, results),
    st.builds(Changed, st.sampled_from(["title", "state"]), texts | plain, whos),
    st.builds(
        Ended, st.integers(1, 9), st.sampled_from(["completed", "failed"]), texts, usages, texts, texts, leaves_text
    ),
)


@given(entries)
def test_an_entry_comes_back_from_json_as_it_was(entry: Entry) -> None:
    dumped = journal.dump(entry)
    assert dumped["v"] == journal.V
    assert journal.load(json.loads(json.dumps(dumped))) == entry


def test_what_is_not_set_is_not_written() -> None:
    assert journal.dump(Settled("1.1.0", Result("ok"))) == {
        "v": 1,
        "type": "settled",
        "call": "1.1.0",
        "result": {"content": "ok"},
    }


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"type": "settled"}, "format version"),
        ({"v": True, "type": "settled"}, "format version"),
        ({"v": 0, "type": "settled"}, "format version"),
        ({"v": 1, "type": "selected"}, "known `type`"),
        ({"v": 1, "type": "settled", "call": "1.1.0"}, r"Settled\.result is missing"),
        ({"v": 1, "type": "settled", "call": 3, "result": {"content": ""}}, r"Settled\.call must be of type str"),
        ({"v": 1, "type": "settled", "call": "x", "result": {"content": "", "ok": 1}}, r"Settled\.result\.ok"),
        ({"v": 1, "type": "settled", "call": "x", "result": {"content": "", "kind": "odd"}}, "one of ran"),
        ({"v": 1, "type": "settled", "call": "x", "result": {"content": ""}, "more": 1}, "unknown fields: more"),
        ({"v": 1, "type": "raised", "interrupts": "x"}, "must be a list"),
        ({"v": 1, "type": "began", "turn": True, "text": "", "settings": {}}, r"Began\.turn"),
    ],
)
def test_what_does_not_fit_is_reported_and_not_guessed(data: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        journal.load(data)


def test_newer_entries_are_refused_as_that() -> None:
    with pytest.raises(StateTooNew, match="Update hitl"):
        journal.load({"v": journal.V + 1, "type": "settled", "something": "else"})


def test_older_entries_pass_through_the_upgraders_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(data: dict[str, Any]) -> dict[str, Any]:
        return {("call" if k == "id" else k): v for k, v in data.items()}

    def wrap(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "result": {"content": data["result"]}}

    monkeypatch.setattr(journal, "V", 3)
    monkeypatch.setattr(journal, "UPGRADERS", [rename, wrap])
    wanted = Settled("1.1.0", Result("ok"))
    assert journal.load({"v": 1, "type": "settled", "id": "1.1.0", "result": "ok"}) == wanted
    assert journal.load({"v": 2, "type": "settled", "call": "1.1.0", "result": "ok"}) == wanted


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    assert Usage(1, 2, 3, 4) + Usage(1, 1, 1, 1) == Usage(2, 3, 4, 5)
    assert Usage(cost=0.5) + Usage() == Usage(cost=0.5)
