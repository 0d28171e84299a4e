"""Rules that would settle a call next time: a ladder from narrow to wide, each rung proved before it is offered.

A rung is judged with the very call it is offered for: added to the policy it must turn the verdict into allow. A call
with several uncovered parts needs a rule for each, so a rung may be several rules (`Suggestion.also`). Parts that a rule
covers already, `cd`, descriptors and the like need none, so `cd x && make test 2>&1 | tail` leads to `make test` alone.

What a careful person could not accept is never a rung: interpreters, launchers, shells, sudo and recursive removal as
prefixes; texts that will not come again or should not be kept (scratch paths, ids, inline code, messages, assignments,
secrets). Where a rule, the floor or an unproved part is what asks, no rule helps and none is offered.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import Literal, NamedTuple

from hitl_cli.access import Access, Command, Host, Place, ReadPath, ToolUse, Word, WritePath, inside, lexical
from hitl_cli.errors import RuleError
from hitl_cli.permissions import codec, kinds, places
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Mode, Part, Rule, Source, Suggestion
from hitl_cli.permissions.unkept import passing, secret, unkept
from hitl_cli.permissions.words import key, quote
from hitl_cli.regex import later

_PARTS = 5  # uncovered parts that a person can still look over
_RUNGS = 4
_LONGEST = 160  # characters of a pattern


class Rung(NamedTuple):
    rule: str
    covers: str
    scope: Literal["project", "user"] = "user"
    fleeting: bool = False  # offered only where nothing wider can be


def suggest(
    policy: Policy, accesses: Sequence[Access], *, mode: Mode = "default", now: float, tool: str = ""
) -> tuple[Suggestion, ...]:
    """The ladder for a call that asks; empty when no rule could be accepted. Arguments as for `Policy.judge`."""
    verdict = policy.judge(accesses, mode=mode, now=now, tool=tool)
    asking = [p for p in verdict.parts if p.decision is not Decision.ALLOW]
    if not asking or any(not _curable(p, mode) for p in asking):
        return ()
    # A program of which one sub-command is granted alone is granted alone for the other parts, too.
    alone = {f"Bash({quote(word)}:*)" for word in _alone(asking)}
    ladders: list[list[Rung]] = []
    for part in asking:
        if any(_covered(policy, ladder[0], part, accesses, mode, now, tool) for ladder in ladders):
            continue
        rungs = (rung for rung in _ladder(part.access, policy, tool) if rung.rule not in alone)
        ladder = [rung for rung in rungs if _covered(policy, rung, part, accesses, mode, now, tool)]
        if ladder:
            ladders.append([rung for rung in ladder if not rung.fleeting] or ladder)
        elif not any(_covered(policy, r, part, accesses, mode, now, tool) for ladder in ladders for r in ladder):
            return ()
    if len(ladders) > _PARTS:
        return ()
    return tuple(_proved(policy, ladders, accesses, mode, now, tool))


def _alone(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part.access, Command):
            literal = _literal_words(part.access)
            if literal and kinds.single(literal):
                yield literal[0]


def _curable(part: Part, mode: Mode) -> bool:
    return part.by in ("none", "guarded") or (part.by == "mode" and mode == "dont-ask" and part.rule is None)


def _rule(text: str) -> Rule | None:
    try:
        return codec.parse(text, source=Source("session"))
    except RuleError:
        return None


def _covered(
    policy: Policy, rung: Rung, part: Part, accesses: Sequence[Access], mode: Mode, now: float, tool: str
) -> bool:
    """Whether the rung alone makes this part allowed."""
    rule = _rule(rung.rule)
    if rule is None:
        return False
    verdict = policy.plus([rule]).judge(accesses, mode=mode, now=now, tool=tool)
    return any(p.access is part.access and p.decision is Decision.ALLOW for p in verdict.parts)


def _proved(
    policy: Policy, ladders: Sequence[Sequence[Rung]], accesses: Sequence[Access], mode: Mode, now: float, tool: str
) -> Iterator[Suggestion]:
    """One rung of each ladder at a time, the shorter ladders staying at their widest; only what allows the call, and of
    that only what is needed."""

    def allow(rungs: Sequence[Rung]) -> bool:
        rules = [r for r in (_rule(rung.rule) for rung in rungs) if r is not None]
        return policy.plus(rules).judge(accesses, mode=mode, now=now, tool=tool).decision is Decision.ALLOW

    seen: set[tuple[str, ...]] = set()
    tops = [ladder[-1] for ladder in ladders]
    for level in list(zip_longest(*ladders))[:_RUNGS]:
        every = list(dict.fromkeys(rung or top for rung, top in zip(level, tops, strict=True)))
        heads = tuple(rung.rule.removesuffix(":*)") + " " for rung in every if rung.rule.endswith(":*)"))
        chosen = [rung for rung in every if not rung.rule.startswith(heads)]  # `git add:*` beside `git:*`
        texts = tuple(rung.rule for rung in chosen)
        if texts in seen or not allow(chosen):
            continue
        seen.add(texts)
        covers = "; ".join(dict.fromkeys(rung.covers for rung in chosen))
        # A pattern of a path means this project's files, so what is kept with one is kept for the project.
        project = any(rung.scope == "project" for rung in chosen)
        yield Suggestion(texts[0], covers, "project" if project else "user", texts[1:])


def _ladder(access: Access, policy: Policy, tool: str) -> Iterator[Rung]:
    if isinstance(access, Command):
        yield from _commands(access, policy.place)
    elif isinstance(access, (ReadPath, WritePath)):
        yield from _paths(access, policy, tool)
    elif isinstance(access, Host):
        if access.scheme == "https" and access.host.isascii():
            yield Rung(f"WebFetch(domain:{access.host})", f"every address of {access.host}")
    elif isinstance(access, ToolUse):
        yield Rung(access.tool, f"every call of {access.tool}")
        if access.tool.startswith("mcp__") and access.tool.count("__") >= 2:
            server = "__".join(access.tool.split("__")[:2])
            yield Rung(f"{server}__*", f"every tool of {server.removeprefix('mcp__')}")


def _commands(command: Command, place: Place) -> Iterator[Rung]:
    texts = [t for t in map(key, command.words) if t is not None]
    literal = _literal_words(command)
    if not literal or not _plain_program(literal[0]):
        return
    program = kinds.plain(literal[0])
    if program in kinds.NEVER or (program == "rm" and _recursive(command.words)):
        return
    wider = list(_prefixes(command, literal))
    exact = " ".join(map(quote, texts))
    if len(texts) == len(command.words) and len(exact) <= _LONGEST and _repeatable(program, command, texts, place):
        fleeting = bool(wider) and _only_now(literal[wider[0].rule.count(" ") + 1 :])
        yield Rung(f"Bash({exact})", "exactly this command", fleeting=fleeting)
    yield from wider


def _literal_words(command: Command) -> list[str]:
    """The words up to the first that is known only when it runs."""
    return [str(word) for word in takewhile(lambda word: isinstance(word, str), command.words)]


def _prefixes(command: Command, literal: Sequence[str]) -> Iterator[Rung]:
    """The sub-command with any further words, and the program; not where a word of them runs what follows it."""
    if kinds.single(literal):
        return
    program, depth = kinds.plain(literal[0]), kinds.depth(literal)
    runs = (a.at < depth and literal[a.at][:1] != "-" and literal[a.at - 1][:1] != "-" for a in command.acts)
    if not kinds.tool(literal) and any(runs):
        return
    if depth and len(literal) >= depth:
        words = literal[:depth]
        if not any(map(passing, words)) and not secret(words):
            yield Rung(f"Bash({' '.join(map(quote, words))}:*)", f"every `{' '.join(words)}`")
    never = program in kinds.INTERPRETERS or program in kinds.LAUNCHERS or program in kinds.MANY_SIDED
    if not never and not kinds.tool(literal):
        yield Rung(f"Bash({quote(literal[0])}:*)", f"every `{literal[0]}`")


# What is of this one moment: a number, a text with blanks, a file.
_OF_NOW = re.compile(r"\d+|.*[\s|].*|.*/.*(?<!\.\.\.)|.+\.[a-z]{1,5}\d?", re.DOTALL)
_MANY_WORDS = 5


def _only_now(words: Sequence[str]) -> bool:
    """Whether the very same words are unlikely to come again, so that keeping them would save no question."""
    return len(words) > _MANY_WORDS or any(_OF_NOW.fullmatch(word) for word in words)


def _plain_program(word: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_.+/@-]+", word) is not None and "=" not in word and not passing(word)


def _recursive(words: Sequence[Word]) -> bool:
    for word in words[1:]:
        if not isinstance(word, str) or word == "--recursive" or re.fullmatch(r"-[A-Za-z]*[rR][A-Za-z]*", word):
            return True
    return False


def _repeatable(program: str, command: Command, words: Sequence[str], place: Place) -> bool:
    """Whether the exact command may come again and holds nothing that should not be kept."""
    message = program in ("git", "gh", "hg", "jj") and any(
        w in ("-m", "--message", "-b", "--body", "-t", "--title", "--notes", "-am")
        or w.startswith(("-m", "--message="))
        for w in words[1:]
    )
    return not message and "<<" not in command.text and not unkept(command, words, place)


def _paths(access: ReadPath | WritePath, policy: Policy, tool: str) -> Iterator[Rung]:
    place = policy.place
    if access.glob:
        return
    path = access.alias or lexical(access.path, "/")
    name = "Edit" if tool == "Edit" else "Write" if isinstance(access, WritePath) else "Read"
    does = "reading" if name == "Read" else "writing"
    root = next((r for r in place.roots if inside(path, r) and path != r), None)
    if root is not None:
        short = path[len(root.rstrip("/")) + 1 :]
        if root != place.workspace:
            short = _from_home(path, place.home)
    else:
        short = _from_home(path, place.home)
        if passing(short):
            return
    if "/" not in short:
        short = "./" + short  # without an inner slash it would match at any depth
    yield Rung(f"{name}({_literal(short)})", f"{does} this file", "project")
    if isinstance(access, WritePath) and any(places.guarded(access, places.spellings(access), place)):
        return
    folder = posixpath.dirname(short)
    deep = root is not None or folder.count("/") >= 2 - folder.startswith("~")
    if deep and folder not in (".", "~", "", "/") and not _A_HOME.fullmatch(folder):
        yield Rung(f"{name}({_literal(folder)}/**)", f"{does} all below {folder}", "project")
    if root is not None and root == place.workspace:
        yield Rung(f"{name}(**)", f"{does} the whole workspace", "project")


_A_HOME = later(r"/(?:home|Users|root)(?:/[^/]+)?|/mnt/[a-z]/Users/[^/]+")


def _from_home(path: str, home: str) -> str:
    return "~" + path[len(home) :] if home != "/" and inside(path, home) and path != home else path


def _literal(path: str) -> str:
    return re.sub(r"([*?\[\\])", r"\\\1", path)
