"""Patterns over words, found by the words of a command.

A tree over literal words: finding the rules of a command costs as many steps as the command has words, however many
rules there are. An `Unknown` word equals no literal; whether it *may* be one is asked apart, by deny and ask rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from hitl_cli.access import Unknown, Word
from hitl_cli.permissions.words import Many, Words, equals, key
from hitl_cli.records import Struct, field

R = TypeVar("R")


class Index(Struct, Generic[R]):
    """Patterns with what they stand for, found by the words of a command.

    exact     end here, and so must the command
    prefix    end here, any further words
    patterns  go on with a star: (pattern, items already matched, it)
    """

    below: dict[str, Index[R]] = field(default_factory=dict)
    exact: list[R] = field(default_factory=list)
    prefix: list[R] = field(default_factory=list)
    patterns: list[tuple[Words, int, R]] = field(default_factory=list)

    def add(self, pattern: Words, it: R) -> None:
        node = self
        literal = pattern.literal
        for word in literal:
            following = node.below.get(word)
            if following is None:
                following = node.below[word] = Index()
            node = following
        if len(literal) < len(pattern.items):
            node.patterns.append((pattern, len(literal), it))
        else:
            (node.prefix if pattern.rest else node.exact).append(it)

    def find(self, words: Sequence[Word]) -> list[R]:
        """What fits the whole command, widest literal prefix last."""
        found: list[R] = []
        node = self
        for n, word in enumerate(words):
            if node.prefix:
                found += node.prefix
            if node.patterns:
                found += [it for pattern, done, it in node.patterns if pattern.fits(words, n, done)]
            following = node.below.get(word if isinstance(word, str) else key(word))  # type: ignore[arg-type]
            if following is None:
                return found
            node = following
        found += node.prefix
        found += [it for pattern, done, it in node.patterns if pattern.fits(words, len(words), done)]
        return found + node.exact

    def within(self, words: Sequence[str]) -> Iterator[R]:
        """What fits a run of `words` that begins anywhere: where commands begin and end in them is not known."""
        for start in range(len(words)):
            node, n = self, start
            while True:
                yield from node.prefix
                yield from node.exact
                for pattern, done, it in node.patterns:
                    if any(pattern.fits(words[:end], n, done) for end in range(n, len(words) + 1)):
                        yield it
                following = node.below.get(words[n]) if n < len(words) else None
                if following is None:
                    break
                node, n = following, n + 1

    def may(self, words: Sequence[Word]) -> Iterator[R]:
        """What could fit, depending on what the `Unknown` words turn out to be."""
        pending = [(self, 0)]
        while pending:
            node, n = pending.pop()
            if n == len(words):
                yield from node.exact
                yield from node.prefix
                continue
            yield from node.prefix
            word = words[n]
            for pattern, done, it in node.patterns:
                if any(isinstance(w, Unknown) for w in words[n:]) and _could(pattern, done, words[n:]):
                    yield it
            if isinstance(word, str):
                if word in node.below:
                    pending.append((node.below[word], n + 1))
                continue
            for text, following in node.below.items():
                if _could_be(word, text):
                    pending.append((following, n + 1))
                    if not word.single:
                        pending.extend((deeper, n + 1) for deeper in following.subtree())

    def subtree(self) -> Iterator[Index[R]]:
        for following in self.below.values():
            yield following
            yield from following.subtree()


def _could_be(word: Unknown, text: str) -> bool:
    """Whether an unknown word may turn out to be (or begin with) the literal `text`."""
    if word.safe and text.startswith("-"):
        return False
    return text.startswith(word.prefix) or (not word.single and word.prefix.startswith(text))


def _could(pattern: Words, at: int, words: Sequence[Word]) -> bool:
    """As `Words.fits`, taking unknown words for whatever would fit; one that may be several words ends the question."""
    for n, item in enumerate(pattern.items[at:]):
        if n < len(words) and isinstance(word := words[n], Unknown) and not word.single:
            return True
        if isinstance(item, Many):
            return any(_could(pattern, at + n + 1, words[begin:]) for begin in range(n + 1, len(words) + 1))
        if n >= len(words):
            return False
        if isinstance(word, Unknown):
            if isinstance(item, str) and not _could_be(word, item):
                return False
        elif not equals(word, item):
            return False
    return pattern.rest or len(words) == len(pattern.items) - at
