"""The quick part (`pytest -m 'not slow'`) leaves out whole folders whose stories start programs one after another."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
SLOW = ("e2e", "durable")

# What is compiled is kept, whatever was asked of Python: else each of the hundreds of processes that are started here would
# compile the program, and each worker all tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says what else the machine does.
settings.register_profile("hitl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hitl")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(HERE).parts[0] in SLOW:
            item.add_marker(pytest.mark.slow)
