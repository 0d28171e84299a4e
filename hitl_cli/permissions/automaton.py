"""Many patterns over a row of words, followed all at once.

How much of a pattern is matched is a state, and the states of all patterns are the bits of one number: a word moves them
with a handful of operations on it, however many patterns are under way (Baeza-Yates and Gonnet's Shift-And, with loops
for stars). So what a text costs is its words, and hardly the patterns: no text and no rule makes it more. The same reads
the characters of one word, where many patterns have stars inside words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property, reduce
from operator import or_
from typing import Generic, Protocol, TypeVar

from hitl_cli.access import Unknown, Word

R = TypeVar("R")


class Open(Enum):
    ANY = 1  # any one word
    STAY = 2  # any words or none, before what follows


ANY, STAY = Open.ANY, Open.STAY


class Wild(Protocol):
    """What names many words: as it is written, as an expression for one of them, and what it is by characters."""

    @property
    def written(self) -> str: ...

    @property
    def expression(self) -> str: ...

    def steps(self) -> Iterable[Step]: ...


Step = str | Wild | Open
Pattern = tuple[Sequence[Step], bool, R]  # its steps, whether any further words may follow, what it stands for
_FEW = 8  # wild words that are tried one by one
_LONG = 64  # characters that are looked through for one of them while one character moves all
_LARGE = 2_000  # states of one number: what a word is looked up to be is as long
_LAST = chr(0x10FFFF)


class Automaton(Generic[R]):
    """
    starts, ends  the states in which nothing and everything of a pattern is matched
    loops         those that any word leaves as they are
    tops          the bit above the states of each pattern, which no state reaches
    inside        all other bits
    named         of each literal word, the states that it leads to; `any` are those that every word leads to
    wild          the wild words, with the states that each leads to, `tested` are all of these
    starred       the ends of patterns that are not all literal
    first         the literal words that patterns begin with, None for those that begin otherwise
    """

    few = _FEW

    def __init__(self, patterns: Iterable[Pattern[R]]) -> None:
        self.starts = self.ends = self.loops = self.tops = self.any = self.tested = self.starred = 0
        self.named: dict[str, int] = {}
        self.wild: dict[str, tuple[Wild, int]] = {}
        self.its: dict[int, R] = {}
        self.first: set[str | None] = set()
        at = 0
        for steps, rest, it in patterns:
            self.first.update(step if isinstance(step, str) else None for step in steps[:1])
            self.starts |= 1 << at
            for step in steps:
                if step is STAY:
                    self.loops |= 1 << at
                    continue
                at += 1
                if isinstance(step, Open):
                    self.any |= 1 << at
                    continue
                text = step if isinstance(step, str) else step.written  # which fits itself, whatever it means
                self.named[text] = self.named.get(text, 0) | 1 << at
                if not isinstance(step, str):
                    self.wild[text] = step, self.wild.get(text, (step, 0))[1] | 1 << at
                    self.tested |= 1 << at
            self.its[at] = it
            self.ends |= 1 << at
            self.loops |= rest << at
            self.starred |= (not all(isinstance(step, str) for step in steps)) << at
            at += 2
            self.tops |= 1 << (at - 1)
        self.inside = ((1 << at) - 1) ^ self.tops
        self.options, self.hidden = (
            reduce(or_, (bits for word, bits in self.named.items() if word[:1] == mark), 0) for mark in "-."
        )
        self.named = {word: bits | self.any for word, bits in self.named.items()}
        self.texts = sorted(self.named)
        self.sizes = sorted({len(text) for text in self.texts})
        self.ranges: dict[tuple[int, int], int] = {}

    def fits(self, words: Iterable[Word]) -> Iterator[R]:
        """What fits all the words; an unknown one is no word that is named, but a file pattern may be written the same."""
        return self._those(self.follow(words, self.loops))

    def within(self, words: Iterable[str]) -> Iterator[R]:
        """What fits some run of the words."""
        return self._those(self.follow(words, self.loops | self.starts | self.ends))

    def may(self, words: Iterable[Word]) -> Iterator[R]:
        """What could fit, depending on what the unknown words turn out to be. One that may be several words may be all that a
        pattern with stars still wants."""
        state, found, seen = self.starts, 0, dict[str, int]()
        for word in words:
            ahead, before = state << 1, state
            state &= self.loops
            if isinstance(word, str):
                state |= ahead & self._met(word, ahead, seen)
            else:
                state |= ahead & self._possible(word)
                if not word.single:
                    state = self._onward(state)
                    found |= state & self.starred
                    if not (word.glob or word.prefix):
                        state |= before  # it may be no word at all
            if not state:
                break
        return self._those(found | state & self.ends)

    def meets(self, row: Iterable[Step]) -> Iterator[R]:
        """What fits some words that `row`, another pattern, fits as well."""
        return self._those(self.meeting(row))

    def meeting(self, row: Iterable[Step]) -> int:
        """The ends that such words lead to. Among characters what stands in brackets counts as any."""
        state, seen = self.starts, dict[str, int]()
        for step in row:
            if step is STAY:
                state = self._onward(state)
                continue
            ahead = state << 1 & self.inside
            if isinstance(step, Open) or not ahead:
                met = ahead
            else:
                met = self._met(step, ahead, seen) if isinstance(step, str) else self._shared(step, seen)
            state = ahead & met | state & self.loops
            if not state:
                return 0
        return state & self.ends

    def follow(self, words: Iterable[Word], loops: int) -> int:
        """The ends that the words lead to."""
        named, others, tested = self.named, self.any, self.tested
        state, seen = self.starts, dict[str, int]()
        for word in words:
            ahead = state << 1
            if not isinstance(word, str):
                met = named.get(word.text, others) if word.glob else others  # as it is written
            else:
                met = named.get(word, others)
                if ahead & tested:
                    met |= seen[word] if word in seen else self._wild(word, seen)
            state = ahead & met | state & loops
            if not state:
                return 0
        return state & self.ends

    def _those(self, ends: int) -> Iterator[R]:
        while ends:
            yield self.its[(ends & -ends).bit_length() - 1]
            ends &= ends - 1

    def _onward(self, state: int) -> int:
        """These states and all that follow them in their patterns: what is subtracted borrows from no other pattern."""
        return state | (self.tops - state) & self.inside

    def _met(self, word: str, ahead: int, seen: dict[str, int]) -> int:
        """The states that a word leads to; by wild ones only where such are ahead."""
        met = self.named.get(word, self.any)
        if ahead & self.tested:
            met |= seen[word] if word in seen else self._wild(word, seen)
        return met

    def _wild(self, word: str, seen: dict[str, int]) -> int:
        """The states that a word leads to because it fits wild ones."""
        met = 0
        if len(self.wild) > max(self.few, len(word) // _LONG):
            met = self._letters.states(self._letters.follow(word, self._letters.loops))
        elif self._some(word):
            for fits, bits in self._tests:
                if fits(word):
                    met |= bits
        seen[word] = met
        return met

    @cached_property
    def _tests(self) -> Sequence[tuple[Callable[[str], object], int]]:
        """What tells whether a wild word fits a word, with its states."""
        return [(_compiled(step.expression), bits) for step, bits in self.wild.values()]

    @cached_property
    def _some(self) -> Callable[[str], object]:
        """What tells whether any does: most words none."""
        return _compiled("|".join(f"(?:{step.expression})" for step, _ in self.wild.values()))

    @cached_property
    def _letters(self) -> Letters:
        """The wild words by their characters."""
        return Letters([(list(step.steps()), False, bits) for step, bits in self.wild.values()])

    def _shared(self, wild: Wild, seen: dict[str, int]) -> int:
        """The states that some word leads to that a wild one names too: no hidden name that it does not spell."""
        if wild.written not in seen:
            met = self._spelled.states(self._spelled.meeting(_characters(wild)))
            seen[wild.written] = met & ~self.hidden if wild.written[0] in "*?[" else met
        return seen[wild.written] | self.any

    @cached_property
    def _spelled(self) -> Letters:
        """All words by their characters."""
        words = [(self.wild[text][0] if text in self.wild else text, bits) for text, bits in self.named.items()]
        return Letters([(_characters(word), False, bits) for word, bits in words])

    def _possible(self, word: Unknown) -> int:
        """The states that an unknown word may lead to: those of all texts that begin as it does, and if it may be several
        words, that it begins with."""
        prefix = word.prefix
        first = bisect_left(self.texts, prefix)
        met = self._any_of(first, bisect_left(self.texts, prefix + _LAST, first))
        if prefix and not word.single:
            for size in self.sizes[: bisect_left(self.sizes, len(prefix))]:
                met |= self.named.get(prefix[:size], 0)
        return self.any | self.tested | (met & ~self.options if word.safe else met)

    def _any_of(self, first: int, last: int) -> int:
        """The states of a range of `texts`. Kept: there are no more ranges than beginnings of texts."""
        if (first, last) not in self.ranges:
            self.ranges[first, last] = reduce(or_, map(self.named.__getitem__, self.texts[first:last]), 0)
        return self.ranges[first, last]


class Letters(Automaton[int]):
    """One over the characters of words, which stand for states of another."""

    few = 1 << 30

    def __init__(self, patterns: Iterable[Pattern[int]]) -> None:
        super().__init__(patterns)
        self.sums: dict[int, int] = {}

    def states(self, ends: int) -> int:
        """All that these ends stand for. Kept, in bounds: many words have the same."""
        if ends not in self.sums:
            if len(self.sums) > _LARGE:
                self.sums.clear()
            self.sums[ends] = reduce(or_, self._those(ends), 0)
        return self.sums[ends]


def _compiled(expression: str) -> Callable[[str], object]:
    """What tells whether a word is all that the expression says."""
    return re.compile(expression, re.DOTALL).fullmatch


def between(pieces: Sequence[str]) -> str:
    """The expressions `pieces` with anything between. An inner one is taken where it first fits, for good: its length is
    fixed, so no later place leaves more to the rest, and trying them would take ever longer with each."""
    first, *more = pieces
    if not more:
        return first
    *inner, last = more
    return first + "".join(f"(?>.*?{piece})" for piece in inner) + ".*" + last


def _characters(word: Wild | str) -> list[Step]:
    if isinstance(word, str):
        return list(word)
    return [step if isinstance(step, (str, Open)) else ANY for step in word.steps()]


def automata(patterns: Iterable[Pattern[R]]) -> list[Automaton[R]]:
    """Automata of all these patterns, each of so many that its numbers stay short."""
    found, some, size = [], list[Pattern[R]](), 0
    for pattern in patterns:
        if some and size + len(pattern[0]) > _LARGE:
            found.append(Automaton(some))
            some, size = [], 0
        some.append(pattern)
        size += len(pattern[0]) + 2
    return [*found, Automaton(some)] if some else found
