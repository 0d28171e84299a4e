"""Which files the model has seen, known from the journal: a file may be changed only as it was last seen.

`Read`, `Write` and `Edit` put `{"seen": {"path": real path, "sha256": hex}}` into the data of their results; the newest
entry for a path is what the model knows. A file that came with a message (`attachments`) carries the same in the note
`_file` of its block. Nothing is remembered in the process, so it holds for a session continued
elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from hitl_cli.journal import Answered, Began, Entry, Json, Raised, Recorded, Returned
from hitl_cli.tools.declare import Failed, shown


def seen(path: str, data: bytes) -> dict[str, Json]:
    """The mark that a result carries about the file it read or wrote."""
    return {"seen": {"path": shown(path), "sha256": sha256(data)}}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def require_seen(path: str, data: bytes, history: Sequence[Recorded], call: str = "") -> None:
    """Refuses a file that the model has not seen, or that is no longer as it saw it. What changed while a person was
    asked about `call` is no reason, when they were then asked anew about the file as it is and said yes to that."""
    known = _last(shown(path), history)
    if known is None:
        raise Failed(f"{shown(path)} exists and was not read in this session: Read it first, then change it")
    if known != sha256(data) and not _agreed(sha256(data), call, history):
        raise Failed(f"{shown(path)} has changed since it was last read: Read it again, then change it")


def _last(path: str, history: Sequence[Recorded]) -> str | None:
    for recorded in reversed(history):
        entry = recorded.entry
        for mark in _marks(entry):
            if mark.get("path") == path:
                return str(mark["sha256"])
    return None


def _agreed(sha: str, call: str, history: Sequence[Recorded]) -> bool:
    """Was a person asked about this call more than once, at last with this content, and did they approve that?"""
    asked: dict[str, str] = {}  # question -> the content that it showed
    yes: set[str] = set()
    for recorded in history:
        match recorded.entry:
            case Raised(interrupts=raised):
                for question in raised:
                    if (question.get("call") or {}).get("id") == call:
                        asked[str(question["id"])] = str((question.get("preview") or {}).get("before"))
            case Answered(answers=answers, who=who) if who.kind == "person":
                yes |= {id for id, answer in answers.items() if "approve" in answer}
    last = next(reversed(asked), "")
    return len(set(asked.values())) > 1 and asked[last] == sha and last in yes


def _marks(entry: Entry) -> Iterator[Mapping[str, Json]]:
    if isinstance(entry, Returned):
        yield entry.result.data.get("seen") or {}
    elif isinstance(entry, Began):
        yield from (block.get("_file") or {} for block in entry.content)
