"""What would become of a call? A scratch workspace, the built-in tools with empty bodies, and an agent that gets one call.

The whole way is gone, from the model's message to the body that is entered or not, so a verdict here is one that a user
would see. Nothing that a command says is ever done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitl_cli import Agent, MemoryStore, Place, Policy, Rule, Run, Suspended
from hitl_cli.interrupts import Approval
from hitl_cli.journal import Result
from hitl_cli.records import replace
from hitl_cli.tooldef import Tool
from hitl_cli.tools import Jobs, builtin
from tests.agent.told import Told
from tests.seeds.stage import parsed


@dataclass
class Bench:
    place: Place
    tools: tuple[Tool, ...]

    @classmethod
    def in_folder(cls, root: Path) -> Bench:
        """A workspace `ws` beside a `home` in `root`."""
        workspace, home = root / "ws", root / "home"
        for folder in (workspace, home):
            folder.mkdir(exist_ok=True)
        place = Place(str(workspace), (str(workspace),), str(home))
        tools = builtin(place, root / "outputs", jobs=Jobs())
        return cls(place, tuple(replace(t, run=lambda input, ctx: Result("ran"), check=None) for t in tools))

    def run(
        self,
        tool: str,
        input: Mapping[str, Any],
        rules: Iterable[str | Rule] = (),
        *,
        mode: str = "default",
        tools: Iterable[Tool] = (),
    ) -> Run:
        """One call of `tool`. A rule is a Rule or its text, as `stage.parsed` reads it."""

        async def story() -> Run:
            policy = Policy([parsed(r) if isinstance(r, str) else r for r in rules], self.place)
            store = MemoryStore()
            agent = Agent(
                Told([(tool, dict(input))], "done"), [*self.tools, *tools], mode=mode, rules=policy, store=store
            )
            try:
                return await agent.run("go")
            finally:
                store.close()

        return asyncio.run(story())

    def decides(self, tool: str, input: Mapping[str, Any], rules: Iterable[str | Rule] = (), **more: Any) -> str:
        """allow, ask or deny."""
        run = self.run(tool, input, rules, **more)
        if isinstance(run, Suspended):
            return "ask"
        [told] = run.messages[2]["content"]
        if told["content"] == "ran":
            return "allow"
        assert run.denied, told
        return "deny"

    def asked(self, tool: str, input: Mapping[str, Any], rules: Iterable[str | Rule] = (), **more: Any) -> Approval:
        """The request that the call raises."""
        run = self.run(tool, input, rules, **more)
        assert isinstance(run, Suspended)
        [asked] = run.pending
        assert isinstance(asked, Approval)
        return asked

    def bash(self, command: str, *rules: str | Rule, mode: str = "default") -> str:
        return self.decides("Bash", {"command": command}, rules, mode=mode)

    def writes(self, path: str, *rules: str | Rule, mode: str = "default") -> str:
        return self.decides("Write", {"file_path": path, "content": "x"}, rules, mode=mode)

    def offers(self, tool: str, **input: Any) -> list[tuple[str, ...]]:
        """The rules on offer, from narrow to wide, each with those that are kept together with it."""
        return [suggestion.rules for suggestion in self.asked(tool, input).suggested]
