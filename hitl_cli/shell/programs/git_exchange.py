"""The sub-commands of git that exchange with other repositories.

Sources: git-clone(1), git-fetch(1), git-pull(1), git-push(1), git-submodule(1), git-bundle(1), git-remote-ext(1).
"""

from __future__ import annotations

import posixpath

from hitl_cli.access import Word
from hitl_cli.shell.programs.files import is_remote
from hitl_cli.shell.programs.git_shows import LOG
from hitl_cli.shell.programs.git_trees import MERGE, brings, strategy
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_PACK = "runs its value as a program"
_FETCH = f"""
    --upload-pack = {_PACK}
    --server-option --depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip --filter =
    -o =
    -j --jobs ?
    --recurse-submodules ?
"""


def _remote(reading: Reading) -> None:
    """Addresses of the form `helper::…` run a helper; `ext::` any command (git-remote-ext(1))."""
    for at, word in reading.placed():
        if not isinstance(word, str):
            continue
        if "::" in word:
            reading.act(at, "names a transport helper, which can run any command")
            reading.starts.append(word.partition("::")[2])
        elif "://" in word:
            reading.urls.append(word)
        elif word.startswith(("/", "../", "~")):
            reading.reads.append(word)
        elif is_remote(word):
            reading.urls.append(f"ssh://{word.partition(':')[0]}")


def _pull(reading: Reading) -> None:
    _remote(reading)
    strategy(reading)


def _submodule(reading: Reading) -> None:
    _remote(reading)
    brings(reading)


def _clone(reading: Reading) -> None:
    _remote(reading)
    words = reading.operands
    folder: Word = "."
    if len(words) > 1:
        folder = words[1]
    elif words and isinstance(words[0], str):
        name = words[0].rstrip("/").rpartition("/")[2].rpartition(":")[2]
        folder = name.removesuffix(".git") or "."
    if words:
        reading.write(folder)
        if not reading.has("--bare", "--mirror", "-n", "--no-checkout"):
            reading.brings(folder)
    hooks(reading, folder if isinstance(folder, str) else "")


def hooks(reading: Reading, folder: str) -> None:
    """A template brings hooks, and -c the configuration, of the repository that is made in `folder`."""
    if reading.has("--template"):
        reading.write(posixpath.join(folder, ".git/hooks"))
    if reading.has("-c"):
        reading.write(posixpath.join(folder, ".git/config"))


def _bundle_create(reading: Reading) -> None:
    if reading.operands:
        reading.write(reading.operands[0], reading.places[0])


EXCHANGING = {
    "clone": Row(
        "git-clone(1)",
        _FETCH
        + """
        -u = runs its value as a program
        -c --config = brings configuration, which can name programs
        --template = copies hooks from a folder
        --separate-git-dir = make
        --reference --reference-if-able = read
        -o --origin -b --branch --bundle-uri --ref-format --revision =
        """,
        then=_clone,
    ),
    "fetch": Row("git-fetch(1)", _FETCH, then=_remote),
    "pull": Row("git-pull(1)", MERGE + _FETCH, then=_pull),
    "push": Row(
        "git-push(1)",
        f"""
        --receive-pack --exec = {_PACK}
        --repo -o --push-option =
        --force-with-lease --signed --recurse-submodules ?
        """,
        then=_remote,
    ),
    "ls-remote": Row("git-ls-remote(1)", f"--upload-pack --exec = {_PACK}\n-o --server-option --sort =", then=_remote),
    "remote": Row("git-remote(1)", "-t -m =\n--mirror ?", then=_remote),
    "fetch-pack": Row("git-fetch-pack(1)", f"--upload-pack --exec = {_PACK}", then=_remote),
    "send-pack": Row(
        "git-send-pack(1)",
        f"--receive-pack --exec = {_PACK}",
        act="pushes without the name of push",
        then=_remote,
    ),
    "submodule": Row(
        "git-submodule(1)",
        subs={
            "foreach": Row("git-submodule(1)", act="runs a shell command in each submodule", stops=1, inner=0),
            "add": Row("git-submodule(1)", "-b --branch --name --reference --depth =", then=_submodule),
            **rows("git-submodule(1)", "update deinit", "--reference --depth -j --jobs --filter =", then=brings),
            **rows("git-submodule(1)", "status init summary sync absorbgitdirs set-branch set-url"),
        },
        wary=True,
        then=_remote,
    ),
    "bundle": Row(
        "git-bundle(1)",
        subs={
            "create": Row(
                "git-bundle(1), which takes the options of git-log(1)", LOG + "--version =", then=_bundle_create
            ),
            **rows("git-bundle(1)", "verify list-heads unbundle", operands="read"),
        },
    ),
    "send-email": Row(
        "git-send-email(1)",
        """
        --smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd --batch-size = can run a program
        --to --cc --bcc --from --subject --in-reply-to --reply-to --compose-encoding --identity =
        """,
    ),
}
