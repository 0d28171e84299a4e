"""`hitl help`: short pages, Markdown as it was written, each with commands that can be copied."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

from hitl_cli.cli.declared import Argument
from hitl_cli.errors import UsageError

FOLDER = Path(__file__).parent.parent / "help"


def topics() -> dict[str, str]:
    """Each topic and the title of its page."""
    return {
        page.stem: page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for page in sorted(FOLDER.glob("*.md"))
    }


def help_(topic: Annotated[str | None, Argument("A page; without one, the list.")] = None) -> int:
    """Short pages about what people do with hitl."""
    known = topics()
    if topic is None:
        width = max(map(len, known), default=0)
        print("\n".join(f"hitl help {name:<{width}}  {title}" for name, title in known.items()))
        print("\n`hitl --help` lists the commands, `hitl COMMAND --help` the options of one.")
        return 0
    if topic in {schema.stem for schema in FOLDER.glob("*.json")}:
        print((FOLDER / f"{topic}.json").read_text(encoding="utf-8").rstrip())
        return 0
    if topic not in known:
        close = difflib.get_close_matches(topic, known, 1, 0.4)
        nearest = f"Did you mean `hitl help {close[0]}`?" if close else f"Pages: {', '.join(known)}."
        raise UsageError(f"There is no page {topic!r}.\n  {nearest}")
    print((FOLDER / f"{topic}.md").read_text(encoding="utf-8").rstrip())
    return 0
