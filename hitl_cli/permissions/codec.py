"""The text of a rule, `Tool` or `Tool(pattern)`, and the table of a rule file, read into a `Rule` and written back.

Every mistake is a `RuleError` that says what to write instead; nothing is guessed and nothing is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from hitl_cli.errors import RuleError
from hitl_cli.permissions import globs, words
from hitl_cli.permissions.rule import Decision, Rule, Source
from hitl_cli.regex import later

FILE_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep")
_NAME = later(r"[A-Za-z_][A-Za-z0-9_-]*(?:__\*)?")
_HOST = later(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?(?::\d+)?|\[[0-9a-f:]+\](?::\d+)?")
_DECISIONS = {str(decision): decision for decision in Decision}
_KEYS = (*_DECISIONS, "reason", "match", "not_match", "until", "added")


_SESSION = Source("session")


def parse(text: str, decision: Decision = Decision.ALLOW, source: Source = _SESSION) -> Rule:
    """`Tool(pattern)` as a rule that is known to compile."""
    tool, pattern = split(text)
    check(tool, pattern)
    return Rule(decision, tool, pattern, source)


def split(text: str) -> tuple[str, str | None]:
    """Tool and pattern; the last parenthesis closes. A pattern that means every call comes back as None."""
    text = text.strip()
    tool, bracket, rest = text.partition("(")
    if not _NAME.fullmatch(tool):
        raise RuleError(
            f"`{text}` does not begin with the name of a tool" if text else "the rule is empty",
            remedy="Write `Bash(git log:*)`, `Read(src/**)`, `WebFetch(domain:example.org)` or the name of a tool alone.",
        )
    if not bracket:
        return tool, None
    if not rest.endswith(")"):
        inner, closed, _ = rest.rpartition(")")
        if closed:
            raise RuleError(f"`{text}` goes on after its parenthesis", remedy=f"Write `{tool}({inner})`.")
        whole = f"`{text})`" if rest.strip() else f"`{tool}` to mean every call of it"
        raise RuleError(f"the parenthesis in `{text}` is not closed", remedy=f"Write {whole}.")
    pattern = rest[:-1]
    if not pattern.strip():
        raise RuleError(f"the pattern of `{text}` is empty", remedy=f"Write `{tool}` to mean every call of it.")
    return tool, None if pattern.strip() == "*" and tool not in FILE_TOOLS else pattern


def check(tool: str, pattern: str | None) -> None:
    """RuleError when the pattern cannot be used with its tool."""
    if tool.endswith("__*") and not re.fullmatch(r"mcp__.+__\*", tool):
        raise RuleError(f"`{tool}` names no server", remedy="Write `mcp__server__*`, or a rule for each server.")
    if tool == "mcp__" or tool == "mcp":
        raise RuleError(f"`{tool}` names no server", remedy="Write `mcp__server` for all tools of one server.")
    if pattern is None:
        return
    if tool == "Bash":
        words.check(pattern)
    elif tool in FILE_TOOLS:
        globs.parse(pattern, "/~")
    elif tool == "WebFetch":
        host(pattern)
    else:
        argument(pattern, tool)


def host(pattern: str) -> str:
    """The host of `domain:HOST`, in lower case; `*.` in front means its subdomains."""
    kind, colon, name = pattern.partition(":")
    if kind.strip() != "domain" or not colon:
        raise RuleError(
            f"`{pattern}` is not a pattern for WebFetch",
            remedy="Write `WebFetch(domain:example.org)`: hosts, not addresses.",
        )
    name = name.strip().rstrip(".").lower()
    if "/" in name or "://" in name:
        bare = re.sub(r"^[a-z]+://|/.*$", "", name)
        raise RuleError(f"`{name}` is an address, not a host", remedy=f"Write `WebFetch(domain:{bare})`.")
    try:
        ascii_name = name if name.startswith(("*.", "[")) and name.isascii() else _ascii(name)
    except UnicodeError:
        ascii_name = ""
    if not _HOST.fullmatch(ascii_name):
        raise RuleError(
            f"`{name}` is not a host",
            remedy="Write a name such as `example.org`, `*.example.org` for what is below it, or `WebFetch` for every host.",
        )
    return ascii_name


def nearest(tool: str) -> str:
    """The tool of ours that `tool` is a misspelling of, as far as that can be told; else the empty text."""
    import difflib

    known = (*FILE_TOOLS, "Bash", "WebFetch")
    return "" if tool in known else next(iter(difflib.get_close_matches(tool, known, 1, 0.7)), "")


def _ascii(name: str) -> str:
    star = "*." if name.startswith("*.") else ""
    return star + name.removeprefix("*.").encode("idna").decode("ascii") if not name.isascii() else name


def argument(pattern: str, tool: str) -> tuple[str, words.Star | str]:
    """Name and value of `argument:glob`; `*` is any text."""
    name, colon, glob = pattern.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name):
        meant = nearest(tool)
        if meant:
            raise RuleError(f"there is no tool {tool}", remedy=f"Did you mean `{meant}({pattern})`?")
        raise RuleError(
            f"`{pattern}` is not a pattern for {tool}",
            remedy=f"Write `{tool}(argument:glob)`, e.g. `{tool}(path:docs/*)`, or `{tool}` for every call of it.",
        )
    if not glob:
        raise RuleError(f"`{tool}({pattern})` has nothing after `:`", remedy=f"Write `{tool}({name}:*)` for any value.")
    pieces = [re.sub(r"\\(.)", r"\1", p) for p in re.split(r"(?<!\\)\*+", glob)]
    return name, words.Star(tuple(pieces)) if len(pieces) > 1 else pieces[0]


def from_table(table: Mapping[str, Any], source: Source) -> Rule:
    """One `[[rule]]` table. RuleError without file and line: the caller knows them."""
    for key in table:
        if key not in _KEYS:
            import difflib

            near = difflib.get_close_matches(key, _KEYS, 1)
            raise RuleError(
                f"a rule has no `{key}`",
                remedy=f"Did you mean `{near[0]}`?" if near else f"A rule may have {', '.join(_KEYS)}.",
            )
    named = [d for d in _DECISIONS if d in table]
    if len(named) != 1:
        said = "neither allow, ask nor deny" if not named else " and ".join(named)
        raise RuleError(
            f"a rule says exactly one of allow, ask, deny; this one says {said}",
            remedy='Write `allow = "Bash(git log:*)"`.',
        )
    tool, pattern = split(_typed(table, named[0], str, "a text in quotes"))
    check(tool, pattern)
    reason = _typed(table, "reason", str, "a text in quotes", "")
    match, not_match = _texts(table, "match"), _texts(table, "not_match")
    until, added = _time(table, "until"), _time(table, "added")
    return Rule(_DECISIONS[named[0]], tool, pattern, source, reason, until, added, match, not_match)


def to_table(rule: Rule) -> dict[str, Any]:
    """The table that `from_table` reads back; only what is set."""
    table: dict[str, Any] = {str(rule.decision): rule.text}
    if rule.reason:
        table["reason"] = rule.reason
    if rule.match:
        table["match"] = list(rule.match)
    if rule.not_match:
        table["not_match"] = list(rule.not_match)
    for name, at in (("until", rule.until), ("added", rule.added)):
        if at is not None:
            table[name] = datetime.fromtimestamp(at, UTC)
    return table


def _typed(table: Mapping[str, Any], key: str, kind: type, what: str, default: Any = None) -> Any:
    value = table.get(key, default)
    if not isinstance(value, kind):
        raise RuleError(f"`{key}` is {_kind(value)}", remedy=f"Write {what}.")
    return value


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        return ()
    wrong = (
        next((f"holds {_kind(v)}" for v in value if not isinstance(v, str)), "") if isinstance(value, list) else None
    )
    if wrong != "":
        raise RuleError(
            f"`{key}` {wrong or f'is {_kind(value)}'}", remedy=f'Write a list of texts: `{key} = ["git log -5"]`.'
        )
    return tuple(value)


def _time(table: Mapping[str, Any], key: str) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    raise RuleError(
        f"`{key}` is {_kind(value)}", remedy=f"Write a time without quotes: `{key} = 2026-12-31T00:00:00Z`."
    )


def _kind(value: object) -> str:
    kinds = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a time" if isinstance(value, date) else type(value).__name__)


_NEXT = later(r"(?<=\))\s+\+\s+(?=[A-Za-z_][\w.-]*\()")


def several(text: str) -> tuple[str, ...]:
    """The rules of a line such as `Bash(make) + Bash(touch x)`: those that are kept together."""
    return tuple(part.strip() for part in _NEXT.split(text.strip()))
