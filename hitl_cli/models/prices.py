"""What the known models cost and how much they can read and write: one table, with its date.

As published on platform.claude.com (pricing page and model pages), read on 2026-11-30; the newest changes in it are the
cheaper cache reads of Sonnet 5.5 and the two price bands of Haiku 5.5, both of 2026-10-07. A model that is not in the
table has no known price: its cost is None, never a guess.
"""

from __future__ import annotations

import re

from hitl_cli.journal import Usage
from hitl_cli.records import Struct

AS_OF = "2026-11-30"


class Price(Struct, frozen=True):
    """US dollars per million tokens; `write` is the price of a cache entry that lives five minutes."""

    input: float
    output: float
    write: float
    read: float

    def of(self, usage: Usage) -> float:
        parts = (
            usage.input * self.input,
            usage.output * self.output,
            usage.cache_write * self.write,
            usage.cache_read * self.read,
        )
        return sum(parts) / 1_000_000


class Card(Struct, frozen=True):
    """`window` and `output` in tokens: what a request may hold, and what a reply may be.

    `thinks` models think unless told not to, and show it only when asked. Requests of more than `above` tokens (cached
    ones included) cost `long`.
    """

    price: Price | None = None
    window: int = 200_000
    output: int = 8_192
    thinks: bool = False
    long: Price | None = None
    above: int = 0


_M, _K = 1_000_000, 1_000
_OPUS = Price(5, 25, 6.25, 0.50)
_SONNET = Price(3, 15, 3.75, 0.30)
_GREAT = Price(10, 50, 12.50, 1)

CARDS = {
    "claude-fable-5-1": Card(Price(10, 50, 12.50, 0.25), _M, 128 * _K, thinks=True),
    "claude-mythos-5-1": Card(Price(10, 50, 12.50, 0.25), _M, 128 * _K, thinks=True),
    "claude-opus-5-5": Card(Price(4, 20, 5, 0.20), _M, 128 * _K, thinks=True),
    "claude-sonnet-5-5": Card(Price(2, 10, 2.50, 0.10), _M, 128 * _K, thinks=True),
    "claude-haiku-5-5": Card(
        Price(0.10, 0.50, 0.125, 0.01), _M, 128 * _K, thinks=True, long=Price(0.50, 2.50, 0.625, 0.05), above=100 * _K
    ),
    "claude-fable-5": Card(_GREAT, _M, 128 * _K, thinks=True),
    "claude-mythos-5": Card(_GREAT, _M, 128 * _K, thinks=True),
    "claude-opus-5": Card(_OPUS, _M, 128 * _K, thinks=True),
    "claude-sonnet-5": Card(Price(2, 10, 2.50, 0.20), _M, 128 * _K, thinks=True),
    "claude-opus-4-8": Card(_OPUS, _M, 128 * _K),
    "claude-opus-4-7": Card(_OPUS, _M, 128 * _K),
    "claude-opus-4-6": Card(_OPUS, _M, 128 * _K),
    "claude-sonnet-4-6": Card(_SONNET, _M, 64 * _K),
    "claude-opus-4-5": Card(_OPUS, 200 * _K, 64 * _K),
    "claude-sonnet-4-5": Card(_SONNET, 200 * _K, 64 * _K),
    "claude-haiku-4-5": Card(Price(1, 5, 1.25, 0.10), 200 * _K, 64 * _K),
}
UNKNOWN = Card()


def card(model: str) -> Card:
    """The card of `model`, with or without a date at its end; `UNKNOWN` when there is none."""
    return CARDS.get(re.sub(r"-(20\d{6}|latest)$", "", model), UNKNOWN)


def cost(model: str, usage: Usage) -> float | None:
    """The price in US dollars of one request, None when the model's price is not known."""
    known = card(model)
    asked = usage.input + usage.cache_read + usage.cache_write
    price = known.long if known.long and asked > known.above else known.price
    return price.of(usage) if price else None
