"""External tools from the settings: the model may call them, somebody else runs them and gives the result.

[tools.query_db]
description = "Runs a read-only query on the reporting database."
external = true
schema = {type = "object", properties = {sql = {type = "string"}}, required = ["sql"]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_cli.errors import SettingsError
from hitl_cli.regex import later
from hitl_cli.tooldef import Tool, external_tool

_NAME = later(r"[A-Za-z0-9_-]{1,64}")  # what the Messages protocol takes as the name of a tool
BUILT_IN = frozenset(
    {"AskUser", "Bash", "BashKill", "BashOutput", "Edit", "Glob", "Grep", "Plan", "Read", "Todo", "WebFetch", "Write"}
)
_KEYS = ("description", "schema", "external")


def external_from_settings(tables: Mapping[str, Any], *, file: str = "") -> tuple[Tool, ...]:
    """The tools of the tables under `[tools]`; raises SettingsError."""
    return tuple(_tool(name, table, file) for name, table in tables.items())


def _tool(name: str, table: Any, file: str) -> Tool:
    def wrong(problem: str, remedy: str) -> SettingsError:
        return SettingsError(f"[tools.{name}]: {problem}", file=file, remedy=remedy)

    if not _NAME.fullmatch(name):
        raise wrong("not a name for a tool", "use up to 64 letters, digits, _ and -")
    if name in BUILT_IN or name.startswith("mcp__"):
        raise wrong("a tool of hitl's own or of a server has such a name", "choose another name")
    if not isinstance(table, Mapping):
        raise wrong("not a table", f'write [tools.{name}] with description = "..." and external = true')
    for key in table:
        if key not in _KEYS:
            import difflib  # for a mistake alone

            near = difflib.get_close_matches(key, _KEYS, n=1)
            raise wrong(f"unknown key {key}", f"did you mean {near[0]}?" if near else f"known keys: {', '.join(_KEYS)}")
    description = table.get("description")
    if not isinstance(description, str) or not description.strip():
        raise wrong("description is missing", 'say what the tool does: description = "..."')
    if table.get("external") is not True:
        raise wrong("external must be true", "a tool of the settings is run by somebody else: add external = true")
    schema = table.get("schema", {"type": "object", "properties": {}})
    if problem := _schema_problem(schema):
        raise wrong(f"schema {problem}", 'write a JSON schema: schema = {type = "object", properties = {...}}')
    return external_tool(name, description.strip(), schema)


def _schema_problem(schema: Any) -> str:
    from jsonschema import Draft202012Validator, SchemaError  # loaded only when there are such tools

    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return "is not that of an object"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"is not valid: {error.message}"
    return ""
