"""What Tab and typing offer: slash commands and their arguments at the start of the line, `@` files anywhere.

Files come from git (tracked, and untracked but not ignored), asked in a thread with a time limit and kept for a few
seconds; where git cannot say, from a bounded walk. Nothing here may hold up a key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hitl_cli import paths
from hitl_cli.regex import later
from hitl_cli.ui.clean import clean

SHOWN = 50
FRESH = 5.0  # seconds that a listing of files is believed
WALKED = 20_000  # entries looked at where git cannot say
_FILE = later(r"(?:^|(?<=\s))@(\S*)$")


class Files:
    """File names below `folder`, relative to it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._names: list[str] = []
        self._read = -FRESH

    def names(self) -> list[str]:
        now = time.monotonic()
        if now - self._read > FRESH:
            self._names = paths.git_files(self.folder) or sorted(islice(_walk(self.folder), WALKED))
            self._read = time.monotonic()
        return self._names

    def matching(self, part: str) -> list[str]:
        """Names that hold `part`: those whose base name begins with it first, then shorter ones first."""
        wanted = part.lower()
        found = [name for name in self.names() if wanted in name.lower()]
        return sorted(found, key=lambda n: (not os.path.basename(n).lower().startswith(wanted), len(n), n))[:SHOWN]


def _walk(folder: str) -> Iterable[str]:
    until = time.monotonic() + 1.0
    for at, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            yield os.path.relpath(os.path.join(at, name), folder)
        if time.monotonic() > until:
            return


class ComposerCompleter(Completer):
    """`commands`: name (with its slash) -> words about it. `arguments`: name -> what may follow it."""

    def __init__(
        self,
        files: Files,
        commands: Callable[[], Mapping[str, str]],
        arguments: Callable[[str], Iterable[str]],
    ) -> None:
        self.files, self.commands, self.arguments = files, commands, arguments

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before:
            name, blank, argument = before.partition(" ")
            if not blank:
                for command, words in self.commands().items():
                    if command.startswith(name):
                        yield Completion(command, -len(name), display=command, display_meta=words)
            else:
                for choice in self.arguments(name):
                    if choice.startswith(argument):
                        yield Completion(choice, -len(argument), display=clean(choice))
            return
        match = _FILE.search(before)
        if match:
            for name in self.files.matching(match[1]):
                written = f'@"{name}"' if " " in name else "@" + name
                yield Completion(written, -len(match[0].lstrip()), display=clean(name).replace("\n", "␊"))
