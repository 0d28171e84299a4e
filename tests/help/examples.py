"""The page of examples: the five short programs of `tests/seeds/examples` under names that say what they show."""

from __future__ import annotations

import textwrap
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "seeds/examples"
PAGE = Path(__file__).parent.parent.parent / "hitl_cli/help/examples.md"
# The name on the page, its title, and how the program is run.
PROGRAMS = {
    "agno": ("payment", "A side effect happens only after a yes", "python3 payment.py"),
    "vibes": ("cleaning", "A run that waits ends, and is resumed", "python3 cleaning.py"),
    "agentscope": ("folders", "Rules and results from elsewhere, with events", "python3 folders.py"),
    "haystack": (
        "policies",
        "Who is asked about what is a policy",
        "printf 'y\\nm\\n\\n10\\n' | python3 policies.py 2>/dev/null",
    ),
    "llm4s": ("interrupts", "Everything a turn can wait for", "python3 interrupts.py"),
}
HEAD = """# Examples: five short programs with the library

Each program has a scripted model beside it, so all of them run as they stand.
`hitl help python` lists the names that they use.
"""


def sections() -> list[str]:
    """The page in pieces: the head, then for each program its files and the command that runs it."""
    return [HEAD, *(_section(file, *about) for file, about in PROGRAMS.items())]


def _section(file: str, name: str, title: str, command: str) -> str:
    program, script = ((FOLDER / f"{file}.{end}").read_text(encoding="utf-8") for end in ("py", "toml"))
    program = program.replace(f"script:{file}.toml", f"script:{name}.toml")
    blocks = (f"# {name}.py\n{program}", f"# {name}.toml\n{script}", f"$ {command}")
    return f"## {title}\n\n" + "\n".join(textwrap.indent(block, "    ") for block in blocks) + "\n"
