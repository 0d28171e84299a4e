"""Permission settings of other assistants, read into one shape: what each rule says, in its product's own terms.

    Claude Code   .claude/settings.json, settings.local.json: permissions.allow, ask, deny
    Codex         *.rules, *.codexpolicy: calls of prefix_rule; config.toml only has modes
    Gemini CLI    settings.json: tools.allowed, tools.exclude (coreTools, excludeTools); policies/*.toml: [[rule]]
    opencode      opencode.json: permission, also of agents
    VS Code       settings.json: chat.tools.terminal.autoApprove, chat.tools.edits.autoApprove, …

Sources: the documentation of each product, read in 2026. What a file holds beside rules (modes, hooks, servers) is not
taken over; of what stands among the permissions that is said. `convert` in `importer` decides what becomes of each rule.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from hitl_cli.errors import SettingsError
from hitl_cli.permissions import words
from hitl_cli.permissions.rule import Decision
from hitl_cli.records import Struct

Product = Literal["claude", "codex", "gemini", "opencode", "vscode"]
# How the pattern of a command is meant: `claude` (`:*`, a star over anything), `glob` (a star over anything), `prefix` (of
# the text), `words` (a list of words that a command begins with), `regex`; for other tools it is a path, a host or nothing.
How = Literal["claude", "glob", "prefix", "words", "regex", "plain"]


SETTING = "a setting"  # stands for the tool of what is no rule, with the reason as its pattern
_MODE = "it is a mode, not a rule; `mode` in config.toml or `hitl --mode` chooses one"
_LIMIT = "it chooses the tools there are, which is no rule; deny rules close a tool here"
_CLAUDE_SETTINGS = {
    "additionalDirectories": "it names more folders to work in, which is no rule; `hitl --add-dir DIR` does that for a run",
    "defaultMode": _MODE,
    "disableBypassPermissionsMode": "it closes a mode, which is no rule; bypass is never a default here",
}


class Foreign(Struct, frozen=True):
    """One rule of another product. `text` is how a person finds it in the file."""

    product: Product
    decision: Decision
    text: str
    tool: str
    pattern: str | None = None
    how: How = "plain"
    words: tuple[str, ...] = ()


def read(file: Path) -> list[Foreign]:
    """The rules of a settings file; the product is told by its content. SettingsError when it is none of theirs."""
    remedy = "Name a settings file."
    if file.exists() and not file.is_file():  # a pipe would be waited for
        raise SettingsError("is a folder, not a file" if file.is_dir() else "is no file", file=str(file), remedy=remedy)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise SettingsError(problem, file=str(file), remedy=remedy) from None
    if file.suffix in (".rules", ".codexpolicy"):
        return list(codex(_calls(file, text)))
    if file.suffix == ".toml":
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"not valid TOML: {error}", file=str(file)) from None
        return list(gemini_policies(tables.get("rule", [])))
    try:
        data = json.loads(_without_comments(text))
    except ValueError as error:
        raise SettingsError(f"not valid JSON: {error}", file=str(file), remedy=remedy) from None
    if not isinstance(data, dict):
        raise SettingsError("is no settings file that hitl knows", file=str(file))
    return list(_json(data))


def _json(data: Mapping[str, Any]) -> Iterator[Foreign]:
    if isinstance(data.get("permissions"), dict):
        yield from claude(data["permissions"])
    if any(key in data for key in ("permission", "agent")) and "chat.tools" not in str(list(data)[:50]):
        yield from opencode(data)
    yield from gemini(data)
    yield from vscode(data)


def _settings(product: Product, at: str, data: Mapping[str, Any], why: Mapping[str, str]) -> Iterator[Foreign]:
    """What stands beside the rules of a file and is no rule."""
    for key in filter(data.__contains__, why):
        text = f"{at}{key} = {json.dumps(data[key], ensure_ascii=False)}"
        yield Foreign(product, Decision.ALLOW, text, SETTING, why[key])


def split(text: str) -> tuple[str, str | None]:
    """`Tool(pattern)` as these products write it."""
    found = re.fullmatch(r"([^(]+)\((.*)\)\s*", text, re.DOTALL)
    return (found[1].strip(), found[2]) if found else (text.strip(), None)


def spelled(text: str) -> str:
    """A text as a pattern; its stars are characters."""
    try:
        return " ".join(map(words.quote, shlex.split(text)))
    except ValueError:
        return text


def stars_are_quoted(text: str) -> bool:
    """True when every star stands in quotes, so that it is one to the shell as well."""
    return "*" not in re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", "", text)


def claude(permissions: Mapping[str, Any]) -> Iterator[Foreign]:
    yield from _settings("claude", "permissions.", permissions, _CLAUDE_SETTINGS)
    for key, decision in (("allow", Decision.ALLOW), ("ask", Decision.ASK), ("deny", Decision.DENY)):
        for text in permissions.get(key) or ():
            if isinstance(text, str):
                tool, pattern = split(text)
                yield Foreign("claude", decision, text, tool, pattern, "claude")


_CODEX = {"allow": Decision.ALLOW, "prompt": Decision.ASK, "forbidden": Decision.DENY}


def codex(calls: Sequence[tuple[Sequence[str | Sequence[str]], str]]) -> Iterator[Foreign]:
    """Patterns (words, a list standing for alternatives) with their decision."""
    for pattern, decision in calls:
        for those in _alternatives(list(pattern)):
            text = json.dumps(list(those), ensure_ascii=False)
            yield Foreign("codex", _CODEX.get(decision, Decision.ASK), text, "Bash", None, "words", those)


def _alternatives(pattern: list[Any]) -> Iterator[tuple[str, ...]]:
    if not pattern:
        yield ()
        return
    first = pattern[0] if isinstance(pattern[0], (list, tuple)) else [pattern[0]]
    for rest in _alternatives(pattern[1:]):
        for word in first:
            yield (str(word), *rest)


def _calls(file: Path, text: str) -> list[tuple[list[Any], str]]:
    """The calls of prefix_rule; Starlark reads as Python here."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise SettingsError(f"cannot be read: {error}", file=str(file)) from None
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "prefix_rule":
            try:
                given = {k.arg: ast.literal_eval(k.value) for k in node.keywords}
            except ValueError:
                continue
            if isinstance(given.get("pattern"), list):
                found.append((given["pattern"], str(given.get("decision", "allow"))))
    return found


_GEMINI_TOOLS = {
    "run_shell_command": "Bash", "ShellTool": "Bash", "read_file": "Read", "ReadFileTool": "Read",
    "read_many_files": "Read", "ReadManyFilesTool": "Read", "write_file": "Write", "WriteFileTool": "Write",
    "replace": "Edit", "EditTool": "Edit", "glob": "Glob", "GlobTool": "Glob", "search_file_content": "Grep",
    "grep_search": "Grep", "GrepTool": "Grep", "web_fetch": "WebFetch", "WebFetchTool": "WebFetch",
}  # fmt: skip


def gemini(data: Mapping[str, Any]) -> Iterator[Foreign]:
    tools = data["tools"] if isinstance(data.get("tools"), dict) else {}
    yield from _settings("gemini", "tools.", tools, {"core": _LIMIT})
    yield from _settings("gemini", "", data, {"coreTools": _LIMIT})
    for key, place, decision in (
        ("allowed", tools, Decision.ALLOW),
        ("allowedTools", data, Decision.ALLOW),
        ("exclude", tools, Decision.DENY),
        ("excludeTools", data, Decision.DENY),
    ):
        for text in place.get(key) or ():
            if isinstance(text, str):
                tool, pattern = split(text)
                yield Foreign("gemini", decision, text, _GEMINI_TOOLS.get(tool, tool), pattern, "prefix")
    servers = data["mcpServers"] if isinstance(data.get("mcpServers"), dict) else {}
    for name, server in servers.items():
        if isinstance(server, dict) and server.get("trust") is True:
            yield Foreign("gemini", Decision.ALLOW, f"mcpServers.{name}.trust", f"mcp__{name}")


_GEMINI = {"allow": Decision.ALLOW, "ask_user": Decision.ASK, "deny": Decision.DENY}


def gemini_policies(rules: Any) -> Iterator[Foreign]:
    for rule in rules if isinstance(rules, list) else ():
        if not isinstance(rule, dict) or rule.get("decision") not in _GEMINI:
            continue
        decision = _GEMINI[rule["decision"]]
        names, prefixes = _several(rule.get("toolName", "")), _several(rule.get("commandPrefix"))
        for name in names:
            tool = _GEMINI_TOOLS.get(name, f"mcp__{rule['mcpName']}__{name}" if "mcpName" in rule else name)
            if "argsPattern" in rule or "commandRegex" in rule:
                regex = str(rule.get("commandRegex", rule.get("argsPattern")))
                yield Foreign("gemini", decision, f"{name} ~ {regex}", tool, regex, "regex")
            elif prefixes:
                for prefix in prefixes:
                    yield Foreign("gemini", decision, f"{name}({prefix})", tool, prefix, "prefix")
            else:
                yield Foreign("gemini", decision, name, tool)


def _several(value: Any) -> list[str]:
    return (
        [value]
        if isinstance(value, str)
        else [v for v in value if isinstance(v, str)]
        if isinstance(value, list)
        else []
    )


_OPENCODE_TOOLS = {
    "bash": "Bash", "edit": "Edit", "write": "Write", "read": "Read", "glob": "Glob", "grep": "Grep", "webfetch": "WebFetch",
}  # fmt: skip
_OPENCODE = {"allow": Decision.ALLOW, "ask": Decision.ASK, "deny": Decision.DENY}


def opencode(data: Mapping[str, Any]) -> Iterator[Foreign]:
    yield from _opencode(data.get("permission"), "")
    agents = data["agent"] if isinstance(data.get("agent"), dict) else {}
    for name, agent in agents.items():
        if isinstance(agent, dict):
            yield from _opencode(agent.get("permission"), f"agent {name}: ")


def _opencode(permission: Any, prefix: str) -> Iterator[Foreign]:
    if isinstance(permission, str):
        permission = {"*": permission}
    for name, value in permission.items() if isinstance(permission, dict) else ():
        choices: dict[str | None, Any] = value if isinstance(value, dict) else {None: value}
        for pattern, decision in choices.items():
            if isinstance(decision, str) and decision in _OPENCODE:
                text = prefix + name + (f"({pattern})" if pattern is not None else "")
                tool = f"agent/{name}" if prefix else _OPENCODE_TOOLS.get(str(name), str(name))
                yield Foreign("opencode", _OPENCODE[decision], text, tool, pattern, "glob")


def vscode(data: Mapping[str, Any]) -> Iterator[Foreign]:
    for name, value in _table(data, "chat.tools.terminal.autoApprove").items():
        approve = value.get("approve") if isinstance(value, dict) else value
        if not isinstance(approve, bool):
            continue
        decision = Decision.ALLOW if approve else Decision.ASK
        if len(name) > 1 and name.startswith("/") and re.search(r"/[a-z]*$", name):
            yield Foreign("vscode", decision, name, "Bash", name[1 : name.rindex("/")], "regex")
        else:
            yield Foreign("vscode", decision, name, "Bash", name, "prefix")
    for name, value in _table(data, "chat.tools.edits.autoApprove").items():
        if isinstance(value, bool):
            yield Foreign("vscode", Decision.ALLOW if value else Decision.ASK, name, "Edit", name.removeprefix("**/"))
    for name, value in _table(data, "chat.tools.urls.autoApprove").items():
        if value is True:
            host = re.sub(r"^https?://|/.*$", "", name)
            yield Foreign("vscode", Decision.ALLOW, name, "WebFetch", f"domain:{host}")
    for key in ("chat.tools.autoApprove", "chat.tools.global.autoApprove"):
        if data.get(key) is True:
            yield Foreign("vscode", Decision.ALLOW, key, "*")


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _without_comments(text: str) -> str:
    """JSON with comments and trailing commas as plain JSON; a comma trails even where a comment follows it."""
    for noise in (r"//[^\n]*|/\*.*?\*/", r",(?=\s*[}\]])"):
        tokens = re.compile(rf'"(?:\\.|[^"\\])*"|{noise}', re.DOTALL)
        text = tokens.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)
    return text
