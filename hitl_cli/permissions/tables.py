"""Rules, compiled once and laid out so that finding those a call meets costs what the call is long.

A `Table` holds the rules of one decision. Allow rules are strict: they have to match a thing as it is. Deny and ask rules
are met by any spelling of it: with the program's base name, with its options in another order or written apart, with a
folder above the path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hitl_cli.access import Command, Host, Opaque, Place, ToolUse, Unknown, Word
from hitl_cli.permissions import codec, globs, kinds, pathtree, words, wordtree
from hitl_cli.permissions.codec import FILE_TOOLS
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.regex import later

# Long names of short options that mean the same wherever both exist: a deny rule for `rm -rf` is met by
# `rm --recursive --force`. Source: the GNU coreutils and git manuals.
_LONG = {
    "--recursive": "r",
    "--force": "f",
    "--all": "a",
    "--delete": "d",
    "--interactive": "i",
    "--verbose": "v",
    "--quiet": "q",
    "--global": "g",
    "--user": "u",
}
# Between the words of inline code.
CODE = later(r"[^\w./-]+")


class Fit(NamedTuple):
    """A rule that fits a command, and the words it spells out (None: all of them, or with `rule.pattern` None, none)."""

    rule: Rule
    spelled: tuple[Word, ...] | None


class Table:
    """The rules of one decision."""

    def __init__(self, rules: Iterable[Rule], decision: Decision, place: Place) -> None:
        self.decision, self.place = decision, place
        self.strict = decision is Decision.ALLOW
        self.commands: wordtree.Index[tuple[Rule, words.Words]] = wordtree.Index()
        self.every: dict[str, list[Rule]] = {}  # tools that a rule covers whole, `mcp__server` too
        self.loose: dict[tuple[str, ...], list[tuple[Rule, frozenset[str], bool]]] = {}
        self.paths: dict[str, pathtree.Index[tuple[Rule, globs.Path | None]]] = {}
        self.hosts: dict[str, list[Rule]] = {}
        self.arguments: dict[str, list[tuple[Rule, str, words.Star | str]]] = {}
        self.empty = True
        for rule in rules:
            if rule.decision is decision:
                self._add(rule)

    def _add(self, rule: Rule) -> None:
        self.empty = False
        tool, pattern = rule.tool, rule.pattern
        if tool in FILE_TOOLS:
            index = self.paths.get(tool)
            if index is None:
                index = self.paths[tool] = pathtree.Index(self.place, strict=self.strict)
            compiled = None if pattern is None else globs.parse(pattern, self.place.home)
            index.add(compiled, (rule, compiled))
        elif pattern is None:
            self.every.setdefault(tool.removesuffix("__*") if tool.startswith("mcp__") else tool, []).append(rule)
        elif tool == "Bash":
            compiled_words = words.parse(pattern, self.place.home)
            self.commands.add(compiled_words, (rule, compiled_words))
            if not self.strict:
                self._loosely(rule, compiled_words)
        elif tool == "WebFetch":
            self.hosts.setdefault(codec.host(pattern), []).append(rule)
        else:
            self.arguments.setdefault(tool, []).append((rule, *codec.argument(pattern, tool)))

    def _loosely(self, rule: Rule, pattern: words.Words) -> None:
        literal = pattern.literal
        options = _options(literal)
        if options and len(literal) == len(pattern.items):
            rest = tuple(w for w in literal if not w.startswith("-"))
            self.loose.setdefault(rest, []).append((rule, options, pattern.rest))

    # Commands

    def fits(self, command: Command, now: float) -> Iterator[Fit]:
        """Allow rules that cover the command, by the words it consists of or another spelling a rule may name."""
        for rule in self.every.get("Bash", ()):
            if live(rule, now):
                yield Fit(rule, ())
        yield from self._fits(command.words, 1, now)
        for form, least in zip(command.forms, command.spells or (1,) * len(command.forms), strict=False):
            yield from self._fits(form, least, now)

    def _fits(self, spelling: Sequence[Word], least: int, now: float) -> Iterator[Fit]:
        for rule, pattern in self.commands.find(spelling):
            if live(rule, now):
                spelled = pattern.spelled
                if not pattern.rest and spelled == len(pattern.items):
                    yield Fit(rule, None)
                elif spelled >= least or not pattern.rest:
                    yield Fit(rule, (*spelling[:spelled], *pattern.words))

    def hits(self, command: Command, now: float) -> Rule | None:
        """A deny or ask rule that any spelling of the command meets."""
        if self.empty:
            return None
        for rule in self.every.get("Bash", ()):
            if live(rule, now):
                return rule
        for spelling in _spellings(command):
            for rule, _ in self.commands.find(spelling):
                if live(rule, now):
                    return rule
            if self.loose:
                for rule in self._hits_loosely(spelling, now):
                    return rule
        return None

    def _hits_loosely(self, spelling: Sequence[Word], now: float) -> Iterator[Rule]:
        operands: list[Word] = [w for w in spelling if not (isinstance(w, str) and w.startswith("-") and w != "-")]
        options: frozenset[str] | None = None
        for n in range(1, len(operands) + 1):
            if isinstance(operands[n - 1], Unknown):
                return
            for rule, wanted, rest in self.loose.get(tuple(operands[:n]), ()):  # type: ignore[arg-type]
                if options is None:
                    options = _options(spelling)
                if wanted <= options and (rest or n == len(operands)) and live(rule, now):
                    yield rule

    def may_hit(self, command: Command, now: float) -> Rule | None:
        """A rule that the command could meet: by what the shell makes of its unknown words, or by the code that an
        interpreter is given, whose text is searched for the words of the rule."""
        if self.empty:
            return None
        if command.words[:1] and command.words[0] in kinds.INTERPRETERS:
            for code in command.words[1:]:
                if isinstance(code, str) and CODE.search(code):
                    for rule, _ in self.commands.within(CODE.split(code)):
                        if live(rule, now):
                            return rule
        if not any(isinstance(w, Unknown) for w in command.words):
            return None
        for spelling in _spellings(command):
            for rule, _ in self.commands.may(spelling):
                if live(rule, now):
                    return rule
        return None

    def hits_opaque(self, opaque: Opaque, now: float) -> Rule | None:
        for rule in self.every.get("Bash", ()):
            if live(rule, now):
                return rule
        for words_ in (opaque.words, tuple(w.rpartition("/")[2] for w in opaque.words)):
            for rule, _ in self.commands.within(words_):
                if live(rule, now):
                    return rule
        return None

    # Paths

    def path(self, tools: Iterable[str], path: str, now: float) -> Iterator[tuple[Rule, globs.Path | None]]:
        for tool in tools:
            if index := self.paths.get(tool):
                for found in index.find(path):
                    if live(found[0], now):
                        yield found

    def may_path(self, tools: Iterable[str], glob: str, now: float) -> Rule | None:
        for tool in tools:
            if index := self.paths.get(tool):
                for rule, _ in index.may(glob):
                    if live(rule, now):
                        return rule
        return None

    # Hosts and other tools

    def host(self, host: Host, now: float) -> Rule | None:
        for rule in self.every.get("WebFetch", ()):
            if live(rule, now) and (not self.strict or host.scheme in ("https", "http")):
                return rule
        if self.hosts and not (self.strict and host.scheme != "https"):
            bare = re.sub(r":\d+$", "", host.host)
            for name in (host.host,) if self.strict else (host.host, bare):
                labels = name.split(".")
                for key in (name, *("*." + ".".join(labels[n:]) for n in range(1, len(labels)))):
                    for rule in self.hosts.get(key, ()):
                        if live(rule, now):
                            return rule
        return None

    def use(self, use: ToolUse, now: float) -> Rule | None:
        names = [use.tool]
        if use.tool.startswith("mcp__"):
            pieces = use.tool.split("__")
            names += ["__".join(pieces[:n]) for n in range(len(pieces) - 1, 1, -1)]
        for name in names:
            for rule in self.every.get(name, ()):
                if live(rule, now):
                    return rule
        for rule, argument, value in self.arguments.get(use.tool, ()):
            if live(rule, now) and _argument_fits(use.input, argument, value):
                return rule
        return None


def live(rule: Rule, now: float) -> bool:
    return rule.until is None or now < rule.until


def _spellings(command: Command) -> Iterator[Sequence[Word]]:
    """Every way a deny or ask rule may name the command."""
    yield command.words
    yield from command.forms
    yield from command.also
    first = command.words[0] if command.words else ""
    for name in command.names:
        if name != first:
            yield (name, *command.words[1:])
    if isinstance(first, str) and "/" in first and (base := first.rpartition("/")[2]) not in command.names:
        yield (base, *command.words[1:])


def _options(spelling: Sequence[Word]) -> frozenset[str]:
    """The options among the words, short bundles taken apart, long names that have a short one as both."""
    found: set[str] = set()
    for word in spelling:
        if word == "--":
            break
        if not isinstance(word, str) or word[:1] != "-" or len(word) < 2:
            continue
        if word.startswith("--"):
            found.add(_LONG.get(word, word))
        elif len(word) <= 5 and word[1:].isalpha():
            found.update(letter.lower() if letter == "R" else letter for letter in word[1:])
        else:
            found.add(word)
    return frozenset(found)


def _argument_fits(input: Mapping[str, Any], argument: str, pattern: words.Star | str) -> bool:
    if argument not in input:
        return False
    value = input[argument]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text == pattern if isinstance(pattern, str) else pattern.fits(text)
