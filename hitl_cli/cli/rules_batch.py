"""`hitl rules check --batch`: a line in, a line out, in order, as it reads."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.errors import HitlError, UsageError
from hitl_cli.paths import Paths, place_for
from hitl_cli.permissions import codec
from hitl_cli.permissions.explain import facts
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule, Source, Verdict

_MODES = ("declared", "default", "accept-edits", "plan", "dont-ask", "bypass")


def answers(source: Iterable[str], paths: Paths, cwd: str) -> Iterator[dict[str, Any]]:
    """The answer to each line of `source`.

    With `rules` given only those and the floor count, without them the rules of the workspace. A line that cannot be
    judged is answered by `{"id", "error"}`: it has no decision, so nobody takes it for one.
    """
    judge = _Judge(paths, cwd)
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        record: Any = None
        try:
            record = json.loads(line)
            answer = judge(record)
        except (ValueError, HitlError) as error:
            name = record.get("id") if isinstance(record, dict) else None
            answer = {"id": name, "error": f"line {number}: {error}"}
        yield answer


class _Judge:
    """Keeps the place of a workspace and the policy of a list of rules while lines repeat them."""

    def __init__(self, paths: Paths, cwd: str) -> None:
        self.paths, self.cwd = paths, cwd
        self.places: dict[tuple[str | None, str], Place] = {}
        self.policies: dict[tuple[str, Place], Policy] = {}

    def __call__(self, record: Any) -> dict[str, Any]:
        if not isinstance(record, dict):
            raise UsageError("a line is a JSON object with tool and input")
        tool, input = record.get("tool"), record.get("input")
        if not isinstance(tool, str) or not isinstance(input, dict):
            raise UsageError("`tool` is a text and `input` an object")
        mode = record.get("mode", "default")
        if mode not in _MODES:
            raise UsageError(f"there is no mode {mode!r}; it is one of {', '.join(_MODES)}")
        place = self._place(record)
        policy = self._policy(record.get("rules"), place)
        verdict = policy.judge(accesses_of(tool, input, place), mode=mode, now=time.time(), tool=tool)
        return {"id": record.get("id"), **told(verdict)}

    def _place(self, record: Mapping[str, Any]) -> Place:
        workspace, cwd = record.get("workspace"), record.get("cwd") or record.get("workspace") or self.cwd
        if (place := self.places.get((workspace, cwd))) is None:
            place = place_for(cwd, (), self.paths)
            if workspace is not None and workspace != place.workspace:
                at = place_for(workspace, (), self.paths)
                hitl = (*(p for p in at.protected if not p.startswith(at.workspace + "/")), f"{workspace}/.hitl")
                place = Place(place.cwd, (workspace,), place.home, hitl, at.folds_case)
            self.places[workspace, cwd] = place
        return place

    def _policy(self, given: Any, place: Place) -> Policy:
        key = json.dumps(given)
        if (policy := self.policies.get((key, place))) is None:
            if given is None:
                from hitl_cli.rulebook import load

                policy = load(place, self.paths).policy
            else:
                policy = Policy(map(_rule, given), place)
            if len(self.policies) > 64:
                self.policies.clear()
            self.policies[key, place] = policy
        return policy


def _rule(given: Any) -> Rule:
    if isinstance(given, str):
        return codec.parse(given, source=Source("flag"))
    if not isinstance(given, dict) or not isinstance(given.get("rule"), str):
        raise UsageError('a rule is {"decision": "allow", "rule": "Bash(git log:*)"}')
    decision = given.get("decision", "allow")
    if decision not in ("allow", "ask", "deny"):
        raise UsageError(f"there is no decision {decision!r}; it is allow, ask or deny")
    return codec.parse(given["rule"], Decision[decision.upper()], Source("flag"))


def told(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON: the decision, why, and each part with the rule that decided it."""
    return {"decision": str(verdict.decision), "reason": verdict.reason, "parts": list(facts(verdict))}
