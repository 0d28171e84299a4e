"""A verdict in words: one line for each part of the call, with the rule, file and line that decided it."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.access import Access, Command, Host, Opaque, ReadPath, ToolUse
from hitl_cli.permissions.rule import Part, Verdict
from hitl_cli.permissions.scene import joined, shown


def tree(verdict: Verdict, *, near: str = "") -> tuple[str, ...]:
    """The verdict and below it its parts, files under the command they belong to. Plain text, one line each.

    `near`: a folder in front of paths that is left out (the workspace).
    """
    below: dict[int, list[Part]] = {}
    tops: list[tuple[int, Part]] = []
    for n, part in enumerate(verdict.parts):
        owner = getattr(part.access, "by_command", None)
        if owner is None:
            tops.append((n, part))
        elif not _silent(part):
            below.setdefault(owner, []).append(part)
    lines = [f"{verdict.decision}: {verdict.reason}"]
    for at, (n, part) in enumerate(tops):
        last = at == len(tops) - 1
        lines.append(("└─ " if last else "├─ ") + _line(part, near))
        children = below.get(n, ())
        for k, child in enumerate(children):
            lines.append(("   " if last else "│  ") + ("└─ " if k == len(children) - 1 else "├─ ") + _line(child, near))
    return tuple(lines)


def trace(verdict: Verdict) -> tuple[str, ...]:
    """One line a part, those that need no word left out: what is kept with a question."""
    return tuple(_line(part, "") for part in verdict.parts if not _silent(part))


def _silent(part: Part) -> bool:
    return part.by == "free" and not isinstance(part.access, Command)


def _line(part: Part, near: str) -> str:
    number = f"{part.number} " if part.number else ""
    how = f" (in {' > '.join(part.access.within)})" if isinstance(part.access, Command) and part.access.within else ""
    return f"{number}{shown(title(part.access, near))}{how}: {part.decision}, {_why(part)}"


def _why(part: Part) -> str:
    if part.rule is None:
        return part.reason
    where = f" at {part.rule.source}" if part.rule.source.file else f" ({part.rule.source.layer})"
    reason = f": {part.rule.reason}" if part.rule.reason else ""
    told = f"{part.rule.decision} rule {part.rule.text}{where}{reason}"
    return told if part.decision is part.rule.decision else f"{part.reason}; {told}"


def title(access: Access, near: str = "") -> str:
    """What part of the call it is, in a few words."""
    if isinstance(access, Command):
        return access.text or joined(access.words)
    if isinstance(access, Host):
        return access.url
    if isinstance(access, Opaque):
        return access.text or "the call"
    if isinstance(access, ToolUse):
        return access.tool
    path = access.path.removeprefix(near.rstrip("/") + "/") if near else access.path
    if isinstance(access, ReadPath):
        return f"{'list' if access.listing else 'read'} {path}"
    return f"{'remove' if access.removes else 'write'} {path}"


def facts(verdict: Verdict) -> Sequence[dict[str, object]]:
    """The parts as plain data."""
    told = []
    for part in verdict.parts:
        fact: dict[str, object] = {"text": title(part.access), "decision": str(part.decision), "by": part.by}
        fact["reason"] = part.reason
        if part.rule:
            fact |= {"rule": part.rule.text, "layer": part.rule.source.layer}
            if part.rule.source.file:
                fact |= {"file": part.rule.source.file, "line": part.rule.source.line}
        told.append(fact)
    return told
