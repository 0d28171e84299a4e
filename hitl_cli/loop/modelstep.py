"""One request to the model: the messages that the history makes, through the around-model hooks, and the whole reply kept."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hitl_cli import transcript
from hitl_cli.errors import ModelError
from hitl_cli.journal import Call, Changed, ModelReply, Recorded, Replied, Usage, Who
from hitl_cli.loop.asking import Asking, Pause
from hitl_cli.middleware import having, through
from hitl_cli.models import Request, TextDelta, ToolSpec
from hitl_cli.state import State
from hitl_cli.texts import PLANNED, PLANNING

if TYPE_CHECKING:
    from hitl_cli.agent import Agent
    from hitl_cli.loop.drive import Drive


class ModelStep:
    def __init__(self, drive: Drive) -> None:
        self.drive, self.agent, self.state = drive, drive.agent, drive.state
        self.target = f"{self.state.turn}.{self.state.step + 1}"
        self.spent = Usage()

    async def ask(self) -> None:
        """A question of a hook keeps nothing of the reply, but what was spent so far counts."""
        try:
            reply, changes = await self.through_hooks(self.request(), self._stream)
        except Pause as pause:
            self.drive.raise_(pause.interrupt, usage=self.spent)
            return
        self.drive.record(*changes, self._replied(reply))
        self.drive.partial = ""

    async def through_hooks(
        self, request: Request, send: Callable[[Request], Awaitable[ModelReply]]
    ) -> tuple[ModelReply, list[Changed]]:
        """What `send` gives, through the around-model hooks, and what these changed. Raises Pause when one asks."""
        asking = Asking(self.state, "around_model", self.target)
        stack = [
            (middleware.around_model, self.drive.context_for(asking, middleware.id))
            for middleware in having(self.agent.middleware, "around_model")
        ]

        async def innermost(request: Request) -> ModelReply:
            asking.settled(None)
            return await send(request)

        try:
            reply = await through(stack, request, innermost)
        except BaseException as error:
            asking.settled(error)
            raise
        asking.settled(None)
        return reply, self._changed(stack)

    def request(self) -> Request:
        return request_of(self.agent, self.state, self.drive.history)

    async def _stream(self, request: Request) -> ModelReply:
        self.drive.partial, reply = "", None
        async for item in self.agent.model.stream(request):
            if isinstance(item, ModelReply):
                reply = item
                self.spent += reply.usage
            else:
                if isinstance(item, TextDelta):
                    self.drive.partial += item.text
                self.drive.emit(item)
        if reply is None:
            raise ModelError("The model's stream ended without a reply.\n  `hitl recover` asks it again.")
        return reply

    def _replied(self, reply: ModelReply) -> Replied:
        used = reply.usage if self.spent == Usage() else self.spent
        kept = ModelReply(tuple(map(dict, reply.blocks)), reply.stop, used, reply.model)
        blocks = [block for block in kept.blocks if block.get("type") == "tool_use"]
        calls = tuple(self._call(number, block) for number, block in enumerate(blocks))
        return Replied(self.state.turn, self.state.step + 1, kept, calls)

    def _call(self, number: int, block: Mapping[str, Any]) -> Call:
        name, input = str(block.get("name", "")), block.get("input")
        id, provider_id = f"{self.target}.{number}", str(block.get("id", ""))
        if "raw" in block or not isinstance(input, Mapping):
            return Call(id, name, None, str(block.get("raw", input)), provider_id)
        tool = self.agent.tools.get(name)
        return Call(id, name, dict(tool.given(input) if tool else input), "", provider_id)

    def _changed(self, stack: list[tuple[Any, Any]]) -> list[Changed]:
        changes = [ctx.changes(self.state.values) for _, ctx in stack]
        return [Changed("state", values, Who("program")) for values in changes if values is not None]

    def cut_short(self, text: str) -> Replied:
        """A reply that was stopped in mid-stream: its text, no calls."""
        reply = ModelReply(({"type": "text", "text": text},), "interrupted", self.spent)
        return Replied(self.state.turn, self.state.step + 1, reply)


def request_of(agent: Agent, state: State, history: Sequence[Recorded]) -> Request:
    """What the model is asked next in a session as it stands."""
    tools = agent.tools
    words = [agent.instructions, *(t.instructions for t in tools.values() if t.instructions)]
    if agent.bench.mode_of(state) == "plan":
        words.append(PLANNING + (PLANNED if "Plan" in tools else ""))
    return Request(
        system=_filled("\n\n".join(w for w in words if w), state.values),
        messages=transcript.messages([r.entry for r in history], agent.texts),
        tools=[ToolSpec(t.name, t.description, t.offered) for t in tools.values()],
    )


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """`{key}` as the session state has it now; braces that name no key stay."""
    return re.sub(r"\{(\w+)\}", lambda m: str(values.get(m[1], m[0])), text)
