"""Rules, compiled once and laid out so that finding those a call meets costs what the call is long.

A `Table` holds the rules that allow, or those that deny or ask. Allow rules are strict: they have to match a thing as it
is. Deny and ask rules are met by any spelling of it: with the program's base name, with its options in another order or
written apart, with a folder above the path. All that are met are given, ended or not: `Scene` takes the first that still
counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import repeat
from operator import attrgetter

from hitl_cli.access import HERE, Command, Host, Opaque, ToolUse, Unknown, Word
from hitl_cli.permissions import codec, kinds, words, wordtree
from hitl_cli.permissions.restating import LONG, Spelled, bundle
from hitl_cli.permissions.rule import Rule
from hitl_cli.records import Struct
from hitl_cli.regex import later

# Between the words of inline code.
CODE = later(r"[^\w./-]+")


class Fit(Struct, frozen=True, gc=False):
    """A rule that fits a spelling of a command; `pattern` is None where the rule is one for every command."""

    rule: Rule
    pattern: words.Words | None = None
    spelling: Sequence[Word] = ()

    @property
    def spelled(self) -> Sequence[Word] | None:
        """The words that the rule spells out, None: all of them."""
        pattern = self.pattern
        if pattern is None:
            return ()
        return None if pattern.exact else (*self.spelling[: pattern.spelled], *pattern.words)

    def spells(self, word: Word) -> bool:
        """Whether the rule spells this word of the command, and so consents to what it does."""
        return isinstance(word, str) and ((spelled := self.spelled) is None or word in spelled)

    @property
    def wide(self) -> int:
        """The less, the more of the command the rule spells."""
        spelled = self.spelled
        return -1 if spelled is None else 0 if spelled else 1


class Table:
    """Rules for what is no path. `strict`: they allow."""

    def __init__(self, rules: Iterable[Rule], home: str, *, strict: bool) -> None:
        self.home, self.strict = home, strict
        self.every: dict[str, list[Rule]] = {}  # tools that a rule covers whole, `mcp__server` too
        self.commands: wordtree.Index[tuple[Rule, words.Words]] = wordtree.Index()
        self.loose: dict[tuple[str, ...], list[tuple[Rule, frozenset[str], bool]]] = {}
        self.longest = 0  # of `loose`
        self.heads: set[str] = set()  # the first words of those of `loose` that have some
        self.spelled = Spelled()
        self.hosts: dict[str, list[Rule]] = {}
        self.labels = 0  # at most so many has what one of `hosts` ends in
        self.arguments: dict[str, list[tuple[Rule, str, words.Star | str]]] = {}
        for rule in rules:
            self._add(rule)
        first = {*filter(None, self.commands.all), *(rest[0] for rest in self.loose if rest)}
        # What the words begin with that a rule for commands can meet; None: with anything.
        self.first = None if None in self.commands.all or "Bash" in self.every else frozenset(first)

    def _add(self, rule: Rule) -> None:
        tool, pattern = rule.tool, rule.pattern
        if pattern is None:
            self.every.setdefault(tool.removesuffix("__*") if tool.startswith("mcp__") else tool, []).append(rule)
        elif tool == "Bash":
            compiled_words = words.parse(pattern, self.home)
            self.commands.add(compiled_words, (rule, compiled_words))
            if not self.strict:
                self._loosely(rule, compiled_words)
        elif tool == "WebFetch":
            host = codec.host(pattern)
            self.hosts.setdefault(host, []).append(rule)
            self.labels = max(self.labels, host.count("."))
        else:
            self.arguments.setdefault(tool, []).append((rule, *codec.argument(pattern, tool)))

    def _loosely(self, rule: Rule, pattern: words.Words) -> None:
        literal = pattern.literal
        self.spelled.add(literal[0] if literal else "", pattern.words)
        options = _options(literal)
        if options and len(literal) == len(pattern.items):
            rest = tuple(w for w in literal if not w.startswith("-"))
            self.loose.setdefault(rest, []).append((rule, options, pattern.rest))
            self.longest = max(self.longest, len(rest))
            self.heads.update(rest[:1])

    # Commands

    def met(self, command: Command) -> Iterator[tuple[Rule, bool]]:
        """Deny and ask rules that any spelling of the command meets, with True; then those that it could meet: by what the
        shell makes of its unknown words, by an option that may be a cut name, or by the code that an interpreter is given,
        whose text is searched for the words of the rule."""
        for rule in self.every.get("Bash", ()):
            yield rule, True
        perhaps = []
        for spelling in _spellings(command):
            for rule in self._hits(spelling):
                yield rule, True
            for restated, sure in self.spelled.restated(spelling) if self.spelled.options else ():
                if not sure:
                    perhaps.append(restated)
                else:
                    for rule in self._hits(restated):
                        yield rule, True
        for code in _codes(command):
            for rule, _ in self.commands.within(code):
                yield rule, False
        if any(isinstance(word, Unknown) for word in command.words):
            for spelling in _spellings(command):
                for rule, _ in self.commands.may(spelling):
                    yield rule, False
        for spelling in perhaps:
            for rule in self._hits(spelling):
                yield rule, False

    def _hits(self, spelling: Sequence[Word]) -> Iterator[Rule]:
        for rule, _ in self.commands.find(spelling):
            yield rule
        if self.loose:
            yield from self._hits_loosely(spelling)

    def _hits_loosely(self, spelling: Sequence[Word]) -> Iterator[Rule]:
        first = spelling[0] if spelling else ""
        if isinstance(first, str) and first not in self.heads and first[:1] != "-":
            return
        operands: list[Word] = [w for w in spelling if not (isinstance(w, str) and w.startswith("-") and w != "-")]
        options: frozenset[str] | None = None
        for n in range(1, min(len(operands), self.longest) + 1):
            if isinstance(operands[n - 1], Unknown):
                return
            for rule, wanted, rest in self.loose.get(tuple(operands[:n]), ()):  # type: ignore[arg-type]
                if options is None:
                    options = _options(spelling)
                if wanted <= options and (rest or n == len(operands)):
                    yield rule

    def hits_opaque(self, opaque: Opaque) -> Iterator[Rule]:
        yield from self.every.get("Bash", ())
        for words_ in dict.fromkeys((opaque.words, tuple(w.rpartition("/")[2] for w in opaque.words))):
            for rule, _ in self.commands.within(words_):
                yield rule

    # Hosts and other tools

    def host(self, host: Host) -> Iterator[Rule]:
        if not self.strict or host.scheme in ("https", "http"):
            yield from self.every.get("WebFetch", ())
        if self.hosts and not (self.strict and host.scheme != "https"):
            bare = re.sub(r":\d+$", "", host.host)
            for name in (host.host,) if self.strict else (host.host, bare):
                labels = name.split(".")
                ends = range(max(1, len(labels) - self.labels), len(labels))
                for key in (name, *("*." + ".".join(labels[n:]) for n in ends)):
                    yield from self.hosts.get(key, ())

    def use(self, use: ToolUse) -> Iterator[Rule]:
        names = [use.tool]
        if use.tool.startswith("mcp__"):
            pieces = use.tool.split("__")
            names += ["__".join(pieces[:n]) for n in range(len(pieces) - 1, 1, -1)]
        for name in names:
            yield from self.every.get(name, ())
        texts: dict[str, str] = {}
        for rule, argument, pattern in self.arguments.get(use.tool, ()):
            if argument not in use.input:
                continue
            if argument not in texts:
                value = use.input[argument]
                texts[argument] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = texts[argument]
            if text == pattern if isinstance(pattern, str) else pattern.fits(text):
                yield rule


def live(rule: Rule, now: float) -> bool:
    return rule.until is None or now < rule.until


def fits(tables: Iterable[Table], command: Command, now: float) -> list[Fit]:
    """Allow rules that cover the command, by the words it consists of or another spelling a rule may name; those that spell
    more of it first."""
    found: list[Fit] = []
    spellings: tuple[tuple[Sequence[Word], int], ...] = ((command.words, 1),)
    if command.forms:
        spellings += tuple(zip(command.forms, command.spells or repeat(1), strict=False))
    for table in tables:
        if "Bash" in table.every:
            found += [Fit(rule) for rule in table.every["Bash"] if live(rule, now)]
        for spelling, least in spellings:  # of which a prefix rule has to name so many words
            for rule, pattern in table.commands.find(spelling):
                if (pattern.spelled >= least or not pattern.rest) and live(rule, now):
                    found.append(Fit(rule, pattern, spelling))
    if len(found) > 1:
        found.sort(key=attrgetter("wide"))
    return found


def concerns(first: Set[str] | None, command: Command) -> bool:
    """False when no deny or ask rule can meet the command: no words to search begin with one of `first` (None: all may)."""
    if not first:
        return first is None
    names = command.names
    if not first.isdisjoint(names):
        return True
    words_ = command.words
    seen: Word | None = None
    code = bool(names) and names[-1] in kinds.INTERPRETERS
    for spelling in (words_, *command.forms, *command.also) if command.forms or command.also else (words_,):
        word = spelling[0] if spelling else ""
        if word is seen:
            continue
        if not isinstance(word, str) or word in first or ("-" in word and word[0] == "-"):
            return True  # behind an option stands what rules may name in front of it
        if "/" in word and word.rpartition("/")[2] in first:
            return True
        seen = word
        code = code or word in kinds.INTERPRETERS
    return code and not all(map(first.isdisjoint, _codes(command)))


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


def _codes(command: Command) -> list[list[str]]:
    """The words of the code that an interpreter, the command or one that it starts, is given by its words or its input."""
    forms = [form for form in command.also if form and form[0] in kinds.INTERPRETERS]
    if kinds.interprets(command.names):
        forms.append(command.words)
    if not forms:
        return []
    forms += [form for form in command.also if form and form[0] == HERE]
    every = dict.fromkeys(word for form in forms for word in form[1:])
    texts = [word if isinstance(word, str) else word.text[2:] for word in every if _is_text(word)]
    return [CODE.split(text) for text in texts if CODE.search(text)]


def _is_text(word: Word) -> bool:
    return isinstance(word, str) or word.text.startswith("<(")  # what another command prints


def _options(spelling: Sequence[Word]) -> frozenset[str]:
    """The options among the words, short bundles taken apart, long names that have a short one as both."""
    found: set[str] = set()
    for word in spelling:
        if word == "--":
            break
        if not isinstance(word, str) or word[:1] != "-" or len(word) < 2:
            continue
        if word.startswith("--"):
            name = word.partition("=")[0]
            found.add(LONG.get(name, name))
            if name != word:
                found.add(word)
        elif bundle(word):
            found.update(letter.lower() if letter == "R" else letter for letter in word[1:])
        else:
            found.add(word)
    return frozenset(found)
