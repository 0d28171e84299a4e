"""What an open panel asks about rules and edits, answered by the agent's own judgement on the call at hand."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Literal

from hitl_cli import schema
from hitl_cli.agent import Agent
from hitl_cli.errors import RuleError
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Grant, Json
from hitl_cli.loop.verdicts import rule_of
from hitl_cli.permissions.codec import several
from hitl_cli.permissions.explain import tree
from hitl_cli.permissions.rule import Decision, Rule, Source, Verdict
from hitl_cli.records import Struct
from hitl_cli.state import State
from hitl_cli.tooldef import Input, Tool


class CallJudge(Struct, frozen=True):
    """`approval.Judge` for one call; `places` are the scopes that a rule can be kept in, each with its file in words."""

    agent: Agent
    state: State
    tool: Tool
    places: Mapping[str, str]

    def problem(self, decision: str, rules: str, input: Input) -> str:
        kind: Literal["allow", "deny"] = "deny" if decision == "deny" else "allow"
        try:
            made = [rule_of(Grant(kind, text), Source("session")) for text in several(rules)]
        except RuleError as error:
            return error.problem + (f" {error.remedy}" if error.remedy else "")
        verdict = self.verdict(input, made)
        if decision == "deny":
            return "" if verdict.decision is Decision.DENY and verdict.rule in made else "It does not hit this call."
        return "" if verdict.decision is Decision.ALLOW else f"It would not cover this call: {verdict.reason}"

    def preview(self, input: Input) -> tuple[Preview, str]:
        wrong = schema.problem(dict(input), self.tool.schema)
        try:
            shown = self.tool.shows(input, self.agent.bench.place)
        except Exception as error:  # a tool's own code, on arguments that nobody has seen before
            shown = Preview("text", self.tool.name, json.dumps(dict(input), indent=2, ensure_ascii=False))
            wrong = wrong or str(error)
        if wrong:
            return shown, f"error: {wrong}"
        verdict = self.verdict(input)
        return shown, f"{verdict.decision}: {verdict.reason}"

    def explain(self, input: Input) -> list[str]:
        place = self.agent.bench.place
        whole, *parts = tree(self.verdict(input), near=place.workspace, home=place.home)
        return parts or [whole]  # the whole is what the panel's reason says

    def destinations(self) -> Mapping[str, str]:
        return self.places

    def verdict(self, input: Mapping[str, Json], extra: Sequence[Rule] = ()) -> Verdict:
        """The verdict on the call with this input, `extra` being rules that do not hold yet."""
        bench = self.agent.bench  # made anew when a rule file changes
        rules = bench.rules_of(self.state)
        return (rules.plus(extra) if extra else rules).judge(
            self.tool.states(input, bench.place),
            mode=bench.mode_of(self.state),
            now=time.time(),
            read_only=self.tool.read_only,
            tool=self.tool.name,
        )
