"""git config: reading is showing; writing is an act unless the key only concerns looks or names."""

from __future__ import annotations

from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row

_READS = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "-l", "--list")
_WRITES = ("--add", "--replace-all", "--unset", "--unset-all", "--rename-section", "--remove-section")
CHANGES = "changes configuration, which can name programs"


def _config(reading: Reading) -> None:
    """The old spelling by options and the new one by words (`get`, `set`, `unset`, `list`, `edit`)."""
    from hitl_cli.shell.programs.git import harmless_setting

    words, places = reading.operands, reading.places
    verb = words[0] if words else ""
    if verb in ("get", "list") or reading.has(*_READS):
        for _, value in reading.values("-f"):
            reading.reads.append(value)
        return
    if verb in ("set", "unset", "rename-section", "remove-section", "edit"):
        words, places = words[1:], places[1:]
        writing = True
    else:
        writing = len(words) > 1 or reading.has(*_WRITES)
    if not writing:
        return
    at = places[0] if places else len(reading.words) - 1
    for _, value in reading.values("-f"):
        reading.write(value)
        reading.act(at, CHANGES)
    if len(words) == 2 and isinstance(words[0], str) and isinstance(words[1], str):
        if harmless_setting(f"{words[0]}={words[1]}"):
            return
    elif len(words) == 1 and isinstance(words[0], str) and harmless_setting(words[0]):
        return
    reading.act(at, CHANGES)


CONFIG = Row(
    "git-config(1)",
    """
    -f --file --blob =
    -t --type --default --value --comment --url =
    -e --edit opens an editor
    --no-get --no-get-all --no-get-regexp --no-get-urlmatch --no-list takes back that it shows
    --no-get-color --no-get-colorbool takes back that it shows
    """,
    wary=True,
    then=_config,
)
