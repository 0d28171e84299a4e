"""What is never written into a rule on offer: secrets, names of one moment, and inline code.

Judged by the words alone and strictly: a rule that is not offered costs one more question, one that keeps a password or
stands for code that nobody read costs more.

secrets      tokens by their shape; what an option, a variable, a header or a setting with a telling name is given
passing      scratch paths, ids of commits, containers and processes
inline code  what an interpreter is handed as a word (`-c`, also bundled, glued or cut short) or on its input, wherever in
             the command the interpreter stands; a text that a word of the command runs (an `Act`)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitl_cli.access import Command, Place
from hitl_cli.permissions import kinds
from hitl_cli.regex import later
from hitl_cli.shell.programs import study

# How interpreters are handed code: letters that take it, also in a bundle, and letters whose glued value ends a bundle.
_CODE = {
    **dict.fromkeys(("python", "pypy", "ipython"), ("c", "WXmQ")),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "ts-node"), ("ep", "rC")),
    "ruby": ("e", "IrEKFCxWT"),
    "perl": ("eE", "IMmFixCDV"),
    "php": ("rBRE", "dcfzStH"),
    "julia": ("eE", "LJpHtC"),
    **dict.fromkeys(("lua", "luajit"), ("e", "l")),
    **dict.fromkeys(
        ("deno", "java", "swift", "erl", "ghc", "runghc", "jupyter", "tclsh", "redis-cli", "sqlite"), ("", "")
    ),
}
_ANY_CODE = ("e", "")
_CODE_LONG = ("--eval", "--print", "--execute", "--exec", "--command", "--expression")
_CODE_WORDS = kinds.names("eval -eval -e")
_CODE_MODULES = kinds.names("timeit code pdb asyncio IPython")
# Consoles: what they are started for comes from their input, or is inline.
_CONSOLES = kinds.names("ed ex vi vim nvim emacs psql mysql mongo mongosh gdb lldb irb jshell bc dc m4")
_FILTERS = kinds.names("awk gawk mawk nawk sed gsed perl ruby")
# Short options that are followed by a secret.
_SECRET_LETTERS = {
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mariadb", "mongosh", "mongo", "mongodump", "sshpass"), "p"),
    **dict.fromkeys(("rar", "7z", "7za"), "p"),
    **dict.fromkeys(("zip", "unzip"), "P"),
    "redis-cli": "a",
    "ldapsearch": "w",
    "htpasswd": "b",
    "curl": "bE",
    "openssl": "kK",
    "sqlcmd": "P",
}

_PASSING = later(
    r"(?:^|[=:'\"])(?:/private)?(?:/tmp/|/var/tmp/|/var/folders/|/dev/shm/|/run/user/)"  # scratch paths
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-"  # a UUID
    r"|\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"  # a commit, a container
    r"|\b\d{5,}\b"  # a process, a run
)
_TOKEN = later(
    r"(?:^|[^A-Za-z0-9])(?:sk-|[srp]k_(?:live|test)_|gh[pousr]_|github_pat_|gl[a-z]+-|xox[a-z]-|A[KS]IA|AIza|ya29\.|npm_|"
    r"pypi-|hf_|dop_v1_|shp[a-z]{2}_|whsec_|SG\.|eyJ|AGE-SECRET-KEY-)[A-Za-z0-9_.-]{8,}"
    r"|-----BEGIN |\b(?i:bearer|basic)\s+\S|[?&](?:key|sig|sid|code)=[^&\s]{6,}"
    r"|(?:^|[^A-Za-z0-9])(?=[A-Za-z0-9]*[0-9])(?=[A-Za-z0-9]*[a-z])(?=[A-Za-z0-9]*[A-Z])[A-Za-z0-9]{20,}(?![A-Za-z0-9])"
)
_IN_ADDRESS = later(r"//[^/\s:@]*:[^/\s@]*@|https?://[^/\s@]+@")  # a password, or a token as the user
# `NAME=x`, `Name: x`, `"name":"x"`
_GIVEN = later(r"""(?<![\w.-])([A-Za-z_][\w.-]*)(?:["']\s*[:=]|\s*=(?!=)|:\s)(?=\s*["']?[^\s=])""")

_TELLING = kinds.names(
    "password passwd passphrase pass pwd secret token credential credentials auth authorization bearer cookie signature "
    "apikey accesskey authtoken pgpassword accesstoken"
)
_KEYS = kinds.names("api access private secret auth account encryption signing")
_TAILS = kinds.names("string value data text hash base set")
_SETS = kinds.names("set put add create login config:set secrets:set")
_USER = frozenset(["-u", "-U", "--user", "--userpwd", "--proxy-user", "-a", "--auth"])
# `user:password`, not the numbers of a user and a group
_USER_AND = later(r"(?:-[uUa]|--(?:user|userpwd|proxy-user|auth)=)?(?!\d+:\d+\Z)[^\s:/=@-][^\s:/=]*[:%,][^\s/].*")


def unkept(command: Command, words: Sequence[str], place: Place) -> bool:
    """True when these, the words of `command`, must not be kept as they are."""
    return any("\n" in w or passing(w) for w in words) or secret(words) or _runs(command, words) or inline(words, place)


def passing(word: str) -> bool:
    """True for what will not come again, or is a secret as it stands."""
    if _PASSING.search(word) or _TOKEN.search(word) or _IN_ADDRESS.search(word):
        return True
    return any(_telling(name) for name in _GIVEN.findall(word))


def _telling(name: str) -> bool:
    """True when the name says that what it stands for is a secret: `DB_PASSWORD`, `X-Api-Key`, `_authToken`."""
    parts = [p.lower() for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    while parts and parts[-1] in _TAILS:
        parts.pop()
    if not parts:
        return False
    return parts[-1] in _TELLING or (parts[-1] == "key" and not _KEYS.isdisjoint(parts[-2:-1]))


def secret(words: Sequence[str]) -> bool:
    """True when a word is a secret because of the word in front of it."""
    letters = _SECRET_LETTERS.get(kinds.plain(words[0]), "") + ("p" if "login" in words[1:3] else "")
    setting = not _SETS.isdisjoint(words)
    for n, word in enumerate(words[1:], 1):
        option = word[:1] == "-"
        following = words[n + 1] if n + 1 < len(words) else ""
        given = following if following[:1] != "-" else ""
        if option and word[1:2] and word[1] in letters and (word[2:] or given):
            return True
        if _USER_AND.fullmatch(given if word in _USER else word if option else ""):
            return True
        name, _, value = word.partition("=")
        if (option or setting) and (value or given) and _telling(name):
            return True
    return False


# More than one word, or a call: `cd x && make`, `system("x")`.
_CODE_LIKE = later(r"[\s;|&<>`]|\$\(|\w\(")
_MODULE = later(r"-[bBdEhiIOPqRsSuvVx?]*m(.*)")  # of python, also in a bundle
_INPUT = later(r"-|/dev/(?:stdin|fd/0)|/proc/self/fd/0")
_SHOWS = frozenset(("--version", "-version", "-V", "-v", "--help", "-h", "--test", "--run"))


def _runs(command: Command, words: Sequence[str]) -> bool:
    """True when a word that does more than the program's business is, or is followed by, a text that looks like code."""
    if kinds.plain(words[0]) in _FILTERS:
        return any(not act.does.startswith("writes") for act in command.acts)
    for act in command.acts:
        end = act.at + 2 if words[act.at][:1] == "-" else None
        if act.does != "writes a file" and any(_CODE_LIKE.search(w) for w in words[act.at : end]):
            return True
    return False


def inline(words: Sequence[str], place: Place) -> bool:
    """True when the words hand code to an interpreter, or start one that reads it from its input."""
    launched = kinds.launches(words)
    if launched and any(_CODE_LIKE.search(w) for w in words[1:]):
        return True
    for n, word in enumerate(words):
        name = kinds.plain(word)
        if n and name in kinds.SHELLS and (launched or any(re.fullmatch(r"-[a-zA-Z]*c.*", w) for w in words[n + 1 :])):
            return True
        if (name in kinds.INTERPRETERS or name in _CODE) and _handed(name, words[n:], place, not n or launched):
            return True
    return False


def _handed(name: str, words: Sequence[str], place: Place, fed: bool) -> bool:
    """True when an interpreter is given code; `fed`: or nothing but its input."""
    if len(words) == 2 and words[1] in _SHOWS:
        return False
    letters, valued = _CODE.get(name, _ANY_CODE)
    bundle = re.compile(rf"-[^-{valued}]*[{letters}].*" if letters else r"(?!)", re.DOTALL)
    script, module = _script(name, words, place)
    for n, word in enumerate(words[1:], 1):
        long = word.partition("=")[0]
        if word[:2] == "--":
            hands = len(long) > 3 and any(code.startswith(long) for code in _CODE_LONG)
        else:
            hands = word in _CODE_WORDS or bundle.fullmatch(word) is not None
        if hands and (n <= script or any(_CODE_LIKE.search(w) for w in words[n : n + 2])):
            return True
    if module in _CODE_MODULES or any(_INPUT.fullmatch(w) for w in words[1:]):
        return True
    if name == "sqlite":
        return len(words) - script < 2 or any(_CODE_LIKE.search(w) for w in words[1:])
    return fed and (name in _CONSOLES or script == len(words))


def _script(name: str, words: Sequence[str], place: Place) -> tuple[int, str]:
    """Where the script or the module that an interpreter runs stands (behind all words: nowhere), and the module."""
    found = study(tuple(words), place, place.cwd)
    script = found.places[0] if found.places else len(words)
    if name in ("python", "pypy"):
        for n, word in enumerate(words[1:script], 1):
            if module := _MODULE.fullmatch(word):
                return n, module[1] or "".join(words[n + 1 : n + 2])
    return script, ""
