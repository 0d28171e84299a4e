"""What a word that only the shell knows may become, as far as the text itself says.

A program that reads what nobody knows (`cat "$f"`) is covered by the rule for the program: loops over files need that.
But where the text itself gives the variable its values, or prints or lists the names that are handed on
(`find /etc -name x | xargs cat`), they are no secret, and each of them is judged as well. What a text gives holds in all of
it, whatever stands first: when more was found than was known where it was asked for, the text is read again.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from hitl_cli.access import Unknown, Word
from hitl_cli.records import Struct, field
from hitl_cli.regex import later
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.tree import Part, Raw, Unreadable

_MOST = 200  # words that one word may become, and that a text gives and prints
_BELOW = "*/**"  # what follows the known beginning of a path
_ANSWERS = 500  # words that all that are asked about may become
_ROUNDS = 8  # of variables that are given what others hold
_ALIVE = later(r"[*?\[{]")  # what unquoted text may be expanded at
_DEFAULT = later(r"\$\{(\w+):?[-=+](.*)\}\Z", re.DOTALL)
_ELEMENT = later(r"\$\{(\w+)\[.*\}\Z", re.DOTALL)
_POSITIONAL = later(r"[0-9]+\Z|\$\{?[@*]\}?\Z")
POSITIONAL = "@"  # the name under which the positional parameters are given

Text = tuple[str, bool]  # what a word begins with, and whether that is all of it
_UNKNOWN: Text = ("", False)


class Possible(Struct, gc=False):
    """What a text gives its variables, and what it prints or lists."""

    asked: int | None = None  # what was known when first somebody wanted to know
    settled: int = -1  # what was known when what follows was worked out
    left: int = _ANSWERS
    given: dict[str, dict[Word, None]] = field(default_factory=dict)
    printed: dict[Word, None] = field(default_factory=dict)
    held: dict[str, dict[Text, None]] = field(default_factory=dict)  # what variables may hold
    names: list[str] = field(default_factory=list)  # in what is printed, those that may lead out of the folder
    answers: dict[str, Sequence[Word]] = field(default_factory=dict)
    raws: dict[str, str | Raw | None] = field(default_factory=dict)  # words by their source

    @property
    def _size(self) -> int:
        return len(self.printed) + sum(map(len, self.given.values()))

    @property
    def outgrown(self) -> bool:
        """Whether an answer was given before all was known."""
        return self.asked is not None and self._size > self.asked

    def give(self, name: str, found: Iterable[Word]) -> None:
        """Note words that a variable is given."""
        self.given.setdefault(name, {}).update(dict.fromkeys(found))

    def prints(self, found: Iterable[Word]) -> None:
        """Note words that are printed, listed or fed to others."""
        printed = self.printed
        for word in found:  # mostly one or two
            printed[word] = None

    def of(self, word: Unknown, values: Mapping[str, str], assigned: Container[str]) -> Sequence[Word]:
        """The words it may be; raises Unreadable when they are too many to judge.

        values    the variables whose value is certain, `~` among them
        assigned  names that are given values which the text does not spell
        """
        if self.asked is None:
            self.asked = self._size
        if self._size > _MOST:
            raise Unreadable(f"it gives variables and others more than {_MOST} words to read from")
        if self.settled != self._size:
            self._settle(values, assigned)
            self.settled = self._size
        found = self.answers.get(word.text)
        if found is None:
            texts = self._texts(word, values, assigned)
            found = [text if whole else Unknown(_BELOW, True, text) for text, whole in texts if text]
            if _UNKNOWN in texts and not word.prefix:
                found += self.names
            self.answers[word.text] = found
        self.left -= 1 + len(found)
        if self.left < 0:
            raise Unreadable(f"words that only the shell knows may become more than {_ANSWERS} others")
        return found

    def again(self) -> Possible:
        """For another reading of the text, with all that is known."""
        return Possible(given=self.given, printed=self.printed, raws=self.raws)

    def _settle(self, values: Mapping[str, str], assigned: Container[str]) -> None:
        """Work out what variables may hold, those that are given what others hold among them."""
        self.held = {name: {} for name in self.given}
        for _ in range(_ROUNDS):
            before = sum(map(len, self.held.values()))
            for name, found in self.given.items():
                for word in found:
                    self.held[name].update(dict.fromkeys(self._texts(word, values, assigned)))
                    if len(self.held[name]) > _MOST:
                        raise Unreadable(f"the variable {name} may hold more than {_MOST} texts")
            if before == sum(map(len, self.held.values())):
                break
        else:
            raise Unreadable("what its variables hold is not settled")
        texts = [text for word in self.printed for text, _ in self._texts(word, values, assigned)]
        words = dict.fromkeys(word for text in texts for word in text.split())
        self.names = [word for word in words if word[0] == "/" or ".." in word]
        self.answers = {}

    def _texts(self, word: Word, values: Mapping[str, str], assigned: Container[str]) -> Sequence[Text]:
        """What a word may become; raises Unreadable where that is too much."""
        if isinstance(word, str):
            return [(word, True)]
        raw = self._raw(word.text)
        if not isinstance(raw, Raw) or all(
            part.kind == "quoted" for part in raw.parts
        ):  # another program puts it there
            return [(word.prefix, False)]
        found: dict[Text, None] = {("", True): None}
        apart: dict[Text, None] = {}  # words of their own, when the value of an unquoted variable is split
        for part in raw.parts:
            options = list(dict.fromkeys(self._options(part, values, assigned)))
            if part.kind in ("value", "other") and not part.in_quotes:
                split = [(text.split() or [""], whole) for text, whole in options]
                options = [(piece, whole) for pieces, whole in split for piece in pieces]
                apart.update(((piece, whole), None) for pieces, whole in split for piece in pieces[1:])
            longer: dict[Text, None] = {}
            for begin, known in found:
                longer.update(
                    [((begin + text, whole), None) for text, whole in options] if known else [((begin, known), None)]
                )
                if len(longer) + len(apart) > _MOST:
                    raise Unreadable(f"a word may become more than {_MOST} texts")
            found = longer
        return [*found, *apart]

    def _options(self, part: Part, values: Mapping[str, str], assigned: Container[str]) -> Iterator[Text]:
        """What one part of a word may become."""
        kind, text = part.kind, part.text
        if kind == "quoted":
            yield text, True
        elif kind == "bare":
            alive = _ALIVE.search(text)
            yield (text[: alive.start()], False) if alive else (text, True)
        elif kind == "tilde":
            yield (values["~"], True) if text == "~" and "~" in values else ("/", False)
        elif kind == "value" and text in values:
            yield values[text], True
        elif kind in ("value", "other") and _POSITIONAL.match(text):
            yield from self.held.get(POSITIONAL, ())
            if POSITIONAL not in self.held:
                yield _UNKNOWN
        elif kind == "value":
            yield from self.held.get(text, ())
            if text not in self.held:
                yield _UNKNOWN
                if text not in assigned:
                    yield "", True  # nobody says that it is set
        else:
            yield _UNKNOWN
            if found := _DEFAULT.match(text):
                raw = self._raw(found[2])
                yield from self._texts(Unknown(found[2]) if isinstance(raw, Raw) else raw or "", values, assigned)
            if found := found or _ELEMENT.match(text):
                yield from self.held.get(found[1], ())

    def _raw(self, source: str) -> str | Raw | None:
        """The word that a source text begins with; None where there is none."""
        if source not in self.raws:
            try:
                self.raws[source] = Lexer(source, len(source)).word()
            except Unreadable:
                self.raws[source] = None
        return self.raws[source]
