"""One question that waits, as the panel needs it: its judge, and what may change while it is shown.

Three things can happen behind an open panel. Another process answers first. A rule or a mode that holds by now settles the
call. The file under a diff changes, and then what was shown is not what would happen: the question is put anew, and a
yes counts for what was shown last and for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_cli.errors import HitlError
from hitl_cli.instructions import near
from hitl_cli.interrupts import Answer, Approval, Approve, Interrupt, Reject
from hitl_cli.journal import Answered as AnsweredEntry
from hitl_cli.journal import Ended, Who
from hitl_cli.outcome import Snapshot
from hitl_cli.permissions.rule import Decision, Verdict
from hitl_cli.records import Struct, replace
from hitl_cli.state import State
from hitl_cli.tooldef import Tool
from hitl_cli.ui.approval import Answered, AnsweredRest, Panel, Parked, Stopped
from hitl_cli.ui.judge import CallJudge

if TYPE_CHECKING:
    from hitl_cli.ui.session import Conversation

POLL = 0.5  # seconds between looks at what others did
CHANGED = "The file changed while you were asked. This is the call as it would run now."


class Elsewhere(Struct, frozen=True):
    """Another process answered, or ended the turn."""

    who: Who


class Released(Struct, frozen=True):
    """A rule or mode that holds by now settles what was asked."""

    answer: Answer
    who: Who


class Late(Struct, frozen=True):
    """Nobody answered before the question expired."""


Outcome = Answered | AnsweredRest | Parked | Stopped | Elsewhere | Released | Late


def expired(interrupt: Interrupt, now: float) -> bool:
    return interrupt.expires is not None and interrupt.expires <= now


class Waiting:
    """`number` of `total`: the place of the call among those of its message."""

    def __init__(self, talk: Conversation, interrupt: Interrupt, snapshot: Snapshot, number: int, total: int) -> None:
        self.talk, self.interrupt, self.number, self.total = talk, interrupt, number, total
        self._seen = len(snapshot.history)
        state = State().fold_all(recorded.entry for recorded in snapshot.history)
        self.tool = talk.agent.tools.get(interrupt.call.name) if interrupt.call else None
        lost = Tool(name=interrupt.kind, description="", schema={"type": "object"})
        places = {scope: near(words, talk.setup.place) for scope, words in talk.setup.scopes.items()}
        self.judge = CallJudge(talk.agent, state, self.tool or lost, places)

    def panel(self, now: float, height: int) -> Panel:
        return Panel(self.interrupt, number=self.number, total=self.total, judge=self.judge, now=now, height=height)

    def look(self, panel: Panel, now: float) -> Outcome | None:
        """What has happened behind the panel; asked every `POLL` seconds."""
        try:
            return self._answered() or (Late() if expired(self.interrupt, now) else self._settled(panel, now))
        except HitlError:
            return None  # a rule file or the store cannot be read: told when the run goes on

    def _answered(self) -> Elsewhere | None:
        assert self.talk.session
        for recorded in self.talk.store.read(self.talk.session, self._seen):
            self._seen = recorded.seq
            match recorded.entry:
                case AnsweredEntry(answers=answers, who=who) if self.interrupt.id in answers:
                    return Elsewhere(who)
                case Ended():
                    return Elsewhere(Who("person", "who stopped the turn"))
            self.judge.state.fold(recorded.entry)
        return None

    def _settled(self, panel: Panel, now: float) -> Outcome | None:
        approval, bench = panel.interrupt, self.talk.agent.bench
        if not isinstance(approval, Approval) or self.tool is None or approval.call.input is None:
            return None
        self.talk.partner.renew_rules()
        verdict = self.judge.verdict(approval.call.input)
        if approval.source == "rules" and verdict.decision is not Decision.ASK:
            allowed = verdict.decision is Decision.ALLOW
            return Released(Approve() if allowed else Reject(verdict.reason), _by(verdict))
        if bench.digest(self.tool, approval.call.input) != approval.digest:
            offers = bench.suggested(self.judge.state, self.tool, approval.call)
            fresh = bench.approval(approval.id, self.tool, approval.call, verdict, offers)
            self.talk.questions.agree(approval.call.id, fresh.digest)
            kept = {name: getattr(approval, name) for name in ("reason", "source", "since", "expires")}
            panel.renew(replace(fresh, **kept), now, CHANGED)
        return None


def _by(verdict: Verdict) -> Who:
    if verdict.rule:
        return Who("rule", f"{verdict.rule.text} ({verdict.rule.source})")
    return Who("mode", verdict.reason)
