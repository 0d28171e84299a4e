"""A parsed text walked into accesses: every simple command that could run, every file that would be opened.

The walk follows the order of the text and keeps what the meaning of later words rests on: the folders the shell may be
in (a `cd` may have failed), which variables may hold what. Both branches of a condition count, a loop's body counts
once more when it moves the folder. It is bounded: `look` limits the text, a budget the steps.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hitl_cli.access import (
    Access,
    Act,
    Command,
    Host,
    Opaque,
    Place,
    ReadPath,
    Unknown,
    Word,
    WritePath,
    inside,
    lexical,
)
from hitl_cli.shell import builtins, variables, words, wrappers
from hitl_cli.shell.grammar import parse
from hitl_cli.shell.lexer import Lexer
from hitl_cli.shell.programs import Study, study
from hitl_cli.shell.scan import DEEPEST, look, rough_words
from hitl_cli.shell.tree import Assignment, Nested, Raw, Redirect, Statement, Unreadable

_STEPS = 20_000
_FOLDERS = 4  # that the shell may be in before it counts as unknown
_FREE_FILES = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"))
_OWN_WORDS = {"not": "negation", "test": "test", "arithmetic": "arithmetic", "if": "condition", "for": "loop"}

Folders = tuple[str | None, ...]  # where the shell may be; None: anywhere


@dataclass(slots=True)
class Node:
    """A part of the text for explanations: `kind` in words, and which accesses of the reading are its own."""

    kind: str
    text: str
    first: int = 0
    last: int = 0  # one behind
    kids: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class _Call:
    """One simple command on its way through the wrappers."""

    words: tuple[Word, ...]
    typed: tuple[Word, ...]  # with what was peeled off before it
    text: str
    folders: Folders
    within: tuple[str, ...] = ()
    marked: tuple[tuple[Word, str], ...] = ()  # assignments that are not harmless, with the reason
    redirs: tuple[Redirect, ...] = ()
    depth: int = 0


class Walk:
    """One reading: `out` are the accesses, `node` the part of the text being walked."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.out: list[Access] = []
        self.node = Node("text", "")
        self.steps = 0
        self.within: tuple[str, ...] = ()
        self.depth = 0
        self.computed: set[str] = set()  # names evaluated as arithmetic
        self.assigned: set[str] = set()  # names that may hold more than a number
        self.known: dict[Folders, dict[str, str]] = {}
        self.own_home = True  # HOME and PWD are as they were at the start

    def script(self, text: str, folders: Folders, kind: str = "text") -> Folders:
        """Read `text` and walk it; the folders the shell may be in afterwards."""
        parent, self.node = self.node, Node(kind, text, len(self.out))
        parent.kids.append(self.node)
        self.depth += 1
        try:
            if reason := look(text):
                raise Unreadable(reason)
            lex = Lexer(text, self.depth)
            made = parse(lex)
            self.computed.update(lex.arithmetic)
            self.assigned.update(lex.assigned)
            ok, ko = self.walk(made, folders)
            return _either(ok, ko)
        except Unreadable as error:
            del self.out[self.node.first :]
            self.node.kids.clear()
            self.opaque(str(error), text)
            return (None,)
        finally:
            self.depth -= 1
            self.node.last = len(self.out)
            self.node = parent

    def opaque(self, reason: str, text: str, found: tuple[str, ...] = ()) -> None:
        self.out.append(Opaque(reason, text, found or rough_words(text)))

    def values(self, folders: Folders) -> Mapping[str, str]:
        """The variables whose value is certain."""
        values = self.known.get(folders)
        if values is None:
            home = self.place.home
            values = self.known[folders] = {"~": home, "HOME": home}
            if len(folders) == 1 and folders[0] is not None:
                values["PWD"] = folders[0]
        return values

    # -- statements: the folders afterwards, if it succeeded and if it failed

    def walk(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        self.steps += 1
        if self.steps > _STEPS:
            raise Unreadable("it has too many parts")
        kind = made.kind
        if kind == "simple":
            return self.simple(made, folders)
        if kind == "list":
            return self.sequence(made, folders)
        first = len(self.out)
        parent, self.node = self.node, Node(_OWN_WORDS.get(kind, kind), made.text, first)
        parent.kids.append(self.node)
        self.redirections(made, folders, made.text)
        after = _STATEMENTS[kind](self, made, folders)
        self.node.last = len(self.out)
        self.node = parent
        return after

    def sequence(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        ok = ko = folders
        before = ";"
        for kid, op in zip(made.kids, made.ops, strict=True):
            start = ok if before == "&&" else ko if before == "||" else _either(ok, ko)
            good, bad = self.walk(kid, start)
            if op == "&":
                good = bad = start
            if before == "&&":
                ok, ko = good, _either(ko, bad)
            elif before == "||":
                ok, ko = _either(ok, good), bad
            else:
                ok, ko = good, bad
            before = op
        return ok, ko

    def pipeline(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        for kid in made.kids:
            self.walk(kid, folders)
        return folders, folders

    def negated(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        ok, ko = self.walk(made.kids[0], folders)
        return ko, ok

    def group(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        return self.walk(made.kids[0], folders)

    def subshell(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        self.walk(made.kids[0], folders)
        return folders, folders

    def condition(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        after: Folders = ()
        start, kids = folders, list(made.kids)
        while len(kids) > 1:
            ok, ko = self.walk(kids.pop(0), start)
            after = _either(after, _either(*self.walk(kids.pop(0), ok)))
            start = ko
        after = _either(after, _either(*self.walk(kids[0], start)) if kids else start)
        return after, after

    def loop(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        return self.again(lambda start: self.once(made.kids, start), folders)

    def once(self, kids: list[Statement], start: Folders) -> Folders:
        """Condition and body of a while or until loop."""
        after = _either(*self.walk(kids[0], start))
        return _either(after, _either(*self.walk(kids[1], after)))

    def again(self, body: Callable[[Folders], Folders], folders: Folders) -> tuple[Folders, Folders]:
        """A body that may run many times: read again as from anywhere when it moves the folder."""
        mark, kids = len(self.out), len(self.node.kids)
        after = _either(folders, body(folders))
        if set(after) - set(folders):
            del self.out[mark:]
            del self.node.kids[kids:]
            after = _either((None,), body((None,)))
        return after, after

    def loop_over(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        if made.name and (reason := variables.stays(made.name, Unknown(""))):
            self.opaque(f"its loop {reason}", made.text)
        self.nested_in(made.words, folders)
        return self.again(lambda start: _either(*self.walk(made.kids[0], start)), folders)

    def case(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        self.nested_in(made.words, folders)
        after = folders
        for kid in made.kids:  # with `;&` one branch goes on into the next
            after = _either(after, _either(*self.walk(kid, after)))
        return after, after

    def words_only(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        self.nested_in(made.words, folders)
        return folders, folders

    def function(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        self.opaque("a function is defined, which changes what its name means", made.text, (made.name,))
        self.walk(made.kids[0], (None,))
        return folders, folders

    # -- words

    def nested_in(self, found: list[str | Raw], folders: Folders) -> None:
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

    def redirections(self, made: Statement, folders: Folders, text: str) -> None:
        for redirect in made.redirs:
            self.redirection(redirect, folders, text)

    def redirection(self, redirect: Redirect, folders: Folders, text: str) -> None:
        op, target = redirect.op, redirect.target
        if redirect.body is not None:
            self.nested(redirect.body.nested, folders)
            return
        if isinstance(target, Raw):
            found = words.cook(target, self.values(folders), assigned=op == "<<<")
            if len(found) != 1:
                raise Unreadable("a redirection has more than one target")
            word = found[0]
        else:
            word = target
        if op in (">&", "<&") and isinstance(word, str) and (word == "-" or word.rstrip("-").isdigit()):
            return
        if op == "<&":
            raise Unreadable("which descriptor is copied is known only when it runs")
        if op != "<<<":
            if op != "<":
                self.files((word,), folders, lambda path, glob: WritePath(path, text, glob=glob))
            if op in ("<", "<>"):
                self.files((word,), folders, lambda path, glob: ReadPath(path, text, glob=glob))
        if isinstance(target, Raw):
            self.nested(target.nested, folders)

    def files(self, found: tuple[Word, ...], folders: Folders, access: Callable[[str, bool], Access]) -> None:
        for word in found:
            if isinstance(word, Unknown) and word.text[:2] in ("<(", ">("):
                continue
            if isinstance(word, str) and word.startswith("/dev/"):
                if word in _FREE_FILES or (word.startswith("/dev/fd/") and word[8:].isdigit()):
                    continue
                if word.startswith(("/dev/tcp/", "/dev/udp/")):
                    self.opaque("it opens a connection to the network", word)
                    continue
            for path, glob in dict.fromkeys(_path(word, folder) for folder in folders):
                self.out.append(access(path, glob))

    # -- simple commands

    def simple(self, made: Statement, folders: Folders) -> tuple[Folders, Folders]:
        values = self.values(folders)
        typed: list[Word] = []
        raws: list[Raw] = []
        for word in made.words:
            if isinstance(word, str):
                typed.append(word)
            else:
                typed += words.cook(word, values)
                raws.append(word)
        marked = self.assignments(made.assigns, folders, bool(typed)) if made.assigns else ()
        after = (folders, folders)
        if typed:
            call = _Call(tuple(typed), tuple(typed), made.text, folders, self.within, marked, tuple(made.redirs))
            after = self.run(call)
        elif marked:
            acts = tuple(Act(at, reason) for at, (_, reason) in enumerate(marked))
            assigned = tuple(word for word, _ in marked)
            self.out.append(Command(assigned, acts, text=made.text, within=self.within, cwd=_one(folders)))
        elif made.words:
            raise Unreadable("which program runs is known only when it runs")
        if made.redirs:
            self.redirections(made, folders, made.text)
        for raw in raws:
            if raw.nested:
                self.nested(raw.nested, folders)
        return after

    def assignments(self, found: list[Assignment], folders: Folders, before: bool) -> tuple[tuple[Word, str], ...]:
        """The assignments that are not harmless, as words, with the reason."""
        marked: list[tuple[Word, str]] = []
        judge = variables.reaches if before else variables.stays
        for one in found:
            value: Word = one.value if isinstance(one.value, str) else Unknown("")
            if isinstance(one.value, Raw):
                value = words.cook(one.value, self.values(folders), assigned=True)[0]
                self.nested(one.value.nested, folders)
            if one.append or one.items is not None:
                value = Unknown(one.text)
                self.nested_in(one.items or [], folders)
            if one.name in ("HOME", "PWD"):
                raise Unreadable(f"it sets {one.name}, which changes what later words mean")
            if reason := judge(one.name, value):
                sign = "+=" if one.append else "="
                word: Word = f"{one.name}{sign}{value}" if isinstance(value, str) else Unknown(one.text, single=True)
                marked.append((word, reason))
        return tuple(marked)

    def run(self, call: _Call) -> tuple[Folders, Folders]:
        """Take the wrappers off and state what is run; the folders afterwards."""
        try:
            layer = wrappers.peel(call.words)
        except Unreadable as error:
            self.unread(call, str(error))
            return call.folders, call.folders
        if layer is None:
            return self.program(call)
        if layer.stdin and not self.fed(call):
            return call.folders, call.folders
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
        name = str(call.words[0])
        if layer.stays:
            self.own(call, layer)
        for one in (layer, *layer.more):
            self.inner(call, one, name)
        self.depth -= 1
        moved = name == "eval"
        return ((None,), (None,)) if moved and layer.text is not None and "cd" in layer.text else (call.folders,) * 2

    def fed(self, call: _Call) -> bool:
        """A shell that runs its standard input: the text when a here-document or here-string holds it."""
        feeds = [r for r in call.redirs if r.op.startswith("<") and r.fd in ("", "0")]
        body = feeds[0].body if len(feeds) == 1 else None
        if len(feeds) == 1 and feeds[0].op == "<<<":
            target = feeds[0].target
            body = Raw(target, [], []) if isinstance(target, str) else target
            text = target if isinstance(target, str) else words.joined(target, self.values(call.folders))
        else:
            text = words.joined(body, self.values(call.folders)) if body is not None else None
        if text is None:
            reason = f"{call.words[0]} runs what it is given on its standard input"
            self.unread(call, reason, rough_words(body.text) if body is not None else ())
            return False
        self.enter(text, call, f"{call.words[0]} <<")
        return True

    def enter(self, text: str, call: _Call, kind: str) -> None:
        """Read the text that a command hands to a shell."""
        before, self.within = self.within, (*call.within, kind)
        if call.marked:
            self.unread(call, call.marked[0][1])
        self.script(text, call.folders, kind)
        self.within = before

    def inner(self, call: _Call, layer: wrappers.Layer, name: str) -> None:
        folders = call.folders
        if layer.anywhere:
            folders = (None,)
        elif layer.folder is not None:
            folders = tuple(
                lexical(layer.folder, at) if isinstance(layer.folder, str) and at is not None else None
                for at in folders
            )
        self.files(layer.reads, call.folders, lambda path, glob: ReadPath(path, call.text, glob=glob))
        self.files(layer.writes, call.folders, lambda path, glob: WritePath(path, call.text, glob=glob))
        marked = list(call.marked)
        for variable, value in layer.assigns:
            if reason := variables.reaches(variable, value):
                marked.append((f"{variable}={value}" if isinstance(value, str) else value, reason))
        if layer.folder is not None and not all(f is not None and self.in_workspace(f) for f in folders):
            marked.append((layer.folder, "leaves the workspace"))
        if layer.text is not None:
            label = f"{name} -c" if name not in ("eval", "watch") else name
            self.enter(layer.text, replace(call, folders=folders, marked=tuple(marked)), label)
        elif layer.inner:
            skipped = " ".join(w if isinstance(w, str) else w.text for w in call.words[: -len(layer.inner)]) or name
            within = (*call.within, skipped)
            self.run(
                replace(
                    call, words=layer.inner, folders=folders, within=within, marked=tuple(marked), redirs=call.redirs
                )
            )

    def own(self, call: _Call, layer: wrappers.Layer) -> None:
        """The wrapper's own part, for wrappers that need a rule of their own."""
        if wrappers.base_name(call.words[0]) in ("find", "gfind"):
            self.program(call)
            return
        name = wrappers.base_name(call.words[0])
        acts, full = _mark(call.marked, ())
        self.out.append(
            Command(
                (*full, name, *call.words[1:]), acts, names=(name,), text=call.text, within=call.within,
                cwd=_one(call.folders), also=((name, *call.words[1:]),) if full else (),
            )
        )  # fmt: skip

    def unread(self, call: _Call, reason: str, more: tuple[str, ...] = ()) -> None:
        """A command of which only the words are known: for deny and ask rules, and opaque for the others."""
        found = tuple(w if isinstance(w, str) else w.text for w in call.typed)
        self.out.append(
            Opaque(reason, call.text, (*found, *(p for w in found if " " in w for p in rough_words(w)), *more))
        )

    def program(self, call: _Call) -> tuple[Folders, Folders]:
        """The command itself, and the files and hosts it names."""
        folders = call.folders
        try:
            effect = builtins.effect(call.words)
        except Unreadable as error:
            self.unread(call, str(error))
            return folders, folders
        if effect is not None and isinstance(call.words[0], str):
            return self.builtin(call, effect)
        at = _one(folders)
        found = study(call.words, self.place, at)
        if found.opaque:
            self.unread(call, found.opaque)
        index = len(self.out)
        self.out.append(self.command(call, found))
        if found.cwd is not None:
            folders = tuple(None if f is None else posixpath.join(f, found.cwd) for f in folders)
        shift = len(call.marked)
        by = call.text
        if found.reads:
            self.files(found.reads, folders, lambda path, glob: ReadPath(path, by, index, glob=glob))
        if found.lists:
            self.files(found.lists, folders, lambda path, glob: ReadPath(path, by, index, True, glob=glob))
        for word, act in zip(found.writes, found.at, strict=True):
            self.files(
                (word,), folders,
                lambda path, glob, act=act: WritePath(path, by, index, glob=glob, at=None if act is None else act + shift),  # type: ignore[misc]
            )  # fmt: skip
        if found.removes:
            self.files(found.removes, folders, lambda path, glob: WritePath(path, by, index, True, glob=glob))
        for url in found.urls:
            self.out.append(_host(url, by))
        return call.folders, call.folders

    def command(self, call: _Call, found: Study) -> Command:
        acts, marked = _mark(call.marked, found.acts)
        plain = found.words
        final = (*marked, *plain)
        forms: list[tuple[Word, ...]] = []
        spells: list[int] = []
        if call.words != plain:
            forms.append((*marked, *call.words))
            spells.append(len(marked) + 1)
        if len(call.typed) != len(call.words):
            forms.append(call.typed)
            spells.append(
                max(1, len(call.typed) - len(call.words) + 1) if call.typed[-1:] == call.words[-1:] else len(call.typed)
            )
        also: list[tuple[Word, ...]] = []
        if marked:
            also.append(plain)
        if found.bare:
            also.append(found.bare)
        return Command(
            final,
            acts,
            tuple(forms),
            found.names,
            call.text,
            call.within,
            _one(call.folders),
            "",
            tuple(spells),
            tuple(also),
        )

    def builtin(self, call: _Call, effect: builtins.Effect) -> tuple[Folders, Folders]:
        name = str(call.words[0])
        self.assigned.update(effect.assigns)
        if {"HOME", "PWD"} & set(effect.assigns):
            raise Unreadable("it sets HOME or PWD, which changes what later words mean")
        acts, marked = _mark(call.marked, effect.acts)
        free, after = effect.free, (call.folders, call.folders)
        index = len(self.out)
        targets: tuple[tuple[str, bool], ...] = ()
        if effect.enters is not None:
            free, acts, folders, targets = self.moves(call, effect.enters, acts, len(marked))
            after = (folders, folders if folders == (None,) else call.folders)
        self.out.append(
            Command(
                (*marked, *call.words), acts, text=call.text, within=call.within, cwd=_one(call.folders), names=(name,),
                free="" if marked else free, also=(call.words,) if marked else (),
            )
        )  # fmt: skip
        for path, glob in targets:
            self.out.append(ReadPath(path, call.text, index, glob=glob))
        if name in ("source", "."):
            self.files(call.words[1:2], call.folders, lambda path, glob: ReadPath(path, call.text, index, glob=glob))
        if effect.text is not None:
            self.enter(effect.text, replace(call, folders=(None,)), name)
        return after

    def moves(
        self, call: _Call, target: Word, acts: tuple[Act, ...], shift: int
    ) -> tuple[str, tuple[Act, ...], Folders, tuple[tuple[str, bool], ...]]:
        """A change of the folder: why it is free, its acts, the folders afterwards, and what it opens."""
        at = shift + min(1, len(call.words) - 1)
        if target == Unknown("~"):
            target = self.place.home
        if isinstance(target, Unknown):
            return "", (*acts, Act(at, "goes to a folder that is not known")), (None,), ()
        folders = tuple(dict.fromkeys(None if f is None else lexical(target, f) for f in call.folders))
        if target.startswith("/"):
            folders = (lexical(target, "/"),)
        if not all(f is not None and self.in_workspace(f) for f in folders):
            return "", (*acts, Act(at, "leaves the workspace")), folders, ()
        opened = tuple(
            (posixpath.join(f or "/", target), False) for f in call.folders if f is not None or target[:1] == "/"
        )
        return "it stays in the workspace", acts, folders, opened

    def in_workspace(self, folder: str) -> bool:
        return any(inside(folder, root) for root in self.place.roots)


_STATEMENTS: dict[str, Callable[[Walk, Statement, Folders], tuple[Folders, Folders]]] = {
    "pipeline": Walk.pipeline,
    "not": Walk.negated,
    "group": Walk.group,
    "subshell": Walk.subshell,
    "if": Walk.condition,
    "loop": Walk.loop,
    "for": Walk.loop_over,
    "case": Walk.case,
    "arithmetic": Walk.words_only,
    "test": Walk.words_only,
    "function": Walk.function,
}


def _either(one: Folders, other: Folders) -> Folders:
    if one == other:
        return one
    both = tuple(dict.fromkeys((*one, *other)))
    return both if len(both) <= _FOLDERS and None not in both else (None,)


def _one(folders: Folders) -> str | None:
    return folders[0] if len(folders) == 1 else None


def _mark(marked: tuple[tuple[Word, str], ...], acts: tuple[Act, ...]) -> tuple[tuple[Act, ...], tuple[Word, ...]]:
    """The acts of a command with its marked assignments in front, and those assignments."""
    if not marked:
        return acts, ()
    shift = len(marked)
    own = tuple(Act(at, reason) for at, (_, reason) in enumerate(marked))
    return (*own, *(replace(act, at=act.at + shift) for act in acts)), tuple(word for word, _ in marked)


def _path(word: Word, folder: str | None) -> tuple[str, bool]:
    """The absolute path of an operand, or the pattern of what it may be."""
    if isinstance(word, str):
        if word.startswith("/"):
            return word, False
        return ("/**", True) if folder is None else (posixpath.join(folder, word), False)
    if not word.glob:
        return "/**", True
    pattern = words.pattern(word)
    if folder is None and not pattern.startswith("/"):
        return "/**", True
    fixed = pattern[: min((at for at in map(pattern.find, "*?[") if at >= 0), default=len(pattern))]
    head, _, stem = fixed.rpartition("/")
    rest = pattern[len(fixed) :]
    if ".." in rest:
        return "/**", True
    base = lexical((head or "/") if fixed.startswith("/") else head, folder or "/")
    if stem in (".", ".."):
        if rest != "**":
            return "/**", True
        return lexical(stem, base).rstrip("/") + "/**", True
    return base.rstrip("/") + "/" + stem + rest, True


def _host(url: str, of: str) -> Host:
    scheme, _, rest = url.partition("://") if "://" in url else ("http", "", url)
    host = rest.split("/", 1)[0].split("?", 1)[0].split("#", 1)[0].rpartition("@")[2]
    host = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return Host(url, scheme.lower(), host.lower(), of)
