"""The person's own commands: `<config>/commands/NAME.md` makes `/NAME` send its text to the model.

`$ARGUMENTS` in the text stands for what was typed behind the name; a first line that is a heading is the help.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def own_commands(folder: Path) -> Mapping[str, str]:
    """Name (with its slash) -> text; files that cannot be read are passed over."""
    found: dict[str, str] = {}
    for file in sorted(folder.glob("*.md")):
        try:
            found["/" + file.stem] = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return found


def summary(text: str) -> str:
    """The help of an own command: its first line."""
    return text.strip().partition("\n")[0].lstrip("# ").strip()


def filled(text: str, arguments: str) -> str:
    """The message that an own command sends."""
    text = text.strip()
    if text.startswith("#"):
        text = text.partition("\n")[2].strip()
    return text.replace("$ARGUMENTS", arguments) if "$ARGUMENTS" in text else f"{text}\n\n{arguments}".strip()
