"""The few rules that would have saved the most questions, found in what was asked before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hitl_cli.accesses import accesses_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Suggestion
from hitl_cli.permissions.suggest import suggest
from hitl_cli.records import Struct

_MOST = 10


class Proposal(Struct, frozen=True):
    """Rules to be accepted together, and how many of the questions they would have settled."""

    suggestion: Suggestion
    saves: int


Asked = tuple[str, Mapping[str, Any]]  # tool and input of a call


def propose(calls: Iterable[Asked], rejected: Iterable[Asked], policy: Policy, now: float) -> list[Proposal]:
    """Proposals, each counted with those before it accepted. `calls` were asked about, some of them `rejected`.

    Each is taken from the ladder of a call that still asks; of equal ones the narrower rule is proposed. None would allow
    what a person has rejected, nor every file or every call of a tool.
    """
    refused = [(accesses_of(tool, input, policy.place), tool) for tool, input in rejected]

    def fit(suggestion: Suggestion) -> bool:
        rules = [codec.parse(text) for text in suggestion.rules]
        if any(rule.pattern in (None, "**") for rule in rules):
            return False
        return not any(_allows(policy.plus(rules), accesses, tool, now) for accesses, tool in refused)

    waiting: dict[str, tuple[str, Mapping[str, Any], int]] = {}
    for tool, input in calls:
        key = json.dumps([tool, input], sort_keys=True)
        waiting[key] = (tool, input, waiting.get(key, ("", {}, 0))[2] + 1)
    ladders = {}
    for key, (tool, input, _) in waiting.items():
        accesses = accesses_of(tool, input, policy.place)
        if policy.judge(accesses, mode="default", now=now, tool=tool).decision is not Decision.ALLOW:
            ladders[key] = (accesses, tool, suggest(policy, accesses, now=now, tool=tool))
    proposals: list[Proposal] = []
    while ladders and len(proposals) < _MOST:
        votes: Counter[tuple[str, ...]] = Counter()
        offered: dict[tuple[str, ...], Suggestion] = {}
        for key, (_, _, ladder) in ladders.items():
            for suggestion in filter(fit, ladder):
                votes[suggestion.rules] += waiting[key][2]
                offered.setdefault(suggestion.rules, suggestion)
        if not votes:
            break
        best = max(votes, key=lambda rules: (votes[rules], -len(rules)))
        if votes[best] < 2 and proposals:
            break
        wider = policy.plus([codec.parse(text) for text in best])
        settled = [
            key
            for key, (accesses, tool, _) in ladders.items()
            if wider.judge(accesses, mode="default", now=now, tool=tool).decision is Decision.ALLOW
        ]
        policy = wider
        proposals.append(Proposal(offered[best], sum(waiting[key][2] for key in settled)))
        ladders = {
            key: (accesses, tool, suggest(policy, accesses, now=now, tool=tool))
            for key, (accesses, tool, _) in ladders.items()
            if key not in settled
        }
    return proposals


def _allows(policy: Policy, accesses: Any, tool: str, now: float) -> bool:
    return policy.judge(accesses, mode="default", now=now, tool=tool).decision is Decision.ALLOW
