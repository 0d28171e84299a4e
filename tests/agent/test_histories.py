"""Whatever the model asks for and whatever is said to it, what is sent stays valid and nothing runs unallowed."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from hitl_cli import Agent, Context, Middleware, external_tool, tool
from hitl_cli.errors import ModelError
from hitl_cli.interrupts import Approval, External, Question, approve, edit, reject, reply, result
from hitl_cli.journal import Answered, Judged, Recorded, Settled, Started
from hitl_cli.outcome import Suspended
from hitl_cli.store.memory import MemoryStore
from tests.agent.told import Told, said

INPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def tools(ran: list[Any]) -> list[Any]:
    @tool
    async def free(n: int) -> str:
        """Run at once."""
        ran.append(("free", n))
        return "ok" if n % 3 else ""

    @tool(approve=True)
    def gated(n: int) -> str:
        """Run once approved."""
        ran.append(("gated", n))
        if n % 4 == 0:
            raise ValueError("four")
        return "ok"

    @tool(approve=True, serial=True)
    async def alone(n: int, ctx: Context) -> str:
        """Run alone, and ask."""
        if n % 2:
            ctx.ask("sure?", bool)
        ran.append(("alone", n))
        return "ok"

    return [free, gated, alone, external_tool("out", "", INPUT)]


class Reviews(Middleware):
    id = "reviews"

    async def around_tool(self, call: Any, next: Any, ctx: Any) -> Any:
        if call.input["n"] % 5 == 0:
            ctx.ask("fine?", str)
        return await next(call)


def turn(dice: random.Random) -> Any:
    kind = dice.random()
    if kind < 0.35:
        return "text"
    if kind < 0.4:
        return ModelError("no")
    calls = []
    for _ in range(dice.randint(1, 4)):
        name = dice.choice(["free", "gated", "alone", "out", "none"])
        calls.append((name, dice.choice([{"n": dice.randint(0, 9)}, {"n": dice.randint(0, 9)}, {"n": "x"}, "{bro"])))
    return calls


def answer(dice: random.Random, interrupt: Any) -> Any:
    if isinstance(interrupt, Approval):
        rules = [s.rule for s in interrupt.suggested if dice.random() < 0.2]
        return dice.choice([approve(rules), approve(), edit({"n": dice.randint(0, 9)}), reject("no"), result("done")])
    if isinstance(interrupt, External):
        return dice.choice([result("x"), result("x", error=True), reject()])
    return dice.choice([reply(True), reject()]) if isinstance(interrupt, Question) else reply("fine")


class Endless(Told):
    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.dice = dice

    async def stream(self, request: Any) -> Any:
        self.requests.append(request)
        made = turn(self.dice)
        if isinstance(made, Exception):
            raise made
        yield said(made)


def valid(messages: Any) -> None:
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    used: set[str] = set()
    for n, message in enumerate(messages):
        assert message["content"]
        calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        assert not used & set(calls)
        used |= set(calls)
        after = messages[n + 1]["content"] if n + 1 < len(messages) else []
        assert [b["tool_use_id"] for b in after if b["type"] == "tool_result"] == calls
        assert all(b["text"] for b in message["content"] if b["type"] == "text")


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 60))])
def test_random_conversations(seed: int) -> None:
    async def story() -> None:
        dice = random.Random(seed)
        ran: list[Any] = []
        store = MemoryStore()
        model = Endless(dice)
        session = store.create()

        def fresh() -> Agent:
            concurrency = dice.choice([1, 3])
            return Agent(model, tools(ran), store=store, middleware=[Reviews()], max_steps=6, concurrency=concurrency)

        for _ in range(6):
            try:
                run = await fresh().run("go", session)
                while isinstance(run, Suspended):
                    if dice.random() < 0.1:
                        await fresh().stop(session)
                        break
                    chosen = [i for i in run.pending if dice.random() < 0.7] or [run.pending[0]]
                    run = await fresh().resume(session, {i.id: answer(dice, i) for i in chosen})
            except ModelError:
                if dice.random() < 0.5:
                    continue
        for request in model.requests:
            valid(request.messages)
        check((await fresh().load(session)).history, ran)

    asyncio.run(story())


def check(history: Any, ran: list[Any]) -> None:
    """From outside: as many bodies ran as were started and allowed or approved, each call settled at most once."""
    entries = [r.entry for r in history if isinstance(r, Recorded)]
    settled = [e.call for e in entries if isinstance(e, Settled)]
    assert len(settled) == len(set(settled))
    said_yes: set[str] = set()
    for entry in entries:
        if isinstance(entry, Judged) and entry.decision == "allow":
            said_yes.add(entry.call)
        if isinstance(entry, Answered):
            said_yes |= {id.partition(":")[0] for id, a in entry.answers.items() if "approve" in a or "edit" in a}
        if isinstance(entry, Started):
            assert entry.call in said_yes
    assert len(ran) <= sum(isinstance(e, Started) for e in entries)
