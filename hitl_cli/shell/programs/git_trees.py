"""The sub-commands of git that change files of the work tree: by a patch, or to what a commit, a branch or a stash holds.

Which files those are only the repository knows: they are stated as unnamed, from the top of the work tree on.

Sources: the manual page of each (git-checkout(1), git-merge(1), …).
"""

from __future__ import annotations

import posixpath

from hitl_cli.access import Unknown, inside, lexical
from hitl_cli.shell.programs.git_shows import DIFF, LOG, output_behind, pathspec
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

MERGE = """
    -s --strategy -X --strategy-option -m --message --into-name --cleanup --trailer =
    -F --file = read
    -S --gpg-sign --log --rebase --autostash ?
"""
_STRATEGIES = frozenset(["ort", "recursive", "resolve", "octopus", "ours", "subtree"])


def brings(reading: Reading) -> None:
    """Any file of the work tree may be written, made or taken away."""
    at = lexical(reading.folder or ".", reading.cwd or "/")
    known = reading.cwd is not None
    reading.brings(next((root for root in reading.place.roots if known and inside(at, root)), ""))


def strategy(reading: Reading) -> None:
    """A strategy that git does not have is a program `git-merge-NAME`."""
    for at, name in reading.values("-s", "--strategy"):
        if name not in _STRATEGIES:
            reading.act(at, "names a strategy that is no part of git: a program")
    output_behind(reading)
    brings(reading)


def _tree(reading: Reading) -> None:
    """Every file that git keeps may be put back to what it was."""
    reading.only = "tracked"
    reading.write(".")


def _restore(reading: Reading) -> None:
    """Files of the work tree are overwritten."""
    for word in reading.operands:
        path = pathspec(word)
        if path == ".":
            _tree(reading)
        elif path is not None:
            reading.write(path)
        if path is not None and reading.has("-s"):
            reading.brings(path)


def _apply(reading: Reading) -> None:
    """A patch says itself which files it changes, below --directory."""
    reading.reads.extend(word for word in reading.operands if word != "-")
    if not reading.keeps_to("--check", "--stat", "--numstat", "--summary", "--cached") or reading.has("--apply"):
        reading.fill(next((value for _, value in reading.values("--directory")), ""))
        brings(reading)


def _checkout(reading: Reading) -> None:
    """Only what follows `--` is surely a path, and everything may change where none does."""
    start = reading.words.index("--") if "--" in reading.words else len(reading.words)
    paths = [word for at, word in reading.placed() if at > start or word == "."]
    for word in paths:
        if word == ".":
            _tree(reading)
        else:
            reading.write(word)
    if len(paths) < len(reading.operands) or reading.has("-f"):  # they get what another commit has there
        for word in paths:
            reading.brings(word)
        if not paths:
            brings(reading)


def _switch(reading: Reading) -> None:
    if reading.operands or reading.has("--orphan", "-f"):
        brings(reading)


def _reset(reading: Reading) -> None:
    if reading.has("--hard"):
        _tree(reading)
    if reading.has("--hard", "--merge", "--keep") and reading.operands not in ([], ["HEAD"]):
        brings(reading)


def _read_tree(reading: Reading) -> None:
    if reading.has("-u"):
        brings(reading)


def _checkout_index(reading: Reading) -> None:
    prefix = next((value for _, value in reading.values("--prefix")), "")
    for word in reading.operands:
        reading.write(posixpath.join(prefix, word) if isinstance(prefix, str) and isinstance(word, str) else word)
    if not reading.operands:
        reading.brings(prefix)


def _clean(reading: Reading) -> None:
    """What git does not keep is removed, everywhere when no path is given."""
    _removes(reading)
    if not reading.operands and not reading.keeps_to("-n", "--dry-run"):
        reading.write(Unknown("./**", True, "./", True))


def _removes(reading: Reading) -> None:
    if not reading.keeps_to("--cached", "-n", "--dry-run"):
        reading.removes.extend(reading.operands)


def _moves(reading: Reading) -> None:
    words = reading.operands
    reading.reads.extend(words[:-1])
    reading.removes.extend(words[:-1])
    for word in words[-1:]:
        reading.write(word)
        for source in words[:-1]:
            reading.brings(word, source)


def _worktree(reading: Reading) -> None:
    for word in reading.operands[:1]:
        reading.write(word)
        reading.brings(word)


def _worktree_remove(reading: Reading) -> None:
    reading.removes += [posixpath.join(word, "") if isinstance(word, str) else word for word in reading.operands]


_STASH = "-m --message =\n--pathspec-from-file = read"
TREES = {
    "stash": Row(
        "git-stash(1)",
        _STASH,
        subs={
            "show": Row("git-stash(1)", DIFF, then=output_behind),
            "list": Row("git-stash(1)", LOG, then=output_behind),
            "push": Row("git-stash(1)", _STASH, then=brings),
            **rows("git-stash(1)", "pop apply branch save", "-m --message =", then=brings),
            **rows("git-stash(1)", "drop clear create store export import", "-m --message ="),
        },
        then=brings,
    ),
    "merge": Row("git-merge(1)", MERGE, wary=True, then=strategy),
    **rows(
        "git-cherry-pick(1), git-revert(1), which take the options of git-diff(1)",
        "cherry-pick revert replay",
        DIFF + "--strategy -X --strategy-option -m --mainline --cleanup --empty --onto --advance =\n-S --gpg-sign ?",
        then=strategy,
    ),
    "rebase": Row(
        "git-rebase(1)",
        """
        -x --exec = runs a shell command after each commit
        --onto -s --strategy -X --strategy-option --empty -C --whitespace =
        -S --gpg-sign --rebase-merges --autostash ?
        """,
        then=strategy,
    ),
    "am": Row("git-am(1)", "-p -C --exclude --include --whitespace --patch-format =\n--directory =", then=_apply),
    "apply": Row(
        "git-apply(1)",
        """
        --unsafe-paths writes outside the work tree
        -p -C --exclude --include --whitespace =
        --directory =
        --build-fake-ancestor = write
        --check --stat --numstat --summary --apply --cached
        """,
        then=_apply,
    ),
    "checkout": Row(
        "git-checkout(1)", "-b -B --orphan --conflict --pathspec-from-file =\n-t --track ?\n-f --force", then=_checkout
    ),
    "switch": Row(
        "git-switch(1)",
        "-c -C --create --force-create --conflict =\n--orphan =\n-t --track ?\n-f --force --discard-changes",
        then=_switch,
    ),
    "restore": Row("git-restore(1)", "-s --source --conflict --pathspec-from-file =", then=_restore),
    "reset": Row("git-reset(1)", "--pathspec-from-file = read\n--hard --merge --keep", then=_reset),
    "clean": Row("git-clean(1)", "-e --exclude =\n-n --dry-run", then=_clean),
    "rm": Row("git-rm(1)", "--pathspec-from-file = read\n--cached\n-n --dry-run", then=_removes),
    "mv": Row("git-mv(1)", then=_moves),
    "worktree": Row(
        "git-worktree(1)",
        subs={
            "add": Row("git-worktree(1)", "-b -B --reason =", then=_worktree),
            "remove": Row("git-worktree(1)", then=_worktree_remove),
            "move": Row("git-worktree(1)", then=_moves),
            **rows("git-worktree(1)", "list lock prune repair unlock", "--reason --expire ="),
        },
    ),
    "read-tree": Row(
        "git-read-tree(1)", "--index-output = write\n--prefix --exclude-per-directory =\n-u -m", then=_read_tree
    ),
    "checkout-index": Row("git-checkout-index(1)", "--prefix = make\n--stage =", then=_checkout_index),
    "sparse-checkout": Row(
        "git-sparse-checkout(1)", subs=rows("git-sparse-checkout(1)", "init set add reapply disable", then=brings)
    ),
}
