"""What the model is told about a call that was not simply run. Said plainly: who decided, why, and that nothing ran."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hitl_cli.journal import Json, Judged, Result
from hitl_cli.records import Struct


class Texts(Struct, frozen=True):
    """Wordings that a program may replace.

    reject    with {tool_name}: a person's no          feedback   with {feedback}: added where a reason was given
    modify    with {tool_name} and {final_tool_params}: a person's change of the input

    ValueError for any other placeholder; a brace that is meant as one is doubled.
    """

    reject: str = "Rejected: the user refused this call of {tool_name}. It was not run and nothing was changed."
    feedback: str = " The user's reason: {feedback}"
    modify: str = "Note: the user changed the input of {tool_name} before it ran. It ran with {final_tool_params}."

    def __post_init__(self) -> None:
        known = {"reject": ("tool_name",), "feedback": ("feedback",), "modify": ("tool_name", "final_tool_params")}
        for name, places in known.items():
            try:
                getattr(self, name).format(**dict.fromkeys(places, ""))
            except (LookupError, ValueError, AttributeError) as error:
                allowed = " and ".join(f"{{{place}}}" for place in places)
                raise ValueError(f"{name} takes {allowed} and no other placeholder ({error!r})") from None


INTERRUPTED = "Interrupted: the user stopped the turn before this call was run."
CUT_OFF = "Interrupted: this call was stopped before it was done. It may have had part of its effect: check first."
STOPPED_ANSWER = "(The user stopped the answer above before it was complete.)"
SUMMARY = "Summary of the conversation so far:\n\n"
PLANNING = (
    "# Plan mode\nThe session is in plan mode: only reading is allowed, and every call that would change anything is "
    "refused. Find out what is needed, change nothing, and work out a plan."
)
PLANNED = " When it is complete, present it with `Plan`; the person's approval ends plan mode, and you carry it out."
PLAN_APPROVED = "the plan is approved"


def rejected(tool: str, reason: str, texts: Texts) -> Result:
    """A person said no."""
    text = texts.reject.format(tool_name=tool)
    if reason.strip():
        text += texts.feedback.format(feedback=reason.strip())
    return Result(text, False, "refused")


def refused(judged: Judged) -> Result:
    """Something other than a person said no: a rule, a mode, the floor, a policy, time, or that nobody was there."""
    who, tool = judged.who, judged.tool
    if who.kind == "none":
        text = f"Rejected: {tool} needs an answer of the user and nobody is there to give it. It was not run."
    elif who.kind == "expiry":
        text = f"Expired: nobody answered in time whether {tool} may run. It was not run; this was not a refusal by the user."
    else:
        by = f"the rule {judged.rule}" if judged.rule else f"the {who.kind} {who.detail}".strip()
        text = f"Denied: {by} does not allow this call of {tool}. It was not run and nothing was changed."
        if judged.part:
            text += f" What is denied: {judged.part}."
        if judged.reason:
            text += f" Reason: {judged.reason}."
    if judged.help and judged.help != judged.rule:
        text += f" The rule that would allow it: {judged.help}."
    return Result(text, False, "refused")


def cut_off(reason: str, *, done: bool) -> Result:
    """A person said no where the body had run, or may have: its effect is not undone by that."""
    text = "Rejected: this call was run, but the user does not pass on its result." if done else CUT_OFF
    if reason.strip():
        text += f" The user says: {reason.strip()}"
    return Result(text, False, "refused" if done else "interrupted")


def modified(tool: str, input: Mapping[str, Json], texts: Texts) -> str:
    """The note in the result of a call that a person edited."""
    return texts.modify.format(tool_name=tool, final_tool_params=json.dumps(input, ensure_ascii=False))
