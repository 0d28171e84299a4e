"""The table, by examples: every line of program_examples.txt is one call and all that it does."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hitl_cli.access import Place
from hitl_cli.shell.programs import study

PLACE = Place(cwd="/w", roots=("/w",), home="/home/u")
EXAMPLES = [
    line
    for line in Path(__file__).with_name("program_examples.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_call_does_what_its_example_says(line: str) -> None:
    command, *clauses = line.split(" ;")
    expected: dict[str, object] = {}
    for clause in clauses:
        kind, *words = shlex.split(clause) or [""]
        if kind:
            expected[kind] = words
    found = study(tuple(shlex.split(command)), PLACE, "/w")
    actual: dict[str, object] = {
        "acts": [found.words[act.at] for act in sorted(found.acts, key=lambda act: act.at)],
        "reads": [word if isinstance(word, str) else word.text for word in found.reads],
        "writes": [word if isinstance(word, str) else word.text for word in found.writes],
        "removes": list(found.removes),
        "lists": list(found.lists),
        "urls": list(found.urls),
        "cwd": [found.folder] if found.folder is not None else [],
    }
    actual = {kind: words for kind, words in actual.items() if words}
    if found.opaque:
        actual["opaque"] = []
    assert actual == expected
    assert len(found.at) == len(found.writes)
