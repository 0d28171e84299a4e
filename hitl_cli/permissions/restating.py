"""Commands with their options written as rules write them: cut names whole, bundles and values apart.

Deny and ask rules are met by an option however it is written. Only what may be an option that some rule spells is looked
at, with the row of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from hitl_cli.access import Place, Word
from hitl_cli.shell.programs import study
from hitl_cli.shell.programs.reading import Given, Reading

_NOWHERE = Place("/", ("/",), "/")
# Long names of short options that mean the same wherever both exist: a deny rule for `rm -rf` is met by
# `rm --recursive --force`. Source: the GNU coreutils and git manuals.
LONG = {
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


class Spelled:
    """The options that rules spell, by the first word of the rule ("" where that is open).

    cuts  what those with two dashes may be cut to
    """

    def __init__(self) -> None:
        self.options: dict[str, set[str]] = {}
        self.cuts: dict[str, set[str]] = {}

    def add(self, first: str, words: Iterable[str]) -> None:
        """The words of a rule."""
        found = set()
        for word in words:
            if word[:2] == "--":
                found.add(word.partition("=")[0])
            elif word[:1] == "-":
                letters = word[1:] if bundle(word) else ""
                found |= {word, *["-" + letter for letter in letters]}
                found |= {long for long, short in LONG.items() if short in letters.lower()}
        if found:
            self.options.setdefault(first, set()).update(found)
            cuts = self.cuts.setdefault(first, set())
            cuts.update(name[:n] for name in found if name[:2] == "--" for n in range(2, len(name)))

    def restated(self, words: Sequence[Word]) -> Iterator[tuple[Sequence[Word], bool]]:
        """The command in the words of rules, where it can be: with all that its options may say, and with one of each; and
        whether it is sure, False of a program that may take cut names or not."""
        first = words[0] if words else ""
        firsts = [key for key in ("", first) if isinstance(key, str) and key in self.options]
        given = [w for w in words if isinstance(w, str) and len(w) > 2 and w[0] == "-"] if firsts else ()
        if not any(_may_say(word, self.options[key], self.cuts[key]) for word in given for key in firsts):
            return
        options = set().union(*[self.options[key] for key in firsts])
        reading = study(tuple(words), _NOWHERE, None)
        sure = not reading.row.abbreviates or bool(reading.row.source)
        ended = reading.words.index("--") if "--" in reading.words else len(reading.words)
        choices = [
            _choices(reading, at, word, options)
            if isinstance(word, str) and word[:1] == "-" and at < ended
            else [(word,)]
            for at, word in enumerate(reading.words)
        ]
        yield [word for choice in choices for part in choice for word in part], sure
        if any(len(choice) > 1 for choice in choices):
            for nth in range(max(map(len, choices))):
                yield [word for choice in choices for word in choice[min(nth, len(choice) - 1)]], sure


def bundle(word: str) -> bool:
    """Whether a word with one dash is a few options in one for certain enough."""
    return len(word) <= 5 and word[1:].isalpha()


def _may_say(word: str, options: Set[str], cuts: Set[str]) -> bool:
    """Whether it may be one of the options, written in another way."""
    name = word.partition("=")[0]
    if name != word and name in options:
        return True
    if word[1] == "-":
        return name in cuts or name[1:] in options
    return "-" + name in options or any("-" + letter in options for letter in word[1:])


def _choices(reading: Reading, at: int, word: str, options: Set[str]) -> list[tuple[Word, ...]]:
    """What the option word at `at` may say, each as words."""
    row = reading.row
    name, equals, value = word.partition("=")
    if row.source and word[:2] != "--" and not row.single:
        given = [each for each in reading.given if each.at == at]
        return [tuple(part for each in given for part in _apart(reading, each))] if given else [(word,)]
    values = (value,) if equals else ()
    names = [name]
    if row.single:  # one dash or two
        names += [other for other in (name[1:], "-" + name) if other in options and other not in LONG]
    if row.abbreviates and name not in row.known:
        names += [option for option in sorted(options) for cut in names if option.startswith(cut)]
    return [(name, *values) for name in names]


def _apart(reading: Reading, given: Given) -> tuple[Word, ...]:
    """A short option, and its value where that is in the same word."""
    own = given.value is not None and given.value not in reading.words[given.at + 1 : given.at + 2]
    return (given.name, given.value) if own and given.value is not None else (given.name,)
