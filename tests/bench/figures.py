"""What was measured, and how it is told: as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `bar`: what it is to stay at or below (with `least`, at or above); None for what only explains
    another figure."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    note: str = ""
    least: bool = False

    @property
    def met(self) -> bool:
        return self.bar is None or (self.value >= self.bar if self.least else self.value <= self.bar)


def number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(figures: Iterable[Figure]) -> str:
    rows = [("", "measured", "bar", "", "")]
    for f in figures:
        bar = "" if f.bar is None else f"{'≥' if f.least else '≤'} {number(f.bar)}"
        verdict = "" if f.bar is None else "ok" if f.met else "MISSED"
        rows.append((f.name, f"{number(f.value)} {f.unit}".strip(), bar, verdict, f.note))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(row[n].rjust(widths[n]) for n in (1, 2, 3)), row[4]]).rstrip()
        for row in rows
    )


def as_object(figure: Figure) -> dict[str, Any]:
    return {**asdict(figure), "met": figure.met}
