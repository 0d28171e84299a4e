"""The forms of the shell's own commands that only show what is set: other forms of them change what later words mean.

From the Bash manual, 5.2. A form is the words behind the name, a blank between them.
"""

from __future__ import annotations

from hitl_cli.access import Word
from hitl_cli.regex import later

_NAMES = r"(?: [A-Za-z_]\w*)*"
_DECLARE = rf"(?: -[aAfFgiIlnrtux]+)?|(?: -[aAfFgiIlnrtux]*p[aAfFgiIlnprtux]*)+{_NAMES}|(?: -[fF]+)+{_NAMES}"
_ATTRIBUTE = r"(?: -[aAfp]+)*"
SHOWING = {
    name: later(form)
    for name, form in {
        "declare": _DECLARE,
        "typeset": _DECLARE,
        "local": _DECLARE,
        "export": _ATTRIBUTE,
        "readonly": _ATTRIBUTE,
        "alias": r"(?: -p)?(?: [\w.+-]+)*",
        "shopt": r"(?: -[opq]+)*(?: \w+)*",
        "hash": r"(?: -l)?|(?: -l)? -t(?: [\w.+-]+)+",
        "enable": r"(?: -[anps]+)*",
        "bind": r" -[lpPsSvVX]+",
        "complete": r"|(?: -p)+(?: [\w./+-]+)*",
        "compgen": r"(?: -[abcdefgjksuv]+)+(?: [\w./+-]+)?",
        "fc": r" -[nr]*l[nr]*(?: -?\d+){0,2}",
        "history": r"(?: \d+)?",
        "kill": r" -[lL](?: \w+)*",
        "umask": r"(?: -[pS])*",
        "ulimit": r"(?: -[SHabcdefiklmnpqrstuvxPRT]+)*",
        "help": r"(?: -[dms]+)*(?: [\w.\[+-]+)*",
        "caller": r"(?: \d+)?",
    }.items()
}


def shows(words: tuple[Word, ...]) -> bool:
    """Whether a command of the shell, one of those with such forms, has one."""
    if not all(isinstance(word, str) for word in words):
        return False
    return SHOWING[str(words[0])].fullmatch("".join(f" {word}" for word in words[1:])) is not None
