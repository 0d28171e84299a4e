"""What is wrong with rules that are not wrong enough to be refused: they never match, grant too much, or do nothing.

A rule is tried out on the call that it spells: read by the same reader and judged by the same policy as everything else,
so what is said here is what would happen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import itemgetter

from hitl_cli.access import Place, lexical
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions import globs, kinds, words
from hitl_cli.permissions.codec import FILE_TOOLS, nearest
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule, Verdict
from hitl_cli.permissions.wordtree import Index
from hitl_cli.records import Struct, replace

Folder = tuple[str, str, tuple[str, ...]]  # a tool, what a pattern is anchored at, its segments
_OPENED = {"Read": ("Read",), "Write": ("Write", "Edit"), "Edit": ("Edit",)}  # rules that cover those of a tool


class Finding(Struct, frozen=True):
    rule: Rule
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"\n  {self.remedy}" if self.remedy else ""
        return f"{self.rule.source}: {self.rule.decision} {self.rule.text}: {self.problem}{remedy}"


def lint(rules: Sequence[Rule], place: Place, now: float) -> Iterator[Finding]:
    """Findings in the order of the rules. Packs are judged by their examples alone: overlapping rules is their business."""
    policy, wide, folders = Policy(rules, place), _wide(rules, place), _folders(rules, place)
    files: dict[str, list[Rule]] = {}
    for rule in rules:
        files.setdefault(rule.source.file, []).append(rule)
    beside = {file: Beside(those, place) for file, those in files.items()}
    for rule in rules:
        yield from examples(rule, beside[rule.source.file], now)
        if rule.source.layer == "pack":
            continue
        if rule.until is not None and rule.until <= now:
            yield Finding(rule, "its time is over", "Take it away.")
            continue
        found = list(_misnamed(rule)) or list(_broad(rule)) or list(_dead(rule, place, now))
        yield from found
        if not found:
            yield from _undone(rule, policy, now) or _covered(rule, policy, wide, folders, now)


class Beside:
    """The rules of one file, which may cover other parts of an example of one of them, whatever their time is. They are
    compiled once for all examples: those of an allow rule with the allow rules, others with all."""

    def __init__(self, rules: Sequence[Rule], place: Place) -> None:
        self.rules, self.place = rules, place

    def policy(self, rule: Rule) -> Policy:
        return self._allowing if rule.decision is Decision.ALLOW else self._all

    @cached_property
    def _all(self) -> Policy:
        return Policy([replace(r, until=None) for r in self.rules], self.place)

    @cached_property
    def _allowing(self) -> Policy:
        return Policy([r for r in self._all.rules if r.decision is Decision.ALLOW], self.place)


def examples(rule: Rule, beside: Beside, now: float) -> Iterator[Finding]:
    """Examples that do not come out as the rule says."""
    for example in rule.match:
        if not _hit(rule, beside.policy(rule), example, now):
            yield Finding(rule, f"does not match its example `{example}`", "Correct the rule or the example.")
    for example in rule.not_match:
        if _hit(rule, _alone(rule, beside.place), example, now):
            yield Finding(rule, f"matches `{example}`, which it says it does not", "Narrow the rule.")


def _hit(rule: Rule, policy: Policy, example: str, now: float) -> bool:
    """Whether the rule has a part in the verdict on the example, and for an allow rule the whole of it is allowed."""
    verdict = _verdict(policy, rule, example, now)
    met = any(p.rule and p.rule.text == rule.text and p.decision is rule.decision for p in verdict.parts)
    return met and (rule.decision is not Decision.ALLOW or verdict.decision is Decision.ALLOW)


def _alone(rule: Rule, place: Place) -> Policy:
    return Policy([replace(rule, until=None)], place)


def _verdict(policy: Policy, rule: Rule, example: str, now: float) -> Verdict:
    """The verdict of `policy` on a call of the rule's tool, given what that is chiefly given: a command, a path, …"""
    tool = "Write" if rule.tool == "Edit" and rule.decision is not Decision.ALLOW else rule.tool
    input = (
        {"command": example} if tool == "Bash" else {"url": example} if tool == "WebFetch" else {"file_path": example}
    )
    if tool in ("Glob", "Grep"):
        input = {"path": example, "pattern": "*"}
    elif tool not in (*FILE_TOOLS, "Bash", "WebFetch"):
        argument = (rule.pattern or "").partition(":")[0]
        input = {argument: example} if argument else {}
    return policy.judge(accesses_of(tool, input, policy.place), mode="default", now=now, tool=tool)


def _misnamed(rule: Rule) -> Iterator[Finding]:
    if meant := nearest(rule.tool):
        yield Finding(rule, f"no tool of hitl is called {rule.tool}", f"Did you mean {meant}?")


def _dead(rule: Rule, place: Place, now: float) -> Iterator[Finding]:
    """That it can never match, as far as that can be told."""
    if rule.pattern is None:
        return
    if rule.tool == "Bash":
        if rule.pattern != rule.pattern.strip():
            yield Finding(rule, "holds a stray space at its end or beginning", f"Write `Bash({rule.pattern.strip()})`.")
        command = spelled(rule.pattern, place.home)
        if command is None:
            return
        if rule.decision is Decision.ALLOW:
            verdict = _verdict(_alone(rule, place), rule, command, now)
            more = rule.pattern.endswith("*") and any(p.rule for p in verdict.parts)  # with further words it may
            if verdict.decision is not Decision.ALLOW and not more:
                yield Finding(rule, f"never allows what it spells: {verdict.reason}", _instead(command))
        elif not _hit(rule, _alone(rule, place), command, now):
            yield Finding(rule, "is never met by the command it spells", _instead(command))
    elif rule.tool in FILE_TOOLS:
        yield from _lost(rule, place, now)


def _instead(command: str) -> str:
    first = command.split(" ", 1)[0]
    if first in ("do", "then", "else", "if", "for", "while", "done", "fi", "{", "("):
        return f"`{first}` belongs to the shell; write a rule for the command that follows it."
    if "=" in first:
        return "Write the rule for the command without its assignments."
    return ""


def spelled(pattern: str, home: str) -> str | None:
    """The shortest command a pattern without wildcards inside spells out, quoted as a shell needs it; else None."""
    import shlex

    compiled = words.parse(pattern, home)
    return shlex.join(compiled.literal) if len(compiled.literal) == len(compiled.items) else None


def _lost(rule: Rule, place: Place, now: float) -> Iterator[Finding]:
    """Paths that are not where their author believed."""
    pattern = globs.parse(rule.pattern or "", place.home)
    if pattern.base == "/" and pattern.segments:
        first = "/" + pattern.segments[0]
        if pattern.literal and not os.path.lexists(first):
            inner = "/".join(pattern.segments)
            yield Finding(
                rule,
                f"begins at the root of the disk, where there is no {first}",
                f"Write `{rule.tool}({inner})` for the workspace.",
            )
    elif pattern.base and not pattern.segments:
        return
    if rule.decision is Decision.ALLOW and rule.tool in ("Read", "Write", "Edit"):
        verdict = _verdict(_alone(rule, place), rule, _met(pattern, place), now)
        if verdict.part is not None and verdict.part.by == "floor":
            yield Finding(rule, f"is always asked about: {verdict.reason}", "Take it away.")


def _met(pattern: globs.Path, place: Place) -> str:
    """A path that the pattern may match, as far as it is literal."""
    wild = pattern.literal < len(pattern.segments) or pattern.folder
    fixed = lexical("/".join(pattern.segments[: pattern.literal]), pattern.base or place.workspace)
    return f"{fixed.rstrip('/')}/any file" if wild else fixed


def _broad(rule: Rule) -> Iterator[Finding]:
    """That it grants arbitrary code."""
    if rule.decision is not Decision.ALLOW or rule.tool != "Bash":
        return
    if rule.pattern is None:
        yield Finding(rule, "allows every command", "Write rules for the programs you mean.")
        return
    compiled = words.parse(rule.pattern)
    first = compiled.items[0]
    if not isinstance(first, str):
        yield Finding(rule, "allows any program of such a name", "Begin with the whole name of a program.")
    elif compiled.rest and _runs_anything(first) and _only_options(compiled.items[1:]):
        said = " ".join(map(str, compiled.items))
        yield Finding(
            rule, f"allows any code: {first} runs what it is given", f"Name what {first} may run: `Bash({said} …:*)`."
        )
    elif compiled.rest and tuple(compiled.items) in kinds.RUNS_ANYTHING_AFTER:
        said = " ".join(map(str, compiled.items))
        yield Finding(
            rule, f"allows any code: {said} runs what it is given", f"Name what it may run: `Bash({said} …:*)`."
        )
    elif compiled.rest and first == "rm" and all(str(item).startswith("-") for item in compiled.items[1:]):
        yield Finding(
            rule, "allows to remove whatever is named", f"Name it: `Bash({rule.pattern[:-2].rstrip()} build)`."
        )


def _only_options(items: Sequence[object]) -> bool:
    return all(str(item).startswith("-") and item not in ("--version", "--help", "-V") for item in items)


def _runs_anything(program: str) -> bool:
    return program.rpartition("/")[2] in kinds.RUNS_ANYTHING or kinds.plain(program) in kinds.RUNS_ANYTHING


def _wide(rules: Sequence[Rule], place: Place) -> Index[tuple[int, words.Words]]:
    """Allow rules that any further words may follow, each with its place among `rules`."""
    index: Index[tuple[int, words.Words]] = Index()
    for n, rule in enumerate(rules):
        if rule.tool == "Bash" and rule.decision is Decision.ALLOW and rule.pattern and rule.source.layer != "pack":
            compiled = words.parse(rule.pattern, place.home)
            if compiled.rest and len(compiled.literal) == len(compiled.items):
                index.add(compiled, (n, compiled))
    return index


def _folders(rules: Sequence[Rule], place: Place) -> dict[Folder, list[int]]:
    """Allow rules for all below a folder, by tool and folder, each by its place among `rules`."""
    found: dict[Folder, list[int]] = {}
    for n, rule in enumerate(rules):
        if rule.tool in _OPENED and rule.decision is Decision.ALLOW and rule.pattern and rule.source.layer != "pack":
            pattern = globs.parse(rule.pattern, place.home)
            if pattern.segments[-1:] == ("**",) and pattern.literal == len(pattern.segments) - 1:
                found.setdefault((rule.tool, pattern.base, pattern.segments[:-1]), []).append(n)
    return found


def _tried(rule: Rule, place: Place) -> str | None:
    """A call that an allow rule spells."""
    if rule.pattern is None or rule.decision is not Decision.ALLOW:
        return None
    if rule.tool == "Bash":
        return spelled(rule.pattern, place.home)
    return _met(globs.parse(rule.pattern, place.home), place) if rule.tool in _OPENED else None


def _undone(rule: Rule, policy: Policy, now: float) -> list[Finding]:
    """That another rule undoes it."""
    met = _tried(rule, policy.place)
    verdict = None if met is None else _verdict(policy, rule, met, now)
    if verdict is None or verdict.rule is None or verdict.decision is Decision.ALLOW:
        return []
    by = f"is undone by {verdict.decision} {verdict.rule.text} at {verdict.rule.source}"
    return [Finding(rule, by, "One of them is too much.")]


def _covered(
    rule: Rule, policy: Policy, wide: Index[tuple[int, words.Words]], folders: dict[Folder, list[int]], now: float
) -> Iterator[Finding]:
    """That another rule does its work; of two that say the same, this is said of the later one."""
    place, met = policy.place, _tried(rule, policy.place)
    if met is None:
        return
    others: list[tuple[int, bool]]  # the place of each, and whether it says the same
    if rule.tool == "Bash":
        mine = words.parse(rule.pattern or "", place.home)
        others = [(n, mine == wider) for n, wider in wide.find(mine.literal)]
    else:
        pattern = globs.parse(rule.pattern or "", place.home)
        above = [pattern.segments[:n] for n in range(pattern.literal + 1)]
        others = [
            (n, pattern.segments == (*folder, "**"))
            for tool in _OPENED[rule.tool]
            for folder in above
            for n in folders.get((tool, pattern.base, folder), ())
            if not pattern.anywhere or not folder
        ]
    earlier = True
    for n, same in sorted(others, key=itemgetter(0)):
        other = policy.rules[n]
        if other is rule:
            earlier = False
        elif (same and not (earlier and other.tool == rule.tool)) or (other.until is not None and rule.until is None):
            continue
        elif _verdict(Policy([other], place), rule, met, now).decision is Decision.ALLOW:
            yield Finding(rule, f"is covered by {other.text} at {other.source}", "Take it away.")
            return
