"""How a run begins: with a message, with answers, or with what was cut off. Each is refused, or says what is done first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypedDict

from hitl_cli.interrupts import Answer
from hitl_cli.journal import Began, Json, Who
from hitl_cli.loop import refusals
from hitl_cli.loop.drive import Drive
from hitl_cli.loop.edges import Edges
from hitl_cli.loop.resolving import Resolving
from hitl_cli.records import replace
from hitl_cli.responders import Responder

Answers = Mapping[str, Answer | Mapping[str, Json]]
First = Callable[[], Awaitable[None]]


class How(TypedDict, total=False):
    """How a run is made. `context` reaches tools as it is and is never stored; breakpoints add to the agent's own."""

    context: Any
    responder: Responder | None
    break_before: Collection[str]
    break_after: Collection[str]
    who: Who | None


async def message(drive: Drive, text: str, content: Sequence[Mapping[str, Json]]) -> First:
    """A session keeps the mode it has; bypass only where the agent was started with it."""
    agent, state = drive.agent, drive.state
    refusals.unless_idle(drive.session, state)
    settings = replace(agent.settings, mode=agent.bench.mode_of(state))
    began = Began(state.turn + 1, text, settings, tuple(content))
    return lambda: Edges(drive).begin(began)


async def answers(drive: Drive, given: Answers) -> First:
    refusals.unless_waiting(drive.session, drive.state, given)
    _unless_complete(drive)
    resolving = Resolving(drive)
    fitted = await resolving.fit(given)
    return lambda: resolving.accept(fitted, drive.who)


async def recovery(drive: Drive) -> First:
    refusals.unless_recoverable(drive.session, drive.state, drive.options)
    _unless_complete(drive)
    drive.state.open = drive.state.open or not drive.state.unfinished
    return _nothing


def _unless_complete(drive: Drive) -> None:
    refusals.unless_complete(drive.state, drive.agent.model, drive.agent.middleware, drive.agent.place)


async def _nothing() -> None:
    """What comes first where the loop itself goes on."""
