"""One rule file, read strictly: every rule with its line, or an error that names file, line and remedy.

There is one schema for all layers. A file that cannot be used stops the program: falling back to fewer rules would be
falling back to fewer deny rules. `tomllib` gives no lines, so a scanner over the text finds where the nth `[[rule]]`
stands.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from hitl_cli import config
from hitl_cli.errors import RuleError
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Decision, Layer, Rule, Source
from hitl_cli.records import Struct
from hitl_cli.regex import later

FORMAT = 1
# What may hide a header: strings and comments are passed over.
_TOKENS = later(
    r'"""(?:\\.|(?!""").)*?"""|'
    r"'''.*?'''|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'[^'\n]*'|#[^\n]*|"
    r"^[ \t]*(?P<header>\[\[[ \t]*(?:rule|\"rule\"|'rule')[ \t]*\]\])",
    re.DOTALL | re.MULTILINE,
)


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
    """The text of a rule file, None when there is no such file."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except IsADirectoryError:
        problem, remedy = "is a folder, where a file of rules is expected", "Move the folder away."
    except PermissionError:
        problem, remedy = "cannot be read: permission denied", f"Make it yours and readable: chmod u+r {file}"
    except UnicodeDecodeError as error:
        problem, remedy = f"is not UTF-8 text (byte {error.start})", "Save it as UTF-8."
    except OSError as error:
        problem, remedy = f"cannot be read: {error.strerror}", "Put that right; rules are never skipped."
    raise RuleError(problem, file=str(file), remedy=remedy)


@lru_cache(maxsize=16)
def parse(file: Path, text: str, layer: Layer, *, settings: bool = False) -> RuleFile:
    """The rules of a file with this text; the same text is not parsed again each time that rules are looked at anew."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, line, remedy = config.no_toml(text, error)
        raise RuleError(problem, file=str(file), line=line, remedy=remedy or _remedy(text, line)) from None
    _known(file, text, tables, settings)
    rules = tuple(_rules(file, text, tables, layer))
    _single(rules)
    return RuleFile(file, text, rules, _packs(file, text, tables), _off(file, text, tables))


def _remedy(text: str, line: int) -> str:
    """How rules are written."""
    lines = text.splitlines()
    bad = lines[line - 1].strip() if line <= len(lines) else ""
    if bad.startswith("[") and "rule" in bad:
        return "A rule begins with [[rule]]"
    return 'A rule is written\n    [[rule]]\n    allow = "Bash(git log:*)"'


def _known(file: Path, text: str, tables: Mapping[str, Any], settings: bool) -> None:
    known = config.KEYS if settings else ("format", "rule", "packs", "off")
    for key in tables:
        if key not in known:
            where = config.line_of(text, key)
            raise RuleError(f"unknown key {key!r}", file=str(file), line=where, remedy=config.nearest(key, known))
    wrong = config.no_format(tables.get("format", FORMAT))
    if wrong:
        raise RuleError(wrong[0], file=str(file), line=config.line_of(text, "format"), remedy=wrong[1])


def _rules(file: Path, text: str, tables: Mapping[str, Any], layer: Layer) -> Iterator[Rule]:
    given = tables.get("rule", [])
    lines = list(_headers(text))
    if not isinstance(given, list) or not all(isinstance(t, dict) for t in given):
        where = config.line_of(text, "rule")
        raise RuleError(
            "`rule` is not a list of tables", file=str(file), line=where, remedy="Head each rule with [[rule]]."
        )
    for n, table in enumerate(given):
        line = lines[n] if len(lines) == len(given) else config.line_of(text, "rule")
        try:
            yield codec.from_table(table, Source(layer, str(file), line))
        except RuleError as error:
            at = _within(text, line, error.problem, table) or line
            raise RuleError(error.problem, file=str(file), line=at, remedy=error.remedy) from None
    yield from _listed(file, text, tables.get("permissions", {}), layer)


def _headers(text: str) -> Iterator[int]:
    """The line of each `[[rule]]`."""
    line, at = 1, 0
    for found in _TOKENS.finditer(text):
        if found["header"]:
            start = found.start("header")
            line += text.count("\n", at, start)
            at = start
            yield line


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
    where = config.line_of(text, "permissions")
    if not isinstance(lists, dict):
        raise RuleError(
            "`permissions` is not a table", file=str(file), line=where, remedy='Write: [permissions]\n  allow = ["…"]'
        )
    for key, texts in lists.items():
        start = where or 1
        found = [
            n
            for n, content in enumerate(text.splitlines(), 1)
            if n >= start and re.search(rf"\b{re.escape(key)}\b\s*=", content)
        ]
        at = found[0] if found else where
        if key not in ("allow", "ask", "deny"):
            remedy = config.nearest(key, ("allow", "ask", "deny"))
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
        where = config.line_of(text, "packs")
        raise RuleError(
            "`packs` is not a table of true and false", file=str(file), line=where, remedy="Write: packs = {git = true}"
        )
    return given


def _off(file: Path, text: str, tables: Mapping[str, Any]) -> tuple[str, ...]:
    given = tables.get("off", [])
    if not isinstance(given, list) or not all(isinstance(v, str) for v in given):
        where = config.line_of(text, "off")
        raise RuleError(
            "`off` is not a list of texts", file=str(file), line=where, remedy='Write: off = ["Bash(ls:*)"]'
        )
    return tuple(given)
