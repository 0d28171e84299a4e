"""The sub-commands of git that change the repository or run programs, and the table of all.

Sources: the manual page of each (git-commit(1), git-rebase(1), …).
"""

from __future__ import annotations

import posixpath

from hitl_cli.access import Unknown
from hitl_cli.shell.programs.git_config import CONFIG
from hitl_cli.shell.programs.git_exchange import EXCHANGING, MERGE, hooks
from hitl_cli.shell.programs.git_shows import DIFF, LOG, SHOWING, output_behind, pathspec, whole
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows


def _init(reading: Reading) -> None:
    for word in reading.operands:
        reading.write(word)
    if not reading.operands:
        reading.fill()
    hooks(reading, next((word for word in reading.operands if isinstance(word, str)), ""))


def _installs(reading: Reading) -> None:
    """git lfs install: hooks here, and filters in the configuration."""
    reading.write(".git/hooks")
    reading.write(f"{reading.place.home}/.gitconfig")


def _passwords(reading: Reading) -> None:
    """Stored passwords are shown, added and removed."""
    reading.write(f"{reading.place.home}/.git-credentials")


def _tree(reading: Reading) -> None:
    """Every file that git keeps may be put back to what it was."""
    reading.only = "tracked"
    reading.write(".")


def _makes(reading: Reading) -> None:
    """Files of the work tree are overwritten."""
    for word in reading.operands:
        path = pathspec(word)
        if path == ".":
            _tree(reading)
        elif path is not None:
            reading.write(path)


def _apply(reading: Reading) -> None:
    """A patch says itself which files it changes, below --directory."""
    reading.reads.extend(word for word in reading.operands if word != "-")
    if not reading.keeps_to("--check", "--stat", "--numstat", "--summary", "--cached") or reading.has("--apply"):
        reading.fill(next((value for _, value in reading.values("--directory")), ""))


def _checkout(reading: Reading) -> None:
    """Only what follows `--` is surely a path."""
    start = reading.words.index("--") if "--" in reading.words else len(reading.words)
    for at, word in reading.placed():
        if word == ".":
            _tree(reading)
        elif at > start:
            reading.write(word)


def _reset(reading: Reading) -> None:
    if reading.has("--hard"):
        _tree(reading)


def _clean(reading: Reading) -> None:
    """What git does not keep is removed, everywhere when no path is given."""
    _removes(reading)
    if not reading.operands and not reading.keeps_to("-n", "--dry-run"):
        reading.write(Unknown("./**", True, "./", True))


_STRATEGIES = frozenset(["ort", "recursive", "resolve", "octopus", "ours", "subtree"])


def strategy(reading: Reading) -> None:
    """A strategy that git does not have is a program `git-merge-NAME`."""
    for at, name in reading.values("-s", "--strategy"):
        if name not in _STRATEGIES:
            reading.act(at, "names a strategy that is no part of git: a program")
    output_behind(reading)


def _removes(reading: Reading) -> None:
    if not reading.keeps_to("--cached", "-n", "--dry-run"):
        reading.removes.extend(reading.operands)


def _moves(reading: Reading) -> None:
    words = reading.operands
    reading.reads.extend(words[:-1])
    reading.removes.extend(words[:-1])
    for word in words[-1:]:
        reading.write(word)


def _worktree(reading: Reading) -> None:
    words = reading.operands
    if words:
        reading.write(words[0])


def _worktree_remove(reading: Reading) -> None:
    reading.removes += [posixpath.join(word, "") if isinstance(word, str) else word for word in reading.operands]


def _first_written(reading: Reading) -> None:
    if reading.operands and not reading.keeps_to("-p", "--stdout"):
        reading.write(reading.operands[0], reading.places[0])


def _trailers(reading: Reading) -> None:
    for given in reading.given:
        if given.name == "--in-place":
            reading.act(given.at, "writes files")
    reading.reads.extend(reading.operands)


_COMMIT = """
    -F --file -t --template --pathspec-from-file = read
    -m --message -C --reuse-message -c --reedit-message --fixup --squash --author --date --cleanup --trailer =
    -S --gpg-sign -u --untracked-files ?
"""
_CHANGING = {
    "commit": Row("git-commit(1)", _COMMIT),
    "add": Row("git-add(1)", "--chmod =\n--pathspec-from-file = read", operands="list"),
    "stage": Row("git-stage(1)", "--chmod =\n--pathspec-from-file = read", operands="list"),
    "stash": Row(
        "git-stash(1)",
        "-m --message =\n--pathspec-from-file = read",
        subs={
            "show": Row("git-stash(1)", DIFF, then=output_behind),
            "list": Row("git-stash(1)", LOG, then=output_behind),
            "push": Row("git-stash(1)", "-m --message =\n--pathspec-from-file = read"),
            **rows("git-stash(1)", "pop apply drop clear branch create store save export import", "-m --message ="),
        },
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
        "git-checkout(1)", "-b -B --orphan --conflict --pathspec-from-file =\n-t --track ?", then=_checkout
    ),
    "switch": Row("git-switch(1)", "-c -C --create --force-create --orphan --conflict =\n-t --track ?"),
    "restore": Row("git-restore(1)", "-s --source --conflict --pathspec-from-file =", then=_makes),
    "reset": Row("git-reset(1)", "--pathspec-from-file = read\n--hard", then=_reset),
    "clean": Row("git-clean(1)", "-e --exclude =\n-n --dry-run", then=_clean),
    "rm": Row("git-rm(1)", "--pathspec-from-file = read\n--cached\n-n --dry-run", then=_removes),
    "mv": Row("git-mv(1)", then=_moves),
    "branch": Row(
        "git-branch(1)",
        """
        --edit-description opens an editor
        --no-list --no-show-current --no-points-at takes back that it shows
        -u --set-upstream-to --sort --points-at --format =
        --contains --no-contains --merged --no-merged --column --color --abbrev -t --track ?
        """,
    ),
    "tag": Row(
        "git-tag(1)",
        """
        -F --file = read
        --no-points-at takes back that it shows
        -m --message -u --local-user --cleanup --sort --points-at --format --trailer =
        --contains --no-contains --merged --no-merged --column --color -n ?
        """,
    ),
    "notes": Row("git-notes(1)", "--ref -m -C -c =\n-F = read"),
    "worktree": Row(
        "git-worktree(1)",
        subs={
            "add": Row("git-worktree(1)", "-b -B --reason =", then=_worktree),
            "remove": Row("git-worktree(1)", then=_worktree_remove),
            "move": Row("git-worktree(1)", then=_moves),
            **rows("git-worktree(1)", "list lock prune repair unlock", "--reason --expire ="),
        },
    ),
    **rows(
        "git-init(1)",
        "init init-db",
        """
        --template = copies hooks from a folder
        --separate-git-dir = make
        -b --initial-branch --object-format --ref-format =
        --shared ?
        """,
        then=_init,
    ),
    "read-tree": Row("git-read-tree(1)", "--index-output = write\n--prefix --exclude-per-directory ="),
    "merge-file": Row("git-merge-file(1)", "-L =\n-p --stdout", operands="read", wary=True, then=_first_written),
    "interpret-trailers": Row(
        "git-interpret-trailers(1)",
        "--trailer --where --if-exists --if-missing --separator =\n--in-place",
        wary=True,
        then=_trailers,
    ),
    "checkout-index": Row("git-checkout-index(1)", "--prefix = make\n--stage ="),
    "mailsplit": Row("git-mailsplit(1)", "-o = make"),
    "hash-object": Row("git-hash-object(1)", "-t --path =", operands="read"),
    **rows(
        "git(1), commands that change the repository",
        "rerere gc prune repack pack-refs prune-packed unpack-objects update-index update-ref "
        "symbolic-ref write-tree commit-tree mktree mktag sparse-checkout replace commit-graph "
        "multi-pack-index history backfill",
        "-m -p -F --expire --max-pack-size --window --window-memory --depth --threads --keep-pack --object-dir =",
    ),
    **rows(
        "git-pack-objects(1), git-index-pack(1)",
        "pack-objects index-pack",
        "-o = make\n--window --window-memory --depth --threads --max-pack-size --keep-pack --filter =",
        operands="make",
    ),
    "mailinfo": Row("git-mailinfo(1)", "--encoding --quoted-cr =", operands="make"),
    "fast-import": Row("git-fast-import(1)", "--export-marks --export-pack-edges = write\n--import-marks = read"),
    "lfs": Row("git-lfs(1)", subs=rows("git-lfs(1)", "install update", act="installs hooks", then=_installs)),
    "fast-export": Row(
        "git-fast-export(1), which takes the options of git-log(1)",
        LOG
        + "--export-marks = write\n--import-marks --import-marks-if-exists = read\n--refspec --reencode --signed-tags =",
        then=whole,
    ),
}

_RUNNING = {
    "bisect": Row(
        "git-bisect(1)",
        subs={
            "run": Row("git-bisect(1)", act="runs a program on each step", stops=1, inner=0),
            **rows("git-bisect(1)", "visualize view", act="starts a viewer"),
            "replay": Row("git-bisect(1)", operands="read"),
            **rows("git-bisect(1)", "start bad good new old log reset skip terms help", "--term-new --term-old ="),
        },
    ),
    **rows(
        "git-difftool(1), git-mergetool(1)",
        "difftool mergetool",
        "-x --extcmd = runs its value\n-t --tool = starts the program it names",
        act="starts a diff or merge tool",
    ),
    "filter-branch": Row("git-filter-branch(1)", act="runs shell commands on each commit"),
    "for-each-repo": Row("git-for-each-repo(1)", act="runs a command in several repositories"),
    "merge-index": Row("git-merge-index(1)", act="runs a program for each file"),
    "hook": Row("git-hook(1)", act="runs a hook"),
    "maintenance": Row("git-maintenance(1)", act="can put itself into the schedule of the system"),
    **rows("git(1), servers", "daemon http-backend instaweb shell upload-pack receive-pack", act="serves a repository"),
    **rows("git(1), windows", "gui citool web--browse", act="starts another program"),
    **rows(
        "git-credential(1)",
        "credential credential-cache credential-store",
        act="handles stored passwords",
        then=_passwords,
    ),
}

COMMANDS: dict[str, Row] = {
    **SHOWING,
    **EXCHANGING,
    **_CHANGING,
    **_RUNNING,
    "config": CONFIG,
    "annotate": SHOWING["blame"],
}
