"""What a person who runs a turn without a terminal is told on standard error: a line for each call, and what to do.

Nothing of it is needed to use the result; `--quiet` leaves it all out. Untrusted text is cleaned, and a line is cut to
what fits on one, since the whole stands in the session.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TextIO

from hitl_cli.cli.asked import about, answer_lines, title, unsure
from hitl_cli.journal import Answered, Call, Changed, Judged, Recorded, Replied, Settled, Who
from hitl_cli.models import Retrying
from hitl_cli.outcome import Blocked, Notice, Outcome, Stopped, Suspended
from hitl_cli.texts import PLAN_APPROVED
from hitl_cli.ui.clean import clean


class Narrator:
    """Fed with the events of a turn; prints to `to` (standard error). `short`: notices alone, unless `verbose`."""

    def __init__(self, *, quiet: bool, verbose: bool, short: bool = False, to: TextIO | None = None) -> None:
        self._quiet, self._verbose, self._short, self._to = quiet, verbose, short and not verbose, to or sys.stderr
        self._calls: dict[str, Call] = {}

    def say(self, text: str) -> None:
        if not self._quiet:
            print(text, file=self._to, flush=True)

    def note(self, text: str) -> None:
        """What matters to nobody who reads results alone."""
        if not self._short:
            self.say(text)

    def event(self, event: object) -> None:
        if self._quiet or self._short:
            return
        match event:
            case Recorded(entry=Replied(calls=calls)):
                self._calls.update({call.id: call for call in calls})
            case Recorded(entry=Judged() as judged):
                self._judged(judged)
            case Recorded(entry=Answered(answers=answers, who=who)) if self._verbose:
                for answer in answers.values():
                    self.say(f"  {who.kind if who.kind == 'person' else who.detail or who.kind} says: {_said(answer)}")
            case Recorded(entry=Settled(call=id, result=result)):
                if not result.ok and result.kind == "error":
                    self.say(f"  failed: {self._title(id)}")
                for file in result.data.get("instructions", ()):
                    self.say(f"  instructions: {clean(str(file))}")
            case Recorded(entry=Changed(what="mode", value=mode, who=Who(detail=str(why)))) if why == PLAN_APPROVED:
                self.say(f"  mode: {mode} ({why})")
            case Recorded(entry=Changed(what="summary", value=text)):
                self.say(f"  What was said so far is summed up in {len(text):,} characters.")
            case Recorded(entry=Changed(what="unsaved", value=value)):
                self.say(
                    f"  not saved: {clean(value['grant']['rule'])}: {clean(value['why'])}; it holds for this session"
                )
            case Notice(text):
                self.say(f"  {clean(text)}")
            case Retrying(after_s, why):
                self.say(f"  {clean(why)}; trying again in {after_s:.0f} s")

    def _title(self, id: str) -> str:
        """A call as it was asked for."""
        return title(self._calls[id]) if id in self._calls else id

    def _judged(self, judged: Judged) -> None:
        about = self._title(judged.call)
        if judged.decision == "allow":
            self.say(f"  {about}" + (f"  ({clean(judged.reason)})" if self._verbose else ""))
        elif judged.decision == "deny":
            self.say(f"  refused: {about}: {clean(judged.reason)}")
        elif self._verbose:
            self.say(f"  asks: {about}: {clean(judged.reason)}")

    def end(self, run: Outcome, store: str | None = None) -> None:
        """What a person should know about how the turn came out."""
        for refusal in run.denied:
            self.say(_refusal(refusal))
        match run:
            case Suspended():
                several = f"{len(run.pending)} answers" if len(run.pending) > 1 else "an answer"
                self.say(f"Session {run.session} waits for {several}:")
                for interrupt in run.pending:
                    why = f": {clean(interrupt.reason)}" if unsure(interrupt) else ""
                    lines = [f"\n    {line}" for line in answer_lines(run.session, interrupt, store)]
                    self.say(f"  {about(interrupt)}{why}{''.join(lines)}")
            case Stopped() | Blocked():
                self.say(f"Stopped: {run.reason}\n  Go on with: hitl run --session {run.session} MESSAGE")


def _said(answer: Mapping[str, Any]) -> str:
    """An answer in a few words, with the rules that it keeps."""
    ((kind, given),) = answer.items()
    reason = f", because {given['reason']}" if given.get("reason") else ""
    rules = ", ".join(f"{r['decision']} {r['rule']}" for r in given.get("rules", []))
    return clean(f"{kind}{reason}{f', and from now on {rules}' if rules else ''}")


def _refusal(refusal: Mapping[str, Any]) -> str:
    part = f" ({clean(str(refusal['part']))})" if refusal.get("part") else ""
    by = "nobody was there to ask" if refusal["by"] == "none" else f"refused by {clean(str(refusal['by']))}"
    help = f"\n    would be allowed by: {clean(str(refusal['help']))}" if refusal.get("help") else ""
    return f"Not done: {clean(str(refusal['tool']))}{part}: {by}{help}"
