"""`hitl trust`: let a repository's own settings count, bound to what they say now."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from hitl_cli.cli.declared import Argument
from hitl_cli.errors import UsageError
from hitl_cli.ui.clean import clean

Folder = Annotated[str, Argument("A folder of the repository.")]


def trust(directory: Folder = ".") -> int:
    """Let this repository's .hitl/config.toml count, once seen."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for

    paths = locate()
    place = place_for(directory, (), paths)
    state = rulebook.trust_state(place, paths)
    if not state.file.exists():
        raise UsageError(f"There is no {state.file}, so there is nothing to trust.")
    if state.trusted:
        print(f"{state.file} is trusted as it is.")
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("Trust is given at a terminal, by a person who has seen what it grants.\n  Run it there.")
    print(f"{state.file}\n")
    print(clean(state.shown))
    try:
        answer = input("\nTrust this content? It asks again when it changes. Type yes: ")
    except EOFError:
        answer = ""
        print()
    if answer.strip().lower() != "yes":
        print("Not trusted; nothing was changed.")
        return 1
    rulebook.trust(place, paths, state.digest)
    print("Trusted.")
    return 0


def untrust(directory: Folder = ".") -> int:
    """Take that back."""
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for

    paths = locate()
    place = place_for(os.path.abspath(directory), (), paths)
    print("No longer trusted." if rulebook.untrust(place, paths) else "It was not trusted.")
    return 0
