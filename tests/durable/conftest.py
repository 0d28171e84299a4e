from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.durable.told import LONG, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server | None]:
    if LONG:
        yield None
        return
    server = Server()
    yield server
    server.close()
