"""Texts made of pieces that the reader accepts and of pieces it should not, each run by a real bash.

`HITL_SOUNDNESS=100000` runs that many; the seed is `HITL_SEED`, else fixed.
"""

from __future__ import annotations

import ast
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

PIECES_FILE = Path(__file__).parent / "pieces.txt"
PIECES = {
    name: [ast.literal_eval(line) for line in body.strip().splitlines()]
    for name, body in re.findall(r"^\[(\w+)\]\n(.*?)(?:\n\n|\Z)", PIECES_FILE.read_text(), re.DOTALL | re.MULTILINE)
}


class Maker:
    """Random texts by a grammar; `wild` is how often a piece is one that bash or the reader may refuse."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.later: list[str] = []

    def one_of(self, *makers: Any) -> Any:
        return self.random.choice(makers)

    def word(self) -> str:
        pick = self.random.choice
        return pick(PIECES["words"]) if self.random.random() < 0.5 else pick(PIECES["plain"])

    def words(self, most: int = 3) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(0, most)))

    def program(self) -> str:
        return self.random.choice(
            ["p1", "p2", "p3", "f1", "f2", "'p1'", "p\\2", 'p"1"', "$'p1'", "p\\\n1", "nosuch", "./p1"]
            if self.random.random() < 0.3
            else ["p1", "p2", "f1"]
        )

    def wrapper(self) -> str:
        return str(self.random.choice(PIECES["wrappers"]))

    def simple(self) -> str:
        r = self.random.random()
        parts = []
        if self.random.random() < 0.2:
            parts.append(self.random.choice(PIECES["assignments"]))
        if r < 0.15:
            parts.append(self.builtin())
        elif r < 0.35:
            parts.append(f"{self.wrapper()} {self.program()} {self.words()}")
        elif r < 0.42:
            parts.append(self.runner())
        elif r < 0.95:
            parts.append(f"{self.program()} {self.words()}")
        if self.random.random() < 0.25:
            parts.insert(self.random.randint(0, len(parts)), self.random.choice(PIECES["redirects"]))
        if self.random.random() < 0.08:
            mark, body = self.random.choice(PIECES["heredocs"])
            parts.append(mark)
            self.later.append(body)
        return " ".join(parts) or "p1"

    def builtin(self) -> str:
        return str(self.random.choice(PIECES["builtins"]))

    def runner(self) -> str:
        """Programs that run others in turn."""
        return str(self.random.choice(PIECES["runners"]))

    def pipeline(self, depth: int) -> str:
        text = self.command(depth)
        while self.random.random() < 0.25:
            text += self.one_of(" | ", "|", " |& ", " |\n ") + self.command(depth)
        return self.one_of("", "", "", "", "", "! ", "time ") + text

    def list(self, depth: int) -> str:
        text = self.pipeline(depth)
        while self.random.random() < 0.45:
            text += self.separator() + self.pipeline(depth)
        return text

    def separator(self) -> str:
        if self.later or self.random.random() < 0.2:
            bodies, self.later = self.later, []
            return "\n" + "".join(body + "\n" for body in bodies)
        return self.one_of(
            "; ",
            ";",
            " && ",
            "&&",
            " || ",
            "||",
            "\n",
            " &\n",
            " & ",
            "\n\n  ",
            " # note\n",
            " && \\\n ",
            ";\n",
            " &&\n",
        )

    def end(self) -> str:
        if self.later or self.random.random() < 0.3:
            bodies, self.later = self.later, []
            return "\n" + "".join(body + "\n" for body in bodies)
        return "; "

    def command(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.65:
            return self.simple()
        body = lambda: self.list(depth - 1)  # noqa: E731
        r = self.random.randrange(12)
        if r == 0:
            text = "( " + body() + self.one_of(" )", ")") if not self.later else "( p1 )"
        elif r == 1:
            text = "{ " + body() + self.end() + "}"
        elif r == 2:
            text = f"if {body()}{self.end()}then {body()}{self.end()}fi"
        elif r == 3:
            text = f"if {body()}{self.end()}then {body()}{self.end()}else {body()}{self.end()}fi"
        elif r == 4:
            text = f"for {self.one_of('x', 'y', 'v')} in {self.words()}{self.end()}do {body()}{self.end()}done"
        elif r == 5:
            text = f"while f1{self.end()}do {body()}{self.end()}done"
        elif r == 6:
            text = f"until p1{self.end()}do {body()}{self.end()}done"
        elif r == 7:
            text = f"case {self.word()} in x) {body()}{self.end()};; a|'q r') {body()} ;; *) {body()}{self.end()}esac"
        elif r == 8:
            text = f'p1 "$({body()}{self.end()})"'
        elif r == 9:
            text = f"p1 | while read x{self.end()}do {body()}{self.end()}done"
        elif r == 10:
            text = f"for ((i=0;i<2;i++)){self.end()}do {body()}{self.end()}done"
        else:
            text = f"g() {{ {body()}{self.end()}}}"
        if self.random.random() < 0.2:
            text += " " + self.random.choice(PIECES["redirects"])
        return text

    def text(self) -> str:
        self.later = []
        text = self.list(self.random.randint(0, 3))
        if self.later:
            text += self.end()
        if self.random.random() < 0.15:
            text = self.mutated(text)
        return text

    def mutated(self, text: str) -> str:
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(text) + 1)
            kind = self.random.randrange(3)
            if kind == 0:
                text = text[:at] + text[at + 1 :]
            elif kind == 1:
                text = text[:at] + self.random.choice(" \n;&|()'\"\\$`{}<>#!=*\t") + text[at:]
            else:
                end = at + self.random.randrange(6)
                text = text[:at] + text[at:end] + text[at:]
        return text


def _confined(text: str) -> bool:
    """A text whose redirections cannot leave the scratch folder, whatever bash makes of it."""
    return (
        not any(mark in text.replace("$PWD/", "") for mark in ("/ ", ">/", "> /", ">\\\n/", ">'/", '>"/'))
        and ".././.." not in text
    )


def _agree(scratch: Any, count: int, seed: int) -> None:
    maker = Maker(random.Random(seed))
    read = 0
    faults: list[str] = []
    for _ in range(count):
        text = maker.text()
        if not _confined(text):
            continue
        missed = scratch.disagreements(text)
        read += missed is not None
        if missed:
            faults.append(f"{text!r}\n    " + "\n    ".join(missed))
    assert not faults, f"{len(faults)} texts of {read} that were read:\n" + "\n".join(faults[:20])
    assert read > count / 5, "most texts have to be readable, or the test proves little"


def test_bash_does_nothing_that_the_reader_did_not_say(scratch: Any) -> None:
    _agree(scratch, 300, 1)


@pytest.mark.slow  # a bash is started for each
def test_a_thousand_texts_agree_with_bash(scratch: Any) -> None:
    _agree(scratch, 1000, 1)


@pytest.mark.slow
def test_ten_thousand_texts_agree_with_bash(scratch: Any) -> None:
    _agree(scratch, int(os.environ.get("HITL_SOUNDNESS", "10000")), int(os.environ.get("HITL_SEED", "2")))
