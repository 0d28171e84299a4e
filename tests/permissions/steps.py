"""Steps instead of seconds: how the lines that Python executes grow with what they are given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

MOST = 2_000_000


def growth(work: Callable[[int], object]) -> float:
    """How many times as many lines `work(2)` executes as `work(1)`; AssertionError when there seems to be no end."""
    steps(lambda: work(1))  # what is compiled when it is first needed
    return steps(lambda: work(2)) / steps(lambda: work(1))


def steps(work: Callable[[], object]) -> int:
    count = 0

    def step(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        assert count < MOST, f"more than {MOST:,} lines"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
