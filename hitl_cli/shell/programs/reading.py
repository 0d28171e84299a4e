"""One command being read with the row of its program: options and operands, and what they touch.

The reading errs to one side. An option that the row does not list is taken for a flag, so its value is looked at as an
operand and, when it begins with a dash, as an option; a `--` that may be the value of such an option does not end the
options. A word whose value is not known and that may be an option is an act where the program has any option that acts.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from hitl_cli.access import Act, Place, Unknown, Word, inside, lexical
from hitl_cli.shell.programs.outputs import is_one_plain_word
from hitl_cli.shell.programs.table import EFFECTS, Option, Row

MEMBER = "…"  # stands for a file below a folder whose name is not known
NO_FILE = frozenset(["-", "/dev/null", "/dev/stdout", "/dev/stderr"])
MAY_BE_OPTION = "may turn out to be an option that acts"


class Given(NamedTuple):
    """An option as it was given: its first name, its value if it has one, and the index of its word."""

    name: str
    value: Word | None
    at: int


class Operand(NamedTuple):
    at: int
    word: Word


class Reading:
    """The words sorted by `read`, and the findings that `read` and the row's `then` add."""

    __slots__ = (
        "acts",
        "at",
        "cwd",
        "fed",
        "folder",
        "given",
        "inner",
        "lists",
        "only",
        "opaque",
        "operands",
        "place",
        "reads",
        "removes",
        "row",
        "sub",
        "urls",
        "words",
        "writes",
    )

    def __init__(self, words: tuple[Word, ...], place: Place, cwd: str | None, row: Row) -> None:
        self.words = words
        self.place = place
        self.cwd = cwd
        self.row = row
        self.given: list[Given] = []
        self.operands: list[Operand] = []
        self.sub: tuple[int, ...] = ()  # indices of the words that chose a sub-command
        self.acts: list[Act] = []
        self.reads: list[Word] = []
        self.writes: list[Word] = []
        self.at: list[int | None] = []
        self.removes: list[Word] = []
        self.lists: list[Word] = []
        self.urls: list[str] = []
        self.inner: int | None = None  # where the words of another program begin
        self.folder: str | None = None
        self.opaque = ""
        self.only = ""
        self.fed = False

    # -- what `then` functions use ----------------------------------------------------------------------------------

    def has(self, *names: str) -> bool:
        return any(given.name in names for given in self.given)

    def values(self, *names: str) -> Iterator[tuple[int, Word]]:
        """Index and value of each given option of these (first) names that has a value."""
        for given in self.given:
            if given.name in names and given.value is not None:
                yield given.at, given.value

    def act(self, at: int, does: str) -> None:
        if not any(act.at == at for act in self.acts):
            self.acts.append(Act(at, does))

    def write(self, word: Word, at: int | None = None) -> None:
        """A file that is written; `at` the index of the option that makes a showing program write."""
        if word in NO_FILE and (at is not None or word != "-"):
            return
        if at is not None:
            self.act(at, "writes a file")
        self.writes.append(word)
        self.at.append(at)

    def fill(self, folder: Word = "") -> None:
        """Files whose names only an archive or a patch knows are written below a folder."""
        self.write(posixpath.join(folder, MEMBER) if isinstance(folder, str) else folder)

    def touch(self, effect: str, word: Word, at: int) -> None:
        """One operand or value with an effect of EFFECTS or the reason of an act."""
        if effect == "read":
            if word != "-":
                self.reads.append(word)
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
        any options, and what a runner starts (`uv run rm x`: `rm x`)."""
        words, found = self.words, []
        if not self.given and self.inner is None and (not self.sub or self.sub[-1] == len(self.sub)):
            return ()
        if self.sub and self.sub[-1] >= len(self.sub) + 1:
            found.append((words[0], *(words[at] for at in self.sub), *words[self.sub[-1] + 1 :]))
        if self.given:
            found.append((words[0], *(words[at] for at in self.sub), *(word for _, word in self.operands)))
        if self.inner is not None and isinstance(words[self.inner], str):
            found.append(words[self.inner :])
        return tuple(form for form in dict.fromkeys(found) if len(form) > 1 and form != words)

    # -- sorting the words ------------------------------------------------------------------------------------------

    def delegate(self, row: Row | None, start: int) -> None:
        """The words behind `start` are those of another program (`uv run pytest …`): read them with its row."""
        self.inner = start
        if row is None:
            return
        self.row = row.compile()
        self.given, self.operands, self.sub = [], [], ()
        self.read(start + 1)

    def read(self, start: int = 1) -> None:
        row, words = self.row, self.words
        i, count = start, len(words)
        ended = doubt = False
        while i < count:
            word = words[i]
            if not isinstance(word, str):
                i = self._unknown(word, i, ended)
                doubt = False
                if self.row.stops and len(self.operands) >= self.row.stops:
                    break
                row = self.row
                continue
            head = word[:1]
            if ended or len(word) < 2 or (head != "-" and not (head == "+" and row.plus)):
                self._operand(i, word)
                i += 1
                if self.row.stops and len(self.operands) >= self.row.stops:
                    break
                row = self.row
                doubt = False
            elif word == "--":
                ended = not doubt
                i += 1
                if ended and row.stops == 1 and not row.subs:
                    break
            else:
                i, doubt = self._option(word, i)
        for at in range(i, count):
            self.operands.append(Operand(at, words[at]))
        self._effects()

    def _operand(self, at: int, word: Word) -> None:
        """An operand, or the word that chooses a sub-command."""
        row = self.row
        if row.subs is None or self.operands:
            self.operands.append(Operand(at, word))
            return
        chosen = row.subs.get(word) if isinstance(word, str) else None
        chosen = chosen or row.other
        if not isinstance(word, str):
            self.act(at, "names a sub-command that is known only at run time")
        if chosen is None:
            self.operands.append(Operand(at, word))
            return
        self.sub = (*self.sub, at)
        self.row = chosen.compile(row.known if row.shared else None)
        if self.row.act:
            self.act(at, self.row.act)

    def _effects(self) -> None:
        row = self.row
        if row.operands:
            for at, word in self.operands:
                self.touch(row.operands, word, at)
        if row.inner is not None and len(self.operands) > row.inner:
            self.inner = self.operands[row.inner].at
        if row.at_files:
            for at, word in self.operands:
                if isinstance(word, str) and word.startswith("@"):
                    self.act(at, "takes options from a file")
        if row.then is not None:
            row.then(self)

    def _option(self, word: str, i: int) -> tuple[int, bool]:
        """Read the option at `i`; the index of the next word, and whether a following `--` may be its value."""
        row = self.row
        if word[1] == "-" or row.single or word[0] == "+":
            name, equals, value = word.partition("=")
            if row.single and name.startswith("--"):
                name = name[1:]
            option = row.known.get(name) or row.abbreviated(name)
            if option is None:
                self.given.append(Given(name, value if equals else None, i))
                return i + 1, not equals and not row.abbreviates
            return self._give(option, value if equals else None, i), False
        known = row.known
        if len(word) > 2 and (option := known.get(word)) is not None:
            return self._give(option, None, i), False
        for k in range(1, len(word)):
            option = known.get("-" + word[k])
            if option is None:
                self.given.append(Given("-" + word[k], None, i))
                continue
            if option.takes:
                rest = word[k + 1 :] if option.takes != ";" else ""
                return self._give(option, rest or None, i), False
            self._give(option, None, i)
        return i + 1, not row.abbreviates and "-" + word[-1] not in known

    def _give(self, option: Option, value: Word | None, i: int) -> int:
        """Record an option with its value (the next word where it takes one and none is glued on)."""
        after = i + 1
        if option.takes == "=" and value is None and after < len(self.words):
            value = self.words[after]
            if isinstance(value, Unknown):
                if self._splits(value) or (not self.row.dashes and self._may_be_option(value)):
                    self.act(after, MAY_BE_OPTION)
            elif not self.row.dashes and value[:1] == "-" and value != "-":
                value, after = None, i
            after += 1
        elif option.takes == "==":
            for second in self.words[after + 1 : after + 2]:
                value = second
            for at in range(after, min(after + 2, len(self.words))):
                word = self.words[at]
                if isinstance(word, Unknown) and self._splits(word):
                    self.act(at, MAY_BE_OPTION)
            after += 2
        elif option.takes == ";":
            while after < len(self.words) and self.words[after] not in (";", "+"):
                after += 1
            after += 1
        self.given.append(Given(option.name, value, i))
        if value == "-" and option.does in ("read", "write", "make"):
            return after  # the standard streams
        if option.does and (value is not None or not option.takes or option.does not in EFFECTS):
            self.touch(option.does, value if value is not None else "", i)
        return after

    def _splits(self, word: Unknown) -> bool:
        """Whether the word may become several, one of them an option that acts."""
        if not self.row.acting or word.safe or word.single or is_one_plain_word(word):
            return False
        return not (word.glob and word.prefix and word.prefix[0] != "-")

    def _unknown(self, word: Unknown, i: int, ended: bool) -> int:
        prefix = word.prefix
        if self._splits(word) and not ended:
            self.act(i, MAY_BE_OPTION)
        if ended or word.safe or (prefix and prefix[0] != "-"):
            self._operand(i, word)
            return i + 1
        if prefix.startswith("-") and len(prefix) > 1:
            return self._half_known(word, i)
        if self._may_be_option(word):
            self.act(i, MAY_BE_OPTION)
        self._operand(i, word)
        return i + 1

    def _may_be_option(self, word: Unknown) -> bool:
        if not self.row.acting or word.safe or (not word.prefix and is_one_plain_word(word)):
            return False
        return not word.prefix or word.prefix[0] == "-"

    def _half_known(self, word: Unknown, i: int) -> int:
        """`--jobs=$(nproc)`, `-j"$n"`, `-$flags`: an option with a value that is not known, or of which half is."""
        prefix, row = word.prefix, self.row
        if prefix[1] == "-" or row.single:
            name, equals, rest = prefix.partition("=")
            option = row.known.get(name) or row.abbreviated(name)
            if equals:
                if option is not None:
                    self._give(option, _tail(word, rest), i)
                return i + 1
        else:
            for k in range(1, len(prefix)):
                option = row.known.get("-" + prefix[k])
                if option is not None and option.takes:
                    self._give(option, _tail(word, prefix[k + 1 :]), i)
                    return i + 1
                if option is not None:
                    self._give(option, None, i)
        if row.acting:
            self.act(i, MAY_BE_OPTION)
        return i + 1


def _tail(word: Unknown, prefix: str) -> Unknown:
    return Unknown(word.text, word.glob, prefix, word.safe, word.single)
