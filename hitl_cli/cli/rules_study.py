"""`hitl rules lint` and `suggest`: what is wrong with the rules, and which would save questions."""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from typing import Annotated, Any

from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.options import Store, moment


def lint(
    files: Annotated[list[str] | None, Argument("Rule files; all that are loaded here unless named.")] = None,
    as_json: Annotated[bool, Option("--json", "One JSON array.")] = False,
) -> int:
    """Find rules that never match, grant any code, or do nothing. Exit: 1 with findings."""
    from hitl_cli import rulebook, rulefile
    from hitl_cli.paths import locate, place_for
    from hitl_cli.rulelint import lint as look
    from hitl_cli.ui.clean import reveal

    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    if files:
        rules = [rule for file in files for rule in rulefile.read(_there(file), "user", settings=True).rules]
    else:
        rules = list(rulebook.load(place, paths).rules)
    findings = list(look(rules, place, time.time()))
    if as_json:
        print(json.dumps([_row(f) for f in findings], ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            print(reveal(str(finding)))
        if not findings:
            print(f"Nothing wrong with {len(rules)} rules.")
    return 1 if findings else 0


def _there(file: str) -> Path:
    from hitl_cli.errors import UsageError

    if not Path(file).exists():
        raise UsageError(f"There is no {file}.")
    return Path(file).absolute()


def _row(finding: Any) -> dict[str, Any]:
    from hitl_cli.cli.rules import named

    return {**named(finding.rule), "problem": finding.problem, "remedy": finding.remedy}


def suggest(
    since: Annotated[str | None, Option("--since", "A date or a length such as 7d.", metavar="TIME")] = None,
    as_json: Annotated[bool, Option("--json", "One JSON array.")] = False,
    store: Store = None,
) -> int:
    """The few rules that would have saved the most questions so far."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for
    from hitl_cli.ruleproposal import propose
    from hitl_cli.times import gone_by
    from hitl_cli.ui.clean import reveal

    paths = locate()
    policy = rulebook.load(place_for(os.getcwd(), (), paths), paths).policy
    questions, rejected = asked(store, moment("--since", since, gone_by) if since is not None else 0.0)
    found = propose(questions, rejected, policy, time.time())
    if as_json:
        rows = [{"rules": list(p.suggestion.rules), "scope": p.suggestion.scope, "saves": p.saves} for p in found]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    for proposal in found:
        rules = "  and  ".join(map(reveal, proposal.suggestion.rules))
        print(f"{proposal.saves:>4} questions  {rules}  ({proposal.suggestion.scope})")
        for rule in proposal.suggestion.rules:
            print(f"                hitl rules add --scope {proposal.suggestion.scope} {reveal(shlex.quote(rule))}")
    if not found and questions:
        print(f"Nothing is left to suggest: what a rule can settle of {len(questions)} questions is settled by now.")
    elif not found:
        print("Nothing was asked about, so there is nothing to suggest.")
    return 0


def asked(store: str | None, since: float) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """Tool and input of every call that was asked about, and of those that were rejected."""
    from hitl_cli.cli.opened import opened
    from hitl_cli.journal import Answered, Judged, Replied

    questions: list[tuple[str, Any]] = []
    rejected: list[tuple[str, Any]] = []
    inputs: dict[tuple[str, str], tuple[str, Any]] = {}
    with opened(store) as found:
        for session, record in found.entries(["replied", "judged", "answered"], since=since):
            entry = record.entry
            if isinstance(entry, Replied):
                inputs.update({(session, call.id): (call.name, call.input) for call in entry.calls})
            elif isinstance(entry, Judged) and entry.decision == "ask":
                tool, input = inputs.get((session, entry.call), ("", None))
                if input is not None:
                    questions.append((tool, input))
            elif isinstance(entry, Answered):
                ids = (id.partition(":")[0] for id, answer in entry.answers.items() if "reject" in answer)
                rejected += [inputs[session, id] for id in ids if inputs.get((session, id), ("", None))[1] is not None]
    return questions, rejected
