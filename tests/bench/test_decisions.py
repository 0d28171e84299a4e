"""The measure of decisions runs and says what it measured. How fast they are is no test: it depends on the machine."""

from __future__ import annotations

import re

import pytest

from tests.bench import decisions


@pytest.mark.slow  # it judges by ten thousand rules and reads texts made to be slow
def test_the_measure_reports_every_figure() -> None:
    lines: list[str] = []
    decisions.main(1, ["git log --oneline | head", "rm -rf build && make x"] * 20, lines.append)
    said = "\n".join(re.sub(r"[\d,.]+", "N", line) for line in lines)
    assert said.count("N rules: ") == 3
    assert said.count("N rules loaded in N ms") == 3
    assert "slowest hostile text" in said
