"""The settings of a run, each with where it came from.

A setting comes from a flag, else the environment, else the repository's file, else the user's file, else the default.
A repository may only tighten (a lower limit, mode `plan` or `dont-ask`) until its file is trusted. The files are written
by people and never rewritten; every mistake in one is an error with file, line and remedy, since a setting that is
silently ignored is a promise broken. Rules stand in the same files and are read by `rulebook`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from hitl_cli.errors import SettingsError, UsageError
from hitl_cli.permissions.rule import Mode
from hitl_cli.records import Struct, field
from hitl_cli.rulefile import text_of
from hitl_cli.times import duration

if TYPE_CHECKING:
    from tomllib import TOMLDecodeError

FORMAT = 1
MODES = tuple(m for m in get_args(Mode) if m != "declared")
EVENTS = ("waiting", "done", "failed")


class Settings(Struct, frozen=True):
    """What holds for a run; `origins` says for each name where its value was set (absent: the default)."""

    model: str = ""
    mode: str = "default"
    store: str = ""
    max_steps: int = 50
    max_tokens: int | None = None
    max_cost: float | None = None
    expires: float | None = None  # seconds
    add_dirs: tuple[str, ...] = ()
    editing: str = "emacs"
    bell: bool = True
    plain: bool = False
    notify: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, Any] = field(default_factory=dict)
    mcp: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("expects a text in quotes")
    return value


def _mode(value: Any) -> str:
    if value == "bypass":
        raise ValueError("cannot be bypass here; that mode is given by the flag --mode bypass alone")
    if value not in MODES:
        raise ValueError(f"expects one of {', '.join(m for m in MODES if m != 'bypass')}")
    return str(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("expects a whole number, 1 or more")
    return value


def _money(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise ValueError("expects an amount in US dollars, such as 2.5")
    return float(value)


def _length(value: Any) -> float:
    return duration(_text(value))


def _folders(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise ValueError('expects a list of folders, such as ["../shared"]')
    return tuple(value)


def _editing(value: Any) -> str:
    if value not in ("emacs", "vi"):
        raise ValueError('expects "emacs" or "vi"')
    return str(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("expects true or false")
    return value


def _notify(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict) or any(k not in EVENTS or not isinstance(v, str) for k, v in value.items()):
        raise ValueError(f"expects a table of commands for {', '.join(EVENTS)}")
    return value


def _tables(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
        raise ValueError("expects tables, one for each name")
    return value


# How a value in a file is checked and read. These are the settings; all else in a file belongs to rules.
READERS: Mapping[str, Callable[[Any], Any]] = {
    "model": _text,
    "mode": _mode,
    "max_steps": _count,
    "max_tokens": _count,
    "max_cost": _money,
    "expires": _length,
    "add_dirs": _folders,
    "editing": _editing,
    "bell": _flag,
    "plain": _flag,
    "notify": _notify,
    "tools": _tables,
    "mcp": _tables,
}
RULE_KEYS = ("format", "rule", "permissions", "packs", "off")
KEYS = (*READERS, *RULE_KEYS)
FLAGS = {"add_dirs": "add-dir"}
LOWER = ("max_steps", "max_tokens", "max_cost", "expires")


def read(file: Path) -> dict[str, Any]:
    """The settings that `file` sets, checked; {} when there is no such file. Raises SettingsError."""
    text = text_of(file)
    if text is None:
        return {}
    import tomllib  # its patterns take long to compile, and most folders have no settings

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, line, remedy = no_toml(text, error)
        raise SettingsError(problem, file=str(file), line=line, remedy=remedy or "Correct it there.") from None
    found: dict[str, Any] = {}
    for name, value in tables.items():
        where = line_of(text, name)
        if name in READERS:
            try:
                found[name] = READERS[name](value)
            except ValueError as error:
                raise SettingsError(f"{name} {error}", file=str(file), line=where) from None
        elif name not in RULE_KEYS:
            raise SettingsError(f"unknown setting {name!r}", file=str(file), line=where, remedy=nearest(name, KEYS))
    wrong = no_format(tables.get("format", FORMAT))
    if wrong:
        raise SettingsError(wrong[0], file=str(file), line=line_of(text, "format"), remedy=wrong[1])
    return found


def no_toml(text: str, error: TOMLDecodeError) -> tuple[str, int, str]:
    """What is wrong where a file is no TOML, its line, and what to write instead ("" when that cannot be told)."""
    found = re.search(r"at line (\d+)", str(error))
    lines = text.splitlines()
    opened = [n for n, line in enumerate(lines, 1) if re.search(r"""=\s*(?:'[^']*|"[^"]*)$""", line)]
    number = int(found[1]) if found else opened[-1] if opened else text.count("\n") + 1
    bad = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    key, equals, value = (part.strip() for part in bad.partition("="))
    remedy, said = "", re.sub(r" \(at .*\)$", "", str(error))
    if text.startswith("\ufeff"):
        return "begins with a byte order mark", 1, "Save it as UTF-8 without one."
    if said == "Cannot overwrite a value":
        more = "Begin another rule with [[rule]]." if key in ("allow", "ask", "deny") else "Take one of them away."
        return f"`{key}` stands there twice", number, more
    if value[:1] in ("'", '"') and number in opened:
        return f"the quote of `{key}` is not closed", number, f"Close it: {key} = {value}{value[0]}"
    if equals and re.fullmatch(r"[\w-]+", key) and value[:1] not in ("'", '"', "[", "{"):
        remedy = f"Texts stand in quotes: {key} = {_literal(value)}"
    elif '"' in value and "\\" in value:
        plain = f"{key} = {_literal(value.strip(chr(34)))}"
        remedy = f"In double quotes a backslash is written twice; single quotes leave it alone: {plain}"
    return f"not valid TOML: {said}", number, remedy


def _literal(value: str) -> str:
    return f"'{value}'" if "'" not in value else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def no_format(version: Any) -> tuple[str, str] | None:
    """What is wrong with the `format` of a file, and what to do; None when it can be read."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return f"format is {version!r}", "Write: format = 1"
    if version > FORMAT:
        problem = f"has format {version}, and this hitl reads format {FORMAT}"
        return problem, "Update hitl; this file was written for a newer one."
    return None


def nearest(name: str, known: tuple[str, ...]) -> str:
    """A remedy for a name nobody knows: the nearest known one, else all."""
    close = closest(name, known)
    return f"Did you mean {close}?" if close else f"Known names: {', '.join(known)}."


def closest(name: str, known: Sequence[str]) -> str:
    """The known name that `name` is most like, above all one of the same letters in another order; "" where none is."""
    import difflib

    found = [k for k in known if sorted(k) == sorted(name)] or difflib.get_close_matches(name, known, 1, 0.55)
    return found[0] if found else ""


def line_of(text: str, key: str) -> int | None:
    """The 1-based line on which the top-level `key` (or a table of that name) stands, None when it cannot be told."""
    name = re.escape(key)
    pattern = re.compile(rf'\s*(?:"?{name}"?\s*[.=]|\[+\s*"?{name}"?\s*[.\]])')
    return next((n for n, line in enumerate(text.splitlines(), 1) if pattern.match(line)), None)


def resolve(
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    files: Mapping[str, Path],
    trusted: bool,
) -> Settings:
    """The settings that hold. `flags`: those given, by name; `files`: `user` and `repository`; raises SettingsError."""
    user = read(files["user"])
    repository = read(files["repository"])
    values: dict[str, Any] = dict(user)
    origins = {name: str(files["user"]) for name in user}
    for name, value in repository.items():
        if trusted or _tightens(name, value, values.get(name)):
            values[name] = value
            origins[name] = str(files["repository"])
    for name, value in _from_environment(environ).items():
        values[name], origins[name] = value, f"environment HITL_{name.upper()}"
    for name, value in flags.items():
        if value is not None and value != ():
            values[name], origins[name] = value, f"flag --{FLAGS.get(name, name.replace('_', '-'))}"
    return Settings(**values, origins=origins)


def _tightens(name: str, value: Any, current: Any) -> bool:
    if name in LOWER:
        default = getattr(Settings(), name)
        limit = default if current is None else current
        return limit is None or bool(value < limit)
    return name == "mode" and value in ("plan", "dont-ask")


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    given = {name: environ.get(f"HITL_{name.upper()}", "") for name in ("model", "mode", "store")}
    found = {name: value for name, value in given.items() if value}
    if "mode" in found:
        try:
            _mode(found["mode"])
        except ValueError as error:
            raise UsageError(f"HITL_MODE {error}.") from None
    return found
