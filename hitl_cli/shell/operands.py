"""Operands as absolute paths, patterns of paths, and hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from hitl_cli.access import Host, Unnamed, Word, lexical
from hitl_cli.regex import later
from hitl_cli.shell import words

if TYPE_CHECKING:
    from hitl_cli.shell.reader import Walk

ELSEWHERE = "/*/**", True  # of what may lie anywhere; of what nothing at all is known it is `/**`
_WILD = later(r"[*?\[]")
_FREE_FILES = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"))
_NO_DOT = ("[!.", "[^.")  # what `.` and `..` do not go on with
FOLDERS = 4  # that the shell may be in before it counts as unknown

Folders = tuple[str | None, ...]  # where the shell may be; None: anywhere
After = tuple[Folders, Folders]  # where it may be after a command that succeeded, and after one that failed


def either(one: Folders, other: Folders) -> Folders:
    if one == other:
        return one
    both = tuple(dict.fromkeys((*one, *other)))
    return both if len(both) <= FOLDERS and None not in both else (None,)


def one(folders: Folders) -> str | None:
    return folders[0] if len(folders) == 1 else None


def paths(walk: Walk, word: Word, folders: Folders) -> Iterable[tuple[str, bool]]:
    """The files that an operand names, and whether that is a pattern; none where it is no file of the disk."""
    if isinstance(word, str):
        if word[:1] == "/":
            return () if word[:5] == "/dev/" and _device(walk, word) else ((word, False),)
    else:
        if word.text[:2] in ("<(", ">("):
            return ()
        if word.text[:1] == "~" and not word.prefix:  # in the home folder of somebody: none of the workspace
            return (("/**", True), ("/" + word.text, False))
        if not word.glob:
            every = (word, *walk.possible.of(word, walk.values(folders), walk.assigned))
            return dict.fromkeys([_path(each, folder) for each in every for folder in folders])
    if len(folders) == 1:
        return (_path(word, folders[0]),)
    return dict.fromkeys([_path(word, folder) for folder in folders])


def _device(walk: Walk, word: str) -> bool:
    """True for a device that anybody may use, and for what bash takes for a connection: that is opaque."""
    if word.startswith(("/dev/tcp/", "/dev/udp/")):
        walk.opaque("it opens a connection to the network", word)
        return True
    return word in _FREE_FILES or (word.startswith("/dev/fd/") and word[8:].isdigit())


def _path(word: Word, folder: str | None) -> tuple[str, bool]:
    """The absolute path of an operand, or the pattern of what it may be."""
    if isinstance(word, str):
        if word[:1] == "/":
            return word, False
        if folder is None:
            return "/**", True
        return (folder + word if folder[-1] == "/" else f"{folder}/{word}"), False
    if not word.glob:
        return "/**", True
    pattern = words.pattern(word)
    if folder is None and not pattern.startswith("/"):
        return "/**", True
    found = _WILD.search(pattern)
    fixed = pattern if found is None else pattern[: found.start()]
    head, _, stem = fixed.rpartition("/")
    rest = pattern[len(fixed) :]
    if ".." in rest:
        return ELSEWHERE
    base = lexical((head or "/") if fixed.startswith("/") else head, folder or "/")
    if stem in (".", "..") and not (stem == "." and rest[:3] in _NO_DOT):
        if rest not in ("**", "*/**"):
            return "/**", True
        base, stem = lexical(stem, base), ""
    path = base.rstrip("/") + "/" + stem + rest
    return (path, True) if path != "/**" else ELSEWHERE


def unnamed(
    walk: Walk, brought: Iterable[tuple[Word, Word]], folders: Folders, text: str, index: int
) -> Iterator[Unnamed]:
    """What is written below folders, each given with the one that has the same names."""
    for word, source in brought:
        like = next((path for path, _ in paths(walk, source, folders[:1])), "") if source else ""
        for path, _ in paths(walk, word, folders):
            yield Unnamed(path, text, index, like)


def host_of(url: str, of: str) -> Host:
    scheme, _, rest = url.partition("://") if "://" in url else ("http", "", url)
    if scheme.lower() != "file":  # as curl reads it
        rest = unquote(rest).replace("\\", "/").lstrip("/")
    host = rest.split("/", 1)[0].split("?", 1)[0].split("#", 1)[0].rpartition("@")[2]
    host = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return Host(url, scheme.lower(), host.lower().rstrip("."), of)
