from __future__ import annotations

from datetime import datetime

import pytest

from hitl_cli.times import duration, gone_by, to_come

NOW = datetime(2026, 11, 30, 12, 0).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("8h", 28800), ("7d", 604800), (" 1.5h ", 5400)]
)
def test_lengths(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "8", "h", "-1h", "0s", "8 parsecs", "1h30m"])
def test_what_is_no_length_says_what_to_write(text):
    with pytest.raises(ValueError, match="such as 8h"):
        duration(text)


def test_a_length_or_a_date_to_come():
    assert to_come("1h", NOW) == NOW + 3600
    assert to_come("2026-12-01T12:00", NOW) == NOW + 86400
    assert to_come("2026-12-01T12:00+00:00", NOW) == datetime.fromisoformat("2026-12-01T12:00+00:00").timestamp()


@pytest.mark.parametrize(
    ("text", "words"), [("2026-01-01", "is past"), ("soon", "is no time"), ("9999999-01-01", "is no time")]
)
def test_a_time_to_come_is_neither_past_nor_unreadable(text, words):
    with pytest.raises(ValueError, match=words):
        to_come(text, NOW)


def test_a_time_gone_by():
    assert gone_by("7d", NOW) == NOW - 604800
    assert gone_by("2026-01-01", NOW) == datetime(2026, 1, 1).timestamp()
