"""`hitl rules`: what is allowed, asked and denied here, why, and how to change it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Annotated, Any

from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.keeping import near
from hitl_cli.cli.options import moment, one_of
from hitl_cli.errors import UsageError
from hitl_cli.times import to_come

LAYERS = ("managed", "flag", "session", "project", "user", "repository", "pack")
SCOPES = ("project", "user")
Scope = Annotated[
    str | None,
    Option("--scope", "user (every project) or project.", check=one_of(*SCOPES), metavar="SCOPE"),
]


def list_(
    layer: Annotated[
        str | None, Option("--layer", ", ".join(LAYERS) + ".", check=one_of(*LAYERS), metavar="LAYER")
    ] = None,
    as_json: Annotated[bool, Option("--json", "One JSON array.")] = False,
) -> int:
    """Every rule that holds in this folder, with where it stands."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for
    from hitl_cli.ui.clean import reveal

    paths = locate()
    found = rulebook.load(place_for(os.getcwd(), (), paths), paths)
    rules = [rule for rule in found.rules if layer in (None, rule.source.layer)]
    if as_json:
        print(json.dumps([row(rule) for rule in rules], ensure_ascii=False, indent=2))
        return 0
    width = min(60, max((len(rule.text) for rule in rules), default=0))
    for rule in rules:
        until = f"  until {_moment(rule.until)}" if rule.until is not None else ""
        where = near(str(rule.source))
        print(f"{rule.decision!s:<5}  {reveal(rule.text):<{width}}  {rule.source.layer:<10}  {reveal(where)}{until}")
    if found.untrusted:
        print(f"Allow rules of {found.untrusted} do not count: `hitl trust` shows them.")
    if not rules:
        kept = "; /permissions in it shows them" if layer == "session" else ""
        print(
            f"There is no rule of the layer {layer} here{kept}." if layer else "There is no rule: everything is asked."
        )
    return 0


def row(rule: Any) -> dict[str, Any]:
    return {**named(rule), "added": _moment(rule.added), "until": _moment(rule.until)}


def named(rule: Any) -> dict[str, Any]:
    """A rule, and where it stands."""
    return {
        "decision": str(rule.decision),
        "rule": rule.text,
        "layer": rule.source.layer,
        "file": rule.source.file or None,
        "line": rule.source.line,
    }


def _moment(at: float | None) -> str | None:
    from datetime import UTC, datetime

    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def add(
    rule: Annotated[str, Argument("Such as 'Bash(git log:*)'.")],
    ask: Annotated[bool, Option("--ask", "An ask rule.")] = False,
    deny: Annotated[bool, Option("--deny", "A deny rule.")] = False,
    scope: Scope = None,
    until: Annotated[str | None, Option("--until", "A date or a length such as 8h.", metavar="TIME")] = None,
    reason: Annotated[str, Option("--reason", "Shown when it decides.", metavar="TEXT")] = "",
) -> int:
    """Add a rule. Commands are kept for the user, paths for the project, unless --scope says otherwise."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for
    from hitl_cli.permissions import codec
    from hitl_cli.permissions.rule import Decision
    from hitl_cli.records import replace

    if ask and deny:
        raise UsageError("A rule is an ask rule or a deny rule, not both.")
    decision = Decision.ASK if ask else Decision.DENY if deny else Decision.ALLOW
    made = codec.parse(rule, decision)
    end = moment("--until", until, to_come) if until is not None else None
    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    rulebook.load(place, paths)  # beside a file that cannot be used nothing is granted
    where: Any = scope or ("project" if made.tool in codec.FILE_TOOLS else "user")
    kept = rulebook.add(replace(made, reason=reason, until=end), where, place, paths)
    print(f"{kept.decision} {kept.text} is kept in {near(str(kept.source))}")
    for line in _doubts(kept):
        print(f"  {line}")
    return 0


def _doubts(rule: Any) -> Iterator[str]:
    """What `hitl rules lint` finds wrong with a rule, a line each."""
    import time

    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for
    from hitl_cli.rulelint import lint
    from hitl_cli.ui.clean import reveal

    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    for finding in lint(rulebook.load(place, paths).rules, place, time.time()):
        if finding.rule == rule:
            yield reveal(f"{finding.problem}. {finding.remedy}".rstrip())


def remove(
    rule: Annotated[str, Argument("Its text, as `hitl rules list` shows it.")],
    scope: Scope = None,
) -> int:
    """Take a rule away; a rule of a pack is switched off."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for

    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    for where in (scope,) if scope else SCOPES:
        if count := rulebook.remove(rule, where, place, paths):  # type: ignore[arg-type]
            gone = f"{rule} is" if count == 1 else f"{count} rules {rule} are"
            print(f"{gone} gone from {near(str(rulebook.file_of(where, place, paths)))}")  # type: ignore[arg-type]
            return 0
    others = [r for r in rulebook.load(place, paths).rules if r.text == rule]
    for found in others:
        if found.source.layer == "pack":
            rulebook.switch_rule(rule, False, scope or "user", place, paths)  # type: ignore[arg-type]
            print(f"{rule} of {found.source} is switched off")
            return 0
    if others:
        raise UsageError(f"{rule} stands in {others[0].source}, which only people write.\n  Take it out there.")
    raise UsageError(f"There is no rule {rule} here.\n  `hitl rules list` shows all rules.")


def packs(
    name: Annotated[str | None, Argument("A pack, to show or switch it.")] = None,
    on: Annotated[bool, Option("--on", "Switch it on.")] = False,
    off: Annotated[bool, Option("--off", "Switch it off.")] = False,
    scope: Scope = None,
    as_json: Annotated[bool, Option("--json", "One JSON array.")] = False,
) -> int:
    """The packs that ship: list, show NAME, switch --on or --off."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for

    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    if on and off:
        raise UsageError("A pack is switched on or off, not both.")
    if (on or off) and not name:
        raise UsageError("Name the pack to switch.\n  `hitl rules packs` lists them.")
    active = rulebook.load(place, paths).on
    if name and (on or off):
        rulebook.switch(name, on, scope or "user", place, paths)  # type: ignore[arg-type]
        print(f"{name} is {'on' if on else 'off'}")
        return 0
    if name:
        rules = rulebook.pack(name)
        if as_json:
            print(json.dumps([row(rule) for rule in rules], ensure_ascii=False, indent=2))
            return 0
        width = min(60, max(len(rule.text) for rule in rules))
        for rule in rules:
            print(f"{rule.decision!s:<5}  {rule.text:<{width}}  {rule.reason}".rstrip())
        return 0
    rows = [{"name": n, "on": n in active, "rules": len(rulebook.pack(n))} for n in rulebook.available()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    for found_pack in rows:
        print(f"{found_pack['name']:<12}  {'on' if found_pack['on'] else 'off':<3}  {found_pack['rules']} rules")
    return 0
