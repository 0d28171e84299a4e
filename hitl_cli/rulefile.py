"""One rule file, read strictly: every rule with its line, or an error that names file, line and remedy.

There is one schema for all layers. A file that cannot be used stops the program: falling back to fewer rules would be
falling back to fewer deny rules.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hitl_cli import rulelines
from hitl_cli.errors import RuleError
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Decision, Layer, Rule, Source
from hitl_cli.records import Struct

FORMAT = 1
_KEYS = ("format", "rule", "packs", "off")


class RuleFile(Struct, frozen=True):
    """What one file says about rules. `packs`: switched on or off by name; `off`: texts of pack rules switched off."""

    file: Path
    text: str = ""
    rules: tuple[Rule, ...] = ()
    packs: Mapping[str, bool] | None = None
    off: tuple[str, ...] = ()


def read(file: Path, layer: Layer, *, settings: bool = False) -> RuleFile:
    """The rules of `file`; empty when there is none. `settings`: the file may hold settings beside rules."""
    text = text_of(file)
    return RuleFile(file) if text is None else parse(file, text, layer, settings=settings)


def text_of(file: Path) -> str | None:
    """The text of a file of rules or settings, None when there is no such file. Raises RuleError when there is one, or
    something on the way to it, that cannot be read."""
    try:
        return _regular(file)
    except FileNotFoundError:
        reached = _reached(file)
        if reached.exists():
            return None
        problem = f"cannot be read: {reached} is a link to what is not there"
        remedy = "Put back what it leads to, or take the link away."
    except NotADirectoryError:
        reached = _reached(file)
        problem = f"cannot be read: {reached} is no folder"
        remedy = "Name a folder with HITL_CONFIG_DIR or HITL_STATE_DIR, or put one in its place."
    except IsADirectoryError:
        problem, remedy = "is a folder, not a file", "Move the folder away."
    except PermissionError:
        problem, remedy = "cannot be read: permission denied", f"Make it yours and readable: chmod u+r {file}"
    except UnicodeDecodeError as error:
        problem, remedy = f"is not UTF-8 text (byte {error.start})", "Save it as UTF-8."
    except OSError as error:
        problem, remedy = f"cannot be read: {error.strerror}", "Put that right; rules are never skipped."
    raise RuleError(problem, file=str(file), remedy=remedy)


def _regular(file: Path) -> str:
    """The text of a regular file in UTF-8. Raises OSError for anything else that has its name, too: a pipe would be waited
    for, and a device may have no end."""
    with open(file, encoding="utf-8", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(file))
        return opened.read()


def _reached(file: Path) -> Path:
    """How far one comes on the way to an absolute `file`: the last of it that has an entry on the disk."""
    return next(path for path in (file, *file.parents) if os.path.lexists(path))


@lru_cache(maxsize=16)
def parse(file: Path, text: str, layer: Layer, *, settings: bool = False) -> RuleFile:
    """The rules of a file with this text; the same text is not parsed again each time that rules are looked at anew."""
    try:
        tables, lines = rulelines.read(text)
    except ValueError as error:
        from hitl_cli.config import no_toml

        problem, line, remedy = no_toml(text, error)  # type: ignore[arg-type]
        raise RuleError(problem, file=str(file), line=line, remedy=remedy or _remedy(text, line)) from None
    _known(file, text, tables, settings)
    rules = tuple(_rules(file, text, tables, lines, layer))
    if "permissions" in tables:
        rules += tuple(_listed(file, text, tables["permissions"], layer))
    _single(rules)
    return RuleFile(file, text, rules, _packs(file, text, tables), _off(file, text, tables))


def _mistake(file: Path, text: str, key: str, problem: str, remedy: str) -> RuleError:
    """The error about a key at the top of the file."""
    from hitl_cli.config import line_of

    return RuleError(problem, file=str(file), line=line_of(text, key), remedy=remedy)


def _remedy(text: str, line: int) -> str:
    """How rules are written."""
    lines = text.splitlines()
    bad = lines[line - 1].strip() if line <= len(lines) else ""
    if bad.startswith("[") and "rule" in bad:
        return "A rule begins with [[rule]]"
    return 'A rule is written\n    [[rule]]\n    allow = "Bash(git log:*)"'


def _known(file: Path, text: str, tables: Mapping[str, Any], settings: bool) -> None:
    for key in tables:
        if key not in _KEYS:
            from hitl_cli.config import KEYS, nearest

            known = KEYS if settings else _KEYS
            if key not in known:
                raise _mistake(file, text, key, f"unknown key {key!r}", nearest(key, known))
    version = tables.get("format", FORMAT)
    if type(version) is not int or version != FORMAT:
        from hitl_cli.config import no_format

        if wrong := no_format(version):
            raise _mistake(file, text, "format", *wrong)


def _rules(
    file: Path, text: str, tables: Mapping[str, Any], lines: Sequence[int | None], layer: Layer
) -> Iterator[Rule]:
    given = tables.get("rule", [])
    if not isinstance(given, list) or not all(isinstance(t, dict) for t in given):
        raise _mistake(file, text, "rule", "`rule` is not a list of tables", "Head each rule with [[rule]].")
    if len(lines) != len(given):
        from hitl_cli.config import line_of

        lines = [line_of(text, "rule")] * len(given)
    name = str(file)
    for line, table in zip(lines, given, strict=True):
        try:
            yield codec.from_table(table, Source(layer, name, line))
        except RuleError as error:
            at = _within(text, line, error.problem, table) or line
            raise RuleError(error.problem, file=str(file), line=at, remedy=error.remedy) from None


def _within(text: str, line: int | None, problem: str, table: Mapping[str, Any]) -> int | None:
    """The line of the key that an error names, below the header of its rule."""
    if line is None:
        return None
    named = re.search(r"`([\w-]+)`", problem)
    keys = [named[1]] if named and named[1] in table else [k for k in ("allow", "ask", "deny") if k in table]
    for n, content in enumerate(text.splitlines()[line:], line + 1):
        if content.lstrip().startswith("["):
            return None
        if any(re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", content) for key in keys):
            return n
    return None


def _listed(file: Path, text: str, lists: Any, layer: Layer) -> Iterator[Rule]:
    """Rules of the short form `[permissions]`: lists of texts."""
    from hitl_cli.config import line_of, nearest

    if not isinstance(lists, dict):
        remedy = 'Write: [permissions]\n  allow = ["…"]'
        raise _mistake(file, text, "permissions", "`permissions` is not a table", remedy)
    where = line_of(text, "permissions")
    for key, texts in lists.items():
        start = where or 1
        found = [
            n
            for n, content in enumerate(text.splitlines(), 1)
            if n >= start and re.search(rf"\b{re.escape(key)}\b\s*=", content)
        ]
        at = found[0] if found else where
        if key not in ("allow", "ask", "deny"):
            remedy = nearest(key, ("allow", "ask", "deny"))
            raise RuleError(f"unknown key {key!r} in [permissions]", file=str(file), line=at, remedy=remedy)
        if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            raise RuleError(
                f"`{key}` is not a list of texts", file=str(file), line=at, remedy=f'Write: {key} = ["Bash(git log:*)"]'
            )
        for rule in texts:
            line = _line_with(text, at or 1, rule)
            try:
                yield codec.parse(rule, Decision[key.upper()], Source(layer, str(file), line))
            except RuleError as error:
                raise RuleError(error.problem, file=str(file), line=line, remedy=error.remedy) from None


def _line_with(text: str, start: int, rule: str) -> int:
    for n, content in enumerate(text.splitlines()[start - 1 :], start):
        if rule in content or rule in content.replace('\\"', '"'):
            return n
    return start


def _single(rules: tuple[Rule, ...]) -> None:
    seen: dict[tuple[Decision, str], Rule] = {}
    for rule in rules:
        first = seen.setdefault((rule.decision, rule.text), rule)
        if first is not rule:
            raise RuleError(
                f"{rule.decision} {rule.text} stands here twice",
                file=rule.source.file,
                line=rule.source.line,
                remedy=f"Take one of them away; the other is on line {first.source.line}.",
            )


def _packs(file: Path, text: str, tables: Mapping[str, Any]) -> Mapping[str, bool]:
    given = tables.get("packs", {})
    if not isinstance(given, dict) or not all(isinstance(v, bool) for v in given.values()):
        remedy = "Write: packs = {git = true}"
        raise _mistake(file, text, "packs", "`packs` is not a table of true and false", remedy)
    return given


def _off(file: Path, text: str, tables: Mapping[str, Any]) -> tuple[str, ...]:
    given = tables.get("off", [])
    if not isinstance(given, list) or not all(isinstance(v, str) for v in given):
        raise _mistake(file, text, "off", "`off` is not a list of texts", 'Write: off = ["Bash(ls:*)"]')
    return tuple(given)
