"""May this call run, and what is a person shown who is to say so.

The rules judge what the tool states that the call would touch; here the program's own say (`policy`, `approve`), the rules
of the session and the digest that binds an answer are added.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from hitl_cli.access import Place
from hitl_cli.errors import RuleError
from hitl_cli.interrupts import Approval, Preview, Suggestion
from hitl_cli.journal import Call, Grant, Json, Judged, Who, exact
from hitl_cli.middleware import call_any
from hitl_cli.paths import home
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Mode, Part, Rule, Source, Verdict
from hitl_cli.policies import Key, Own, Past, policy_for
from hitl_cli.records import Struct, field, replace
from hitl_cli.state import State
from hitl_cli.tooldef import Tool

_MAIN = ("command", "file_path", "path", "url", "plan")
_SEARCH = ("pattern", "path")
_LONGEST = 300  # characters of a call that its record repeats


def home_place() -> Place:
    """The current folder, with links resolved."""
    cwd = os.path.realpath(os.getcwd())
    return Place(cwd, (cwd,), home())


class Bench(Struct):
    """Who sits in judgement: the rules of the agent with the program's own policies, for one place."""

    place: Place
    rules: Policy
    own: Mapping[Key, Own] = field(default_factory=dict)
    mode: str = "declared"
    outputs: str = ""  # where results too long to show are kept, in a folder for each session, which may read its own
    _session: tuple[tuple[Grant, ...], Policy] | None = None  # the last session's rules, compiled

    def mode_of(self, state: State) -> Mode:
        """The session's mode; bypass holds only where the agent itself was started with it."""
        mode = state.mode or self.mode
        return cast(Mode, self.mode if mode == "bypass" else mode)

    def rules_of(self, state: State) -> Policy:
        flags = state.settings.rules if state.settings else ()
        kept = [Grant("allow", f"Read({self.outputs}/{state.session}/**)")] if self.outputs and state.session else []
        grants = (*flags, *state.grants, *kept)
        if not grants:
            return self.rules
        if self._session is None or self._session[0] != grants:
            rules = [rule_of(g, Source("flag" if n < len(flags) else "session")) for n, g in enumerate(grants)]
            self._session = grants, self.rules.plus(rules)
        return self._session[1]

    def renew(self, rules: Policy) -> None:
        """Judge by `rules` from now on."""
        self.rules, self._session = rules, None

    def add(self, rules: Iterable[Rule]) -> None:
        """Rules that were saved hold here at once; an agent made later reads them where they were saved."""
        self.renew(self.rules.plus(rules))

    async def verdict(self, state: State, tool: Tool, call: Call, context: Any, extra: Sequence[Rule] = ()) -> Verdict:
        """The verdict on a call as it stands; `extra` are rules that do not hold yet."""
        own = await self._own(state, call)
        declared = await self._declared(tool, call, context)
        rules = self.rules_of(state)
        return (rules.plus(extra) if extra else rules).judge(
            tool.states(call.input or {}, self.place),
            mode=self.mode_of(state),
            now=time.time(),
            own=own,
            read_only=tool.read_only,
            declared=declared,
            tool=tool.name,
        )

    async def _own(self, state: State, call: Call) -> Decision | None:
        policy = policy_for(self.own, call.name)
        if policy is None:
            return None
        said = await call_any(policy, call, Past(frozenset(state.once)))
        if said is not None and not isinstance(said, Decision):
            raise TypeError(f"its policy said {said!r}, which is neither a Decision nor None")
        return said

    async def _declared(self, tool: Tool, call: Call, context: Any) -> bool:
        if isinstance(tool.approve, bool):
            return tool.approve
        return bool(await call_any(tool.approve, call.input or {}, context))

    def digest(self, tool: Tool, input: Mapping[str, Json] | None) -> str:
        """What an answer is bound to: tool, arguments, folder, and what the tool adds (the content of a file)."""
        more = tool.digest(input or {}, self.place) if tool.digest else ""
        text = json.dumps([exact(tool.name, input), self.place.cwd, more], ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def wanted(self, id: str, tool: Tool, call: Call, reason: str, source: str) -> Approval:
        """The question whether `call` may run, asked for by something other than the rules."""
        return Approval(
            id=id,
            call=call,
            reason=reason,
            source=source,
            digest=self.digest(tool, call.input),
            preview=self._preview(tool, call),
        )

    def approval(
        self, id: str, tool: Tool, call: Call, verdict: Verdict, suggested: tuple[Suggestion, ...]
    ) -> Approval:
        """The question that a verdict asks, with its trace and the rules on offer."""
        return replace(
            self.wanted(id, tool, call, verdict.reason, "rules"),
            suggested=suggested,
            safety=verdict.safety,
            trace=tuple(f"{part_text(part.access)}: {part.decision}, {part.reason}" for part in verdict.parts),
            part=part_text(verdict.part.access) if verdict.part else "",
        )

    def suggested(self, state: State, tool: Tool, call: Call) -> tuple[Suggestion, ...]:
        """Rules that would have let this call run, from narrow to wide; none where rules are not what asks."""
        from hitl_cli.permissions.suggest import suggest  # the first question pays for it, not every run

        mode = self.mode_of(state)
        return suggest(
            self.rules_of(state),
            tool.states(call.input or {}, self.place),
            mode="default" if mode == "declared" else mode,
            now=time.time(),
            tool=tool.name,
        )

    def _preview(self, tool: Tool, call: Call) -> Preview:
        try:
            return tool.shows(call.input or {}, self.place)
        except Exception as error:  # the call is still shown whole: its arguments, and why there is no better view
            body = json.dumps(call.input, indent=2, ensure_ascii=False)
            return Preview("text", call.name, f"{body}\n\n(no preview: {error})")


def judged(verdict: Verdict, call: Call, mode: Mode, digest: str, suggested: Iterable[Suggestion] = ()) -> Judged:
    """The record of a verdict."""
    part = _telling(verdict)
    rule = part.rule if part else None
    help = next((", ".join(s.rules) for s in suggested), "") if verdict.decision is not Decision.ALLOW else ""
    return Judged(
        call=call.id,
        decision=cast(Any, str(verdict.decision)),
        who=_who(part, mode),
        reason=verdict.reason,
        digest=digest,
        rule=rule.text if rule else "",
        layer=rule.source.layer if rule else "",
        part=part_text(part.access) if part else "",
        help=help,
        tool=call.name,
        what=what_of(call),
    )


def what_of(call: Call) -> str:
    """The main argument of a call, whole where it is not long; of a search its pattern and where it looks."""
    values = call.input or {}
    named = [str(values[name]) for name in _SEARCH if values.get(name)] if "pattern" in values else []
    named = named or [str(values[name]) for name in _MAIN if values.get(name)][:1]
    text = " in ".join(named) or (json.dumps(values, ensure_ascii=False, default=str) if values else "")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _telling(verdict: Verdict) -> Part | None:
    """The part that says most about a verdict: of what is allowed, one that no rule but the mode has let through."""
    if verdict.decision is Decision.ALLOW:
        return next((part for part in verdict.parts if part.by == "mode"), verdict.part)
    return verdict.part


def _who(part: Part | None, mode: Mode) -> Who:
    by = part.by if part else "mode"
    if part and by == "rule" and part.rule:
        if part.rule.source.layer == "flag":
            return Who("flag", part.rule.text)
        return Who("rule", f"{part.rule.text} ({part.rule.source})")
    if by in ("floor", "guarded"):
        return Who("floor", by if by == "guarded" else "")
    return Who("policy", by) if by in ("policy", "read-only", "free") else Who("mode", mode)


def part_text(access: Any) -> str:
    """An access as people read it."""
    for name in ("text", "path", "url"):
        if getattr(access, name, ""):
            return str(getattr(access, name))
    if hasattr(access, "tool"):
        return f"{access.tool} {json.dumps(access.input, ensure_ascii=False, default=str)}"
    return " ".join(map(str, getattr(access, "words", ()))) or type(access).__name__


def rule_of(grant: Grant, source: Source) -> Rule:
    """RuleError when its text cannot be used."""
    rule = codec.parse(grant.rule, Decision[grant.decision.upper()], source)
    return replace(rule, until=grant.until)


def rule_problem(grant: Grant) -> str | None:
    try:
        rule_of(grant, Source("session"))
    except RuleError as error:
        return str(error)
    return None
