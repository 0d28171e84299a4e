from __future__ import annotations

from pathlib import Path

import pytest

from hitl_cli.access import Place


@pytest.fixture
def disk(tmp_path: Path) -> Place:
    """A workspace with a file or two, and a home folder beside it."""
    for folder in ("w/src", "home"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("w/f.txt", "w/src/a.py"):
        (tmp_path / name).write_text("x")
    return Place(f"{tmp_path}/w", (f"{tmp_path}/w",), f"{tmp_path}/home")
