"""Patterns over words, found by the words of a command.

A tree over literal words: finding the rules of a command costs as many steps as the command has words, however many
rules there are. Patterns with stars are followed together, those that begin with a literal word only where a command
does. An `Unknown` word equals no literal; whether it *may* be one is asked apart, by deny and ask rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from hitl_cli.access import Unknown, Word
from hitl_cli.permissions.automaton import ANY, STAY, Automaton, Pattern, Step, automata
from hitl_cli.permissions.words import Words, key
from hitl_cli.records import Struct, field

R = TypeVar("R")
_Two = tuple[str | None, str | None]


class _Node(Struct, Generic[R]):
    """
    here  what fits a command that ends here
    on    what fits one that goes on
    """

    below: dict[str, _Node[R]] = field(default_factory=dict)
    here: list[R] = field(default_factory=list)
    on: list[R] = field(default_factory=list)


class Index(Generic[R]):
    """Patterns with what they stand for, found by the words of a command.

    starred  those with more stars than one at the end, by the two literal words they begin with, as far as they do
    heads    the first of these two
    """

    def __init__(self) -> None:
        self.top = _Node[R]()  # of literal ones
        self.starred: dict[_Two, list[Pattern[R]]] = {}
        self.heads: set[str | None] = set()
        self.all: dict[str | None, list[Pattern[R]]] = {}
        # Made when they are first needed.
        self.matched: dict[_Two, list[Automaton[R]]] = {}  # of `starred`
        self.sought: list[Automaton[R]] = []  # of `all`

    def add(self, pattern: Words, it: R) -> None:
        self.lay(pattern.literal, pattern.steps, pattern.rest, it)

    def lay(self, literal: Sequence[str], steps: Sequence[Step], rest: bool, it: R) -> None:
        """`literal` are the steps that it begins with, as far as they are words."""
        first = literal[0] if literal else None
        self.all.setdefault(first, []).append((steps, rest, it))
        more = tuple(steps[len(literal) :])
        if more and more != (ANY, STAY):
            second = literal[1] if len(literal) > 1 else None
            self.starred.setdefault((first, second), []).append((steps, rest, it))
            self.heads.add(first)
            return
        node = self.top
        for word in literal:
            following = node.below.get(word)
            if following is None:
                following = node.below[word] = _Node()
            node = following
        if not more:
            node.here.append(it)
        if more or rest:
            node.on.append(it)

    def find(self, words: Sequence[Word]) -> list[R]:
        """What fits the whole command."""
        found: list[R] = []
        node = self.top
        for word in words:
            if node.on:
                found += node.on
            following = node.below.get(word)  # type: ignore[arg-type] # an unknown word is none of them
            if following is None and (isinstance(word, str) or not (following := node.below.get(key(word) or ""))):
                break
            node = following
        else:
            found += node.here
        if self.heads and words:
            first = words[0] if isinstance(words[0], str) else key(words[0])
            if first in self.heads or None in self.heads:
                found += self._starred(first, words)
        return found

    def _starred(self, first: str | None, words: Sequence[Word]) -> Iterator[R]:
        second = key(words[1]) if len(words) > 1 else None
        for two in dict.fromkeys(((None, None), (first, None), (first, second))):
            if two in self.starred:
                if two not in self.matched:
                    self.matched[two] = automata(self.starred[two])
                for automaton in self.matched[two]:
                    yield from automaton.fits(words)

    def within(self, words: Sequence[str]) -> Iterator[R]:
        """What fits a run of `words` that begins anywhere: where commands begin and end in them is not known."""
        begins = {None, *words}
        for automaton in self._sought():
            if not begins.isdisjoint(automaton.first):
                yield from automaton.within(words)

    def may(self, words: Sequence[Word]) -> Iterator[R]:
        """What could fit, depending on what the `Unknown` words turn out to be."""
        begins = {None, words[0] if words else None}
        anything = bool(words) and isinstance(words[0], Unknown)
        for automaton in self._sought():
            if anything or not begins.isdisjoint(automaton.first):
                yield from automaton.may(words)

    def _sought(self) -> list[Automaton[R]]:
        self.sought = self.sought or automata(pattern for patterns in self.all.values() for pattern in patterns)
        return self.sought
