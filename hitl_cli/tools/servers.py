"""Servers of tools, as the settings name them.

[mcp.git]
command = "mcp-server-git"
args = ["--repository", "."]
env = {TOKEN = "${GITHUB_TOKEN}"}      # `${NAME}` is taken from the environment of hitl

[mcp.search]
url = "https://tools.example.org/mcp"
headers = {Authorization = "Bearer ${SEARCH_KEY}"}
timeout = 300                          # seconds for one call
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hitl_cli.errors import SettingsError
from hitl_cli.records import Struct, field, text_without
from hitl_cli.regex import later

TIMEOUT = 120.0  # seconds for one call unless the settings say otherwise
_NAME = later(r"(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}")  # `mcp__name__tool` must be readable back
_TYPES: dict[str, tuple[type, ...]] = {
    "command": (str,),
    "args": (list,),
    "env": (dict,),
    "url": (str,),
    "headers": (dict,),
    "timeout": (int, float),
}
_STDIO, _HTTP = {"command", "args", "env"}, {"url", "headers"}


class Server(Struct, frozen=True):
    """`command` with `args` and `env` for one that is started, `url` with `headers` for one that is reached."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = TIMEOUT

    def __repr__(self) -> str:
        return text_without(self, "env", "headers")  # secrets stand in them


def servers_from_settings(
    tables: Mapping[str, Any], environment: Mapping[str, str], *, file: str = ""
) -> tuple[Server, ...]:
    """The servers of the tables under `[mcp]`; raises SettingsError with what to write instead."""
    return tuple(_server(name, table, environment, file) for name, table in tables.items())


def _server(name: str, table: Any, environment: Mapping[str, str], file: str) -> Server:
    def wrong(problem: str, remedy: str) -> SettingsError:
        return SettingsError(f"[mcp.{name}]: {problem}", file=file, remedy=remedy)

    if not _NAME.fullmatch(name):
        raise wrong("not a name for a server", "use up to 32 letters, digits, - and single _")
    if not isinstance(table, Mapping):
        raise wrong("not a table", 'write [mcp.NAME] with command = "..." or url = "..."')
    for key, value in table.items():
        if key not in _TYPES:
            near = difflib.get_close_matches(key, _TYPES, n=1)
            raise wrong(
                f"unknown key {key}", f"did you mean {near[0]}?" if near else f"known keys: {', '.join(_TYPES)}"
            )
        if not isinstance(value, _TYPES[key]) or isinstance(value, bool) or not _all_text(value):
            raise wrong(f"{key} has a value of the wrong type", "see `hitl help mcp` for an example")
    if ("command" in table) == ("url" in table):
        raise wrong("needs either command or url", 'write command = "..." to start it, or url = "..." to reach it')
    strange = table.keys() & (_HTTP if "command" in table else _STDIO)
    if strange:
        raise wrong(
            f"{', '.join(sorted(strange))} does not belong to it", "env and args go with command, headers with url"
        )
    if "url" in table and urlsplit(table["url"]).scheme not in ("https", "http"):
        raise wrong("url must begin with https:// or http://", 'for example url = "https://tools.example.org/mcp"')
    if "timeout" in table and not 0 < table["timeout"] <= 3600:
        raise wrong("timeout must be between 0 and 3600 seconds", "for example timeout = 300")
    filled = _filler(environment, wrong)
    return Server(
        name,
        table.get("command", ""),
        tuple(table.get("args", ())),
        {key: filled(value) for key, value in table.get("env", {}).items()},
        table.get("url", ""),
        {key: filled(value) for key, value in table.get("headers", {}).items()},
        float(table.get("timeout", TIMEOUT)),
    )


def _all_text(value: Any) -> bool:
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return all(isinstance(part, str) for part in parts)


def _filler(environment: Mapping[str, str], wrong: Callable[[str, str], SettingsError]) -> Callable[[str], str]:
    def one(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise wrong(f"{found[1]} is not set", f"set the variable {found[1]} before starting hitl")
        return environment[found[1]]

    return lambda text: re.sub(r"\$\{(\w+)\}", one, text)
