"""How a row of the table of programs is written, and how it is made ready for use.

A row holds the options that matter: those that take a value (so that the value is not taken for anything else) and
those that do more than the program's ordinary business. Everything is text, one option a line:

    -o --output = write                 two names of one option, a value, what becomes of it
    -k --key -n --lines =               two options; a long name belongs to the short one before it
    --compress-program = runs another program
    -r --recursive                      a flag without effect, listed so that it is known
    --color ?                           a value only when glued on with `=`

`=` says that the option takes a value, glued or as the next word; `?` that it takes one only when glued; `==` that it
takes the next two words (`jq --arg NAME VALUE`), of which the second counts; `;` that it takes all words up to `;` or
`+`: another command, which the reader of the shell reads in its turn. What follows is one of the words of EFFECTS, or
a reason in plain words: then the option is an act.

A row is compiled when its program is met for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hitl_cli.access import Place, Word
from hitl_cli.records import Struct, field
from hitl_cli.regex import later

if TYPE_CHECKING:
    from hitl_cli.shell.programs.reading import Reading

EFFECTS = frozenset(
    {
        "",
        "read",  # the value is a file that is read
        "names",  # a file that is read, and so are all whose names stand in it
        "list",  # a file or folder of which only names or existence are seen
        "write",  # a file is written by a program that otherwise only shows: an act, unless a path rule covers the file
        "make",  # a file is written by a program made to write
        "remove",  # the file is gone afterwards
        "folder",  # the program works there instead: an act when that is outside the workspace or unknown
        "module",  # a name of something installed, an act when it is a path to code
        "url",  # the value is an address that is asked
        "follows",  # links in the folders that are read or changed are followed
    }
)


# Reasons of acts by which the words or the value start something.
STARTS = later(r"\b(?:runs?|starts?|programs|commands|a command|another program|carried)\b")

_NEVER_CUT = frozenset(["-", "--"])
_REMEMBERED = 500  # words a row keeps that are nothing but flags; they come from commands, so there is no end to them
_LONGEST = 40  # nor to how long they are


class Option(Struct, frozen=True, gc=False):
    """One option: its first name, what value it takes ("", "=", "==", "?", ";"), and its effect or the reason of its act."""

    name: str
    takes: str
    does: str

    @property
    def plain(self) -> bool:
        return not self.takes and not self.does

    @property
    def acts(self) -> bool:
        return self.does not in EFFECTS or self.does in ("write", "folder", "module")


class Row(Struct):
    """A program or a sub-command.

    source      the manual that says so
    options     one option a line, as the module says
    operands    the effect of each operand: one word of EFFECTS, or a reason
    subs        rows of sub-commands by their word
    other       the row of a sub-command that `subs` does not name; None: the options of this row go on
    stops       how many operands end the options: 1 where what follows the first belongs to a script or another
                program, 2 for ssh, which reads options behind the host as well; 0 where they may stand anywhere
    shared      options of this row also count after the sub-command
    single      long options have one dash (go, find, terraform)
    abbreviates long options may be cut short, as getopt_long allows. Such rows list every option that takes a value
                (tests/shell/test_programs_help.py compares them with `--help` and `git -h` where those are installed)
    dashes      a value as a word of its own may begin with a dash; where it may not, such a word is an option
    plus        words that begin with `+` are options too (less, vim)
    at_files    an operand `@FILE` holds further options
    wary        `then` finds acts in operands, so a word that is not known may be one
    then        looks at the whole call after its words are sorted into options and operands
    act         the sub-command itself is an act, for this reason
    inner       how many operands stand before the words of another program (`docker exec CONTAINER PROGRAM …`: 1)
    only        what is read of a folder, as `Study` says
    flags       words that are nothing but flags without effect, and the first name of each flag: those of `options`, and
                bundles and flags that are not listed as they were met
    peel        takes neutral options out of the words before they are read; gives the words and the folder they enter
    """

    source: str
    options: str = ""
    operands: str = ""
    subs: Mapping[str, Row] | None = None
    other: Row | None = None
    stops: int = 0
    shared: bool = False
    single: bool = False
    abbreviates: bool = True
    dashes: bool = True
    plus: bool = False
    at_files: bool = False
    wary: bool = False
    then: Callable[[Reading], None] | None = None
    act: str = ""
    inner: int | None = None
    only: str = ""
    peel: Callable[[tuple[Word, ...], Place, str | None], tuple[tuple[Word, ...], str | None]] | None = None
    known: dict[str, Option] = field(default_factory=dict)
    flags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ready: bool = False
    marks: str = "-"  # what options begin with
    acting: bool = False

    def meaning(self, word: str) -> tuple[Sequence[Option], str | None]:
        """The options in a word, and the value that is glued to the last; what is not listed is taken for a flag. A word
        that is nothing but flags is remembered."""
        value = None
        if word[1] == "-" or word[0] == "+" or self.single:
            name, equals, rest = word.partition("=")
            name, option = self.long(name)
            options = [option or Option(name, "", "")]
            if equals:
                value = rest
        else:
            options = []
            for at, letter in enumerate(word[1:], 2):
                name = "-" + letter
                option = self.known.get(name) or Option(name, "", "")
                options.append(option)
                if option.takes:
                    value = word[at:] if option.takes != ";" and at < len(word) else None
                    break
        if value is None and len(word) < _LONGEST and all(option.plain for option in options):
            if len(self.flags) >= _REMEMBERED:
                self.flags.clear()
            self.flags[word] = tuple([option.name for option in options])
        return options, value

    def long(self, name: str) -> tuple[str, Option | None]:
        """A long name as this row writes it, and its option: two dashes are also one where that is how long ones begin."""
        option = self.known.get(name)
        if option is None:
            if self.single and name.startswith("--"):
                name = name[1:]
                option = self.known.get(name)
            option = option or self._abbreviated(name)
        return name, option

    def _abbreviated(self, name: str) -> Option | None:
        """The option a cut long name stands for; of several, the one that acts."""
        if not self.abbreviates or name in _NEVER_CUT:
            return None
        fits = [option for long, option in self.known.items() if long.startswith(name)]
        return next((option for option in fits if option.acts), fits[0] if fits else None)

    def compile(self, inherited: Mapping[str, Option] | None = None) -> Row:
        """Read `options` once; `inherited` are the options of the row above when it shares them."""
        if self.ready:
            return self
        if inherited:
            self.known.update(inherited)
        for line in self.options.splitlines():
            self.known.update(parse_line(line))
        if self.plus:
            self.marks = "-+"
        self.flags.update((name, (option.name,)) for name, option in self.known.items() if option.plain)
        self.acting = self.wary or self.at_files or any(option.acts for option in self.known.values())
        self.ready = True
        return self


def parse_line(line: str) -> dict[str, Option]:
    """The options of one line by each of their names."""
    words = line.split()
    names = []
    while words and words[0][0] in "-+":
        names.append(words.pop(0))
    takes = words.pop(0) if words and words[0] in ("=", "==", "?", ";") else ""
    does = " ".join(words)
    options: dict[str, Option] = {}
    short = ""
    for name in names:
        if not name.startswith("--"):
            short = name
        options[name] = Option(short or name, takes, does)
    return options


def rows(source: str, names: str, options: str = "", **rest: object) -> dict[str, Row]:
    """One row under each of the blank-separated `names`."""
    return {name: Row(source, options, **rest) for name in names.split()}  # type: ignore[arg-type]


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a table cell."""
    return frozenset(text.split())
