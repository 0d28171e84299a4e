"""A key for the SDK, and the local server as its address."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.models.server import Server


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Server], None]:
    """Points the SDK at a server, through the variables that people use."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    return lambda server: monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
