"""The tables of a rule file, and the lines on which its rules stand.

Nearly all rule files have one key a line and values of a few kinds: the program writes them so, the packs are kept so, and
people copy what they see. Such a text is read with one expression, in a fraction of the time and without loading
`tomllib`. All else, and whatever is wrong, is left to `tomllib`: what a file means is said in one place. It gives no lines,
so a scanner finds where the nth `[[rule]]` stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from json import loads
from typing import Any

from hitl_cli.regex import later

_PLAIN = r'[^"\\\x00-\x1f\x7f]*'
_STRING = rf'"{_PLAIN}(?:\\["\\bfnrt]{_PLAIN})*"'  # what TOML and JSON read alike
_LINE = later(
    rf"""(?:(?P<header>\[\[rule\]\])
    |(?P<key>[A-Za-z_]+)[ ]=[ ](?:
        (?P<value>{_STRING}|\[(?:{_STRING}(?:,[ ]{_STRING})*)?\]|true|false|[1-9][0-9]{{0,8}})
        |(?P<time>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:T|[ ])[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:Z|\+00:00))))?
    [ \t]*(?:\#[^\x00-\x08\n-\x1f\x7f]*)?(?:\n+|\Z)""",
    re.VERBOSE,
)
# What may hide a header: strings and comments are passed over.
_TOKENS = later(
    r'"""(?:\\.|(?!""").)*?"""|'
    r"'''.*?'''|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'[^'\n]*'|#[^\n]*|"
    r"^[ \t]*(?P<header>\[\[[ \t]*(?:rule|\"rule\"|'rule')[ \t]*\]\])",
    re.DOTALL | re.MULTILINE,
)
Tables = dict[str, Any]


def read(text: str) -> tuple[Tables, list[int]]:
    """The tables of a text, and the line of each `[[rule]]`. Raises `tomllib.TOMLDecodeError`."""
    plain = _plain(text)
    if plain is not None:
        return plain
    import tomllib

    return tomllib.loads(text), list(_headers(text))


def _plain(text: str) -> tuple[Tables, list[int]] | None:
    """As `read`, of simple lines; None for any other text."""
    tables: Tables = {}
    rules: list[Tables] = []
    lines: list[int] = []
    table, line, at = tables, 1, 0
    while at < len(text):
        found = _LINE.match(text, at)
        if found is None:
            return None
        header, key, value, time = found.groups()
        if header:
            table = {}
            rules.append(table)
            lines.append(line)
        elif key:
            if key in table or key == "rule":
                return None
            try:
                table[key] = _value(value) if value else datetime.fromisoformat(time)
            except ValueError:
                return None
        line += text.count("\n", at, found.end())
        at = found.end()
    return (tables | {"rule": rules} if rules else tables), lines


def _value(text: str) -> Any:
    return loads(text) if "\\" in text or text[0] != '"' else text[1:-1]


def _headers(text: str) -> Iterator[int]:
    """The line of each `[[rule]]`."""
    line, at = 1, 0
    for found in _TOKENS.finditer(text):
        if found["header"]:
            start = found.start("header")
            line += text.count("\n", at, start)
            at = start
            yield line
