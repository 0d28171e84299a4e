"""What the person typed, over all sessions and windows: one JSON string a line, oldest first, for the user alone.

Every entry is one append under a lock, so that windows never tear each other's lines; a line that cannot be read is
skipped. When the file has grown past `KEPT` entries twice over, the oldest are dropped.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from prompt_toolkit.history import History

from hitl_cli.paths import private

KEPT = 2000


class SharedHistory(History):
    """Raises nothing: a history that cannot be kept must not stop a person from typing."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def load_history_strings(self) -> Iterable[str]:
        """Newest first, as prompt_toolkit wants it; an entry that repeats the one before it once."""
        try:
            with _locked(self.path) as file:
                entries = _entries(file)
        except OSError:
            return
        newer = None
        for text in reversed(entries[-KEPT:]):
            if text != newer:
                yield text
            newer = text

    def append_string(self, string: str) -> None:
        if self._loaded_strings and self._loaded_strings[0] == string:
            return
        super().append_string(string)

    def store_string(self, string: str) -> None:
        with suppress(OSError), _locked(self.path) as file:
            entries = _entries(file)
            if len(entries) > 2 * KEPT:
                file.seek(0)
                file.truncate()
                file.write(b"".join(_line(text) for text in entries[-KEPT:]))
            file.seek(0, os.SEEK_END)
            file.write(_line(string))


def _line(text: str) -> bytes:
    return json.dumps(text).encode() + b"\n"


def _entries(file: BinaryIO) -> list[str]:
    found = []
    for line in file.read().split(b"\n"):
        with suppress(ValueError):
            text = json.loads(line)
            if isinstance(text, str):
                found.append(text)
    return found


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    private(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with open(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
        file.flush()
