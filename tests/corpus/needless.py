"""How many commands of real agents still ask, and which are asked most: with the default packs alone, and after the first
suggestion of each question was accepted once. Run it: `python tests/corpus/needless.py [FILE]`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hitl_cli import rulebook
from hitl_cli.access import Command, Opaque, Place
from hitl_cli.accesses import accesses_of
from hitl_cli.paths import Paths, place_for
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule, Verdict
from hitl_cli.permissions.suggest import suggest

SAMPLE = Path(__file__).parents[3] / "shared" / "corpus" / "agent-commands-sample.jsonl"


@dataclass
class Measure:
    commands: int
    asked: int  # with the default packs
    later: int  # still asked when each question's first suggestion was accepted once, in order
    rules: list[str]
    most: list[tuple[str, int]]  # what was asked most, by the part that decided
    stay: list[tuple[str, int]]  # of those without any suggestion
    allowed: list[tuple[str, Verdict]]


def measure(commands: list[str], place: Place, packed: list[Rule]) -> Measure:
    policy = grown = Policy(packed, place)
    rules: list[Rule] = []
    asked, later = Counter[str](), 0
    stay = Counter[str]()
    allowed = []
    for command in commands:
        accesses = accesses_of("Bash", {"command": command}, place)
        verdict = policy.judge(accesses, mode="default", now=0, tool="Bash")
        if verdict.decision is Decision.ALLOW:
            allowed.append((command, verdict))
            continue
        asked[_about(verdict)] += 1
        if grown.judge(accesses, mode="default", now=0, tool="Bash").decision is Decision.ALLOW:
            continue
        later += 1
        ladder = suggest(grown, accesses, now=0, tool="Bash")
        if ladder:
            rules += [codec.parse(text) for text in ladder[0].rules]
            grown = grown.plus(rules[-len(ladder[0].rules) :])
        else:
            stay[_about(verdict)] += 1
    return Measure(
        len(commands),
        asked.total(),
        later,
        [r.text for r in rules],
        asked.most_common(20),
        stay.most_common(20),
        allowed,
    )


def _about(verdict: Verdict) -> str:
    access = verdict.part.access if verdict.part else None
    if isinstance(access, Command):
        words = [w if isinstance(w, str) else "?" for w in access.words[:2]]
        acts = (
            " (" + verdict.reason.rpartition(", which ")[2].partition(";")[0] + ")"
            if ", which " in verdict.reason
            else ""
        )
        return " ".join(words)[:60] + acts
    if isinstance(access, Opaque):
        return f"opaque: {access.reason}"
    return verdict.reason[:70]


def sample(file: Path = SAMPLE) -> list[str]:
    return [json.loads(line)["command"] for line in file.read_text(encoding="utf-8").splitlines()]


def run(file: Path = SAMPLE) -> Measure:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        (root / "w" / ".git").mkdir(parents=True)
        (root / "w" / "src").mkdir()
        paths = Paths(root / "config", root / "state")
        place = place_for(root / "w", (), paths)
        packed = list(rulebook.load(place, paths).rules)
        return measure(sample(file), place, packed)


if __name__ == "__main__":
    start = time.perf_counter()
    found = run(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE)
    print(f"{found.commands} commands, {time.perf_counter() - start:.1f} s")
    print(f"asked with the default packs:                     {found.asked / found.commands:6.1%}")
    print(f"asked when first suggestions are accepted once:   {found.later / found.commands:6.1%}")
    print(f"rules accepted: {len(found.rules)}")
    for title, rows in (("asked most", found.most), ("asked, and nothing to suggest", found.stay)):
        print(f"\n{title}:")
        for what, count in rows:
            print(f"{count:6}  {what}")
