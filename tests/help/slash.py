"""The table of slash commands on the page of keys."""

from __future__ import annotations

import re

from hitl_cli.ui.commands import COMMANDS


def table() -> str:
    width = max(len(f"{c.name} {c.takes}") for c in COMMANDS)
    return "".join(f"    {f'{c.name} {c.takes}'.rstrip():<{width}}  {c.help}\n" for c in COMMANDS)


def renewed(page: str) -> str:
    """The page with the table as it should be."""
    return re.sub(r"(^    /.*\n)+", lambda _: table(), page, count=1, flags=re.MULTILINE)
