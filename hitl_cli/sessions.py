"""What may be done with a stored session as a whole: another title, a copy, an export.

The terminal and the command line both come here. An export is for other people, so secrets in it are masked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hitl_cli import journal, records
from hitl_cli.errors import SessionPending, Unfinished, UnknownSession
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    Judged,
    Recorded,
    Replied,
    Result,
    Settings,
    Settled,
)
from hitl_cli.masking import mask, mask_data
from hitl_cli.records import replace
from hitl_cli.state import State
from hitl_cli.store import Head, Store


def head_of(store: Store, session: str) -> Head:
    """The index row of one session; raises UnknownSession."""
    found = store.heads(session=session)
    if not found:
        raise UnknownSession(f"There is no session {session!r}.")
    return found[0]


def settings_of(history: Sequence[Recorded]) -> Settings | None:
    """What the latest turn was started with, mode and model as changed since; None before a first turn."""
    found: Settings | None = None
    for recorded in history:
        match recorded.entry:
            case Began(settings=settings):
                found = settings
            case Changed(what="settings", value=value):
                found = records.load(Settings, value)
            case Changed(what="mode" | "model" as what, value=value) if found:
                found = replace(found, **{what: value})
    return found


def rename(store: Store, session: str, title: str) -> None:
    """Raises SessionBusy while another process runs the session."""
    change(store, session, Changed("title", title), title=title)


def change(store: Store, session: str, changed: Changed, **of_head: Any) -> None:
    """Record a change outside of any run, with what it changes in the index row; as `rename`."""
    lease = store.claim(session)
    try:
        after = len(store.read(session))
        store.append([changed], replace(head_of(store, session), **of_head), lease, after)
    finally:
        store.release(lease)


def fork(store: Store, session: str) -> str:
    """The id of a new session that holds everything this one holds.

    Raises SessionPending while something waits, SessionBusy while a turn runs, and Unfinished where one was cut off: both
    copies would go on with it, and what is approved runs once.
    """
    head = head_of(store, session)
    if head.pending:
        ids = [str(i["id"]) for i in head.pending]
        raise SessionPending(
            f"Session {session} waits for {', '.join(ids)}.\n  Before it is forked: hitl answer {session} {ids[0]} …",
            ids,
        )
    entries: list[Entry] = [record.entry for record in store.read(session)]
    state = State().fold_all(entries)
    if state.unfinished or any(c.settled is None and (c.approved or c.running) for c in state.calls.values()):
        store.release(store.claim(session))
        raise Unfinished(f"Session {session} is in the middle of a turn.\n  `hitl recover {session}`, then fork.")
    new = store.create()
    lease = store.claim(new)
    try:
        title = f"{head.title} (fork of {session})"
        copied = replace(head, session=new, title=title, status="idle")
        store.append([*entries, Changed("title", title)], copied, lease, 0)
    finally:
        store.release(lease)
    return new


def as_object(head: Head, records: Sequence[Recorded]) -> dict[str, Any]:
    """The session as plain data: its index row and every entry, secrets masked."""
    entries = [{"seq": r.seq, "at": r.at, **journal.dump(r.entry)} for r in records]
    whole = {
        "session": head.session,
        "title": head.title,
        "cwd": head.cwd,
        "status": head.status,
        "turns": head.turns,
        "pending": list(head.pending),
        "entries": entries,
    }
    masked: dict[str, Any] = mask_data(whole)
    return masked


def as_markdown(head: Head, records: Sequence[Recorded]) -> str:
    """The conversation, its calls and the decisions about them, to be read by people; secrets masked."""
    day = time.strftime("%Y-%m-%d", time.localtime(head.updated))
    about = f"Session {head.session} in `{head.cwd}`, {head.status}, {day}"
    return mask("\n\n".join([f"# {head.title or head.session}", about, *_sections(records)]))


def _sections(records: Sequence[Recorded]) -> Iterator[str]:
    calls: dict[str, Call] = {}
    for record in records:
        match record.entry:
            case Began(text=text):
                yield f"## You\n\n{text}"
            case Replied(reply=reply, calls=made):
                calls.update({call.id: call for call in made})
                if reply.text.strip():
                    yield f"## hitl\n\n{reply.text.strip()}"
            case Judged(call=id, decision=decision, reason=reason):
                yield f"**{calls[id].name}**\n\n{_fence(calls[id].input)}\n\n{decision}: {reason}"
            case Answered(answers=answers, who=who):
                said = "; ".join(f"{id}: {', '.join(answer)}" for id, answer in answers.items())
                yield f"Answered by {f'{who.kind} {who.detail}'.strip()}: {said}"
            case Settled(call=id, result=result):
                yield f"Result of {calls[id].name} ({'ok' if result.ok else result.kind}):\n\n{_fence(_text(result))}"
            case Changed(what="summary", value=text):
                yield f"## Summary of what was said so far\n\n{text}"
            case Ended(status=status, reason=reason) if status != "completed":
                yield f"*{status}{': ' + reason if reason else ''}*"


def _text(result: Result) -> str:
    if isinstance(result.content, str):
        return result.content
    return "\n".join(str(block.get("text", f"[{block.get('type')}]")) for block in result.content)


def _fence(content: str | Mapping[str, Any] | None) -> str:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2)
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}\n{text}\n{ticks}"
