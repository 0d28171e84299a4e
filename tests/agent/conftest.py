from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from hitl_cli.store.memory import MemoryStore
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Driver


@pytest.fixture(params=["blocking", "streaming"])
def driver(request: pytest.FixtureRequest) -> Driver:
    return Driver(request.param == "streaming")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteStore]:
    made = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")
    yield made
    made.close()


@pytest.fixture
def go() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    return asyncio.run
