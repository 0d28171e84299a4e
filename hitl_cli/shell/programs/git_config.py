"""git config: reading is showing; writing is an act unless the key only concerns looks or names."""

from __future__ import annotations

from hitl_cli.access import Unknown
from hitl_cli.shell.programs.git_shows import pathspec
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row

_READS = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "-l", "--list")
_WRITES = ("--add", "--replace-all", "--unset", "--unset-all", "--rename-section", "--remove-section", "-e")
CHANGES = "changes configuration, which can name programs"


def _config(reading: Reading) -> None:
    """The old spelling by options and the new one by words (`get`, `set`, `unset`, `list`, `edit`)."""
    from hitl_cli.shell.programs.git import harmless_setting

    reading.reads += [path for _, value in reading.values("--blob") if (path := pathspec(value)) is not None]
    words, places = reading.operands, reading.places
    verb = words[0] if words else ""
    shows = reading.has(*_READS) and not any(given.name.startswith("--no-") for given in reading.given)
    if verb in ("get", "list") or shows:
        reading.reads += [value for _, value in reading.values("-f")]
        return
    if verb in ("set", "unset", "rename-section", "remove-section", "edit"):
        words, places = words[1:], places[1:]
        writing = True
    else:
        several = any(isinstance(word, Unknown) and not word.single for word in words)
        writing = len(words) > 1 or several or reading.has(*_WRITES)
    if not writing:
        return
    at = places[0] if places else next((g.at for g in reading.given if g.name in _WRITES), len(reading.words) - 1)
    named = [value for _, value in reading.values("-f")]
    for value in named:
        reading.write(value)
        reading.act(at, CHANGES)
    if len(words) == 2 and isinstance(words[0], str) and isinstance(words[1], str):
        if harmless_setting(f"{words[0]}={words[1]}"):
            return
    elif len(words) == 1 and isinstance(words[0], str) and harmless_setting(words[0]):
        return
    reading.act(at, CHANGES)
    if not named:
        reading.write(_file(reading))


def _file(reading: Reading) -> str:
    """Where a setting is written when no file is named."""
    if reading.has("--system"):
        return "/etc/gitconfig"
    return f"{reading.place.home}/.gitconfig" if reading.has("--global") else ".git/config"


CONFIG = Row(
    "git-config(1)",
    """
    -f --file =
    --blob =
    -t --type --default --value --comment --url =
    -e --edit opens an editor
    --global --system --local --worktree
    --no-get --no-get-all --no-get-regexp --no-get-urlmatch --no-list takes back that it shows
    --no-get-color --no-get-colorbool takes back that it shows
    """,
    wary=True,
    then=_config,
)
