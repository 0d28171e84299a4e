"""Rules and packs added, taken away and switched, in the one file of each scope that only the program writes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hitl_cli import rulefile, rulelines
from hitl_cli.access import Place
from hitl_cli.errors import RuleError
from hitl_cli.paths import Paths
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Decision, Layer, Rule, Source
from hitl_cli.records import replace
from hitl_cli.rulebook import replacing
from hitl_cli.rulebook.layers import Scope, file_of, pack


def add(rule: Rule, scope: Scope, place: Place, paths: Paths) -> Rule:
    """Write the rule down and return it as read back, with its file and line; a rule that is there already stays once.

    Raises RuleError (the file cannot be used or written) and SessionBusy (another process holds the lock); the file is
    then as it was.
    """
    file, layer = file_of(scope, place, paths), scope
    until = None if rule.until is None else float(int(rule.until))  # whole seconds: what is read back is the same
    rule = replace(rule, source=Source(layer, str(file)), until=until, added=rule.added or float(int(time.time())))
    codec.check(rule.tool, rule.pattern)

    def change(found: rulefile.RuleFile) -> str | None:
        same = [r for r in found.rules if (r.decision, r.text) == (rule.decision, rule.text)]
        if same and same[0].until == rule.until:
            return None
        if not same:
            return _appended(found.text, rule)
        return _rewritten(found.text, lambda t: codec.to_table(rule) if _is(t, rule) else t)

    _change(file, layer, change)
    for kept in rulefile.read(file, layer).rules:
        if (kept.decision, kept.text, kept.until) == (rule.decision, rule.text, rule.until):
            return kept
    raise RuleError(
        f"{rule.text} was written but is not there",
        file=str(file),
        remedy="Look at the file; nothing else was changed.",
    )


def remove(text: str, scope: Scope, place: Place, paths: Paths, decision: Decision | None = None) -> int:
    """Take rules with this text away; how many there were."""
    file = file_of(scope, place, paths)
    gone = 0

    def change(found: rulefile.RuleFile) -> str | None:
        nonlocal gone
        doomed = [r for r in found.rules if r.text == text and decision in (None, r.decision)]
        gone = len(doomed)
        return _rewritten(found.text, lambda t: None if any(_is(t, r) for r in doomed) else t) if doomed else None

    _change(file, scope, change)
    return gone


def switch(name: str, on: bool, scope: Scope, place: Place, paths: Paths) -> None:
    """Switch a pack on or off."""
    pack(name)
    _change(
        file_of(scope, place, paths), scope, lambda found: _with(found.text, "packs", {**(found.packs or {}), name: on})
    )


def switch_rule(text: str, on: bool, scope: Scope, place: Place, paths: Paths) -> None:
    """Switch one rule of a pack off, or on again."""

    def change(found: rulefile.RuleFile) -> str:
        kept = [t for t in found.off if t != text]
        return _with(found.text, "off", kept if on else [*kept, text])

    _change(file_of(scope, place, paths), scope, change)


def _is(table: Mapping[str, Any], rule: Rule) -> bool:
    said = table.get(str(rule.decision))
    return isinstance(said, str) and codec.split(said) == (rule.tool, rule.pattern)


def _appended(text: str, rule: Rule) -> str:
    """The text with one more table at its end; what people wrote above stays as it is."""
    if isinstance(tables := rulelines.read(text)[0].get("rule"), list) and tables and "[[" not in text:
        return _rewritten(text, lambda t: t, codec.to_table(rule))
    body = _table(codec.to_table(rule))
    return (text.rstrip("\n") + "\n\n" if text.strip() else f"format = {rulefile.FORMAT}\n\n") + body


def _rewritten(text: str, each: Callable[[dict[str, Any]], dict[str, Any] | None], *more: dict[str, Any]) -> str:
    document = rulelines.read(text)[0]
    tables = [new for table in document.pop("rule", []) if (new := each(table)) is not None]
    return _dumped(document, [*tables, *more])


def _with(text: str, key: str, value: Any) -> str:
    document = rulelines.read(text)[0]
    tables = document.pop("rule", [])
    return _dumped({**document, key: value}, tables)


def _dumped(document: dict[str, Any], rules: list[dict[str, Any]]) -> str:
    import tomli_w

    head = tomli_w.dumps({"format": rulefile.FORMAT, **{k: v for k, v in document.items() if not isinstance(v, dict)}})
    tables = tomli_w.dumps({k: v for k, v in document.items() if isinstance(v, dict)})
    return "\n".join(filter(None, (head, tables, *map(_table, rules))))


def _table(table: Mapping[str, Any]) -> str:
    """One rule; times as `2026-11-30T12:00:00Z`."""
    import tomli_w

    text = "[[rule]]\n" + tomli_w.dumps(table)
    return re.sub(r"(?m)^(added|until) = (\S+) (\S+)\+00:00$", r"\1 = \2T\3Z", text)


def _change(file: Path, layer: Layer, change: Callable[[rulefile.RuleFile], str | None]) -> None:
    """Replace the file's text by what `change` makes of it, under its lock, in one step."""
    try:
        with replacing.locked(file):
            found = rulefile.read(file, layer)
            text = change(found)
            if text is None:
                return
            rulefile.parse(file, text, layer)  # what is written can be read
            replacing.replace(file, text)
    except OSError as error:
        raise RuleError(
            f"cannot be written: {error.strerror}",
            file=str(file),
            remedy=f"Make {file.parent} yours and writable, or choose another scope.",
        ) from None
