"""Kept texts are read one way, whether they go straight to records or by way of plain data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli import journal
from hitl_cli.errors import StateTooNew
from hitl_cli.journal import Entry, Result, Settled
from hitl_cli.store import bodies
from tests.test_journal import entries

ODD: tuple[Any, ...] = (None, True, 0, 1.5, 1e400, float("nan"), 2**70, "x", "\ud800", [], ["x"], {}, {"kind": "rule"})


def outcome(read: Any, body: bytes) -> str:
    """What is read, as text: NaN is equal to nothing."""
    try:
        return repr(read(body))
    except (ValueError, TypeError, StateTooNew) as error:
        return f"{type(error).__name__}: {error}"


def by_way_of_plain_data(body: bytes) -> Entry:
    return journal.load(json.loads(body))


@given(entries)
def test_what_is_kept_is_what_comes_back(entry: Entry) -> None:
    body = bodies.text(entry).encode()
    assert bodies.read(body) == by_way_of_plain_data(body) == entry


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every container below `data` with every key in it."""
    if isinstance(data, dict | list):
        keys = list(data) if isinstance(data, dict) else range(len(data))
        return [(data, key) for key in keys] + [place for key in keys for place in places(data[key])]
    return []


@given(entries, st.data())
def test_what_was_changed_in_any_place_reads_the_same_or_is_refused_in_the_same_words(entry: Entry, draw: Any) -> None:
    data = json.loads(bodies.text(entry))
    holder, key = draw.draw(st.sampled_from(places(data)))
    match draw.draw(st.sampled_from(["drop", "put", "add"])):
        case "drop":
            del holder[key]
        case "put":
            holder[key] = draw.draw(st.sampled_from(ODD))
        case "add" if isinstance(holder, dict):
            holder["more"] = 1
        case _:
            holder.append(1)
    for body in (json.dumps(data, separators=(",", ":")).encode(), json.dumps(data).encode()):
        assert outcome(bodies.read, body) == outcome(by_way_of_plain_data, body)


WHOLE = bodies.text(Settled("1.1.0", Result("ü"))).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"v":1,}',
        b'{"v":1,"v":2' + WHOLE[6:],
        WHOLE[:-1] + b',"v":2}',
        WHOLE[:-1] + b',"type":"began"}',
        WHOLE + b" ",
        WHOLE + b"x",
        WHOLE[:-4],
        WHOLE.replace(b"\xc3", b""),
        WHOLE.replace(b"1.1.0", b"\x00"),
        WHOLE.replace(b"1.1.0", b"\\u0000"),
        WHOLE.replace(b'"1.1.0"', b"'1'"),
    ],
)
def test_what_is_no_such_text_is_refused_in_the_same_words(body: bytes) -> None:
    assert outcome(bodies.read, body) == outcome(by_way_of_plain_data, body)
