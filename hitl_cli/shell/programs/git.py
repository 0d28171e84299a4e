"""git: what its global options and its sub-commands run, load, write and read.

Global options that change nothing but the looks (and `-C` into the workspace) are taken out of the words, so that
`git -C sub --no-pager log` is covered by `git log:*`. Everything that brings configuration is an act: configuration
can name programs (pagers, editors, hooks, helpers, filters). A sub-command that git does not have is an act as well:
it may be an alias for any program.
"""

from __future__ import annotations

from hitl_cli.access import Place, Word, inside, lexical
from hitl_cli.shell.programs.git_commands import COMMANDS
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, word_set

NEUTRAL = word_set(
    "--no-pager -P --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks "
    "--no-replace-objects --no-lazy-fetch --no-advice"
)

# Configuration that only concerns looks or names (git-config(1)), by key or by section.
_LOOKS = word_set(
    "core.quotepath core.abbrev diff.noprefix diff.mnemonicprefix diff.renames diff.renamelimit diff.algorithm "
    "diff.context diff.colormoved diff.statgraphwidth diff.interhunkcontext log.date log.decorate log.abbrevcommit "
    "log.follow user.name user.email init.defaultbranch gc.auto merge.conflictstyle grep.linenumber "
    "protocol.version"
)
_LOOKS_SECTIONS = ("color.", "column.", "advice.", "status.")
_NOTHING = frozenset(["cat", "true", ":", ""])


def harmless_setting(text: str) -> bool:
    """Whether `key=value` (or `key`, meaning true) cannot make git run or write anything."""
    key, _, value = text.partition("=")
    key = key.lower()
    if key in _LOOKS or key.startswith(_LOOKS_SECTIONS):
        return True
    if key in ("core.pager", "core.editor", "sequence.editor"):
        return "=" in text and value in _NOTHING
    if key.startswith("pager."):
        return value in ("false", "cat")
    return key in ("commit.gpgsign", "tag.gpgsign", "core.fsmonitor") and value == "false"


def _peel(words: tuple[Word, ...], place: Place, cwd: str | None) -> tuple[tuple[Word, ...], str | None]:
    """The words without neutral global options, and the folder that `-C` enters."""
    kept: list[Word] = [words[0]]
    folder: str | None = None
    i = 1
    while i < len(words):
        word = words[i]
        if not isinstance(word, str) or not word.startswith("-") or word == "--":
            break
        following = words[i + 1] if i + 1 < len(words) else None
        if word in NEUTRAL:
            i += 1
        elif word == "-C" and isinstance(following, str) and cwd is not None and not following.startswith("~"):
            entered = lexical(following, lexical(folder, cwd) if folder else cwd)
            if any(inside(entered, root) for root in place.roots):
                folder = following if folder is None or following.startswith("/") else f"{folder}/{following}"
            else:
                kept += [word, following]
            i += 2
        elif word == "-c" and isinstance(following, str) and harmless_setting(following):
            i += 2
        elif word in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env") and following is not None:
            kept += [word, following]
            i += 2
        else:
            kept.append(word)
            i += 1
    if i == 1:
        return words, None
    return (*kept, *words[i:]), folder


def _unknown_command(reading: Reading) -> None:
    """No sub-command of git's own: an alias or an added program, unless there is none at all."""
    if reading.operands:
        reading.act(reading.places[0], "is no command of git itself: an alias or an added program")


PROGRAMS: dict[str, Row] = {
    "git": Row(
        "git(1)",
        """
        -C = folder
        -c --config-env = brings configuration, which can name programs
        --exec-path ? runs git's parts from another folder
        --git-dir = brings the configuration of another repository
        --work-tree = moves the work tree
        --namespace = 
        --super-prefix --attr-source --list-cmds ?
        -p --paginate
        -v --version
        -h --help
        --html-path
        --man-path
        --info-path
        --bare takes the folder for a repository
        """,
        subs=COMMANDS,
        stops=1,
        wary=True,
        abbreviates=False,
        then=_unknown_command,
        peel=_peel,
    ),
    "gitk": Row("gitk(1)"),
    "tig": Row("tig(1)"),
}
