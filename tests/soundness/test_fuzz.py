"""Random, mutated and hostile texts: the reader always answers, and what it says is well formed.

`HITL_FUZZ=100000` runs that many.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
from pathlib import Path

import pytest

from hitl_cli.access import Command, Opaque, Place, ReadPath, WritePath
from hitl_cli.shell.reader import Node, Reading, read

PLACE = Place("/ws", ("/ws",), "/home/u")
SAMPLE = Path(__file__).parents[3] / "shared" / "corpus" / "agent-commands-sample.jsonl"
PIECES_FILE = Path(__file__).parent / "pieces.txt"
PIECES, HOSTILE = (
    [ast.literal_eval(line) for line in body.strip().splitlines()]
    for name, body in re.findall(r"^\[(\w+)\]\n(.*?)(?:\n\n|\Z)", PIECES_FILE.read_text(), re.DOTALL | re.MULTILINE)
    if name in ("fuzz", "hostile")
)


def _well_formed(text: str) -> Reading:
    reading = read(text, PLACE)
    for access in reading.accesses:
        if isinstance(access, Command):
            assert access.words
            assert all(0 <= act.at < len(access.words) and act.does for act in access.acts), (text, access)
            assert len(access.forms) == len(access.spells)
        elif isinstance(access, ReadPath | WritePath):
            assert access.path.startswith("/")
            owner = access.by_command
            assert owner is None or isinstance(reading.accesses[owner], Command), (text, access)
        elif isinstance(access, Opaque):
            assert access.reason
    _covers(reading.tree, len(reading.accesses))
    return reading


def _covers(node: Node, most: int) -> None:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        assert 0 <= one.first <= one.last <= most
        waiting += one.kids


def _mutated(text: str, source: random.Random) -> str:
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(text) + 1)
        kind = source.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + source.randint(1, 4) :]
        elif kind == 1:
            text = text[:at] + source.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at : at + source.randint(1, 9)] + text[at:]
        else:
            text = text[:at] + chr(source.choice((0, 7, 13, 39, 34, 92, 96, 160, 8203, 55296, 128512))) + text[at + 1 :]
    return text


def _fuzz(count: int, seed: int) -> None:
    source = random.Random(seed)
    honest = [
        "git log | head -5 > x",
        'for f in a b; do cat "$f"; done',
        "cat <<'EOF'\n$(x)\nEOF\n",
        'x="$(ls "$a")" b',
    ]
    if SAMPLE.exists():
        honest += [json.loads(line)["command"] for line in SAMPLE.read_text().splitlines()]
    for _ in range(count):
        if source.random() < 0.5:
            text = "".join(source.choice(PIECES) + source.choice(("", " ")) for _ in range(source.randint(1, 30)))
        else:
            text = _mutated(source.choice(honest), source)
        _well_formed(text)


def test_random_and_mutated_texts_are_always_answered() -> None:
    _fuzz(5_000, 3)


@pytest.mark.slow
def test_a_hundred_thousand_random_texts_are_always_answered() -> None:
    _fuzz(int(os.environ.get("HITL_FUZZ", "100000")), int(os.environ.get("HITL_SEED", "4")))


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_of_one_piece_over_and_over_is_answered(piece: str) -> None:
    for size in (1_000, 60_000, 1_000_000):
        reading = _well_formed(piece * (size // len(piece)))
        assert size < 1_000_000 or any(isinstance(access, Opaque) for access in reading.accesses)
