"""Readings of command texts in a workspace `/ws` with the home `/home/u`, in the forms the tests compare."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hitl_cli.access import Command, Opaque, Place, ReadPath, Unknown, Word, WritePath
from hitl_cli.shell.reader import Reading, read

PLACE = Place("/ws", ("/ws",), "/home/u")


def shown(word: Word) -> str:
    """A literal word as it is, an unknown one as `‹text›`."""
    return word if isinstance(word, str) else f"‹{word.text}›"


class Said:
    """What the reader said of one text."""

    def __init__(self, text: str) -> None:
        self.reading: Reading = read(text, PLACE)
        self.accesses = self.reading.accesses
        self.commands = [a for a in self.accesses if isinstance(a, Command)]
        self.runs = [" ".join(map(shown, c.words)) for c in self.commands]
        self.needs = [" ".join(map(shown, c.words)) for c in self.commands if not c.free]
        self.writes = [a.path for a in self.accesses if isinstance(a, WritePath)]
        self.reads = [a.path for a in self.accesses if isinstance(a, ReadPath) and not a.listing]
        self.opaque = [a.reason for a in self.accesses if isinstance(a, Opaque)]
        self.opaque_words = [w for a in self.accesses if isinstance(a, Opaque) for w in a.words]
        self.acts = [(shown(c.words[act.at]), act.does) for c in self.commands for act in c.acts]
        self.folders = {" ".join(map(shown, c.words)): c.cwd for c in self.commands}

    def word(self, at: int = 1) -> Word:
        return self.commands[0].words[at]

    def unknown(self, at: int = 1) -> Unknown:
        word = self.word(at)
        assert isinstance(word, Unknown)
        return word


@pytest.fixture
def said() -> Callable[[str], Said]:
    return Said
