"""Patterns compiled at their first use are those that `re.compile` gives, and every one in the package is a pattern."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from hitl_cli.regex import later

PACKAGE = Path(__file__).parent.parent / "hitl_cli"
USERS = [p for p in sorted(PACKAGE.rglob("*.py")) if "import later" in p.read_text(encoding="utf-8")]


def test_it_searches_and_replaces_as_a_compiled_one():
    word = later(r"(?P<first>[a-z])[a-z]*", re.IGNORECASE)
    assert word.search("12 Ab")["first"] == "A"
    assert [m.group() for m in word.finditer("one, Two")] == ["one", "Two"]
    assert (word.sub("-", "one two"), word.fullmatch("one two"), word.flags & re.IGNORECASE) == ("- -", None, 2)


def test_what_is_no_pattern_fails_when_it_is_used():
    with pytest.raises(re.error):
        later("(").match("")


@pytest.mark.parametrize("file", USERS, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_every_pattern_of_the_package_compiles(file):
    names = [
        target.id
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and getattr(node.value.func, "id", "") == "later"
    ]
    module = importlib.import_module("hitl_cli." + ".".join(file.relative_to(PACKAGE).with_suffix("").parts))
    for name in names:
        assert re.compile(getattr(module, name).pattern)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_only_single_characters_are_repeated_possessively(file):
    """Of a possessive group that fails half-way, Python before 3.11.5 keeps the half it took (its issue 106052)."""
    texts = [n.value for n in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(n, ast.Constant)]
    assert [
        text for text in texts if isinstance(text, str) and re.search(r"(?<![\\(])\)([*+?]|\{\d*,?\d*\})\+", text)
    ] == []
