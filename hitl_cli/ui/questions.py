"""What waits in a conversation, put to the person question by question; each answer continues the run at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hitl_cli.interrupts import Answer, Approval, Approve, Interrupt, Reject
from hitl_cli.journal import Who
from hitl_cli.ui.account import message_of
from hitl_cli.ui.approval import Answered, AnsweredRest, Parked, Stopped
from hitl_cli.ui.waiting import Elsewhere, Late, Released, Waiting, expired

if TYPE_CHECKING:
    from hitl_cli.ui.session import Conversation


class Questions:
    """
    refused   messages of the model of which the person refused the rest, and with which words
    agreed    call -> digest that was shown and approved after the one on record
    """

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self.refused: dict[str, Reject] = {}
        self.agreed: dict[str, str] = {}

    def agree(self, call: str, digest: str) -> None:
        """The person was shown the call as it has become, `digest`, in place of what the question on record says."""
        self.agreed[call] = digest

    async def put(self) -> bool:
        """Put the first question; False when it stays open or the turn is over."""
        talk = self._talk
        first = talk.pending[0]
        message = message_of(first)
        if expired(first, time.time()):
            assert talk.session
            return await talk.watch(talk.agent.stream_recover(talk.session))
        if isinstance(first, Approval):
            if message in self.refused:
                return await self._resume({first.id: self.refused[message]})
            if self.agreed.get(first.call.id) == first.digest:
                return await self._resume({first.id: Approve()})
        match await talk.screen.ask(await self._waiting(first)):
            case Answered(answer):
                return await self._resume({first.id: answer})
            case AnsweredRest(answer):
                self.refused[message] = answer
                rest = [i for i in talk.pending if isinstance(i, Approval) and message_of(i) == message]
                return await self._resume({i.id: answer for i in rest})
            case Late():
                return True  # seen at the next look
            case Released(answer, who):
                return await self._resume({first.id: answer}, who)
            case Stopped():
                assert talk.session
                await talk.guarded(talk.agent.stop(talk.session))
                talk.read_along()
                talk.pending = ()
            case Parked():
                which = f" {first.id}" if len(talk.pending) > 1 else ""
                command = talk.setup.command(f"answer {talk.session}{which}")
                talk.screen.say("Parked. /pending asks again; elsewhere:")
                talk.screen.print([[("dim", f"  {command}")]])
            case Elsewhere(who):
                by = f"{who.kind} {who.detail}".strip()
                talk.screen.say(f"Answered elsewhere ({by}).", "warn")
                return await talk.following.along()
        return False

    async def _waiting(self, interrupt: Interrupt) -> Waiting:
        talk = self._talk
        assert talk.session
        number, total = talk.account.place(interrupt, len(talk.pending))
        return Waiting(talk, interrupt, await talk.agent.load(talk.session), number, total)

    async def _resume(self, answers: Mapping[str, Answer], who: Who | None = None) -> bool:
        assert self._talk.session
        return await self._talk.watch(self._talk.agent.stream_resume(self._talk.session, answers, who=who))
