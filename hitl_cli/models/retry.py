"""How long a model's service is waited for, and what is said when it does not come.

A model makes one attempt after another through `persist`. An attempt that fails raises `Fault`: what happened in words,
whether trying again can help, and which error it becomes when it does not. Text that a person has already read cannot be
taken back, so once some was shown a fault is final and the whole reply is asked for again by whoever wants it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from hitl_cli.errors import ModelError, ModelUnavailable
from hitl_cli.journal import ModelReply
from hitl_cli.models import Delta, Retrying, TextDelta
from hitl_cli.records import Struct


class Patience(Struct, frozen=True):
    """Seconds. `waits` stand between attempts unless the service names its own (`Retry-After`).

    A service that wants more than `longest` is not waited for. `silence` is how long a connection may bring nothing,
    before the first byte or later; services send a sign of life every few seconds while they think.
    """

    waits: tuple[float, ...] = (1, 1, 2, 4, 8)
    longest: float = 60
    connect: float = 10
    silence: float = 120


class Fault(Exception):
    """One failed attempt. `retries` bounds how often it is worth trying again; `after` is the service's own wish."""

    def __init__(
        self, why: str, *, advice: str = "", later: bool = False, retries: int = 0, after: float | None = None
    ) -> None:
        super().__init__(why)
        self.why, self.advice, self.later, self.retries, self.after = why, advice, later, retries, after

    def error(self, tries: int) -> ModelError:
        """What a person reads when this is the end of it."""
        kind = ModelUnavailable if self.later else ModelError
        times = f" (tried {tries} times)" if tries > 1 else ""
        return kind(f"{self.why}{times}." + (f"\n  {self.advice}" if self.advice else ""))


def wait_before_next(fault: Fault, tries: int, patience: Patience) -> float | None:
    """Seconds until the attempt after the `tries`-th, None when there should be none."""
    if tries > min(fault.retries, len(patience.waits)):
        return None
    if fault.after is None:
        return patience.waits[tries - 1]
    return fault.after if fault.after <= patience.longest else None


async def persist(
    attempt: Callable[[], AsyncGenerator[Delta | ModelReply, None]], patience: Patience
) -> AsyncGenerator[Delta | ModelReply, None]:
    """The items of the first attempt that succeeds, with a `Retrying` before each wait."""
    tries = 0
    while True:
        tries += 1
        shown = False
        try:
            async with aclosing(attempt()) as items:
                async for item in items:
                    shown = shown or isinstance(item, TextDelta)
                    yield item
            return
        except Fault as fault:
            wait = None if shown else wait_before_next(fault, tries, patience)
            if wait is None:
                raise fault.error(tries) from fault
            why = fault.why
        yield Retrying(wait, why)
        await asyncio.sleep(wait)


_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Refusal(Struct, frozen=True):
    """An error answer of the service: HTTP status (200 when it came inside the stream), type and words."""

    status: int
    type: str = ""
    message: str = ""
    after: float | None = None
    final: bool = False  # the service says that trying again is of no use


def refused(said: Refusal, model: str) -> Fault:
    """The fault that an error answer is. Sources: the service's error page and the SDK's own list of retried statuses."""
    status = said.status if said.status >= 400 else _STATUS_OF_TYPE.get(said.type, 500)
    words = f": {said.message}" if said.message else ""
    if status in (408, 409, 429) or status >= 500:
        why = {429: "The model's service has had too many requests", 529: "The model's service is overloaded"}.get(
            status, "The model's service has a problem"
        )
        soon = f"It may be asked again in {said.after:.0f} s." if said.after else "Try again in a while."
        advice = f"{soon} The session is kept: hitl -c continues it."
        return Fault(
            f"{why} ({status}{words})",
            advice=advice,
            later=True,
            retries=0 if said.final else 5,
            after=said.after,
        )
    why, advice = _FINAL.get(status, ("The model's service refused the request", "hitl doctor tests the connection."))
    if status == 400 and "too long" in said.message:
        why, advice = _FINAL[413]
    return Fault(f"{why.format(model=model)} ({status}{words})", advice=advice.format(model=model))


_FINAL = {
    401: (
        "The model's service did not accept the key",
        "Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); hitl doctor tests it.",
    ),
    402: ("The account at the model's service cannot pay for this", "See the billing page of the account."),
    403: ("The key may not do this", "Use a key that may use {model}, or another model: --model NAME."),
    404: ("The model's service knows no model {model}", "Name another one with --model, or check ANTHROPIC_BASE_URL."),
    413: (
        "The conversation is longer than the model can read",
        "Shorten it with /compact, or begin a new one with /clear.",
    ),
}
