"""What a call of a built-in tool would touch, links resolved: the one place that says so.

`rules check`, the batch command and the tools themselves all judge what this module states, so a verdict shown is the
verdict that holds. Reading a command is the shell reader's work and following links is `resolve`'s; here is only which
argument of which tool is a path, a command or an address.
"""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hitl_cli.access import Access, Host, Opaque, Place, ReadPath, ToolUse, WritePath, inside
from hitl_cli.links import Look
from hitl_cli.records import replace
from hitl_cli.regex import later
from hitl_cli.resolve import resolve
from hitl_cli.shell.scan import look, rough_words
from hitl_cli.twins import Twins

if TYPE_CHECKING:
    from hitl_cli.permissions.policy import Policy
    from hitl_cli.shell.reader import Reading

Input = Mapping[str, Any]
# Absolute paths in a command that may be another name of the workspace; the system's own folders are not.
_ABSOLUTE = later(r"/(?<![\w./~$}*?-]/)(?!(?:usr|bin|etc|dev|proc|sys|lib|opt)/)[\w./@+-]+")
_LOOKED_AT = 8
_FRESH = 1.0  # seconds for which a search believes what other names closed files have
_WILD = later(r"[*?\[{]")


def accesses_of(tool: str, input: Input, place: Place) -> tuple[Access, ...]:
    """The accesses of one call, in order, with `real` filled in; a tool nobody knows is a `ToolUse`.

    Arguments of the wrong type or missing give an `Opaque`: validation refuses such a call anyway, and until then
    nothing allows it.
    """
    disk = Look(place)
    if tool == "Bash":
        return resolve(_bash(input, place, disk), disk)
    state = _FILES_AND_HOSTS.get(tool)
    return resolve(state(input, place) if state else (ToolUse(tool, input),), disk)


def _bash(input: Input, place: Place, disk: Look) -> tuple[Access, ...]:
    command = input.get("command")
    if not isinstance(command, str):
        return (Opaque("the command is not a text"),)
    if "/" in command:
        elsewhere = [path for path in _ABSOLUTE.findall(command)[:_LOOKED_AT] if not inside(path, place.workspace)]
        names = [name[0] for path in elsewhere if (name := disk.other_name(path))] if elsewhere else None
        if names:
            place = replace(place, roots=tuple(dict.fromkeys((*place.roots, *names))))
    return _reader()(command, place, place.cwd).accesses


@cache
def _reader() -> Callable[[str, Place, str], Reading]:
    """What reads commands, loaded by the first of them."""
    from hitl_cli.shell.reader import read

    return read


def reading(policy: Callable[[], Policy]) -> Callable[[str], bool]:
    """What tells of absolute paths whether no rule closes the file, under whatever name, to those who search."""
    began, twins = 0.0, Twins()

    def readable(path: str) -> bool:
        nonlocal began, twins
        now = time.time()
        if not began <= now <= began + _FRESH:  # also a clock that was set back
            began, twins = now, Twins()
        return policy().readable(path, os.path.realpath(path), now=now, twins=twins.of(path))

    return readable


def _path_of(value: object, place: Place) -> str | Opaque:
    """The argument as an absolute path, joined and not normalised; `~/` is the home folder.

    A name with a character that cannot be seen, or with a line break, is not what a person would believe it to be.
    """
    if not isinstance(value, str) or not value:
        return Opaque("the path is not a text that can name a file", repr(value))
    unseen = "it holds a line break or a tab" if "\n" in value or "\t" in value else look(value)
    if unseen:
        return Opaque(f"the path cannot be shown as it is: {unseen}", value)
    if value == "~" or value.startswith("~/"):
        return place.home + value[1:]
    return posixpath.join(place.cwd, value)


def _file(kind: type[ReadPath] | type[WritePath]) -> Callable[[Input, Place], tuple[Access, ...]]:
    def state(input: Input, place: Place) -> tuple[Access, ...]:
        path = _path_of(input.get("file_path"), place)
        return (path if isinstance(path, Opaque) else kind(path),)

    return state


def _grep(input: Input, place: Place) -> tuple[Access, ...]:
    path = _path_of(input.get("path") or ".", place)
    return (path if isinstance(path, Opaque) else ReadPath(path),)


def _glob(input: Input, place: Place) -> tuple[Access, ...]:
    """The folder that is searched: where the pattern begins to vary."""
    pattern = input.get("pattern", "")
    fixed = []
    parts = pattern.split("/") if isinstance(pattern, str) else []
    for n, part in enumerate(parts):
        if _WILD.search(part) or n == len(parts) - 1:
            if ".." in parts[n:]:
                return (Opaque("the pattern goes up after a wildcard", str(pattern)),)
            break
        fixed.append(part)
    start = "/".join(fixed) or ("/" if fixed else "")
    if start.startswith(("/", "~")):
        path = _path_of(start, place)
    else:
        path = _path_of(input.get("path") or ".", place)
        path = path if isinstance(path, Opaque) or not start else posixpath.join(path, start)
    return (path if isinstance(path, Opaque) else ReadPath(path, listing=True),)


def _web(input: Input, place: Place) -> tuple[Access, ...]:
    return (host_of(input.get("url")),)


def host_of(url: object) -> Host | Opaque:
    """The host that `url` would reach; Opaque for what two readers of addresses could understand differently."""
    if not isinstance(url, str):
        return Opaque("the address is not a text")
    if any(c <= " " or c == "\\" or c == "\x7f" for c in url):
        return Opaque("the address holds a blank, a backslash or a control character", url, rough_words(url))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host = f"[{host}]" if ":" in host else host.rstrip(".").encode("idna").decode("ascii").lower()
    except ValueError:
        return Opaque("the address cannot be read", url, rough_words(url))
    if not host or "%" in host:
        return Opaque("the address names no plain host", url, rough_words(url))
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return Host(url, parts.scheme, host if port in (None, default) else f"{host}:{port}")


_FILES_AND_HOSTS: dict[str, Callable[[Input, Place], tuple[Access, ...]]] = {
    "Read": _file(ReadPath),
    "Write": _file(WritePath),
    "Edit": _file(WritePath),
    "Glob": _glob,
    "Grep": _grep,
    "WebFetch": _web,
}
