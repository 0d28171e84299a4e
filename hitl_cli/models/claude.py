"""Claude's service, and every server that speaks the Messages protocol; the only home of the anthropic SDK.

The SDK finds key and address (`ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `ANTHROPIC_BASE_URL`), connects and splits the
stream into events; putting them together, trying again and the words for what went wrong are ours, because a person
watches the waits, a block of an unknown kind must survive, and half a reply must not look like a whole one.

Importing the SDK takes long, so it happens on first use or, through `preload`, while the person types.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hitl_cli.errors import ModelError
from hitl_cli.journal import ModelReply
from hitl_cli.models import Delta, Request
from hitl_cli.models.assembly import Assembly, Garbled
from hitl_cli.models.prices import card
from hitl_cli.models.retry import Fault, Patience, Refusal, persist, refused
from hitl_cli.models.wire import body, has_thinking

if TYPE_CHECKING:
    import anthropic

NO_KEY = """There is no key for the model's service.
  Without one: hitl demo shows everything, and needs no network.
  With one: export ANTHROPIC_API_KEY=… (and ANTHROPIC_BASE_URL=… for a server of your own)."""
_SAME = "The session is kept: try again, or go on later with hitl -c."


class Claude:
    """`name` is the model's name at the service. One instance belongs to one event loop."""

    def __init__(self, name: str, *, patience: Patience | None = None) -> None:
        self.name = name
        self._patience = patience or Patience()
        self._made: anthropic.AsyncAnthropic | None = None
        self._making = threading.Lock()

    @property
    def window(self) -> int:
        return card(self.name).window

    @property
    def priced(self) -> bool:
        return card(self.name).price is not None

    def preload(self) -> None:
        """Load the SDK and make the client in the background; what goes wrong is told at the first request."""

        def load() -> None:
            with suppress(ModelError):
                self._client()
            gc.freeze()  # it all stays: going through it for cycles took 70 ms, in which no key was taken

        threading.Thread(target=load, name="preload", daemon=True).start()

    def require_key(self) -> None:
        """Raises ModelError when no key can be found; quick when one is in the environment."""
        if not (os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")):
            client = self._client()
            if client.credentials is None:
                raise ModelError(NO_KEY)

    async def close(self) -> None:
        if self._made:
            await self._made.close()

    def stream(self, request: Request) -> AsyncIterator[Delta | ModelReply]:
        return persist(lambda: self._attempt(request), self._patience)

    def _ready(self) -> anthropic.AsyncAnthropic:
        self.require_key()
        return self._client()

    def _client(self) -> anthropic.AsyncAnthropic:
        """The one client; ModelError when the environment makes none."""
        with self._making:
            if self._made is None:
                self._made = _made(self._patience)
            return self._made

    async def _attempt(self, request: Request) -> AsyncGenerator[Delta | ModelReply, None]:
        """One request. Closing this generator closes the connection."""
        client = await asyncio.to_thread(self._ready)
        import anthropic
        import httpx2

        assembly = Assembly(self.name)
        try:
            async with await self._post(client, request) as events:
                _require_stream(events.response.headers.get("content-type", ""), client.base_url)
                async for event in events:
                    delta = assembly.add(event)
                    if delta:
                        yield delta
        except anthropic.APIStatusError as error:
            raise refused(_refusal(error), self.name) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise self._broken(error, client.base_url, assembly.started) from error
        except anthropic.AnthropicError as error:
            raise Fault(
                f"The model's service cannot be used: {error}", advice="hitl doctor tests the connection."
            ) from error
        except (Garbled, ValueError) as error:
            why = f"What came from the model's service at {client.base_url} cannot be read: {error}"
            raise Fault(why, advice=_SAME, retries=2) from error
        yield _checked(assembly, request)

    def _broken(self, error: Exception, address: Any, started: bool) -> Fault:
        """What a failed connection means: none was made, it fell silent, or it was cut."""
        import httpx2

        cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
        if isinstance(cause, httpx2.TimeoutException) and not isinstance(cause, httpx2.ConnectTimeout):
            why = f"The model's service was silent for {self._patience.silence:g} s"
            return Fault(why, advice=_SAME, later=True, retries=1)
        words = str(cause) or type(cause).__name__
        if started:
            return Fault(
                f"The connection to the model's service was cut ({words})", advice=_SAME, later=True, retries=3
            )
        why = f"No connection to the model's service at {address} ({words})"
        advice = "Check the network and ANTHROPIC_BASE_URL; hitl doctor tests the connection."
        return Fault(why, advice=advice, later=True, retries=3)

    async def _post(self, client: anthropic.AsyncAnthropic, request: Request) -> anthropic.AsyncStream[object]:
        """The stream of events as plain JSON. Earlier thinking that the service will not have back is left out."""
        from anthropic import AsyncStream, BadRequestError

        async def post(sent: dict[str, Any]) -> AsyncStream[object]:
            return await client.post(
                "/v1/messages", cast_to=object, body=sent, stream=True, stream_cls=AsyncStream[object]
            )

        try:
            return await post(body(self.name, request))
        except BadRequestError as error:
            # Thinking is bound to its model and conversation; after a change of either it is refused for good.
            if "thinking" not in str(error) or not has_thinking(request):
                raise
        return await post(body(self.name, request, thinking=False))


def _made(patience: Patience) -> anthropic.AsyncAnthropic:
    import anthropic
    import httpx2

    timeout = anthropic.Timeout(patience.silence, connect=patience.connect)
    try:
        client = anthropic.AsyncAnthropic(max_retries=0, timeout=timeout)
    except (anthropic.AnthropicError, httpx2.InvalidURL, ValueError) as error:
        advice = "Check ANTHROPIC_BASE_URL and the other variables that begin with ANTHROPIC_."
        why = str(error).rstrip(".")
        raise ModelError(f"The model's service cannot be set up: {why}.\n  {advice}") from error
    if client.base_url.scheme not in ("http", "https"):
        advice = "Set ANTHROPIC_BASE_URL to an address that begins with https:// or http://."
        raise ModelError(f"The model's service has the address {client.base_url}, which is none.\n  {advice}")
    for key in (client.api_key, client.auth_token):
        # Said here because the errors of the libraries below would quote the key.
        if key and not all("!" <= letter <= "~" for letter in key):
            raise ModelError(
                "The key for the model's service holds a blank, a line break or a letter that no key has.\n"
                "  Copy it again into ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)."
            )
    return client


def _require_stream(kind: str, address: Any) -> None:
    if not kind.startswith("text/event-stream"):
        why = f"What answers at {address} is no Messages service: it sent {kind or 'nothing'} where a stream belongs"
        raise Fault(why, advice="Check ANTHROPIC_BASE_URL.")


def _checked(assembly: Assembly, request: Request) -> ModelReply:
    if not assembly.whole:
        raise Fault("The model's reply broke off", advice=_SAME, later=True, retries=3)
    reply = assembly.reply()
    last = request.messages[-1]["content"] if request.messages else ()
    after_results = any(block.get("type") == "tool_result" for block in last)
    if not reply.blocks and reply.stop == "end" and not after_results:
        raise Fault("The model's reply was empty", advice="Say it in other words, or try again.", retries=2)
    return reply


def _refusal(error: anthropic.APIStatusError) -> Refusal:
    headers = error.response.headers
    return Refusal(
        error.status_code,
        str(error.type or ""),
        str(error.api_message or "")[:500],
        _seconds(headers.get("retry-after-ms"), headers.get("retry-after"), headers.get("date")),
        headers.get("x-should-retry") == "false",
    )


def _seconds(milliseconds: str | None, after: str | None, now: str | None) -> float | None:
    """The wait that the headers ask for, None when they ask for none that can be read."""
    try:
        if milliseconds:
            return max(0.0, float(milliseconds) / 1000)
        if after and not after[0].isalpha():
            return max(0.0, float(after))
        if after and now:
            from email.utils import parsedate_to_datetime

            return max(0.0, (parsedate_to_datetime(after) - parsedate_to_datetime(now)).total_seconds())
    except (ValueError, TypeError):
        pass
    return None
