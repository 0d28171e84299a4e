"""What is said of the rules that an answer keeps: where each is kept, and when it does not do for the call in question."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hitl_cli.permissions.rule import Decision, Rule, Source
from hitl_cli.records import replace

if TYPE_CHECKING:
    from hitl_cli.agent import Agent
    from hitl_cli.interrupts import Answer
    from hitl_cli.journal import Call
    from hitl_cli.outcome import Snapshot


def near(path: str) -> str:
    """A path with the home folder as `~`."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def in_the_session(agent: Agent, before: Snapshot, given: Mapping[str, Answer]) -> Iterator[str]:
    """A line for each rule of `given` that holds for the session alone. `before`: the session as it waited."""
    from hitl_cli.interrupts import Approve, Edit, Reject
    from hitl_cli.loop.verdicts import rule_of, rule_problem

    for interrupt in before.pending:
        answer = given.get(interrupt.id)
        if isinstance(answer, Approve | Edit | Reject) and interrupt.call:
            grants = [g for g in answer.rules if g.scope == "session" and not rule_problem(g)]
            rules = [rule_of(grant, Source("session")) for grant in grants]
            yield from lines(agent, rules, edited(interrupt.call, given))


def lines(agent: Agent, rules: Sequence[Rule], call: Call) -> Iterator[str]:
    """A line for each rule that is kept with the answer to `call`, which says so when the rule does not settle the call."""
    tool = agent.tools.get(call.name)
    accesses = tool.states(call.input or {}, agent.place) if tool else ()
    policy, now = agent.bench.rules, time.time()
    settled = policy.plus(rules).judge(accesses, mode="default", now=now, tool=call.name)
    for rule in rules:
        where = near(str(rule.source)) if rule.source.file else "this session"
        alone = type(policy)([rule], agent.place).judge(accesses, mode="default", now=now, tool=call.name)
        but = ""
        if not any(part.rule for part in alone.parts):
            but = ", which does not cover this call"
        elif rule.decision is Decision.ALLOW and settled.decision is not Decision.ALLOW:
            but = f"; this call would still be asked about: {settled.reason}"
        yield f"keeps {rule.decision} {rule.text} in {where}{but}"


def edited(call: Call, given: Mapping[str, Answer]) -> Call:
    """The call as it was answered."""
    from hitl_cli.interrupts import Edit

    answers = (answer for id, answer in given.items() if id.partition(":")[0] == call.id)
    return next((replace(call, input=answer.input) for answer in answers if isinstance(answer, Edit)), call)
