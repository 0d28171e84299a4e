"""A parsed text walked into accesses: every simple command that could run, every file that would be opened.

The walk follows the order of the text and keeps what the meaning of later words rests on: the folders the shell may be
in (a `cd` may have failed), which variables may hold what. Both branches of a condition count, a loop's body counts
once more when it moves the folder. It is bounded: `look` limits the text, a budget the steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hitl_cli.access import Access, Act, Command, Opaque, Place, Unknown, Word
from hitl_cli.records import Struct, field
from hitl_cli.shell import variables, words
from hitl_cli.shell.call import Call, Marked
from hitl_cli.shell.commands import reader_of
from hitl_cli.shell.grammar import parse
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.operands import After, Folders, one
from hitl_cli.shell.possible import Possible
from hitl_cli.shell.scan import DEEPEST, LARGEST, WORDS, look, rough_words
from hitl_cli.shell.started import chosen
from hitl_cli.shell.statements import STATEMENTS, redirections, sequence
from hitl_cli.shell.tree import Assignment, Nested, NoteKind, Raw, Statement, Unreadable

# Each part is held against the rules, and nobody reads more of them before saying yes. Of 2,394 commands of agents none has
# more than 22.
_STEPS = 300
# Commands that give variables values of their own.
_SETTERS = re.compile(
    r"\b(?:read|mapfile|readarray|printf|export|declare|typeset|local|readonly|eval|source|trap|unset|getopts|let)\b"
    r"|(?:^|[\s;&|(])\.\s"
)
_READ = 2 * LARGEST  # characters, nested texts included
_OWN_WORDS = {"not": "negation", "test": "test", "arithmetic": "arithmetic", "if": "condition", "for": "loop"}


class Node(Struct, gc=False):
    """A part of the text for explanations: `kind` in words, and which accesses of the reading are its own."""

    kind: str
    text: str
    first: int = 0
    last: int = 0  # one behind
    kids: list[Node] = field(default_factory=list)


class Reading(Struct, frozen=True, gc=False):
    """`accesses` in the order of the text; `tree` for explanations: its nodes say which accesses are theirs."""

    accesses: tuple[Access, ...]
    tree: Node


def read(text: str, place: Place, cwd: str | None = None) -> Reading:
    """What `text` would touch when bash runs it in `cwd` (absolute; the place's own folder when None). Never raises."""
    walk = _whole(text, place, cwd or place.cwd, Possible())
    if walk.possible.asked is not None and walk.possible.outgrown:
        walk = _whole(text, place, cwd or place.cwd, walk.possible.again())
    return Reading(tuple(walk.out), walk.node)


def _whole(text: str, place: Place, cwd: str, possible: Possible) -> Walk:
    """Walk all of `text`."""
    tree = Node("text", text)
    walk = Walk(place, possible, tree, len(text))
    try:
        walk.script(text, (cwd,))
    except RecursionError:
        walk.out.clear()
        tree.kids.clear()
        walk.opaque("it is nested too deeply", text)
    tree.last = len(walk.out)
    if walk.computed:
        assigned = set(walk.assigned)
        if found := [n for n in walk.computed if n in assigned or not variables.computable(n)]:
            walk.opaque(f"{min(found)} is computed with, and its value may itself hold a command", text)
    if not walk.out and walk.steps > 1:  # of blanks and comments alone nobody can say what was meant
        walk.out.append(Command((":",), text=text, free="it runs nothing"))
    return walk


class Walk(Struct, gc=False):
    """One reading: `out` are the accesses, `node` the part of the text being walked."""

    place: Place
    possible: Possible
    node: Node
    characters: int = 0  # of all texts
    steps: int = 0
    depth: int = 1
    out: list[Access] = field(default_factory=list)
    outer: tuple[tuple[Word, ...], ...] = ()  # the commands whose text this is
    within: tuple[str, ...] = ()
    piped: Statement | None = None  # the pipeline around what is walked
    exporting: bool = False  # `set -a` was seen
    own_home: bool = True  # HOME is as it was at the start
    computed: list[str] = field(default_factory=list)  # names evaluated as arithmetic
    assigned: list[str] = field(default_factory=list)  # names that may hold more than a number
    counted: frozenset[str] = frozenset()  # variables of this text that only ever hold numbers
    known: dict[Folders, dict[str, str]] = field(default_factory=dict)  # the variables whose value is certain

    def apart(self) -> Walk:
        """A walk of what is read apart from this one, at its expense."""
        return Walk(
            self.place, Possible(), Node("text", ""), self.characters, self.steps, self.depth + 1, piped=self.piped
        )

    def text(self, text: str, folders: Folders, kind: str) -> After:
        """Read `text`, which a command hands to a shell of its own, and walk it."""
        before = self.depth, self.piped, self.counted, self.known
        self.counted, self.known = frozenset(), {}
        self.depth += 1
        self.characters += len(text)
        refused = "it holds too much text in texts" if self.characters > _READ else ""
        parent, self.node = self.node, Node(kind, text, len(self.out))
        parent.kids.append(self.node)
        after = self.script(text, folders, refused)
        self.node.last = len(self.out)
        self.node = parent
        self.depth, self.piped, self.counted, self.known = before
        return after

    def script(self, text: str, folders: Folders, refused: str = "") -> After:
        """Read the text of this node and walk it, unless it is refused for a reason."""
        own = self.node
        try:
            if reason := look(text) or refused:
                raise Unreadable(reason)
            if self.depth > DEEPEST:
                raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
            lex = Lexer(text, len(text), self.depth)
            made = parse(lex)
            if lex.notes:
                self.names(lex.notes, text)
            self.steps += 1
            return sequence(self, made, folders) if made.kind == "list" else self.walk(made, folders)
        except Unreadable as error:
            del self.out[own.first :]
            own.kids.clear()
            self.opaque(str(error), text)
            self.node = own
            return (None,), (None,)

    def names(self, notes: list[tuple[NoteKind, str]], text: str) -> None:
        """Take in which variables `text` evaluates and gives values."""
        found: dict[NoteKind, list[str]] = {"evaluated": [], "counted": [], "given": [], "assigned": []}
        for kind, name in notes:
            found[kind].append(name)
        self.computed += found["evaluated"]
        self.assigned += found["assigned"]
        if found["counted"] and not _SETTERS.search(text):
            self.counted = frozenset(found["counted"]).difference(found["assigned"])
        for source in found["given"]:
            name = source[2:].partition("=")[0].rstrip(":")
            self.possible.give(name, (Unknown(source),))
            found["evaluated"].append(name)  # it must not change what later words mean, either
        for name in found["evaluated"]:
            if reason := variables.stays(name, Unknown("")):
                raise Unreadable(f"an expansion {reason}")

    def opaque(self, reason: str, text: str, found: tuple[str, ...] = ()) -> None:
        self.out.append(Opaque(reason, text, found or rough_words(text)))

    def values(self, folders: Folders) -> Mapping[str, str]:
        """The variables whose value is certain."""
        values = self.known.get(folders) if self.own_home else None
        if values is None:
            home = self.place.home
            values = {"~": home, "HOME": home} if self.own_home else {}
            for name in self.counted:
                if variables.computable(name):
                    values[words.COUNTED + name] = ""
            if self.own_home:
                self.known[folders] = values
            if len(folders) == 1 and folders[0] is not None:
                values["PWD"] = folders[0]
        return values

    # -- statements: the folders afterwards, if it succeeded and if it failed

    def walk(self, made: Statement, folders: Folders, before: tuple[str, ...] = (), fed: bool = False) -> After:
        """Of a simple command: `before` it stands a keyword `time`; it is `fed` the output of another."""
        self.steps = steps = self.steps + 1
        if steps > _STEPS:
            raise Unreadable(f"it has more than {_STEPS} parts")
        kind = made.kind
        if kind == "plain" and not before:
            plain: tuple[str, ...] = made.words  # type: ignore[assignment] # literal
            return reader_of(plain[0])(self, Call(plain, plain, made.text, folders, self.within, fed))
        if kind == "plain" or kind == "simple":
            return self.simple(made, folders, before, fed)
        if kind == "list":
            return sequence(self, made, folders)
        first = len(self.out)
        parent, self.node = self.node, Node(_OWN_WORDS.get(kind, kind), made.text, first)
        parent.kids.append(self.node)
        if made.redirs:
            redirections(self, made, folders)
        after = STATEMENTS[kind](self, made, folders)
        self.node.last = len(self.out)
        self.node = parent
        return after

    # -- words

    def nested_in(self, found: Sequence[str | Raw], folders: Folders) -> None:
        for word in found:
            if isinstance(word, Raw):
                self.nested(word.nested, folders)

    def nested(self, found: list[Nested], folders: Folders) -> None:
        for inner in found:
            parent, self.node = self.node, Node(inner.kind, inner.script.text, len(self.out))
            parent.kids.append(self.node)
            self.walk(inner.script, folders)
            self.node.last = len(self.out)
            self.node = parent

    # -- simple commands

    def simple(self, made: Statement, folders: Folders, before: tuple[str, ...], fed: bool) -> After:
        found: tuple[Word, ...] = (
            self.cooked(made.words, folders) if made.raws else tuple(made.words)  # type: ignore[arg-type] # all literal
        )
        given, marked = self.assignments(made.assigns, folders, found[0] if found else "") if made.assigns else ((), ())
        if len(found) > WORDS:
            raise Unreadable(f"a command has more than {WORDS:,} words")
        after = (folders, folders)
        if found:
            front = (*given, *before)
            typed = (*front, *found) if front else found
            within = (*self.within, " ".join(before)) if before else self.within
            call = Call(found, typed, made.text, folders, within, fed, marked, made.redirs, len(front), len(given))
            after = reader_of(found[0])(self, call)
        elif marked:
            acts = tuple(Act(at, reason) for at, (_, reason) in enumerate(marked))
            assigned = tuple(word for word, _ in marked)
            call = Call(assigned, assigned, made.text, folders, self.within, fed)
            also = chosen(self, call, assigned)
            self.out.append(Command(assigned, acts, text=made.text, within=self.within, cwd=one(folders), also=also))
        elif made.words:
            raise Unreadable("which program runs is known only when it runs")
        if made.redirs:
            redirections(self, made, folders)
        for raw in made.raws:
            if raw.nested:
                self.nested(raw.nested, folders)
        return after

    def cooked(self, found: Sequence[str | Raw], folders: Folders) -> tuple[Word, ...]:
        values = self.values(folders)
        out: list[Word] = []
        for word in found:
            if isinstance(word, str):
                out.append(word)
            else:
                out += words.cook(word, values)
        return tuple(out)

    def assignments(
        self, found: Sequence[Assignment], folders: Folders, first: Word
    ) -> tuple[tuple[Word, ...], Marked]:
        """The assignments as words, and those that are not harmless, with the reason."""
        marked: list[tuple[Word, str]] = []
        every: list[Word] = []
        judge = variables.reaches if first or self.exporting else variables.stays
        for given in found:
            value: Word = given.value if isinstance(given.value, str) else Unknown("")
            if isinstance(given.value, Raw):
                value = words.cook(given.value, self.values(folders), assigned=True)[0]
                self.nested(given.value.nested, folders)
            if given.items is not None:
                self.nested_in(given.items, folders)
            self.possible.give(given.name, (value,) if given.items is None else self.cooked(given.items, folders))
            if given.append:
                self.possible.give(given.name, (Unknown(f"${given.name}*"),))  # what it held is now the beginning
            if given.append or given.items is not None:
                value = Unknown(given.text)
            if given.name in ("HOME", "PWD"):
                raise Unreadable(f"it sets {given.name}, which changes what later words mean")
            sign = "+=" if given.append else "="
            word: Word = f"{given.name}{sign}{value}" if isinstance(value, str) else Unknown(given.text, single=True)
            every.append(word)
            if first == "read" and given.name == "IFS":  # holds for that one command, which only splits a line
                continue
            if reason := judge(given.name, value):
                marked.append((word, reason))
        return tuple(every), tuple(marked)
