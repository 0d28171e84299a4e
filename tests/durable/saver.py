"""Saves rules one after another: `saver.py CONFIG STATE WORK NAME COUNT`; every second one is a rule all savers save."""

from __future__ import annotations

import sys
from pathlib import Path

from hitl_cli import rulebook
from hitl_cli.access import Place
from hitl_cli.paths import Paths
from hitl_cli.permissions import codec


def main(config: str, state: str, work: str, name: str, count: str) -> None:
    paths, place = Paths(Path(config), Path(state)), Place(work, (work,), work)
    for n in range(int(count)):
        rulebook.add(codec.parse(f"Bash(tool {name} {n})"), "user", place, paths)
        if n % 2:
            rulebook.add(codec.parse("Bash(shared)"), "user", place, paths)


if __name__ == "__main__":
    main(*sys.argv[1:])
