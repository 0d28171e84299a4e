"""The one table of prices."""

from __future__ import annotations

import pytest

from hitl_cli.journal import Usage
from hitl_cli.models.prices import CARDS, UNKNOWN, card, cost


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-opus-5-5", Usage(input=1_000_000), 4.0),
        ("claude-opus-5-5", Usage(output=1_000_000), 20.0),
        ("claude-opus-5-5", Usage(cache_write=1_000_000), 5.0),
        ("claude-opus-5-5", Usage(cache_read=1_000_000), 0.2),
        ("claude-sonnet-4-5-20250929", Usage(input=1_000_000, output=1_000_000), 18.0),
        ("claude-haiku-5-5", Usage(input=100_000, output=100_000), 0.06),
        ("claude-haiku-5-5", Usage(input=1, cache_read=100_000), (0.50 + 100_000 * 0.05) / 1_000_000),
        ("claude-unheard-of-9", Usage(input=1_000_000), None),
        ("local-model", Usage(input=1_000_000), None),
    ],
)
def test_a_request_costs_what_its_tokens_cost(model: str, usage: Usage, dollars: float | None) -> None:
    assert cost(model, usage) == (dollars if dollars is None else pytest.approx(dollars))


def test_a_dated_name_is_the_same_model_and_a_longer_name_is_not() -> None:
    assert card("claude-haiku-4-5-20251001") == CARDS["claude-haiku-4-5"]
    assert card("claude-haiku-4-5-extra") == UNKNOWN


def test_every_model_can_read_more_than_it_writes_and_reads_its_cache_cheapest() -> None:
    for name, known in CARDS.items():
        assert known.price is not None, name
        assert known.window > known.output, name
        assert known.price.read < known.price.input < known.price.write < known.price.output, name
