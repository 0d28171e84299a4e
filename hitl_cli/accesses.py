"""What a call of a built-in tool would touch, links resolved: the one place that says so.

`rules check`, the batch command and the tools themselves all judge what this module states, so a verdict shown is the
verdict that holds. Reading a command is the shell reader's work and following links is `resolve`'s; here is only which
argument of which tool is a path, a command or an address.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hitl_cli.access import Access, Host, Opaque, Place, ReadPath, ToolUse, WritePath
from hitl_cli.resolve import resolve

Input = Mapping[str, Any]


def accesses_of(tool: str, input: Input, place: Place) -> tuple[Access, ...]:
    """The accesses of one call, in order, with `real` filled in; a tool nobody knows is a `ToolUse`.

    Arguments of the wrong type or missing give an `Opaque`: validation refuses such a call anyway, and until then
    nothing allows it.
    """
    state = _BUILT_IN.get(tool)
    return resolve(state(input, place) if state else (ToolUse(tool, input),), place)


def _bash(input: Input, place: Place) -> tuple[Access, ...]:
    command = input.get("command")
    if not isinstance(command, str):
        return (Opaque("the command is not a text"),)
    from hitl_cli.shell.reader import read  # the parser is loaded by the first command

    return tuple(read(command, place, place.cwd).accesses)


def _path_of(input: Input, name: str, place: Place) -> str | None:
    """The argument as an absolute path, joined and not normalised; `~/` is the home folder. None: not a usable path."""
    value = input.get(name)
    if not isinstance(value, str) or not value or "\0" in value:
        return None
    if value == "~" or value.startswith("~/"):
        return place.home + value[1:]
    return posixpath.join(place.cwd, value)


def _file(kind: type[ReadPath] | type[WritePath]) -> Callable[[Input, Place], tuple[Access, ...]]:
    def state(input: Input, place: Place) -> tuple[Access, ...]:
        path = _path_of(input, "file_path", place)
        if path is None:
            return (Opaque("the path is not a text that can name a file", repr(input.get("file_path"))),)
        return (kind(path),)

    return state


def _search(listing: bool) -> Callable[[Input, Place], tuple[Access, ...]]:
    def state(input: Input, place: Place) -> tuple[Access, ...]:
        path = _path_of({"path": "."} | {k: v for k, v in input.items() if v is not None}, "path", place)
        if path is None:
            return (Opaque("the path is not a text that can name a folder", repr(input.get("path"))),)
        return (ReadPath(path, listing=listing),)

    return state


def _web(input: Input, place: Place) -> tuple[Access, ...]:
    return (host_of(input.get("url")),)


def host_of(url: object) -> Host | Opaque:
    """The host that `url` would reach; Opaque for what two readers of addresses could understand differently."""
    if not isinstance(url, str):
        return Opaque("the address is not a text")
    if any(c <= " " or c == "\\" or c == "\x7f" for c in url):
        return Opaque("the address holds a blank, a backslash or a control character", url, (url,))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host = host.rstrip(".").encode("idna").decode("ascii").lower() if ":" not in host else host
    except ValueError:
        return Opaque("the address cannot be read", url, (url,))
    if not host or "%" in host:
        return Opaque("the address names no plain host", url, (url,))
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return Host(url, parts.scheme, host if port in (None, default) else f"{host}:{port}")


_BUILT_IN: dict[str, Callable[[Input, Place], tuple[Access, ...]]] = {
    "Bash": _bash,
    "Read": _file(ReadPath),
    "Write": _file(WritePath),
    "Edit": _file(WritePath),
    "Glob": _search(listing=True),
    "Grep": _search(listing=False),
    "WebFetch": _web,
}
