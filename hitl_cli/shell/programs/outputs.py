"""Commands in a substitution whose output is known well enough: one word that cannot be taken for an option.

Numbers, object names, branch names (git-check-ref-format(1): none begins with a dash), dates and absolute paths. The
command in the substitution is judged by itself as every other; this only says what its output can be.
"""

from __future__ import annotations

from hitl_cli.access import Unknown
from hitl_cli.regex import later

_NAME = r"[A-Za-z][\w./@~^-]*"
_COMMANDS = "|".join(
    (
        r"nproc(?: --all)?",
        rf"git merge-base {_NAME} {_NAME}",
        rf"git rev-parse(?: --short(?:=\d+)?| --abbrev-ref| --verify)? {_NAME}",
        r"git branch --show-current",
        r"git rev-parse --show-toplevel",
        r"pwd",
        r"date \+(?:%[YmdHMSsFTjV][-_.:]?)+",
        r"id -[ug]",
        r"uname -[smr]",
    )
)
_PLAIN = later(rf'"?[\w./:=,@+-]*(?:\$\((?:{_COMMANDS})\)|`(?:{_COMMANDS})`)[\w./:~^@{{}}-]*"?')


def is_one_plain_word(word: Unknown) -> bool:
    """True when the word, however it turns out, is one word and its first character is that of its prefix or no dash."""
    return not word.glob and _PLAIN.fullmatch(word.text) is not None
