"""JSON lines both ways: what a watcher is told of a session, and what a host program may say to it.

Outgoing lines are made from the journal's entries and the live events, one object a line; live pieces aside, each
carries the `seq` of the entry it tells of, so a host can take up a session where it left off. An incoming line is a
user message, an answer, a stop or a wish to recover; whatever else it is, it is refused with an `error` line and changes
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hitl_cli import interrupts
from hitl_cli.errors import HitlError
from hitl_cli.interrupts import Answer, Approval, Edit, Interrupt
from hitl_cli.journal import (
    Answered,
    Changed,
    Ended,
    Judged,
    Raised,
    Recorded,
    Replied,
    Settings,
    Settled,
    Usage,
)
from hitl_cli.models import Retrying, TextDelta
from hitl_cli.outcome import Blocked, Completed, Outcome, Snapshot, Stopped, Suspended
from hitl_cli.records import Struct, asdict

V = 1
Line = dict[str, Any]


def exit_code(run: Outcome) -> int:
    """The promised code of a turn that came out as `run`."""
    match run:
        case Stopped(why="interrupted"):
            return 130
        case Stopped():
            return 6
        case Blocked():
            return 5
        case Suspended():
            return 4
    return 3 if run.denied else 0


def of_event(event: object, last: int) -> Iterator[Line]:
    """The lines of one event, in order; none for what a host need not know. `last`: the last entry told of."""
    match event:
        case TextDelta(text):
            yield {"type": "text", "delta": text}
        case Retrying(after_s, why):
            yield {"type": "retry", "after_s": after_s, "why": why, "seq": last}
        case Recorded(seq, _, entry):
            for line in _of_entry(entry):
                yield {**line, "seq": seq}


def _of_entry(entry: object) -> Iterator[Line]:
    match entry:
        case Replied(reply=reply, calls=calls):
            yield {"type": "usage", **usage(reply.usage)}
            for call in calls:
                yield {"type": "call", "call": {"id": call.id, "name": call.name, "input": call.input}}
        case Changed(what="summary", usage=spent):
            yield {"type": "usage", **usage(spent)}
        case Judged():
            yield {
                "type": "verdict",
                "call": entry.call,
                "decision": entry.decision,
                "rule": entry.rule,
                "layer": entry.layer,
                "reason": entry.reason,
            }
        case Raised(interrupts=raised):
            for dumped in raised:
                yield {"type": "interrupt", "interrupt": shown(interrupts.load(dumped))}
        case Answered(answers=answers, who=who):
            for id, answer in answers.items():
                yield {"type": "answer", "interrupt": id, "answer": answer, "by": asdict(who)}
        case Settled(call=call, result=result):
            yield {"type": "result", "call": call, "ok": result.ok, "output": result.text}


def shown(interrupt: Interrupt) -> Line:
    """An interrupt as hosts and listings see it: what every kind has, then its own fields; suggested rules as texts."""
    line: Line = {"id": "", "kind": "", "call": None, "reason": "", "suggested": [], "digest": "", "expires": None}
    line |= interrupts.dump(interrupt)
    if isinstance(interrupt, Approval):
        line["suggested"] = suggested(interrupt)
    call = line.get("call")
    if isinstance(call, Mapping):
        line["call"] = {"id": call["id"], "name": call["name"], "input": call["input"]}
    return line


def suggested(approval: Approval) -> list[str]:
    """The rules on offer from narrow to wide; those that only together allow the call stand side by side."""
    return list(dict.fromkeys(rule for suggestion in approval.suggested for rule in suggestion.rules))


def usage(spent: Usage) -> Line:
    return {"input": spent.input, "output": spent.output, "cache_read": spent.cache_read, "cost": spent.cost}


def spent(snapshot: Snapshot) -> Usage:
    """Of the last turn, as far as it is on record."""
    last = snapshot.history[-1].entry if snapshot.history else None
    return last.usage if isinstance(last, Ended) else Usage()


def waiting(snapshot: Snapshot) -> Suspended | None:
    """The run as which a session waits, None when it does not."""
    if not snapshot.pending:
        return None
    return Suspended(
        session=snapshot.session,
        messages=snapshot.messages,
        usage=snapshot.usage,
        state=snapshot.state,
        denied=snapshot.denied,
        pending=snapshot.pending,
    )


def session_line(session: str, settings: Settings, seq: int) -> Line:
    return {
        "type": "session",
        "v": V,
        "session": session,
        "cwd": settings.cwd,
        "model": settings.model,
        "mode": settings.mode,
        "seq": seq,
    }


STATUS = {Completed: "completed", Suspended: "suspended", Blocked: "blocked", Stopped: "stopped"}


def end_line(run: Outcome, seq: int) -> Line:
    reason = str(run) if isinstance(run, Suspended) else getattr(run, "reason", "")
    return _end(run, seq, STATUS[type(run)], reason, exit_code(run))


def failed_line(error: HitlError, session: str, snapshot: Snapshot | None, seq: int) -> Line:
    """The end of a turn that an error ended."""
    usage, denied = (spent(snapshot), snapshot.denied) if snapshot else (Usage(), ())
    run = Outcome(session=session, usage=usage, denied=denied)
    return _end(run, seq, "failed", str(error), error.exit_code)


def _end(run: Outcome, seq: int, status: str, reason: str, code: int) -> Line:
    return {
        "type": "end",
        "status": status,
        "reason": reason,
        "exit": code,
        "answer": run.text,
        "denied": list(run.denied),
        "pending": [shown(i) for i in run.pending] if isinstance(run, Suspended) else [],
        "usage": usage(run.usage),
        "session": run.session,
        "seq": seq,
    }


def text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


# --- what a host says -------------------------------------------------------------------------------------------------


class User(Struct, frozen=True):
    text: str


class Say(Struct, frozen=True):
    interrupt: str
    answer: Answer


class Stop(Struct, frozen=True):
    pass


class Recover(Struct, frozen=True):
    """A turn that was cut off, or failed, is to go on."""


class Bad(Struct, frozen=True):
    """A line that was not understood; `problem` says what to write instead."""

    problem: str


Said = User | Say | Stop | Recover


def parse(raw: bytes) -> Said | Bad | None:
    """What one incoming line says; None for a blank line. Unknown fields are ignored."""
    if not raw.strip():
        return None
    try:
        line = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return Bad(f"not a JSON line: {error}")
    if not isinstance(line, dict):
        return Bad("a line is one JSON object with a `type`")
    match line:
        case {"type": "user", "text": str(words)} if words.strip():
            return User(words)
        case {"type": "user"}:
            return Bad("a user line carries `text` that is not empty")
        case {"type": "answer", "interrupt": str(id), "answer": dict(answer)}:
            try:
                return Say(id, _answer(answer))
            except (ValueError, HitlError) as error:
                return Bad(f"answer to {id}: {error}")
        case {"type": "answer"}:
            return Bad("an answer line carries `interrupt`, an id, and `answer`, an object")
        case {"type": "stop"}:
            return Stop()
        case {"type": "recover"}:
            return Recover()
    return Bad(f"unknown type {line.get('type')!r}; lines are user, answer, stop and recover")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _answer(found: Any) -> Answer:
    """An answer from plain JSON. For the agent an edit to nothing is a yes to the call as it stands: nobody who writes
    the whole new input means that."""
    answer = interrupts.load_answer(found)
    if isinstance(answer, Edit) and not answer.input:
        raise ValueError("an edit gives the whole new input, and this one is empty; approve runs the call as it stands")
    return answer


def answers_of(found: object) -> Mapping[str, Answer]:
    """A set of answers from plain JSON: {interrupt id: answer}. Raises ValueError with every problem."""
    if not isinstance(found, dict) or not found:
        raise ValueError("answers are one JSON object: an interrupt id and its answer each")
    answers: dict[str, Answer] = {}
    problems: list[str] = []
    for id, answer in found.items():
        try:
            answers[id] = _answer(answer)
        except (ValueError, HitlError) as error:
            problems.append(f"{id}: {error}")
    if problems:
        raise ValueError("; ".join(problems))
    return answers
