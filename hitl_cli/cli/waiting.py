"""`hitl pending` and `hitl show`: what waits for a person, as text to act on and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from hitl_cli import sessions
from hitl_cli.cli.opened import age, opened
from hitl_cli.errors import InvalidAnswers, UsageError
from hitl_cli.interrupts import Approval, External, Interrupt, Question, Review
from hitl_cli.store import Head
from hitl_cli.ui.clean import clean

Store = Annotated[str | None, typer.Option("--store", help="Another store of sessions.", metavar="PATH")]
Json = Annotated[bool, typer.Option("--json", help="One JSON array.")]


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
        print(f"{head.session}  {clean(head.title)}  in {clean(head.cwd)}")
        for interrupt in waiting(head):
            print(*_brief(head, interrupt, store), sep="\n")
    return 0


def show(
    session: Annotated[str, typer.Argument(help="A session; the beginning of its id is enough.")],
    interrupt: Annotated[str | None, typer.Argument(help="One waiting request of it.")] = None,
    as_json: Json = False,
    store: Store = None,
) -> int:
    """One session, or one waiting request in full."""
    with opened(store) as found:
        id = found.find(session)
        head = sessions.head_of(found, id)
        records = found.read(id)
    if interrupt is None:
        whole = sessions.as_object(head, records) if as_json else None
        print(
            clean(sessions.as_markdown(head, records))
            if whole is None
            else json.dumps(whole, ensure_ascii=False, indent=2)
        )
        return 0
    asked = one_of_head(head, interrupt)
    if as_json:
        print(json.dumps(row(head, asked, store), ensure_ascii=False, indent=2))
    else:
        print(*_whole(head, asked, store), sep="\n")
    return 0


def waiting(head: Head) -> list[Interrupt]:
    from hitl_cli import interrupts

    return [interrupts.load(dumped) for dumped in head.pending]


def one_of_head(head: Head, id: str | None) -> Interrupt:
    """The interrupt with this id, or the only one that waits; raises a refusal that lists what does."""
    found = waiting(head)
    ids = ", ".join(i.id for i in found)
    if id is None:
        if len(found) != 1:
            what = f"{len(found)} requests wait in session {head.session}: {ids}" if found else "Nothing waits there"
            raise UsageError(f"{what}.\n  Name one of them.")
        return found[0]
    for interrupt in found:
        if interrupt.id == id:
            return interrupt
    raise InvalidAnswers({id: f"does not wait in session {head.session}" + (f"; waiting: {ids}" if ids else "")})


def row(head: Head, interrupt: Interrupt, store: str | None) -> dict[str, Any]:
    """One line of `pending --json`."""
    from hitl_cli.cli.lines import shown, suggested
    from hitl_cli.cli.narrate import command_for

    call = interrupt.call
    return {
        **{k: v for k, v in shown(interrupt).items() if k not in ("id", "call")},
        "session": head.session,
        "interrupt": interrupt.id,
        "kind": interrupt.kind,
        "tool": call.name if call else None,
        "input": call.input if call else None,
        "reason": getattr(interrupt, "reason", ""),
        "suggested": suggested(interrupt) if isinstance(interrupt, Approval) else [],
        "since": interrupt.since,
        "cwd": head.cwd,
        "digest": getattr(interrupt, "digest", ""),
        "answer": command_for(head.session, interrupt, store),
    }


def _brief(head: Head, interrupt: Interrupt, store: str | None) -> Iterator[str]:
    from hitl_cli.cli.narrate import command_for, title

    about = title(interrupt.call) if interrupt.call else interrupt.kind
    yield f"  {interrupt.id}  {about}  (waits {age(interrupt.since)})"
    if isinstance(interrupt, Approval):
        yield f"      {clean(interrupt.reason)}"
    yield f"      {command_for(head.session, interrupt, store)}"


def _whole(head: Head, interrupt: Interrupt, store: str | None) -> Iterator[str]:
    from hitl_cli.cli.narrate import command_for

    yield f"Session {head.session} in {clean(head.cwd)}, {interrupt.kind} {interrupt.id}, waits {age(interrupt.since)}"
    if interrupt.call:
        yield f"Tool: {clean(interrupt.call.name)}"
    match interrupt:
        case Approval(preview=preview, reason=reason, trace=trace, suggested=suggested):
            if preview and preview.purpose:
                yield f"Purpose, in the model's words: {clean(preview.purpose)}"
            yield f"Why it asks: {clean(reason)}"
            yield from (f"  {clean(line)}" for line in trace)
            yield ""
            yield clean(preview.body) if preview else _pretty(interrupt)
            yield ""
            for s in suggested:
                yield " ".join(f"--rule {shlex.quote(clean(rule))}" for rule in s.rules) + f"   {clean(s.covers)}"
        case Question(fields=fields, payload=payload):
            yield from (f"  {clean(f.name)} ({f.type}): {clean(f.description)}" for f in fields)
            if payload is not None:
                yield clean(str(payload))
        case External():
            yield _pretty(interrupt)
        case Review(middleware=middleware, payload=payload):
            yield f"{clean(middleware)} asks: {clean(json.dumps(payload, ensure_ascii=False))}"
    yield f"Answer: {command_for(head.session, interrupt, store)}"


def _pretty(interrupt: Interrupt) -> str:
    return clean(json.dumps(interrupt.call.input if interrupt.call else None, ensure_ascii=False, indent=2))
