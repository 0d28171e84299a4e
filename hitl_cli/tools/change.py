"""A change to one file, worked out before it is made: what a person is shown and what is written are the same thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hitl_cli.access import Place, inside
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Recorded, Result
from hitl_cli.records import Struct
from hitl_cli.tooldef import Input
from hitl_cli.tools import diff, disk
from hitl_cli.tools.clip import clip
from hitl_cli.tools.declare import Failed, explained, shown, target
from hitl_cli.tools.seen import require_seen, seen, sha256
from hitl_cli.tools.text import Encoding, encoding_of, ending, is_binary, with_ending

_SHOWN = 4_000  # characters of the diff that the model gets back; it wrote the change itself


class Change(Struct, frozen=True):
    """`path` with its links resolved, `name` as people see it; `before` None for a file that is made; `after` as written."""

    path: str
    name: str
    before: bytes | None
    after: bytes
    diff: str
    lines: int


def plan(path: str, place: Place, edited: Callable[[str], str], *, new: bool) -> Change:
    """What `edited` makes of the file's text, in the file's own encoding and line endings. `new`: it may be missing."""
    before = disk.content(path)
    if before is None and not new:
        raise Failed(f"{shown(path)} does not exist: make it with Write")
    if before and is_binary(before) and not new:
        raise Failed(f"{shown(path)} is binary: it cannot be edited as text")
    encoding = Encoding() if before is None or is_binary(before) else encoding_of(before)
    old = encoding.decode(before) if before and not is_binary(before) else ""
    text = edited(old)
    if ending(old) == "\r\n" and "\r\n" not in text:
        text = with_ending(text, "\r\n")
    try:
        after = encoding.encode(text)
    except UnicodeEncodeError:
        if encoding.name != "latin-1" or not new:
            raise
        after = Encoding().encode(text)  # a whole new text need not stay in an old encoding that cannot hold it
    name = shown(_in_workspace(path, place))
    changes = diff.unified(old, text, name, new=before is None)
    return Change(path, name, before, after, changes, text.count("\n") + (not text.endswith("\n") and bool(text)))


def carry_out(change: Change, history: Sequence[Recorded], call: str) -> Result:
    if change.before is not None:
        require_seen(change.path, change.before, history, call)
    if change.before == change.after:
        return Result(f"{change.name} is already so; nothing was written", data=seen(change.path, change.after))
    disk.replace(change.path, change.after)
    added, removed = diff.counts(change.diff)
    did = "created" if change.before is None else "changed"
    return Result(
        f"{did} {change.name}: {change.lines:,} lines (+{added:,} -{removed:,})\n{clip(change.diff, _SHOWN)}".rstrip(
            "\n"
        ),
        data=seen(change.path, change.after) | {"diff": change.diff, "lines": change.lines},
    )


def check(tool: str, planned: Callable[[], Change], input: Input, place: Place, history: Sequence[Recorded]) -> str:
    """Why the change cannot be made. Of a file that the model has not seen nothing is told but that."""
    try:
        path = target(tool, input, place)
        before = disk.content(path)
        if before is not None:
            require_seen(path, before, history)
        planned()
    except (Failed, OSError, UnicodeError) as error:
        return explained(error)
    return ""


def preview(tool: str, planned: Callable[[], Change], input: Input, place: Place) -> Preview:
    """The whole diff against the file as it is now; where there can be none, why the call will fail."""
    try:
        change = planned()
    except (Failed, OSError, UnicodeError) as error:
        title = f"{tool} {input.get('file_path', '')}"
        return Preview("text", title, f"This change cannot be made: {explained(error)}")
    before = "" if change.before is None else sha256(change.before)
    return Preview("diff", f"{tool} {change.name}", change.diff, path=shown(change.path), before=before)


def _in_workspace(path: str, place: Place) -> str:
    return path[len(place.workspace) :].lstrip("/") if inside(path, place.workspace) else path


def digest(tool: str, input: Input, place: Place) -> str:
    """What an approval is bound to: the file meant, and its content now."""
    try:
        path = target(tool, input, place)
        before = disk.content(path)
    except (Failed, OSError, UnicodeError) as error:
        return f"unreadable: {error}"
    return f"{shown(path)} {'' if before is None else sha256(before)}"
