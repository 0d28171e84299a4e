"""Decisions a second over commands that agents really write, with few rules and with many; and hostile texts.

The commands are those of the corpus in `tests/corpus`; `HITL_BENCH_COMMANDS` names another file of JSON lines with a
`command` in each.
"""

from __future__ import annotations

import gc
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hitl_cli import rulebook, rulefile
from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.paths import Paths
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.permissions.suggest import suggest
from tests.bench.figures import Figure
from tests.bench.programs import PACKAGE, home

NOW = 1.8e9
ROUNDS = 5


def commands() -> list[str]:
    file = Path(os.environ.get("HITL_BENCH_COMMANDS") or PACKAGE / "tests" / "corpus" / "cases.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = [row.get("command") or row.get("input", {}).get("command") for row in rows]
    return [text for text in found if isinstance(text, str)]


def many(count: int) -> list[Rule]:
    """Rules as people write them: of 844 in real settings files 87 % name commands, 4 % tools of servers, 3 % files and 2 %
    hosts. Of every kind there is one that denies, however few there are: only their number differs."""
    choose = random.Random(1)
    programs = [f"{name}{n}" for n in range(max(1, count // 20)) for name in ("make", "npm", "tool", "run", "check")]
    shapes = {
        "Bash({0} {1}:*)": 35, "Bash({0}:*)": 15, "Bash({0} {1} --flag {2})": 25, "Bash({0} * {2})": 15,
        "mcp__{0}__{1}": 4, "Read(src/{0}/{1}/**)": 2, "Edit(docs/{0}/*.md)": 2, "WebFetch(domain:{0}.example.org)": 2,
    }  # fmt: skip

    def made(shape: str) -> str:
        return shape.format(choose.choice(programs), f"sub{choose.randrange(99)}", f"w{choose.randrange(9999)}")

    denied = [codec.parse(made(shape), Decision.DENY) for shape in shapes]
    texts = {made(shape) for shape in choose.choices(list(shapes), list(shapes.values()), k=count * 3)}
    decisions = (Decision.ALLOW, Decision.ALLOW, Decision.ALLOW, Decision.ASK, Decision.DENY)
    more = choose.sample(sorted(texts), count - len(denied))
    return [*denied, *(codec.parse(text, choose.choice(decisions)) for text in more)]


def once(policy: Policy, texts: Sequence[str], place: Place) -> list[float]:
    """Seconds of processor time of each decision, from the text to the verdict."""
    spent = []
    for text in texts:
        began = time.process_time()
        policy.judge(accesses_of("Bash", {"command": text}, place), mode="default", now=NOW, tool="Bash")
        spent.append(time.process_time() - began)
    return spent


def best(work: Callable[[], list[float]], rounds: int = ROUNDS) -> list[float]:
    """Of each item the quickest of some rounds: what it costs when nothing else wants the processor."""
    runs = [work() for _ in range(rounds)]
    return [min(times) for times in zip(*runs, strict=True)]


def hostile() -> dict[str, str]:
    size = 64 * 1024
    return {
        "pipes": "a|" * (size // 2) + "a",
        "here-documents": "".join(f"cat <<E{n}\n" for n in range(3000)) + "x\n",
        "open brackets": "$(" * (size // 2),
        "nested substitutions": "$(a " * 60 + ")" * 60,
        "backquotes": "`\\" * (size // 2),
        "braces": "{a,b}" * 3000,
        "brace powers": "echo " + "{a,b}" * 24,
        "quotes": "'\"" * (size // 2),
        "long word": "a" * size,
        "many commands": "a;" * (size // 2),
        "many words": "a " * (size // 2),
        "assignments": "A=$A$A " * (size // 8) + "$A",
        "redirections": ">a" * (size // 2),
        "wrappers": "env " * (size // 8) + "a",
        "loops": "for a in b; do " * 3000 + "a" + "; done" * 3000,
        "globs": "ls " + "*" * 60_000,
        "functions": "f(){ f;};" * (size // 9),
        "cd": "cd a;" * (size // 5),
        "escapes": "$'\\x41" * (size // 6),
        "arithmetic": "$((" * 9000 + "1" + "))" * 9000,
        "a megabyte": "x " * 500_000,
        "bash -c in bash -c": "bash -c " * 4000 + "a",
        "find -exec": "find . " + "-exec a {} \\; " * 4000,
        "xargs": "xargs " * 9000 + "a",
        "other words": "".join(f"a{n} " for n in range(size // 7)),
        "words of code": "python3 -c '" + "a " * (size // 2) + "'",
        "a word that may be many": "git " + "$x " * 3000,
        "a deep path": "cat " + "a/" * (size // 2) + "x",
        "a deep pattern": "cat " + "*/" * (size // 2) + "x",
        "a host of many labels": "curl https://" + "a." * (size // 2) + "org",
        "equal words of commands": ("a " * 990 + "\n") * 10,
        "equal unknown words": ("a " + "$x " * 900 + "\n") * 10,
        "equal words of code": "python3 -c '" + "a " * 9_900 + "'",
        "equal folders": "cat " + ("a/" * 900 + "x ") * 10,
        "file patterns": "cat " + "a*/*a " * 900,
        "other signs": "".join(f"{chr(0x4E00 + n)} " for n in range(9_900)),
        "values of a variable": f"for f in {' '.join(f'/f{n}' for n in range(190))}; do cat {'$f ' * 900}; done",
        "variables of variables": "".join(f"x{n}=$x{n + 1}$x{n + 1}; " for n in range(150)) + "x150=a; cat $x1",
        "removals": "".join(f"rm -rf a{n}; " for n in range(299)),
        "removals by pattern": "rm -rf .*; " * 299,
        "a folder many times": "cp -rL " + ". " * 990 + "d",
        "push": "eval '$x' " + "push a --forc aaa " * (size // 18),
    }


# Rules that nearly fit wherever one looks, made to be slow.
MADE = (
    *(f"Bash({'a ' * n}* *b)" for n in range(1, 60, 6)), *(f"Bash({'* a ' * n}b)" for n in range(1, 20, 3)),
    *(f"Bash({'*a' * n}*b * {'a* ' * n}b)" for n in range(1, 20, 3)), *(f"Bash({'a ' * n}b)" for n in range(1, 60, 6)),
    *(f"Read({'**/a/' * n}b)" for n in range(1, 20, 3)), *(f"Read({'a/' * n}**/*a*a*b)" for n in range(1, 20, 3)),
)  # fmt: skip
# What a wary person forbids besides all packs: patterns that could be sought at every word of a text.
WARY = (
    "Bash(* push *)", "Bash(*--force*)", "Bash(rm * -rf * /)", "Bash(curl * -o * http*)", "Bash(* --no-verify *)",
    "Read(**/.env)", "Read(**/*secret*/**)", "Edit(**/.github/**/*.yml)", "WebFetch(domain:*.example.net)",
)  # fmt: skip


def wary(place: Place, texts: Sequence[str] = WARY) -> Policy:
    packed = [rule for name in rulebook.available() for rule in rulebook.pack(name)]
    decisions = (Decision.DENY, Decision.ASK)
    return Policy((*packed, *(codec.parse(text, decisions[n % 2]) for n, text in enumerate(texts))), place)


def figures() -> Iterator[Figure]:
    gc.set_threshold(50_000)  # as the program does
    with home() as where:
        place = Place(cwd=str(where.work), roots=(str(where.work),), home=str(where.root))
        paths = Paths(where.root / "config", where.root / "state")
        texts = commands()
        packed = rulebook.load(place, paths).rules
        once(Policy(packed, place), texts, place)  # each program's row is compiled when it is first met
        spent = {}
        for count in (10, 1_000, 10_000):
            policy = Policy((*packed, *many(count)), place)
            spent[count] = best(lambda policy=policy: once(policy, texts, place))
        yield from rates(spent, len(packed), len(texts))
        yield suggestions(Policy(packed, place), texts, place)
        yield from loading(where.root, place)
        yield worst("the worst of the hostile texts", Policy(packed, place), place)
        yield worst("  all packs, and rules of a wary person", wary(place), place)
        yield worst("  all packs, and rules that are made to be slow", wary(place, MADE), place)


def rates(spent: dict[int, list[float]], packed: int, texts: int) -> Iterator[Figure]:
    rate = {count: len(times) / sum(times) for count, times in spent.items()}
    for count, times in spent.items():
        note = f"{texts} commands, text to verdict, one core; {packed} rules of packs beside them"
        yield Figure(f"decisions a second, {count:,} rules", rate[count], "/s", 10_000, note, least=True)
        p99 = sorted(times)[int(len(times) * 0.99)]
        yield Figure(f"  p99, {count:,} rules", p99 * 1000, "ms", 1.0)
    yield Figure("10,000 rules / 10 rules, time of a decision", rate[10] / rate[10_000], "times", 1.2)


def suggestions(policy: Policy, texts: Sequence[str], place: Place) -> Figure:
    stated = [accesses_of("Bash", {"command": text}, place) for text in texts]
    asks = [
        accesses
        for accesses in stated
        if policy.judge(accesses, mode="default", now=NOW, tool="Bash").decision is Decision.ASK
    ]

    def work() -> list[float]:
        spent = []
        for accesses in asks:
            began = time.process_time()
            suggest(policy, accesses, now=NOW, tool="Bash")
            spent.append(time.process_time() - began)
        return spent

    times = best(work, 3)
    note = f"ladders of {len(asks)} commands that ask, each rung proved"
    return Figure("suggestions a second", len(times) / sum(times), "/s", None, note)


def loading(root: Path, place: Place) -> Iterator[Figure]:
    def load(count: int) -> float:
        file = root / f"{count}.toml"
        lines = ["format = 1"]
        for rule in many(count):
            lines += ["", "[[rule]]", f"{rule.decision!s} = {json.dumps(rule.text)}", "added = 2026-11-30T12:00:00Z"]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

        def work() -> list[float]:
            rulefile.parse.cache_clear()
            began = time.process_time()
            Policy(rulefile.read(file, "user").rules, place)
            return [time.process_time() - began]

        return best(work)[0]

    small, large = load(1_000), load(10_000)
    yield Figure("loading 10,000 rules of our own file", large * 1000, "ms", 600, "read, parsed, checked and laid out")
    yield Figure("  10,000 rules / 1,000 rules", large / small, "times", 15, "10 is linear")


def worst(name: str, policy: Policy, place: Place) -> Figure:
    times: dict[str, Any] = {kind: min(once(policy, [text] * 3, place)) for kind, text in hostile().items()}
    slowest = max(times, key=lambda kind: times[kind])
    return Figure(name, times[slowest] * 1000, "ms", 100, f"{len(times)} texts: {slowest}")
