"""The rules that an answer keeps: each must do for the call that it is kept with, and it is said where it is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hitl_cli import schema
from hitl_cli.errors import RuleError
from hitl_cli.interrupts import Edit
from hitl_cli.permissions.rule import Decision, Rule, Source

if TYPE_CHECKING:
    from hitl_cli.agent import Agent
    from hitl_cli.interrupts import Answer, Interrupt
    from hitl_cli.journal import Grant
    from hitl_cli.outcome import Snapshot
    from hitl_cli.tooldef import Input
    from hitl_cli.ui.judge import CallJudge


def near(path: str) -> str:
    """A path with the home folder as `~`."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def problems(agent: Agent, before: Snapshot, given: Mapping[str, Answer]) -> dict[str, str]:
    """What is wrong with rules of `given`, by interrupt: like the panel, `hitl answer` keeps only rules that do for the
    call. Texts that are no rules are left to the one door of answers, as is all else. `before`: the session as it waits.
    """
    from hitl_cli.state import State
    from hitl_cli.ui.judge import CallJudge

    state = State().fold_all(record.entry for record in before.history)
    found: dict[str, str] = {}
    for interrupt, grants in _kept(before, given):
        call = interrupt.call
        tool = agent.tools.get(call.name) if call else None
        said = given[interrupt.id]
        input = said.input if isinstance(said, Edit) else (call.input if call else None) or {}
        if tool and not schema.problem(input, tool.schema):
            with suppress(RuleError):
                problem = _problem(CallJudge(agent, state, tool, {}), _rules(grants), input)
                found |= {interrupt.id: problem + _offered(interrupt, grants)} if problem else {}
    return found


def in_the_session(before: Snapshot, given: Mapping[str, Answer]) -> Iterator[str]:
    """A line for each rule of `given` that holds for the session alone. `before`: the session as it waited."""
    for _, grants in _kept(before, given):
        yield from lines(_rules(grant for grant in grants if grant.scope == "session"))


def lines(rules: Iterable[Rule]) -> Iterator[str]:
    """A line for each rule that is kept."""
    for rule in rules:
        yield f"keeps {rule.decision} {rule.text} in {near(str(rule.source)) if rule.source.file else 'this session'}"


def _kept(before: Snapshot, given: Mapping[str, Answer]) -> Iterator[tuple[Interrupt, Sequence[Grant]]]:
    """What is answered with rules, and those."""
    for interrupt in before.pending:
        if grants := getattr(given.get(interrupt.id), "rules", ()):
            yield interrupt, grants


def _rules(grants: Iterable[Grant]) -> list[Rule]:
    from hitl_cli.loop.verdicts import rule_of

    return [rule_of(grant, Source(grant.scope)) for grant in grants]


def _problem(judge: CallJudge, rules: Sequence[Rule], input: Input) -> str:
    """Why these rules do not do for the call that `judge` knows, with this input; "" when they do."""
    from hitl_cli.permissions.policy import Policy

    place, now = judge.agent.place, time.time()
    states = judge.tool.states(input, place)
    for rule in rules:
        alone = Policy([rule], place).judge(states, mode="default", now=now, tool=judge.tool.name)
        if not any(part.rule for part in alone.parts):
            return f"{rule.text} does not cover this call"
    verdict = judge.verdict(input, rules)
    if rules[0].decision is Decision.ALLOW and verdict.decision is not Decision.ALLOW:
        texts = " and ".join(rule.text for rule in rules)
        return f"with {texts} this call would still be asked about: {verdict.reason}"
    return ""


def _offered(interrupt: Interrupt, grants: Sequence[Grant]) -> str:
    """The rules that the panel would offer in place of `grants`."""
    if grants[0].decision == "deny":
        return ""
    offers = [suggestion.text for suggestion in getattr(interrupt, "suggested", ())]
    return f"; on offer: {', or '.join(offers)}" if offers else "; no rule is on offer for it"
