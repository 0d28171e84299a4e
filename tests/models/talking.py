"""How the tests of this folder talk to Claude's service: through the real SDK, to the local server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hitl_cli.errors import ModelError
from hitl_cli.models import Request
from hitl_cli.models.claude import Claude
from hitl_cli.models.retry import Patience

QUICK = Patience(waits=(0.01,) * 5, longest=1, connect=2, silence=5)
HELLO = Request("Be brief.", [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}])


def talk(*requests: Request, model: str = "claude-opus-4-8", patience: Patience = QUICK) -> list[list[Any]]:
    """Everything that streams for each request, with one client, an error as its last item."""

    async def run() -> list[list[Any]]:
        claude, heard = Claude(model, patience=patience), []
        for request in requests:
            items: list[Any] = []
            heard.append(items)
            try:
                async for item in claude.stream(request):
                    items.append(item)
            except ModelError as error:
                items.append(error)
        await claude.close()
        return heard

    return asyncio.run(run())


def shown(items: Sequence[Any]) -> tuple[str, str]:
    """Class and words of the error at the end."""
    return type(items[-1]).__name__, str(items[-1])
