"""Operands as absolute paths, patterns of paths, and hosts."""

from __future__ import annotations

from urllib.parse import unquote

from hitl_cli.access import Host, Word, lexical
from hitl_cli.shell import words

ELSEWHERE = "/*/**", True  # of what may lie anywhere; of what nothing at all is known it is `/**`
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


def path_of(word: Word, folder: str | None) -> tuple[str, bool]:
    """The absolute path of an operand, or the pattern of what it may be."""
    if isinstance(word, str):
        if word.startswith("/"):
            return word, False
        if folder is None:
            return "/**", True
        return (folder + word if folder[-1:] == "/" else f"{folder}/{word}"), False
    if not word.glob:
        return "/**", True
    pattern = words.pattern(word)
    if folder is None and not pattern.startswith("/"):
        return "/**", True
    fixed = pattern[: min((at for at in map(pattern.find, "*?[") if at >= 0), default=len(pattern))]
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


def host_of(url: str, of: str) -> Host:
    scheme, _, rest = url.partition("://") if "://" in url else ("http", "", url)
    if scheme.lower() != "file":  # as curl reads it
        rest = unquote(rest).replace("\\", "/").lstrip("/")
    host = rest.split("/", 1)[0].split("?", 1)[0].split("#", 1)[0].rpartition("@")[2]
    host = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return Host(url, scheme.lower(), host.lower().rstrip("."), of)
