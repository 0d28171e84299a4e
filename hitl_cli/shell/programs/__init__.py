"""What the options and operands of a program do: the table of programs, and the one question asked of it.

`study` takes the words of one simple command, with wrappers already taken off, and says which words do more than the
program's ordinary business (acts), which files and addresses they name, and which words rules are matched with. The
table is data: a module a family of programs, a row a program or sub-command, each with the manual it was taken from
(`table` says how a row is written). A program that is not in the table has no acts: its own rule covers it.

Pure, and quick: a row is compiled when its program is first met, a call is one walk over its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitl_cli.access import Act, Place, Word
from hitl_cli.records import Struct
from hitl_cli.shell.programs import (
    archives,
    awk,
    builds,
    checkers,
    containers,
    data,
    files,
    git,
    hosts,
    javascript,
    languages,
    network,
    pagers,
    python,
    search,
    sed,
    ssh,
    system,
    text,
)
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row

_FAMILIES = (
    archives,
    awk,
    builds,
    checkers,
    containers,
    data,
    files,
    git,
    hosts,
    javascript,
    languages,
    network,
    pagers,
    python,
    search,
    sed,
    ssh,
    system,
    text,
)
PROGRAMS: dict[str, Row] = {name: row for family in _FAMILIES for name, row in family.PROGRAMS.items()}

# Checkers, compilers and test runners look for files of their own kind in a folder they are given.
for _family in (checkers, javascript, languages, python):
    for _row in _family.PROGRAMS.values():
        _row.only = "some"

# Folders whose programs are the system's own: a path into one of them is the same program as the bare name.
SYSTEM_FOLDERS = frozenset(f"{root}/{name}" for root in ("", "/usr", "/usr/local") for name in ("bin", "sbin")) | {
    "/opt/homebrew/bin"
}

# Other names under which a row's program is installed; deny rules for one name hold for the other.
SAME = {
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "original-awk": "awk",
    "gsed": "sed",
    "gfind": "find",
    "ggrep": "grep",
    "egrep": "grep",
    "fgrep": "grep",
    "gtar": "tar",
    "bsdtar": "tar",
    "gmake": "make",
    "nodejs": "node",
    "vi": "vim",
    "view": "vim",
    "nvim": "vim",
    "fdfind": "fd",
    "podman": "docker",
    "gdu": "du",
    "gsort": "sort",
    "gcp": "cp",
    "gmv": "mv",
    "grm": "rm",
    "grealpath": "realpath",
    "gdate": "date",
}

_MINOR = re.compile(r"(?<=\d)\.\d+$")  # python3.12 is python3
_VERSION = re.compile(r"-?\d[\d.]*$")


class Study(Struct, frozen=True):
    """What one simple command does, as far as its words say.

    words    the canonical words: neutral options and a system folder in front of the program removed
    acts     indices into `words`: what a prefix rule does not cover unless it spells the word
    reads, writes, removes, lists
             operands and option values that name files, as written (relative to the folder and `cwd`)
    at       beside `writes`: the index of the act that does the writing (`sort -o f`), None where writing is what the
             program is for
    urls     addresses that are asked, as written
    names    program names this may be, for deny and ask rules
    also     for deny and ask rules: other ways to say the same (without options, what a runner starts)
    cwd      the folder entered by options (git -C, make -C), as written
    opaque   why no prefix rule can cover it, "" when one can
    only     what is read of a folder: "shown" (not what begins with a dot), "tracked" (by git), "some" (of that, files of
             a kind), "" for everything
    """

    words: tuple[Word, ...]
    acts: tuple[Act, ...] = ()
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    at: tuple[int | None, ...] = ()
    removes: tuple[Word, ...] = ()
    lists: tuple[Word, ...] = ()
    urls: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    also: tuple[tuple[Word, ...], ...] = ()
    cwd: str | None = None
    opaque: str = ""
    only: str = ""


def study(words: Sequence[Word], place: Place, cwd: str | None, fed: bool = False) -> Study:
    """Study one simple command; `cwd` is the absolute folder it runs in, None when that is not known; `fed`: its input is
    the output of another command."""
    if not words:
        return Study(())
    program = words[0]
    if not isinstance(program, str):
        return Study(tuple(words), opaque="which program runs is known only at run time")
    folder, slash, base = program.rpartition("/")
    canonical = (base, *words[1:]) if slash and folder in SYSTEM_FOLDERS else tuple(words)
    row = row_of(base)
    plain = SAME.get(base) or _MINOR.sub("", base)
    names = (base,) if plain == base else (base, plain)
    if row is None:
        bare = tuple(word for word in canonical if not isinstance(word, str) or word[:1] != "-")
        return Study(canonical, names=names, also=(bare,) if 1 < len(bare) < len(canonical) else ())
    entered = None
    if row.peel is not None:
        canonical, entered = row.peel(canonical, place, cwd)
    reading = Reading(canonical, place, cwd, row.compile())
    reading.folder, reading.fed = entered, fed
    reading.read()
    return Study(
        canonical,
        tuple(reading.acts),
        tuple(reading.reads),
        tuple(reading.writes),
        tuple(reading.at),
        tuple(reading.removes),
        tuple(reading.lists),
        tuple(reading.urls),
        names,
        reading.spellings(),
        reading.folder,
        reading.opaque,
        reading.only or row.only,
    )


def row_of(base: str) -> Row | None:
    """The row of a program by its base name, also under another name or with a version behind it (python3.12)."""
    row = PROGRAMS.get(base)
    if row is None:
        row = PROGRAMS.get(SAME.get(base, ""))
    if row is None and base[-1:].isdigit():
        row = PROGRAMS.get(_VERSION.sub("", base))
    return row
