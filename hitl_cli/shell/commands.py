"""Simple commands: wrappers taken off, built-ins told from programs, operands turned into paths and hosts."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from hitl_cli.access import HERE, Act, Command, ReadPath, Unknown, Word, WritePath, lexical
from hitl_cli.records import replace
from hitl_cli.shell import builtins, started, variables, words, wrappers
from hitl_cli.shell.call import Call, Marked, given, piped, unread
from hitl_cli.shell.operands import After, Folders, host_of, one, paths, unnamed
from hitl_cli.shell.possible import POSITIONAL
from hitl_cli.shell.programs import study
from hitl_cli.shell.programs.interpreters import INTERPRETERS
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.scan import DEEPEST, rough_words
from hitl_cli.shell.tree import Raw, Unreadable
from hitl_cli.shell.wrapper_rows import UNFOLLOWED, Layer

if TYPE_CHECKING:
    from hitl_cli.shell.reader import Walk

# Wrappers that do not leave the shell: a `cd` behind them moves it.
_SAME_SHELL = frozenset(("command", "builtin", "eval"))


@lru_cache(maxsize=500)  # the words come from commands, so their number has no bound
def reader_of(first: Word) -> Callable[[Walk, Call], After]:
    """What states the accesses of a command that begins with this word, and says the folders afterwards."""
    return _wrapper if wrappers.base_name(first) in wrappers.WRAPPERS else _bare_reader_of(first)


def _bare_reader_of(first: Word) -> Callable[[Walk, Call], After]:
    return _builtin if first in builtins.BUILTINS else _program


def _wrapper(walk: Walk, call: Call) -> After:
    """Take one wrapper off and state what is run."""
    try:
        layer = wrappers.peel(call.words)
    except Unreadable as error:
        unread(walk, call, str(error), rough_words(piped(walk.piped)) if call.fed else ())
        return call.folders, call.folders
    if layer is None:
        return _bare_reader_of(call.words[0])(walk, call)
    if layer.stdin:
        _fed(walk, call)
        return call.folders, call.folders
    walk.depth += 1
    if walk.depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    name = str(call.words[0])
    if layer.stays:
        _own(walk, call, layer)
    after = call.folders, call.folders
    for each in (layer, *layer.more):
        after = _inner(walk, call, each, name)
    walk.depth -= 1
    return after if name in _SAME_SHELL else (call.folders, call.folders)


def _fed(walk: Walk, call: Call) -> None:
    """A shell that runs its standard input: the text when a here-document or here-string holds it."""
    feeds = [r for r in call.redirs if r.op.startswith("<") and r.fd in ("", "0")]
    body = feeds[0].body if len(feeds) == 1 else None
    if len(feeds) == 1 and feeds[0].op == "<<<":
        target = feeds[0].target
        body = Raw(target, [], []) if isinstance(target, str) else target
        text = target if isinstance(target, str) else words.joined(target, walk.values(call.folders))
    else:
        text = words.joined(body, walk.values(call.folders)) if body is not None else None
    if text is None:
        reason = f"{call.words[0]} runs what it is given on its standard input"
        unread(walk, call, reason, () if body is not None else rough_words(piped(walk.piped)))
        return
    _enter(walk, text, call, f"{call.words[0]} <<")


def _enter(walk: Walk, text: str, call: Call, kind: str, fresh: bool = False) -> After:
    """Read the text that a command hands to a shell; `fresh`: its HOME may be another."""
    before = walk.within, walk.own_home, walk.outer
    walk.outer = (*walk.outer, call.typed)
    walk.within = (*call.within, kind)
    walk.own_home = walk.own_home and not fresh
    if call.marked:
        unread(walk, call, call.marked[0][1])
    after = walk.text(text, call.folders, kind)
    walk.within, walk.own_home, walk.outer = before
    return after


def _inner(walk: Walk, call: Call, layer: Layer, name: str) -> After:
    folders = call.folders
    if layer.anywhere:
        folders = (None,)
    elif layer.folder is not None:
        folders = tuple(
            lexical(layer.folder, at) if isinstance(layer.folder, str) and at is not None else None for at in folders
        )
    for word in layer.reads:
        walk.out.extend(ReadPath(path, call.text, glob=glob) for path, glob in paths(walk, word, call.folders))
    for word in layer.writes:
        walk.out.extend(WritePath(path, call.text, glob=glob) for path, glob in paths(walk, word, call.folders))
    marked = list(call.marked)
    for variable, value in layer.assigns:
        walk.possible.give(variable, (value,))
        if reason := variables.reaches(variable, value):
            marked.append((f"{variable}={value}" if isinstance(value, str) else value, reason))
    if layer.folder is not None and not all(f is not None and walk.place.holds(f) for f in folders):
        marked.append((layer.folder, "leaves the workspace"))
    if layer.text is not None:
        label = f"{name} -c" if name not in ("eval", "watch") else name
        if layer.text in call.words:
            walk.possible.give(POSITIONAL, call.words[call.words.index(layer.text) + 1 :])
        return _enter(walk, layer.text, replace(call, folders=folders, marked=tuple(marked)), label, layer.fresh)
    if layer.inner:
        skipped = " ".join(w if isinstance(w, str) else w.text for w in call.words[: layer.at])
        within = (*call.within, skipped)
        walk.own_home, own_home = walk.own_home and not layer.fresh, walk.own_home
        typed = (*call.typed, wrappers.RUN_TIME) if layer.inner[-1] is wrappers.RUN_TIME else call.typed
        inner = replace(call, words=layer.inner, typed=typed, folders=folders, within=within, marked=tuple(marked))
        inner.offset += layer.at
        inner.fed = call.fed and not layer.stays
        after = reader_of(layer.inner[0])(walk, inner)
        walk.own_home = own_home
        return after
    return call.folders, call.folders


def _own(walk: Walk, call: Call, layer: Layer) -> None:
    """The wrapper's own part, for wrappers that need a rule of their own."""
    if wrappers.base_name(call.words[0]) in ("find", "gfind"):
        _program(walk, call)
        return
    name = wrappers.base_name(call.words[0])
    acts, full = _mark(call.marked, ())
    walk.out.append(
        Command(
            (*full, name, *call.words[1:]), acts, names=(name,), text=call.text, within=call.within,
            cwd=one(call.folders), also=((name, *call.words[1:]),) if full else (),
        )
    )  # fmt: skip


def _program(walk: Walk, call: Call) -> After:
    """The command itself, and the files and hosts it names."""
    folders = call.folders
    found = study(call.words, walk.place, folders[0] if len(folders) == 1 else None, call.fed)
    words = found.words
    if found.shell or words[0] in UNFOLLOWED:
        started.unfollowed(walk, call, found)
    if found.opaque:
        unread(walk, call, found.opaque)
    if call.marked:
        started.assigned(call, found)
    if found.starts:
        found.also = (*found.also, *started.forms(walk, call, found.starts, partial(_run, call)))
    if call.redirs or (call.fed and found.names and found.names[-1] in INTERPRETERS):
        found.also = (*found.also, *[(HERE, text) for text in given(call, walk.piped if call.fed else None)])
    out, text = walk.out, call.text
    index = len(out)
    if words is call.typed and not walk.outer:  # so there are no marked assignments, either
        acts = found.acts
        own = Command(words, acts, names=found.names, text=text, within=call.within, cwd=found.cwd, also=found.also)
    else:
        own = _command(walk, call, found)
    out.append(own)
    if found.folder is not None:
        folders = tuple(None if f is None else posixpath.join(f, found.folder) for f in folders)
    for word in found.reads:
        for path, glob in paths(walk, word, folders):
            out.append(ReadPath(path, text, index, glob=glob, only=found.only, follows=found.follows))
    if found.lists:
        walk.possible.prints(found.lists)
        for word in found.lists:
            for path, glob in paths(walk, word, folders):
                out.append(ReadPath(path, text, index, True, glob=glob))
    if found.writes:
        shift = len(call.marked)
        for word, act in zip(found.writes, found.at, strict=True):
            at = None if act is None else act + shift
            for path, glob in paths(walk, word, folders):
                out.append(WritePath(path, text, index, glob=glob, at=at, only=found.only, follows=found.follows))
    if found.removes:
        for word in found.removes:
            for path, glob in paths(walk, word, folders):
                out.append(WritePath(path, text, index, True, glob=glob, follows=found.follows))
    if found.unnamed:
        out.extend(unnamed(walk, found.unnamed, folders, text, index))
    if found.urls:
        out.extend([host_of(url, text) for url in found.urls])
    return call.folders, call.folders


def _run(outer: Call, walk: Walk, found: tuple[Word, ...]) -> After:
    """State what a command starts, which has the same input."""
    return reader_of(found[0])(walk, Call(found, found, "", (None,), (), outer.fed, redirs=outer.redirs))


def _command(walk: Walk, call: Call, found: Reading) -> Command:
    """What a call runs where that has other spellings: with wrappers, assignments or options that were taken off."""
    words, also = found.words, found.also
    acts, marked = _mark(call.marked, found.acts) if call.marked else (found.acts, ())
    final = (*marked, *words) if marked else words
    forms, spells = _forms(walk, call, final)
    if call.words != words:
        forms.append((*marked, *call.words))
        spells.append(len(marked) + 1)
    if marked:
        also = (words, *also)
    return Command(final, acts, tuple(forms), found.names, call.text, call.within, found.cwd, "", tuple(spells), also)


def _forms(walk: Walk, call: Call, final: tuple[Word, ...]) -> tuple[list[tuple[Word, ...]], list[int]]:
    """The command as typed, and the commands whose text it stands in: those only an exact rule names."""
    forms: list[tuple[Word, ...]] = []
    spells: list[int] = []
    if len(call.typed) != len(call.words) and call.typed != final:
        forms.append(call.typed)
        spells.append(call.offset + 1)
        if call.given and call.offset > call.given:
            forms.append(call.typed[call.given :])
            spells.append(call.offset + 1 - call.given)
    for typed in walk.outer:
        forms.append(typed)
        spells.append(len(typed) + 1)
    return forms, spells


def _builtin(walk: Walk, call: Call) -> After:
    try:
        effect = builtins.BUILTINS[call.words[0]](call.words)
    except Unreadable as error:
        unread(walk, call, str(error))
        return call.folders, call.folders
    name = str(call.words[0])
    walk.exporting = walk.exporting or effect.exports
    for assigned in effect.assigns:
        if assigned in ("HOME", "PWD"):
            raise Unreadable("it sets HOME or PWD, which changes what later words mean")
        walk.assigned.append(assigned)
        if walk.exporting and (reason := variables.reaches(assigned, Unknown(""))):
            unread(walk, call, reason)
    for variable, word in effect.gives:
        walk.possible.give(variable, (word,))
    if name in ("echo", "printf"):
        walk.possible.prints(call.words[1:])
    acts, marked = _mark(call.marked, effect.acts) if call.marked else (effect.acts, ())
    free, after = effect.free, (call.folders, call.folders)
    index = len(walk.out)
    opened: Sequence[str] = ()
    if effect.enters is not None:
        free, acts, folders, opened = _moves(walk, call, effect.enters, acts, len(marked))
        after = (folders, folders if folders == (None,) else call.folders)
    final = (*marked, *call.words)
    chosen = started.chosen(walk, call, call.words) if effect.gives and not free else ()
    forms, spells = _forms(walk, call, final)
    walk.out.append(
        Command(
            final, acts, tuple(forms), (name,), call.text, call.within, one(call.folders), "" if marked else free,
            tuple(spells), (*((call.words,) if marked else ()), *chosen),
        )
    )  # fmt: skip
    for path in opened:
        walk.out.append(ReadPath(path, call.text, index))
    if name in ("source", "."):
        read = [found for word in call.words[1:2] for found in paths(walk, word, call.folders)]
        walk.out += [ReadPath(path, call.text, index, glob=glob) for path, glob in read]
    if effect.text is not None:
        _enter(walk, effect.text, replace(call, folders=(None,)), name)
    return after


def _moves(
    walk: Walk, call: Call, target: Word, acts: tuple[Act, ...], shift: int
) -> tuple[str, tuple[Act, ...], Folders, Sequence[str]]:
    """A change of the folder: why it is free, its acts, the folders afterwards, and what it opens."""
    at = shift + min(1, len(call.words) - 1)
    if not isinstance(target, str):
        if target != Unknown("~"):
            return "", (*acts, Act(at, "goes to a folder that is not known")), (None,), ()
        target = walk.place.home
    starts = ("/",) if target[:1] == "/" else tuple(dict.fromkeys(call.folders))
    folders = tuple([None if f is None else lexical(target, f) for f in starts])
    for folder in folders:
        if folder is None or not walk.place.holds(folder):
            return "", (*acts, Act(at, "leaves the workspace")), folders, ()
    return "it stays in the workspace", acts, folders, [posixpath.join(f, target) for f in starts if f is not None]


def _mark(marked: Marked, acts: Sequence[Act]) -> tuple[tuple[Act, ...], tuple[Word, ...]]:
    """The acts of a command with its marked assignments in front, and those assignments."""
    shift = len(marked)
    own = tuple(Act(at, reason) for at, (_, reason) in enumerate(marked))
    return (*own, *(replace(act, at=act.at + shift) for act in acts)), tuple(word for word, _ in marked)
