"""The sub-commands of git that show: differences, history, contents, and what is looked up.

Sources: the manual page of each (git-log(1), …) and the options common to all that show differences (diff-options)
and history (rev-list-options).
"""

from __future__ import annotations

import re

from hitl_cli.access import Word
from hitl_cli.shell.programs.reading import NAMED, Reading
from hitl_cli.shell.programs.table import Row, rows

DIFF = """
    --output = write
    --ext-diff starts the configured diff program
    --textconv runs configured filters
    -O = read
    -S -G -l --inter-hunk-context --output-indicator-new --output-indicator-old --output-indicator-context =
    --src-prefix --dst-prefix --line-prefix --diff-filter --anchored --diff-algorithm --word-diff-regex =
    --color-moved-ws --ws-error-highlight --find-object -I --ignore-matching-lines --rotate-to --skip-to =
    --stat-width --stat-name-width --stat-count --stat-graph-width =
    -U --unified -M -C -B -X --stat --word-diff --color-words --color --color-moved --submodule --abbrev --find-renames ?
    --find-copies --break-rewrites --relative --dirstat --ignore-submodules --max-depth ?
    -p --patch
"""
LOG = (
    DIFF
    + """
    -n --max-count --skip --since --after --until --before --since-as-filter --author --committer --grep =
    --grep-reflog --glob --exclude --exclude-hidden --date --decorate-refs =
    --decorate-refs-exclude --max-age --min-age --encoding =
    -L =
    --branches --tags --remotes --format --pretty --notes --decorate --diff-merges --show-linear-break --no-walk ?
    --min-parents --max-parents ?
"""
)


def pathspec(word: Word) -> Word | None:
    """The path in a revision or pathspec operand, as far as it can be one."""
    if not isinstance(word, str):
        return word if word.glob else None
    if ":" not in word:
        return word or None
    if word.startswith(":("):
        word = word.partition(")")[2]
    elif word.startswith(":"):
        word = word.lstrip(":/!^")
        word = word[2:] if word[:1] in ("0", "1", "2", "3") and word[1:2] == ":" else word
    else:
        word = word.partition(":")[2]
    return word or None


def output_behind(reading: Reading) -> None:
    """Versions and commands differ in which options take the next word for their value, and git opens the file of
    `--output` before it refuses an option it does not know."""
    for given in reading.given:
        value = given.value
        if isinstance(value, str) and value[:3] == "--o" and reading.words[given.at + 1 :][:1] == (value,):
            name, _, file = value.partition("=")
            if "--output".startswith(name):
                reading.write(file, given.at + 1)


def _shows(reading: Reading) -> None:
    """Contents of the paths among the operands are shown."""
    output_behind(reading)
    if reading.has("--stdin"):
        reading.reads.append(NAMED)
    for word in reading.operands:
        path = pathspec(word)
        if path is not None:
            reading.reads.append(path)


def _history(reading: Reading) -> None:
    """History shows contents only when differences are asked for."""
    output_behind(reading)
    if reading.has("--stdin"):
        reading.reads.append(NAMED)
    for _, value in reading.values("-L"):
        if isinstance(value, str) and ":" in value:
            reading.reads.append(value.rpartition(":")[2])
    shows = reading.has("-p", "-U", "-S", "-G", "-L", "--word-diff") or reading.has("-u", "--cc", "-c", "-m")
    for word in reading.operands:
        path = pathspec(word)
        if path is not None:
            (reading.reads if shows else reading.lists).append(path)


# What is surely a revision: without a path behind it, the whole tree is searched.
_REVISION = re.compile(r"HEAD|main|master|origin/.+|[0-9a-f]{7,40}|[^./]+[~^][0-9~^]*|v\d[\d.]*")


def _grep(reading: Reading) -> None:
    words = reading.operands if reading.has("-e", "-f") else reading.operands[1:]
    reading.reads.extend(path for path in map(pathspec, words) if path is not None)
    if all(isinstance(word, str) and _REVISION.fullmatch(word) for word in words):
        reading.reads.append(".")
    if not reading.has("--no-index", "--untracked"):
        reading.only = "tracked"


def _contents(reading: Reading) -> None:
    """What is asked for may stand in the input."""
    _shows(reading)
    if reading.has("--batch", "--batch-command"):
        reading.reads.append(NAMED)


def whole(reading: Reading) -> None:
    """Without a path all that git keeps is given out."""
    _shows(reading)
    if all(isinstance(word, str) and ":" not in word for word in reading.operands[:1]) and len(reading.operands) < 2:
        reading.only = "tracked"
        reading.reads.append(".")


def _format_patch(reading: Reading) -> None:
    output_behind(reading)
    if not reading.keeps_to("--stdout", "-o", "--output"):
        reading.write("0001.patch")


SHOWING = {
    **rows(
        "git-diff(1)",
        "diff diff-files diff-index diff-tree diff-pairs",
        DIFF,
        then=_shows,
    ),
    "range-diff": Row("git-range-diff(1)", DIFF + "--creation-factor =", then=_shows),
    **rows("git-log(1)", "log whatchanged reflog rev-list last-modified", LOG, then=_history),
    "shortlog": Row(
        "git-shortlog(1)",
        LOG + "-n --numbered\n-c --committer\n-s --summary\n-e --email\n-w ?\n--group =",
        then=_history,
    ),
    "cherry": Row("git-cherry(1)", "--abbrev ?"),
    **rows("git-show(1)", "show", LOG, then=_shows),
    "blame": Row(
        "git-blame(1), which takes the options of git-diff(1)",
        DIFF + "-l\n--contents -S --ignore-revs-file = read\n-L --ignore-rev --date --encoding =\n-M -C --abbrev ?\n",
        then=_shows,
    ),
    "grep": Row(
        "git-grep(1)",
        """
        -O --open-files-in-pager ? starts a pager
        --textconv runs configured filters
        -f = read
        -e -A -B -C --after-context --before-context --context -m --max-count --max-depth --threads =
        --color ?
        """,
        then=_grep,
    ),
    "cat-file": Row(
        "git-cat-file(1)",
        "--textconv runs configured filters\n--filters runs configured filters\n--path =\n--batch --batch-check ?",
        then=_contents,
    ),
    "archive": Row(
        "git-archive(1)",
        """
        -o --output = write
        --exec = runs its value as a program
        --remote = url
        --add-file = read
        --format --prefix --add-virtual-file --mtime =
        """,
        then=whole,
    ),
    "format-patch": Row(
        "git-format-patch(1)",
        LOG
        + """
        -o --output-directory = make
        --signature-file --description-file = read
        -n --numbered
        -v --reroll-count --start-number --suffix --subject-prefix --to --cc --in-reply-to --interdiff --range-diff =
        --signature --creation-factor --filename-max-length --cover-from-description --add-header =
        --from --attach --inline --thread --base ?
        --stdout
        """,
        then=_format_patch,
    ),
    **rows(
        "git(1), commands that look up",
        "status ls-files ls-tree rev-parse describe name-rev show-ref show-branch merge-base check-ignore "
        "check-attr check-ref-format check-mailmap count-objects version var verify-commit verify-tag verify-pack "
        "get-tar-commit-id patch-id stripspace merge-tree request-pull refs repo show-index",
        """
        -X --exclude-from = read
        -x --exclude --exclude-per-directory --format --sort --points-at --match --candidates =
        --count --with-tree --default --prefix --git-path --refs --object-format =
        --untracked-files --ignored --ignore-submodules --column --porcelain --abbrev --short ?
        """,
        operands="list",
    ),
    **rows(
        "git-bugreport(1), git-diagnose(1)",
        "bugreport diagnose",
        "-o --output-directory = make\n-s --suffix =\n--diagnose --mode ?",
        act="packs up what is known of the system and opens an editor",
    ),
    "fsck": Row("git-fsck(1)", "--lost-found writes files below .git"),
    "for-each-ref": Row(
        "git-for-each-ref(1)", "--format --sort --count --points-at --contains --no-contains --merged --no-merged ="
    ),
    "help": Row("git-help(1)", "-w --web opens a browser"),
    "column": Row("git-column(1)", "--command --raw-mode --width --indent --nl --padding ="),
}
