"""A long conversation made short: the model writes a summary, which from then on stands for what was said before.

The journal keeps everything; only what the model is sent gets shorter, and rules, read files and the to-do list are folds
of the journal and stay. A turn that is not over keeps its message and its last reply with the results of its calls, so a
summary never stands in place of a call that is open. It is asked for by a person between turns, or made before a request
that would all but fill the window. Whatever goes wrong, the conversation is as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hitl_cli import transcript
from hitl_cli.errors import HitlError, ModelError
from hitl_cli.journal import Changed, ModelReply, Usage, Who
from hitl_cli.loop.asking import Pause
from hitl_cli.loop.context import Context, context_of
from hitl_cli.loop.modelstep import ModelStep
from hitl_cli.models import Request, Retrying
from hitl_cli.outcome import Notice

if TYPE_CHECKING:
    from hitl_cli.loop.drive import Drive

FULL = 0.9  # of the window
KEPT = 1_000  # characters of a result where the conversation is too long even to be summed up

ASK = """Write a summary of this conversation that lets somebody go on with the work without having read it: what was
asked, what was decided and why, which files were read or changed and how they stand, what was found out, what failed,
what the person refused, and what is to be done next. Be exact about names, paths and commands. Answer with the summary
alone and call no tools."""
FOCUS = "The person wants this above all to be kept: "


class Compaction:
    def __init__(self, drive: Drive) -> None:
        self.drive, self.agent = drive, drive.agent
        self.step = ModelStep(drive)

    def context(self) -> Context:
        return context_of(self.step.request(), self.drive.history, self.agent.model.window)

    async def make_room(self) -> None:
        """Sum up, with a word to whoever watches, when the next request would all but fill the window.

        Where that fails the turn goes on with the conversation as it is; in the same run it is not tried again.
        """
        context = self.context()
        if context.used <= FULL * context.window or self.drive.crammed or not self._worth():
            return
        self.drive.emit(Notice(f"The conversation fills {context.percent}% of the model's window; summing it up."))
        try:
            await self.sum_up("", Who("program", "window"))
        except (HitlError, Pause) as error:
            why = "a hook asks a question" if isinstance(error, Pause) else str(error)
            self.drive.crammed = True
            if self.drive.broken:
                raise
            self.drive.emit(Notice(f"It was not summed up, and goes on as it is: {why}"))

    async def sum_up(self, focus: str, who: Who) -> None:
        """Record a summary. Raises ModelError when the model writes none, HitlError when there is nothing to sum up."""
        if not self._worth():
            raise HitlError("There is nothing to sum up yet.")
        spent = Usage()

        async def innermost(request: Request) -> ModelReply:
            nonlocal spent
            reply = await self._written(request)
            spent += reply.usage
            return reply

        reply, changes = await self.step.through_hooks(self._request(focus), innermost)
        text = reply.text.strip()
        if not text or reply.stop not in ("end", "tool_use"):
            raise ModelError("The model wrote no whole summary; the conversation is as it was.")
        self.drive.record(*changes, Changed("summary", text, who, spent if spent != Usage() else reply.usage))

    def _earlier(self) -> list[transcript.Message]:
        """The messages that the summary is to stand for."""
        entries = transcript.earlier([recorded.entry for recorded in self.drive.history])
        return transcript.messages(entries, self.agent.texts)

    def _worth(self) -> bool:
        """The model has said something that no summary stands for."""
        return any(message["role"] == "assistant" for message in self._earlier())

    def _request(self, focus: str) -> Request:
        """The conversation as the model knows it, so that its cache serves, and last the wish for a summary."""
        words = f"{ASK}\n\n{FOCUS}{focus.strip()}" if focus.strip() else ASK
        ask: dict[str, Any] = {"type": "text", "text": words}
        messages = self._earlier()
        if messages[-1]["role"] == "user":  # roles take turns
            messages[-1]["content"].append(ask)
        else:
            messages.append({"role": "user", "content": [ask]})
        messages[-1]["_ask"] = "summary"
        whole = self.step.request()
        request = Request(whole.system, messages, whole.tools)
        context = context_of(request, (), self.agent.model.window)
        if context.used > FULL * context.window:  # e.g. a model with a smaller window took over
            for message in messages:
                message["content"] = [_shortened(block) for block in message["content"]]
        return request

    async def _written(self, request: Request) -> ModelReply:
        async for item in self.agent.model.stream(request):
            if isinstance(item, ModelReply):
                return item
            if isinstance(item, Retrying):
                self.drive.emit(item)
        raise ModelError("The model's stream ended without a reply.")


def _shortened(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result of a call in a few lines: enough to sum up what was done."""
    content = block.get("content")
    if block.get("type") != "tool_result" or not content:
        return block
    text = content if isinstance(content, str) else "\n".join(str(b.get("text", f"[{b['type']}]")) for b in content)
    left = len(text) - KEPT
    return {**block, "content": text if left <= 0 else f"{text[:KEPT]}\n[{left:,} more characters are left out]"}
