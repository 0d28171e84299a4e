"""What every row's test is given: each story runs blocking and streamed, in memory and on disk.

`async def` tests are run in a loop of their own. A row that only makes sense on one path or store says so with
`@pytest.mark.parametrize("path", ["streaming"])` or `("kept", ["sqlite"])`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitl_cli import MemoryStore, SqliteStore
from hitl_cli.store import Store
from tests.agent.told import Driver
from tests.seeds.bench import Bench
from tests.seeds.stage import Stage


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture(params=["blocking", "streaming"])
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["memory", "sqlite"])
def kept(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(path: str, kept: str, tmp_path: Path) -> Iterator[Stage]:
    opened: list[Store] = []

    def opens() -> Store:
        if kept == "sqlite" or not opened:
            opened.append(MemoryStore() if kept == "memory" else SqliteStore(tmp_path / "store.db"))
        return opened[-1]

    yield Stage(Driver(path == "streaming"), opens(), opens)
    for store in opened:
        store.close()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.in_folder(tmp_path)
