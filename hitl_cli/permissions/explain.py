"""A verdict in words: one line for each part of the call, with the rule, file and line that decided it."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.access import Access, Command, Host, Opaque, ReadPath, ToolUse, Unnamed, inside
from hitl_cli.permissions.rule import Part, Verdict
from hitl_cli.permissions.scene import called, joined, shown, where


def tree(verdict: Verdict, *, near: str = "", home: str = "") -> tuple[str, ...]:
    """The verdict and below it its parts, files under the command they belong to. Plain text, one line each.

    `near`: a folder in front of paths that is left out (the workspace); `home` is written `~`.
    """
    below: dict[int, list[Part]] = {}
    tops: list[tuple[int, Part]] = []
    texts: set[str] = set()
    inner: set[int] = set()  # commands in the text of one that starts them
    for n, part in enumerate(verdict.parts):
        owner = getattr(part.access, "by_command", None)
        if isinstance(part.access, Command):
            if part.access.within and part.access.text in texts:
                inner.add(n)
            texts.add(part.access.text)
        if _silent(part):
            continue
        if owner is None:
            tops.append((n, part))
        else:
            below.setdefault(owner, []).append(part)
    lines = [f"{verdict.decision}: {verdict.reason}"]
    for at, (n, part) in enumerate(tops):
        last = at == len(tops) - 1
        lines.append(("└─ " if last else "├─ ") + _line(part, near, home, n in inner))
        children = below.get(n, ())
        for k, child in enumerate(children):
            branch = "└─ " if k == len(children) - 1 else "├─ "
            lines.append(("   " if last else "│  ") + branch + _line(child, near, home))
    return tuple(lines)


def _silent(part: Part) -> bool:
    return part.by == "free" and not isinstance(part.access, Command)


def _line(part: Part, near: str, home: str, inner: bool = False) -> str:
    """The decision first, then what it is about, then why."""
    number = f"{part.number} " if part.number else ""
    access = part.access
    what = shown(called(access, True) if inner and isinstance(access, Command) else title(access, near, home))
    within = " > ".join(part.access.within) if isinstance(part.access, Command) else ""
    how = f" (in {within})" if within and not what.startswith(within) else ""
    return f"{part.decision!s:5} {number}{what}{how}: {_why(part, home)}"


def _why(part: Part, home: str) -> str:
    if part.rule is None or part.decision is not part.rule.decision:
        plain = part.by == "none" and part.rule is None and ", a link to " not in part.reason
        return "no rule covers it" if plain and part.reason.startswith("no rule covers ") else part.reason
    reason = f": {part.rule.reason}" if part.rule.reason else ""
    return f"{part.rule.text}, {where(part.rule.source, home)}{reason}"


def title(access: Access, near: str = "", home: str = "") -> str:
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
    if access.path == "/**":
        path = "a file only the shell knows"
    elif home and inside(path, home):
        path = "~" + path[len(home) :]
    if isinstance(access, Unnamed):
        return f"write below {path}"
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
