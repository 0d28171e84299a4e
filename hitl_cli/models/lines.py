"""Where the tables of a script stand in its text: TOML readers give no lines, so the headers are looked for."""

from __future__ import annotations

import re

from hitl_cli.records import Struct


class Table(Struct, frozen=True):
    """Where a table stands: its path of names and ordinals, for example ("turn", 0, "reply", 2)."""

    path: tuple[str | int, ...] = ()

    def under(self, *more: str | int) -> Table:
        return Table(self.path + more)


class Lines:
    """Finds the line of the nth `[[turn]]`, of a reply in it, and of a key or word inside such a table."""

    _HEADER = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?\s*(?:#.*)?$")

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._starts: dict[tuple[str | int, ...], int] = {(): 1}
        self._ends: dict[tuple[str | int, ...], int] = {}
        self._scan()

    def _scan(self) -> None:
        turn, reply, answer = -1, -1, -1
        path: tuple[str | int, ...] = ()
        open_: tuple[str | int, ...] = ()
        quote = ""
        for number, line in enumerate(self._lines, start=1):
            header = None if quote else self._HEADER.match(line)
            for mark in re.findall(r'"""|\'\'\'', line):
                quote = "" if quote == mark else quote or mark
            if header and header[1] in ("turn", "turn.reply", "answer"):
                if header[1] == "turn":
                    turn, reply, path = turn + 1, -1, ("turn", turn + 1)
                elif header[1] == "turn.reply":
                    reply, path = reply + 1, ("turn", turn, "reply", reply + 1)
                else:
                    answer, path = answer + 1, ("answer", answer + 1)
                self._ends[open_] = number
                self._starts[path], open_ = number, path
        self._ends[open_] = len(self._lines) + 1

    def of(self, table: Table, key: str = "", word: str = "") -> int:
        """The 1-based line of `key` (or of the last time that the quoted `word` stands) in the table, else of its header."""
        path = table.path
        while path not in self._starts:
            path = path[:-1]
        start, end = self._starts[path], self._ends.get(path, len(self._lines) + 1)
        wanted = rf"[\"']{re.escape(word)}[\"']" if word else rf"(?:^|[\s{{,.\[]){re.escape(key)}[\"']?\s*[=.\]]"
        found = [number for number in range(start, end) if re.search(wanted, self._lines[number - 1])]
        if word and found:
            return found[-1]
        return found[0] if key and found else start
