"""What the model is told before the conversation: how to work, where it is, and the project's own instructions.

Projects write theirs in `AGENTS.md`; the person's own stands in the configuration folder. All that apply are read, from
the widest to the nearest, and named to the person, since whoever writes them steers the model. Those of folders below the
session's own are given with the first result about a file there (`tools.guided`).

A project's file may be a link, but only to a file of the same workspace: no repository has this program send a file from
elsewhere to the model.
"""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from hitl_cli.access import Place, inside
from hitl_cli.paths import Paths
from hitl_cli.records import Struct

NAME = "AGENTS.md"
LARGEST = 64 * 1024  # characters of one file; more is cut, and the model is told so


class Instructions(Struct, frozen=True):
    """`text` for the model; `files` are the instruction files that were read, `cut` those too long to be read whole, and
    `left_out` those that lead out of the workspace."""

    text: str
    files: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def notices(self, place: Place) -> list[str]:
        """What a person should see of it, in lines."""
        lines = [f"Instructions: {', '.join(near(f, place) + ' (cut)' * (f in self.cut) for f in self.files)}"]
        left = [f"{near(f, place)} leads out of the workspace and was not read." for f in self.left_out]
        return (lines if self.files else []) + left


def gather(place: Place, paths: Paths) -> Instructions:
    """The instructions for a session in `place`; a file that cannot be read is passed over as if absent."""
    template = (Path(__file__).parent / "instructions.md").read_text(encoding="utf-8")
    extra = [f"- {root}" for root in place.roots[1:]]
    folders = "\n# Further folders you may work in\n" + "\n".join(extra) if extra else ""
    system = f"{platform.system()} {platform.release()}"
    parts = [_fill(template, cwd=place.cwd, system=system, folders=folders).strip()]
    files, cut, left_out = [], [], []
    for file in candidates(place, paths):
        root = None if file.parent == paths.config else place.workspace
        if root and os.path.lexists(file) and not _stays(file, root):
            left_out.append(str(file))
        elif (text := _read(file)) is not None:
            files.append(str(file))
            if len(text) > LARGEST:
                cut.append(str(file))
            parts.append(f"# Instructions from {file}\n{_cut(text)}")
    return Instructions("\n\n".join(parts), tuple(files), tuple(cut), tuple(left_out))


def beside(path: str, place: Place, readable: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """(file, its text) of the instructions for the file `path` that a session does not begin with, widest first."""
    root = max((root for root in place.roots if inside(path, os.path.realpath(root))), key=len, default=None)
    if root is None:
        return
    real = os.path.realpath(root)
    folders = [Path(path).parent, *Path(path).parent.parents]
    for folder in reversed(folders[: folders.index(Path(real)) + 1]):
        file = folder / NAME
        at_start = inside(os.path.realpath(place.cwd), str(folder)) and inside(
            str(folder), os.path.realpath(place.workspace)
        )
        if at_start or str(file) == path or not _stays(file, real) or not readable(str(file)):
            continue
        if (text := _read(file)) is not None:
            yield str(file), _cut(text)


def near(file: str, place: Place) -> str:
    """A file as people read it: from the workspace, or with `~` for the home folder."""
    if inside(file, place.workspace):
        return os.path.relpath(file, place.workspace)
    return "~" + file[len(place.home) :] if inside(file, place.home) else file


def _stays(file: Path, root: str) -> bool:
    return inside(os.path.realpath(file), os.path.realpath(root))


def _read(file: Path) -> str | None:
    """The text of a regular file, a little more than `LARGEST` of it; None where there is none that can be read."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as opened:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            return opened.read(4 * LARGEST + 1).decode("utf-8", "replace")
    except OSError:
        return None


def _cut(text: str) -> str:
    return text.strip() if len(text) <= LARGEST else text[:LARGEST].strip() + "\n[the rest of this file was left out]"


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
