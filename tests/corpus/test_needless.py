"""Commands of real agents: how many still ask, and that what is allowed without asking only looks."""

from __future__ import annotations

import pytest

from hitl_cli.access import Command, Host, Opaque, WritePath
from hitl_cli.permissions import places
from tests.corpus.needless import SAMPLE, Measure, run

pytestmark = [
    pytest.mark.skipif(not SAMPLE.exists(), reason="the shared corpus is not beside this checkout"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def measured() -> Measure:
    return run()


def test_the_share_that_asks_does_not_grow(measured: Measure) -> None:
    """Measured 2026: 66 % with the default packs (the sample is full of other people's folders), 47 % once each
    question's first suggestion was accepted; the bounds leave room for a stricter reading of a few programs."""
    assert measured.commands == 2394
    assert measured.asked / measured.commands < 0.70
    assert measured.later / measured.commands < 0.50


def test_what_is_allowed_by_default_writes_nothing_and_reaches_nothing(measured: Measure) -> None:
    assert len(measured.allowed) > 700
    for command, verdict in measured.allowed:
        for part in verdict.parts:
            access = part.access
            assert not isinstance(access, (Host, Opaque)), command
            if isinstance(access, WritePath):
                assert access.path in places.FREE_DEVICES, command
            if isinstance(access, Command):
                assert access.acts == (), command
                packed = part.rule is not None and part.rule.source.layer == "pack"
                assert packed or access.free, command
                assert not packed or part.rule is None or part.rule.source.file.endswith("read-only.toml"), command
