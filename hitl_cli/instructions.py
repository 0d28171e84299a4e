"""What the model is told before the conversation: how to work, where it is, and the project's own instructions.

Projects write theirs in `AGENTS.md`; the person's own stands in the configuration folder. All that apply are read, from
the widest to the nearest, and named to the person, since whoever writes them steers the model.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from hitl_cli.access import Place
from hitl_cli.paths import Paths

NAME = "AGENTS.md"
LARGEST = 64 * 1024  # characters of one file; more is cut, and the model is told so


@dataclass(frozen=True, slots=True)
class Instructions:
    """`text` for the model; `files` are the instruction files that were read, `cut` those too long to be read whole."""

    text: str
    files: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


def gather(place: Place, paths: Paths) -> Instructions:
    """The instructions for a session in `place`; a file that cannot be read is passed over as if absent."""
    template = (Path(__file__).parent / "instructions.md").read_text(encoding="utf-8")
    extra = [f"- {root}" for root in place.roots[1:]]
    folders = "\n# Further folders you may work in\n" + "\n".join(extra) if extra else ""
    system = f"{platform.system()} {platform.release()}"
    parts = [_fill(template, cwd=place.cwd, system=system, folders=folders).strip()]
    files, cut = [], []
    for file in candidates(place, paths):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        files.append(str(file))
        if len(text) > LARGEST:
            cut.append(str(file))
            text = text[:LARGEST] + "\n[the rest of this file was left out]"
        parts.append(f"# Instructions from {file}\n{text.strip()}")
    return Instructions("\n\n".join(parts), tuple(files), tuple(cut))


def candidates(place: Place, paths: Paths) -> list[Path]:
    """Where instruction files may lie: the person's own, then from the workspace down to the folder of the session."""
    workspace, here = Path(place.workspace), Path(place.cwd)
    chain = [here, *here.parents]
    down = list(reversed(chain[: chain.index(workspace) + 1])) if workspace in chain else [workspace, here]
    return [paths.config / NAME, *(folder / NAME for folder in down)]


def _fill(template: str, **values: str) -> str:
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return template
