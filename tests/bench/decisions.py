"""How fast decisions are: reading a command, following its links, judging it.

`python tests/bench/decisions.py [ROUNDS]` prints, over the commands of real agents, decisions a second and percentiles
with 10, 1,000 and 10,000 rules beside the default pack, what loading 10,000 rules takes, and the slowest of texts that
are made to be slow. The best of several rounds counts: other work on the machine only ever makes them slower.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hitl_cli import rulebook, rulefile
from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.paths import Paths, place_for
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Rule

SAMPLE = Path(__file__).parents[3] / "shared" / "corpus" / "agent-commands-sample.jsonl"
SIZES = (10, 1_000, 10_000)
# Texts that make a reader slow when it is not linear, each 60,000 characters long.
HOSTILE = (
    "a|", "a;", "$(", "((", "{a,b}", "<<E\n", "'", '"$(', "`", "\\\n", "a&&", "${a:-", "[[ a ", "if a; then ", "\\",
    "case a in a) ", "a=b ", ">f ", "a ", "$((1+", "echo {1..9} ", "* ", "~/a ", "cat <<A\nx\nA\n", "x=$(ls) ", "\u00e9",
)  # fmt: skip


@dataclass(frozen=True)
class Speed:
    """Seconds for each decision, sorted."""

    rules: int
    times: Sequence[float]

    def at(self, share: float) -> float:
        return self.times[min(len(self.times) - 1, int(len(self.times) * share))]

    @property
    def per_second(self) -> float:
        return len(self.times) / sum(self.times)


def commands(file: Path = SAMPLE) -> list[str]:
    return [json.loads(line)["command"] for line in file.read_text(encoding="utf-8").splitlines()]


def rules(count: int) -> list[Rule]:
    """Rules as people have them: many commands of a few programs, some paths."""
    programs = ("git", "npm", "cargo", "docker", "kubectl", "make", "deploy", "python3")
    found = []
    for n in range(count):
        text = f"Write(src/part{n}/**)" if n % 6 == 5 else f"Bash({programs[n % 8]} task{n} step{n % 7}:*)"
        found.append(codec.parse(text))
    return found


def decide(policy: Policy, texts: Sequence[str]) -> list[float]:
    times = []
    for text in texts:
        start = time.perf_counter()
        accesses = accesses_of("Bash", {"command": text}, policy.place)
        policy.judge(accesses, mode="default", now=0, tool="Bash")
        times.append(time.perf_counter() - start)
    return times


def speed(texts: Sequence[str], packed: Sequence[Rule], place: Place, count: int, rounds: int) -> Speed:
    policy = Policy([*packed, *rules(count)], place)
    decide(policy, texts[:200])
    gc.collect()
    best = min((decide(policy, texts) for _ in range(rounds)), key=sum)
    return Speed(count, sorted(best))


def loading(place: Place, paths: Paths, count: int, rounds: int) -> float:
    """Seconds to load a rule file of that many rules, written as the program writes it."""
    table = '[[rule]]\nallow = "{}"\nadded = 2026-11-30T12:00:00Z\n'
    paths.user_rules.parent.mkdir(parents=True, exist_ok=True)
    paths.user_rules.write_text("format = 1\n\n" + "\n".join(table.format(rule.text) for rule in rules(count)))
    times = []
    for _ in range(rounds):
        rulefile.parse.cache_clear()
        times.append(_seconds(lambda: rulebook.load(place, paths)))
    return min(times)


def slowest(place: Place, packed: Sequence[Rule], size: int = 60_000) -> tuple[float, str]:
    policy = Policy(packed, place)
    return max((min(decide(policy, [piece * (size // len(piece))] * 2)[-1:]), piece) for piece in HOSTILE)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(rounds: int, texts: Sequence[str], out: Callable[[str], None] = print) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        (root / "w" / ".git").mkdir(parents=True)
        paths = Paths(root / "config", root / "state")
        place = place_for(root / "w", (), paths)
        packed = rulebook.load(place, paths).rules
        for count in SIZES:
            found = speed(texts, packed, place, count, rounds)
            out(
                f"{count:6,} rules: {found.per_second:7,.0f} decisions a second, half within {found.at(0.5) * 1e6:.0f} µs,"
                f" 99 % within {found.at(0.99) * 1e6:.0f} µs, slowest {found.times[-1] * 1e3:.1f} ms"
            )
        for count in SIZES:
            out(f"{count:6,} rules loaded in {loading(place, paths, count, rounds) * 1e3:.0f} ms")
        worst, piece = slowest(place, packed)
        out(f"slowest hostile text ({piece!r} over and over): {worst * 1e3:.0f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, commands())
