"""`hitl pending` and `hitl show`: what waits for a person, as text to act on and as JSON."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

from hitl_cli.cli.asked import about, answer_lines, command_for, left_out
from hitl_cli.cli.declared import Argument
from hitl_cli.cli.opened import age, opened, stamp
from hitl_cli.cli.options import Json, Session, Store
from hitl_cli.errors import InvalidAnswers
from hitl_cli.interrupts import Approval, Interrupt, Question
from hitl_cli.store import Head
from hitl_cli.ui.clean import clean, reveal


def pending(as_json: Json = False, store: Store = None) -> int:
    """Everything that waits for a person, over all sessions."""
    with opened(store) as found:
        heads = found.heads(pending=True)
    if as_json:
        rows = [row(head, interrupt, store) for head in heads for interrupt in waiting(head)]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    if not heads:
        print("Nothing waits for an answer.")
    for head in heads:
        print(f"{head.session}  {reveal(head.title)}  in {reveal(head.cwd)}")
        for interrupt in waiting(head):
            print(*_brief(head, interrupt, store), sep="\n")
    return 0


def show(
    session: Session,
    interrupt: Annotated[str | None, Argument("One waiting request of it.")] = None,
    as_json: Json = False,
    store: Store = None,
) -> int:
    """One session, or one waiting request in full."""
    from hitl_cli import sessions

    with opened(store) as found:
        id = found.find(session)
        head = sessions.head_of(found, id)
        records = found.read(id)
    asked = None if interrupt is None else _named(head, interrupt)
    if as_json:
        data = sessions.as_object(head, records) if asked is None else row(head, asked, store)
        print(json.dumps(data, ensure_ascii=False, indent=2))
    elif asked is None:
        print(clean(sessions.as_markdown(head, records)))
    else:
        print(*_whole(head, asked, store), sep="\n")
    return 0


def waiting(head: Head) -> list[Interrupt]:
    """What waits in the session; a damaged one hides no other, it is named on standard error."""
    from hitl_cli import interrupts

    try:
        return [interrupts.load(dumped) for dumped in head.pending]
    except ValueError as error:
        print(f"hitl: what waits in session {head.session} cannot be read: {clean(str(error))}", file=sys.stderr)
        return []


def _named(head: Head, id: str) -> Interrupt:
    """The interrupt with this id, or the only one whose id begins so."""
    found = waiting(head)
    for fitting in ([i for i in found if i.id == id], [i for i in found if i.id.startswith(id)]):
        if len(fitting) == 1:
            return fitting[0]
    ids = ", ".join(i.id for i in found) or "nothing"
    raise InvalidAnswers({id: f"does not wait in session {head.session}; waiting: {ids}"})


def row(head: Head, interrupt: Interrupt, store: str | None) -> dict[str, Any]:
    """One line of `pending --json`."""
    from hitl_cli.cli.lines import shown

    call = interrupt.call
    return {
        **{k: v for k, v in shown(interrupt).items() if k not in ("id", "call")},
        "session": head.session,
        "interrupt": interrupt.id,
        "kind": interrupt.kind,
        "tool": call.name if call else None,
        "input": call.input if call else None,
        "since": stamp(interrupt.since),
        "expires": None if interrupt.expires is None else stamp(interrupt.expires),
        "cwd": head.cwd,
        "answer": command_for(head.session, interrupt, store),
    }


def _brief(head: Head, interrupt: Interrupt, store: str | None) -> Iterator[str]:
    yield f"  {interrupt.id}  {about(interrupt)}  ({_waits(interrupt)})"
    if isinstance(interrupt, Approval):
        yield f"      {clean(interrupt.reason)}"
    if left_out(interrupt):
        where = f" --store {shlex.quote(store)}" if store else ""
        yield f"      hitl show {head.session} {shlex.quote(interrupt.id)}{where}"
    yield from (f"      {line}" for line in answer_lines(head.session, interrupt, store))


def _waits(interrupt: Interrupt) -> str:
    now = time.time()
    until = interrupt.expires
    if until is None:
        return f"waits {age(interrupt.since, now)}"
    return f"waits {age(interrupt.since, now)}, {'expired' if until <= now else f'expires in {age(now, until)}'}"


def _whole(head: Head, interrupt: Interrupt, store: str | None) -> Iterator[str]:
    """The request as a panel shows it, with what a panel does with keys said as words."""
    import shutil

    from hitl_cli.ui.approval.body import sheet
    from hitl_cli.ui.theme import plain

    width = shutil.get_terminal_size((100, 0)).columns
    yield f"Session {head.session} in {reveal(head.cwd)}, {interrupt.kind} {interrupt.id}, {_waits(interrupt)}"
    yield ""
    yield from map(plain, sheet(interrupt, time.time()).whole(width))
    yield ""
    match interrupt:
        case Approval(trace=trace, suggested=suggested):
            yield from (f"  {reveal(line)}" for line in trace if len(trace) > 1)
            rules = [reveal(" ".join(f"--rule {shlex.quote(rule)}" for rule in s.rules)) for s in suggested]
            wide = min(60, max(map(len, rules), default=0))
            for given, s in zip(rules, suggested, strict=True):
                yield f"  {given:<{wide}}  {reveal(s.covers)}"
        case Question(fields=fields):
            for field in fields:
                yield f"  {reveal(field.name)} ({field.type}): {reveal(field.description)}"
                yield from (f"    - {reveal(c.label)}  {reveal(c.description)}".rstrip() for c in field.choices)
    first, *others = answer_lines(head.session, interrupt, store)
    yield f"Answer: {first}"
    yield from (f"        {line}" for line in others)
