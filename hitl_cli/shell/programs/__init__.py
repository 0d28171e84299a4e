"""What the options and operands of a program do: the table of programs, and the one question asked of it.

`study` takes the words of one simple command, with wrappers already taken off, and says which words do more than the
program's ordinary business (acts), which files and addresses they name, and which words rules are matched with. The
table is data: a module a family of programs, a row a program or sub-command, each with the manual it was taken from
(`table` says how a row is written). A program that is not in the table has no acts: its own rule covers it.

Pure, and quick: a row is compiled when its program is first met, a call is one walk over its words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from hitl_cli.access import Place, Word
from hitl_cli.records import Struct
from hitl_cli.shell.programs.families import ALIASES, SAME, row_of
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.sorting import sort
from hitl_cli.shell.programs.table import Row

# Folders whose programs are the system's own: a path into one of them is the same program as the bare name.
SYSTEM_FOLDERS = frozenset(f"{root}/{name}" for root in ("", "/usr", "/usr/local") for name in ("bin", "sbin")) | {
    "/opt/homebrew/bin"
}

_MINOR = re.compile(r"(?<=\d)\.\d+$")  # python3.12 is python3


class Program(Struct, frozen=True):
    """What is known of a program by the word it is called with.

    bare     that word without the system folder in front of it, None when there is none
    names    program names this may be, for deny and ask rules
    row      its row, None when it has none
    aliases  other words for its sub-commands
    grouped  the two words it stands for: git-push is `git push`, docker-compose is `docker compose`
    """

    bare: str | None
    names: tuple[str, ...] = ()
    row: Row | None = None
    aliases: Mapping[Word, str] | None = None
    grouped: tuple[str, ...] = ()


_NO_ROW = Row("")
_GROUPS = ("git-", "docker-")


def _grouped(reading: Reading, head: tuple[str, ...]) -> tuple[tuple[Word, ...], ...]:
    """For deny and ask rules: the forms of a command with these words for the program."""
    return tuple([(*head, *form[1:]) for form in (reading.words, *reading.also)])


def _by_other_words(reading: Reading, name: str, aliases: Mapping[Word, str]) -> tuple[tuple[Word, ...], ...]:
    """For deny and ask rules: the forms of a command with its sub-commands by their plain names, without their groups."""
    chosen = [reading.words[at] for at in reading.sub]
    if aliases.keys().isdisjoint(chosen):
        return ()
    plain = [aliases.get(word, word) for word in chosen]
    name = "pip" if chosen[0] == "pip" else name
    head = (name, *[word for word in plain if word])
    behind = reading.words[reading.sub[-1] + 1 :]
    behind = (*[aliases.get(word, word) for word in behind[:1]], *behind[1:])
    return ((*head, *behind), (*head, *reading.operands))


@lru_cache(maxsize=500)  # the words come from commands, so their number has no bound
def program(word: Word) -> Program:
    if not isinstance(word, str):
        return Program(None)
    folder, slash, base = word.rpartition("/")
    plain = _MINOR.sub("", base)
    plain = SAME.get(plain, plain)
    row = row_of(base)
    return Program(
        base if slash and folder in SYSTEM_FOLDERS else None,
        tuple(dict.fromkeys((base, _MINOR.sub("", base), plain))),
        row.compile() if row is not None else None,
        ALIASES.get(plain),
        tuple(base.split("-", 1)) if base.startswith(_GROUPS) else (),
    )


def study(words: tuple[Word, ...], place: Place, cwd: str | None, fed: bool = False) -> Reading:
    """Study one simple command; `cwd` is the absolute folder it runs in, None when that is not known; `fed`: its input is
    the output of another command."""
    found = program(words[0])
    if found.bare is not None:
        words = (found.bare, *words[1:])
    row = found.row
    if row is None:
        if not isinstance(words[0], str):
            return Reading(words, place, cwd, _NO_ROW, opaque="which program runs is known only at run time")
        bare = tuple([word for word in words if not isinstance(word, str) or word[:1] != "-"])
        also = (bare,) if 1 < len(bare) < len(words) else ()
        reading = Reading(words, place, cwd, _NO_ROW, fed, found.names, also=also)
        if found.grouped:
            reading.also += _grouped(reading, found.grouped)
        return reading
    entered = None
    if row.peel is not None:
        words, entered = row.peel(words, place, cwd)
    reading = Reading(words, place, cwd, row, fed, found.names, entered, row.only)
    sort(reading)
    if reading.given or reading.sub or reading.inner is not None:
        reading.also = reading.spellings()
        if found.aliases is not None and reading.sub:
            reading.also += _by_other_words(reading, found.names[-1], found.aliases)
    if found.grouped:
        reading.also += _grouped(reading, found.grouped)
    if reading.acts or reading.inner is not None:
        reading.find_starts()
    return reading
