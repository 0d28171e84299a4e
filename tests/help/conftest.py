from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.help.story import Reader


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    someone = Reader(tmp_path)
    yield someone
    someone.close()
