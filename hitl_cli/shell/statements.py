"""Statements walked: which of their commands may run, from which folders, what their redirections open, and where the
shell may be afterwards.

Each answers with the folders after it succeeded and after it failed, in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hitl_cli.access import ReadPath, Unknown, WritePath
from hitl_cli.shell import variables, words
from hitl_cli.shell.operands import After, Folders, either, paths
from hitl_cli.shell.tree import Raw, Redirect, Statement, Unreadable

if TYPE_CHECKING:
    from hitl_cli.shell.reader import Walk


# Programs that hand on what they are fed.
_HAND_ON = frozenset(("cat", "xargs", "read", "mapfile", "readarray"))


def redirections(walk: Walk, made: Statement, folders: Folders) -> None:
    for redirect in made.redirs:
        _redirection(walk, redirect, folders, made)


def _redirection(walk: Walk, redirect: Redirect, folders: Folders, made: Statement) -> None:
    op, target, text = redirect.op, redirect.target, made.text
    if redirect.body is not None:
        walk.nested(redirect.body.nested, folders)
        if made.kind != "simple" or (len(made.redirs) == 1 and "".join(map(str, made.words[:1])) in _HAND_ON):
            walk.possible.prints([part.text for part in redirect.body.parts])
        return
    if isinstance(target, Raw):
        found = words.cook(target, walk.values(folders), assigned=op == "<<<")
        if len(found) != 1:
            raise Unreadable("a redirection has more than one target")
        word = found[0]
    else:
        word = target
    if op in (">&", "<&") and isinstance(word, str) and (word == "-" or word.rstrip("-").isdigit()):
        return
    if op == "<&":
        raise Unreadable("which descriptor is copied is known only when it runs")
    if op == "<<<":
        walk.possible.prints((word,))
    else:
        if op != "<":
            walk.out.extend(WritePath(path, text, glob=glob) for path, glob in paths(walk, word, folders))
        if op in ("<", "<>"):
            walk.out.extend(ReadPath(path, text, glob=glob) for path, glob in paths(walk, word, folders))
    if isinstance(target, Raw):
        walk.nested(target.nested, folders)


def sequence(walk: Walk, made: Statement, folders: Folders) -> After:
    ok = ko = folders
    before = ";"
    for kid in made.kids:
        start = ok if before == "&&" or ok is ko else ko if before == "||" else either(ok, ko)
        good, bad = walk.walk(kid, start)
        if kid.op == "&":
            good = bad = start
        if before == "&&":
            ok, ko = good, either(ko, bad)
        elif before == "||":
            ok, ko = either(ok, good), bad
        else:
            ok, ko = good, bad
        before = kid.op
    return ok, ko


def _pipeline(walk: Walk, made: Statement, folders: Folders) -> After:
    before, walk.piped = walk.piped, made
    for n, kid in enumerate(made.kids):
        walk.walk(kid, folders, fed=n > 0)
    walk.piped = before
    return folders, folders


def _negated(walk: Walk, made: Statement, folders: Folders) -> After:
    ok, ko = walk.walk(made.kids[0], folders)
    return ko, ok


def _timed(walk: Walk, made: Statement, folders: Folders) -> After:
    return walk.walk(made.kids[0], folders, tuple(w for w in made.words if isinstance(w, str)))


def _group(walk: Walk, made: Statement, folders: Folders) -> After:
    return walk.walk(made.kids[0], folders)


def _subshell(walk: Walk, made: Statement, folders: Folders) -> After:
    walk.walk(made.kids[0], folders)
    return folders, folders


def _condition(walk: Walk, made: Statement, folders: Folders) -> After:
    after: Folders = ()
    start, kids = folders, list(made.kids)
    while len(kids) > 1:
        ok, ko = walk.walk(kids.pop(0), start)
        after = either(after, either(*walk.walk(kids.pop(0), ok)))
        start = ko
    after = either(after, either(*walk.walk(kids[0], start)) if kids else start)
    return after, after


def _loop(walk: Walk, made: Statement, folders: Folders) -> After:
    return _again(walk, lambda start: _once(walk, made.kids, start), folders)


def _once(walk: Walk, kids: Sequence[Statement], start: Folders) -> Folders:
    """Condition and body of a while or until loop."""
    after = either(*walk.walk(kids[0], start))
    return either(after, either(*walk.walk(kids[1], after)))


def _again(walk: Walk, body: Callable[[Folders], Folders], folders: Folders) -> After:
    """A body that may run many times: read again as from anywhere when it moves the folder."""
    mark, kids = len(walk.out), len(walk.node.kids)
    after = either(folders, body(folders))
    if set(after) - set(folders):
        del walk.out[mark:]
        del walk.node.kids[kids:]
        after = either((None,), body((None,)))
    return after, after


def _loop_over(walk: Walk, made: Statement, folders: Folders) -> After:
    judge = variables.reaches if walk.exporting else variables.stays
    if made.name and (reason := judge(made.name, Unknown(""))):
        walk.opaque(f"its loop {reason}", made.text)
    walk.nested_in(made.words, folders)
    walk.possible.give(made.name, walk.cooked(made.words, folders))
    return _again(walk, lambda start: either(*walk.walk(made.kids[0], start)), folders)


def _case(walk: Walk, made: Statement, folders: Folders) -> After:
    walk.nested_in(made.words, folders)
    after = folders
    for kid in made.kids:  # with `;&` one branch goes on into the next
        after = either(after, either(*walk.walk(kid, after)))
    return after, after


def _words_only(walk: Walk, made: Statement, folders: Folders) -> After:
    walk.nested_in(made.words, folders)
    return folders, folders


def _function(walk: Walk, made: Statement, folders: Folders) -> After:
    walk.opaque("a function is defined, which changes what its name means", made.text, (made.name,))
    walk.walk(made.kids[0], (None,))
    return folders, folders


STATEMENTS: dict[str, Callable[[Walk, Statement, Folders], After]] = {
    "pipeline": _pipeline,
    "not": _negated,
    "timed": _timed,
    "group": _group,
    "subshell": _subshell,
    "if": _condition,
    "loop": _loop,
    "for": _loop_over,
    "case": _case,
    "arithmetic": _words_only,
    "test": _words_only,
    "function": _function,
}
