"""Times as people type them: a length such as `8h`, or a date. Pure: the present is given."""

from __future__ import annotations

import re
from datetime import datetime

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration(text: str) -> float:
    """Seconds in `90s`, `30m`, `8h`, `7d` or `2w`; raises ValueError with what to write."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if not found or float(found[1]) <= 0:
        raise ValueError(f"{text!r} is not a length of time; write a number and s, m, h, d or w, such as 8h")
    return float(found[1]) * UNITS[found[2]]


def to_come(text: str, now: float) -> float:
    """Seconds since the epoch of a length from `now` on, or of a date after it; raises ValueError with what to write."""
    moment = _either(text, now, 1)
    if moment <= now:
        raise ValueError(f"{text} is past; write a time to come, such as 8h")
    return moment


def gone_by(text: str, now: float) -> float:
    """Seconds since the epoch of a length before `now`, or of a date; raises ValueError with what to write."""
    return _either(text, now, -1)


def _either(text: str, now: float, sign: int) -> float:
    try:
        return now + sign * duration(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text.strip()).timestamp()  # without an offset: the time of this place
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is no time; write a length such as 8h or 7d, or a date such as 2027-01-31"
        ) from None
