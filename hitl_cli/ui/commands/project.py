"""Commands about the project: what changed, what the model is told of it, which folders belong to it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hitl_cli import instructions
from hitl_cli.instructions import NAME, near
from hitl_cli.ui.clean import clean
from hitl_cli.ui.commands.host import Host
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.diff import draw, parse
from hitl_cli.ui.theme import Line


async def diff(repl: Host, argument: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "git", "-c", "core.fsmonitor=false", "-C", repl.setup.place.cwd,
        "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD", "--", *argument.split(),
        env={**os.environ, "LC_ALL": "C"},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    if b"bad revision" in errors or b"ambiguous argument 'HEAD'" in errors:
        repl.say("There is no commit to compare with yet.")
    elif process.returncode:
        repl.say(errors.decode("utf-8", "replace").strip(), "warn")
    elif not output.strip():
        repl.say("Nothing differs from the last commit.")
    else:
        repl.print(_diff_lines(output.decode("utf-8", "replace"), repl.width))


def _diff_lines(text: str, width: int) -> list[Line]:
    """Git's diff of several files, each under its name."""
    lines: list[Line] = []
    for part in f"\n{text}".split("\ndiff --git ")[1:]:
        head, _, hunks = part.partition("\n@@")
        lines += [[], [("title", "  " + clean(head.partition("\n")[0].rpartition(" b/")[2]))]]
        if not hunks:
            lines.append([("dim", "  (no text to compare)")])
        lines += [line for _, line in draw(parse("@@" + hunks), width)] if hunks else []
    return lines


def init(repl: Host, argument: str) -> None:
    repl.talk.send(Typed("/init", INIT))


INIT = """Write AGENTS.md at the top of this repository: the page that a coding assistant reads before it works here.
If there is one, improve it and keep what still holds.

Look first: the README, what defines the build (package and project files, Makefile, CI), the style settings, the tests,
and the parts of the code that the others depend on; also what other assistants' rule files here already say.

Then write, in this order and in under 60 lines:
1. What this is, in two sentences, and how it is laid out: the folders that matter, with what each is for.
2. The exact commands to install, build, run, test everything, test one thing, and check the style. Check each against
   the file that defines it; leave out what you cannot find.
3. The conventions that the code follows and that a newcomer would get wrong, each with the place that shows it.
4. What must not be touched or done, where the repository says so.

Leave out what is true of every project, what the code says better itself, and anything that you only guess. At the end
tell me in three lines what is in it and what you could not find out."""


async def memory(repl: Host, argument: str) -> None:
    """Which instructions the model was given, or with `project` or `user` such a file in the editor."""
    place, paths = repl.talk.agent.place, repl.setup.paths
    if not argument:
        given = instructions.gather(place, paths).notices(place) or ["There are no instructions."]
        later = [f"Given with a file below it: {near(f, place)}" for f in repl.talk.account.instructions]
        own, project = near(str(paths.config / NAME), place), near(str(Path(place.workspace, NAME)), place)
        repl.say("\n".join([*given, *later, f"/memory project edits {project}, /memory user {own}."]), "")
        return
    if argument not in ("project", "user"):
        raise ValueError("/memory, /memory project or /memory user")
    folder = paths.config if argument == "user" else Path(place.workspace)
    file = folder / NAME
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = await repl.edit(before, ".md")
    if after is None or after == before:
        repl.say("Nothing was changed.")
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(after, encoding="utf-8")
    await repl.talk.set_up()
    repl.say(f"Kept in {near(str(file), place)}; it counts from the next message.")


async def add_dir(repl: Host, argument: str) -> None:
    if not argument:
        repl.say(f"Folders: {', '.join(repl.talk.agent.place.roots)}. One more: /add-dir DIR", "")
        return
    folder = os.path.abspath(os.path.join(repl.setup.place.cwd, os.path.expanduser(argument)))
    if await repl.talk.set_up(add_dirs=(*repl.talk.partner.settings.add_dirs, folder)):
        repl.say(f"{folder} is part of the workspace from the next message on.")
