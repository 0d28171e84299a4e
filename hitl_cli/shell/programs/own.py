"""hitl itself: a session must not give itself rules, trust a repository or answer its own questions.

Sub-commands that only show are like any other program. Every other one, and every one that is not known, starts an
agent or writes hitl's own rules, settings and sessions: that is stated as a write of those folders.
"""

from __future__ import annotations

from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import rows, word_set

_SHOWS = word_set("pending show log doctor help --version --help -h --show-completion")
_SHOWS_OF = {
    "rules": word_set("check explain suggest list lint"),
    "sessions": word_set("list export"),
    "config": word_set("path show"),
}
_HELP = ("--help", "-h")


def _own(reading: Reading) -> None:
    start = reading.inner or 0
    words = [word if isinstance(word, str) else "" for word in reading.words[start:]]
    if not _shows(words) and not (_may_show(words) and not reading.has("--on", "--off", "--write")):
        reading.act(start + min(len(words) - 1, 1), "changes what hitl itself allows or keeps")
        for folder in reading.place.protected[:1]:
            reading.write(folder)


def _shows(words: list[str]) -> bool:
    """`words`: as far as they are known, others are empty."""
    first, second = (*words[1:3], "", "")[:2]
    if first in _SHOWS or second in _SHOWS_OF.get(first, ()):
        return True
    return words[-1] in _HELP and all(map(str.isalpha, words[1:-1]))


def _may_show(words: list[str]) -> bool:
    """Sub-commands that only an option makes write."""
    return words[1:2] == ["rules"] and words[2:3] in (["packs"], ["import"]) and all(words)


PROGRAMS = rows(
    "hitl --help",
    "hitl hitl_cli",
    """
    --store = make
    --to = make
    --batch = read
    --on --off --write
    """,
    abbreviates=False,
    wary=True,
    then=_own,
)
