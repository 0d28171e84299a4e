"""One command being read with the row of its program: its words sorted into options and operands, and what they touch.

`sorting` fills in the words, the row's `then` looks at them and adds findings by the methods here.
"""

from __future__ import annotations

import posixpath

from hitl_cli.access import Act, Place, Unknown, Word, inside, lexical
from hitl_cli.records import Struct, field
from hitl_cli.regex import later
from hitl_cli.shell.programs.table import EFFECTS, STARTS, Row

MEMBER = "…"  # stands for a file below a folder whose name is not known
NAMED = Unknown("…")  # files whose names another file or the input holds
_TRIED = 16  # words behind an act that what is started may begin with
_KEY = later(
    r"\A(?:[\w.-]+=|(?:EXEC|SYSTEM|SHELL):|\W*(?:shell|system|exec|spawn|ProxyCommand) )"
)  # `alias.x=…`, `.shell …`
_STRINGS = later(r'"([^"\\]+)"')
_DENIED = ("false", "no", "none", "off", "0")  # values of a flag that is not set
NO_FILE = frozenset(["-", "/dev/null", "/dev/stdout", "/dev/stderr"])


class Given(Struct, frozen=True, gc=False):
    """An option as it was given: its first name, its value if it has one, and the index of its word."""

    name: str
    value: Word | None
    at: int


class Reading(Struct, gc=False):
    """What one simple command does, as far as its words say.

    words    the canonical words: neutral options and a system folder in front of the program removed
    fed      its input is the output of another command
    names    program names this may be, for deny and ask rules
    folder   the folder entered by options (git -C, make -C), as written
    only     what is read of a folder: "shown" (not what begins with a dot), "tracked" (by git), "some" (of that, files of
             a kind), "" for everything
    follows  whether links below a folder are followed
    given    the options
    operands the other words, and beside them in `places` the index of each
    sub      indices of the words that chose a sub-command
    inner    where the words of another program begin
    acts     indices into `words`: what a prefix rule does not cover unless it spells the word
    reads, writes, removes, lists
             operands and option values that name files, as written (relative to the folder and `folder`)
    unnamed  folders below which files are written that are not named, each with the folder that has their names, "" for none
    at       beside `writes`: the index of the act that does the writing (`sort -o f`), None where writing is what the
             program is for
    urls     addresses that are asked, as written
    also     for deny and ask rules: other ways to say the same (without options)
    starts   for deny and ask rules: the words of commands and the texts that it starts
    shell    it starts a shell, which runs its input
    opaque   why no prefix rule can cover it, "" when one can
    """

    words: tuple[Word, ...]
    place: Place
    cwd: str | None
    row: Row
    fed: bool = False
    names: tuple[str, ...] = ()
    folder: str | None = None
    only: str = ""
    follows: bool = False
    given: list[Given] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    sub: tuple[int, ...] = ()
    inner: int | None = None
    acts: tuple[Act, ...] = ()
    reads: list[Word] = field(default_factory=list)
    writes: tuple[Word, ...] = ()
    at: tuple[int | None, ...] = ()
    removes: list[Word] = field(default_factory=list)
    unnamed: tuple[tuple[Word, Word], ...] = ()
    lists: list[Word] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    also: tuple[tuple[Word, ...], ...] = ()
    starts: list[tuple[Word, ...] | str] = field(default_factory=list)
    shell: bool = False
    opaque: str = ""

    def placed(self) -> list[tuple[int, Word]]:
        """The operands with their indices."""
        return list(zip(self.places, self.operands, strict=True))

    def has(self, *names: str) -> bool:
        for given in self.given:  # noqa: SIM110 - most commands have few options, and a generator costs more than the look
            if given.name in names:
                return True
        return False

    def keeps_to(self, *names: str) -> bool:
        """Whether one of these options is given, which make the command harmless, and none that takes one of them back:
        `--no-dry-run`, cut short as well, or `--dry-run=false`."""
        if not any(given.name in names and given.value not in _DENIED for given in self.given):
            return False
        longs = [*names, *(long for long, option in self.row.known.items() if option.name in names)]
        taken_back = ["--no-" + long[2:] for long in longs if long[:2] == "--"]
        return not any(
            back.startswith(given.name) for given in self.given if given.name[:5] == "--no-" for back in taken_back
        )

    def values(self, *names: str) -> list[tuple[int, Word]]:
        """Index and value of each given option of these (first) names that has a value."""
        found = []
        for given in self.given:
            if given.name in names and given.value is not None:
                found.append((given.at, given.value))
        return found

    def act(self, at: int, does: str) -> None:
        if not any(act.at == at for act in self.acts):
            self.acts += (Act(at, does),)

    def write(self, word: Word, at: int | None = None) -> None:
        """A file that is written; `at` the index of the option that makes a showing program write."""
        if word in NO_FILE and (at is not None or word != "-"):
            return
        if at is not None:
            self.act(at, "writes a file")
        self.writes += (word,)
        self.at += (at,)

    def fill(self, folder: Word = "") -> None:
        """A file of a name that is not known is written in a folder."""
        self.write(posixpath.join(folder, MEMBER) if isinstance(folder, str) else folder)

    def unpack(self, folder: Word = "") -> None:
        """Files whose names only an archive, a patch or another machine knows are written below a folder."""
        self.fill(folder)
        self.brings(folder)

    def brings(self, folder: Word, like: Word = "") -> None:
        """As `unpack`, where the command's rule covers them; those of another folder have the names in that."""
        self.unnamed = (*self.unnamed, (folder, like))

    def touch(self, effect: str, word: Word, at: int) -> None:
        """One operand or value with an effect of EFFECTS or the reason of an act."""
        if effect == "read":
            if word != "-":
                self.reads.append(word)
        elif effect == "names":
            self.reads += [NAMED] if word == "-" else [word, NAMED]
        elif effect == "list":
            self.lists.append(word)
        elif effect == "make":
            self.write(word)
        elif effect == "write":
            self.write(word, at)
        elif effect == "remove":
            self.removes.append(word)
        elif effect == "folder":
            self.enter(word, at)
        elif effect == "module":
            if not isinstance(word, str) or "/" in word:
                self.act(at, "loads code from a file")
        elif effect == "follows":
            self.follows = True
        elif effect == "url":
            if isinstance(word, str):
                if "::" in word.partition("/")[0]:
                    self.act(at, "names a transport helper, which can run any command")
                self.urls.append(word)
        elif effect not in EFFECTS:
            self.act(at, effect)

    def enter(self, folder: Word, at: int) -> None:
        if not isinstance(folder, str):
            self.act(at, "works in a folder that is known only at run time")
        elif not self.within(folder):
            self.act(at, "works in a folder outside the workspace")
        else:
            self.folder = folder if self.folder is None else f"{self.folder}/{folder}"
            if folder.startswith("/"):
                self.folder = folder

    def within(self, path: str) -> bool:
        """True when `path`, as written in this command, surely lies in the workspace (by text alone)."""
        if path.startswith("~"):
            return False
        if self.cwd is None and not path.startswith("/"):
            return False
        at = self.cwd or "/"
        if self.folder is not None:
            at = lexical(self.folder, at)
        full = lexical(path, at)
        return any(inside(full, root) for root in self.place.roots)

    def spellings(self) -> tuple[tuple[Word, ...], ...]:
        """Other ways to say the same, for deny and ask rules: without the options in front of the sub-command, without
        any options."""
        words, sub = self.words, self.sub
        if self.inner is None and (not sub or sub[-1] == len(sub)):
            if not self.given:
                return ()
            if not sub:
                return ((words[0], *self.operands),) if self.operands else ()
            return ((*words[: len(sub) + 1], *self.operands),)
        head = (words[0], *[words[at] for at in sub])
        found = []
        if sub and sub[-1] > len(sub):
            found.append((*head, *words[sub[-1] + 1 :]))
        if self.given:
            found.append((*head, *self.operands))
        return tuple([form for form in dict.fromkeys(found) if len(form) > 1 and form != words])

    def find_starts(self) -> None:
        """Note what its words start: those of an inner program, and what acts that start something say. Of the words behind
        such an act any may begin a command where no inner program is known."""
        words = self.words
        if self.inner is not None:
            self.starts.append(words[self.inner :])
        for act in self.acts:
            if STARTS.search(act.does) is None:
                continue
            word = words[act.at]
            if isinstance(word, str) and word[:1] == "-":
                value = next(
                    (given.value for given in self.given if given.at == act.at and given.value is not None), None
                )
                if value is None and "=" in word:
                    value = word.partition("=")[2]
                self.starts += [words[act.at + 1 :]] if value is None else _texts(value)
            elif self.inner is None:
                last = min(len(words), act.at + _TRIED)
                self.also = (*self.also, *[words[at:] for at in range(act.at, last)])
                for behind in words[act.at : last]:
                    self.starts += _texts(behind)


def _texts(word: Word) -> list[tuple[Word, ...] | str]:
    """What a word may hold for a shell: itself, what it gives to a key, and what stands in quotes in it."""
    if not isinstance(word, str):
        return []
    return [*dict.fromkeys((word, _KEY.sub("", word))), *_STRINGS.findall(word)]
