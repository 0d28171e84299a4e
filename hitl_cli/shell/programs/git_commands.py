"""The sub-commands of git that change the repository or run programs, and the table of all.

Sources: the manual page of each (git-commit(1), git-rebase(1), …).
"""

from __future__ import annotations

from hitl_cli.shell.programs.git_config import CONFIG
from hitl_cli.shell.programs.git_exchange import EXCHANGING, hooks
from hitl_cli.shell.programs.git_shows import LOG, SHOWING, whole
from hitl_cli.shell.programs.git_trees import TREES, brings
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
    "merge-file": Row("git-merge-file(1)", "-L =\n-p --stdout", operands="read", wary=True, then=_first_written),
    "interpret-trailers": Row(
        "git-interpret-trailers(1)",
        "--trailer --where --if-exists --if-missing --separator =\n--in-place",
        wary=True,
        then=_trailers,
    ),
    "mailsplit": Row("git-mailsplit(1)", "-o = make"),
    "hash-object": Row("git-hash-object(1)", "-t --path =", operands="read"),
    **rows(
        "git(1), commands that change the repository",
        "rerere gc prune repack pack-refs prune-packed unpack-objects update-index update-ref "
        "symbolic-ref write-tree commit-tree mktree mktag replace commit-graph "
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
    "lfs": Row(
        "git-lfs(1)",
        subs={
            **rows("git-lfs(1)", "install update", act="installs hooks", then=_installs),
            **rows("git-lfs(1)", "pull checkout migrate", "-I --include -X --exclude =", then=brings),
        },
    ),
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
            "replay": Row("git-bisect(1)", operands="read", then=brings),
            **rows("git-bisect(1)", "start bad good new old reset skip", "--term-new --term-old =", then=brings),
            **rows("git-bisect(1)", "log terms help"),
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
    **TREES,
    **_CHANGING,
    **_RUNNING,
    "config": CONFIG,
    "annotate": SHOWING["blame"],
}
