"""`hitl rules import`: rules of another assistant, and what becomes of each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.keeping import near
from hitl_cli.cli.options import one_of
from hitl_cli.errors import UsageError


def import_(
    files: Annotated[list[str], Argument("Settings of Claude Code, Codex, Gemini CLI, opencode or VS Code.")],
    write: Annotated[bool, Option("--write", "Keep the rules; without it nothing is written.")] = False,
    scope: Annotated[
        str, Option("--scope", "user or project.", check=one_of("user", "project"), metavar="SCOPE")
    ] = "project",
    as_json: Annotated[bool, Option("--json", "One JSON array.")] = False,
) -> int:
    """Show what would become of another assistant's permissions."""
    from hitl_cli import importer, importformats, rulebook
    from hitl_cli.paths import locate, place_for
    from hitl_cli.ui.clean import reveal

    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    outcomes = [outcome for file in files for outcome in importer.convert_all(importformats.read(Path(file)), place)]
    if not outcomes:
        raise UsageError(f"There is no permission rule in {', '.join(files)}.")
    if write:
        rulebook.load(place, paths)  # beside a file that cannot be used nothing is granted
        rules = {(r.decision, r.text): r for outcome in outcomes for r in outcome.rules}
        for rule in rules.values():
            rulebook.add(rule, scope, place, paths)  # type: ignore[arg-type]
    if as_json:
        print(json.dumps([_row(outcome) for outcome in outcomes], ensure_ascii=False, indent=2))
        return 0
    for outcome in outcomes:
        status = "would keep" if outcome.status == "kept" and not write else outcome.status
        print(f"{status:<10}  {outcome.foreign.decision!s:<5}  {reveal(outcome.foreign.text)}")
        if outcome.status != "kept" or [r.text for r in outcome.rules] != [outcome.foreign.text]:
            for rule in outcome.rules:
                print(f"            as     {reveal(rule.text)}")
        if outcome.note:
            print(f"            {reveal(outcome.note)}")
    kept = sum(bool(outcome.rules) for outcome in outcomes)
    file = near(str(rulebook.file_of(scope, place, paths)))  # type: ignore[arg-type]
    done = f"are kept in {file}" if write else f"would be kept in {file}; --write keeps them"
    print(f"{kept} of {len(outcomes)} rules {done}.")
    return 0


def _row(outcome: Any) -> dict[str, Any]:
    return {
        "product": outcome.foreign.product,
        "decision": str(outcome.foreign.decision),
        "text": outcome.foreign.text,
        "status": outcome.status,
        "rules": [rule.text for rule in outcome.rules],
        "note": outcome.note,
    }
