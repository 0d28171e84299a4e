"""Patterns over words, found by the words of a command.

A tree over literal words: finding the rules of a command costs as many steps as the command has words, however many
rules there are. An `Unknown` word equals no literal; whether it *may* be one is asked apart, by deny and ask rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from hitl_cli.access import Unknown, Word
from hitl_cli.permissions.words import Star, Words, equals, fits, key
from hitl_cli.records import Struct, field

R = TypeVar("R")


class Index(Struct, Generic[R]):
    """Patterns with what they stand for, found by the words of a command.

    exact     end here, and so must the command
    prefix    end here, any further words
    patterns  go on with a star: (pattern, items already matched, its words from there to a lone star, it)
    """

    below: dict[str, Index[R]] = field(default_factory=dict)
    exact: list[R] = field(default_factory=list)
    prefix: list[R] = field(default_factory=list)
    patterns: list[tuple[Words, int, Sequence[Star | str], R]] = field(default_factory=list)

    def add(self, pattern: Words, it: R) -> None:
        node = self
        literal = pattern.literal
        for word in literal:
            following = node.below.get(word)
            if following is None:
                following = node.below[word] = Index()
            node = following
        if len(literal) < len(pattern.items):
            node.patterns.append((pattern, len(literal), pattern.head(len(literal)), it))
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
                found += [it for pattern, done, _, it in node.patterns if pattern.fits(words, n, done)]
            following = node.below.get(word if isinstance(word, str) else key(word))  # type: ignore[arg-type]
            if following is None:
                return found
            node = following
        found += node.prefix
        found += [it for pattern, done, _, it in node.patterns if pattern.fits(words, len(words), done)]
        return found + node.exact

    def within(self, words: Sequence[str]) -> Iterator[R]:
        """What fits a run of `words` that begins anywhere: where commands begin and end in them is not known."""
        text = "\0".join(words)
        # What begins with a star is in no branch, so it is tried at every word: not where a piece of it is nowhere.
        settled = {id(entry) for entry in self.patterns if not all(piece in text for piece in _pieces(entry[2]))}
        for start in range(len(words)):
            node, n = self, start
            while True:
                yield from node.prefix
                yield from node.exact
                for entry in node.patterns:
                    pattern, done, head, it = entry
                    if id(entry) in settled or not _begins(head, words, n):
                        continue
                    settled.add(id(entry))  # a star reaches from here as far as from anywhere later
                    if fits(pattern.items, words, n, done, rest=True):
                        yield it
                following = node.below.get(words[n]) if n < len(words) else None
                if following is None:
                    break
                node, n = following, n + 1

    def may(self, words: Sequence[Word]) -> Iterator[R]:
        """What could fit, depending on what the `Unknown` words turn out to be."""
        pending, seen = [(self, 0)], set[tuple[int, int]]()
        while pending:
            node, n = pending.pop()
            if (id(node), n) in seen:
                continue
            seen.add((id(node), n))
            if n == len(words):
                yield from node.exact
                yield from node.prefix
                continue
            yield from node.prefix
            if node.patterns and any(isinstance(word, Unknown) for word in words[n:]):
                several = next((k for k in range(n, len(words)) if _several(words[k])), None)
                for pattern, done, head, it in node.patterns:
                    if _could(pattern, done, head, words, n, several):
                        yield it
            word = words[n]
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
        pending = [self]
        while pending:
            node = pending.pop()
            if node is not self:
                yield node
            pending.extend(reversed(node.below.values()))


def _begins(head: Sequence[Star | str], words: Sequence[str], n: int) -> bool:
    """Whether the words from `n` on begin with those of `head`."""
    for item in head:
        if n == len(words) or not (words[n] == item if isinstance(item, str) else item.fits(words[n])):
            return False
        n += 1
    return True


def _pieces(head: Sequence[Star | str]) -> Iterator[str]:
    for item in head:
        yield from (item,) if isinstance(item, str) else item.pieces


def _several(word: Word) -> bool:
    """Whether it may turn out to be no word or many."""
    return isinstance(word, Unknown) and not word.single


def _could_be(word: Unknown, text: str) -> bool:
    """Whether an unknown word may turn out to be (or begin with) the literal `text`."""
    if word.safe and text.startswith("-"):
        return False
    return text.startswith(word.prefix) or (not word.single and word.prefix.startswith(text))


def _could(
    pattern: Words, at: int, head: Sequence[Star | str], words: Sequence[Word], start: int, several: int | None
) -> bool:
    """As `Words.fits`, taking unknown words for whatever would fit; one that may be `several` words ends the question."""
    if several is None:
        return fits(pattern.items, words, start, at, rest=pattern.rest, same=_could_equal)
    reached = pattern.rest or several - start < len(head) or len(head) < len(pattern.items) - at
    return reached and all(map(_could_equal, words[start:several], head))


def _could_equal(word: Word, item: Star | str) -> bool:
    if isinstance(word, Unknown):
        return isinstance(item, Star) or _could_be(word, item)
    return equals(word, item)
