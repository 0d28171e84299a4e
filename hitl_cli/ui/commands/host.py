"""What a command is, and what it may do with the REPL that it was typed into."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from hitl_cli.records import Struct
from hitl_cli.store import Head
from hitl_cli.ui.theme import Line

if TYPE_CHECKING:
    from hitl_cli.ui.session import Conversation
    from hitl_cli.ui.setup import Setup


class Host(Protocol):
    """What a command may do with the REPL."""

    setup: Setup
    talk: Conversation

    @property
    def waiting(self) -> int:
        """Questions that wait, over all sessions."""

    @property
    def width(self) -> int: ...

    def say(self, words: str, style: str = "dim") -> None: ...
    def print(self, lines: list[Line]) -> None: ...
    def leave(self) -> None: ...
    async def pick(self, heads: Sequence[Head]) -> str | None: ...
    async def edit(self, text: str, suffix: str) -> str | None: ...


Run = Callable[[Host, str], Awaitable[None] | None]


class Command(Struct, frozen=True):
    """`takes`: what may be typed behind the name, in words; `choices`: what Tab offers there."""

    name: str
    help: str
    run: Run
    anytime: bool = False
    takes: str = ""
    choices: tuple[str, ...] = ()
