"""Commands about the project: what changed, what the model is told of it, which folders belong to it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

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
    for part in text.split("diff --git ")[1:]:
        head, _, hunks = part.partition("\n@@")
        lines += [[], [("title", clean(head.partition("\n")[0].rpartition(" b/")[2]))]]
        if not hunks:
            lines.append([("dim", "(no text to compare)")])
        lines += [line for _, line in draw(parse("@@" + hunks), width)] if hunks else []
    return lines


def init(repl: Host, argument: str) -> None:
    repl.talk.send(Typed("/init", INIT))


INIT = """Look at this repository and write AGENTS.md at its top (or improve the one there): what it is, how it is laid
out, the exact commands to build it, test it and check its style, and the conventions a newcomer would get wrong. Under 60
lines, nothing that the code says better itself. Check each command by reading what defines it."""


async def memory(repl: Host, argument: str) -> None:
    """The project's AGENTS.md, or the person's own with `user`, in the editor."""
    folder = repl.setup.paths.config if argument == "user" else Path(repl.setup.place.workspace)
    file = folder / "AGENTS.md"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = await repl.edit(before, ".md")
    if after is None or after == before:
        repl.say("Nothing was changed.")
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(after, encoding="utf-8")
    await repl.talk.set_up()
    repl.say(f"Kept in {file}; it counts from the next message.")


async def add_dir(repl: Host, argument: str) -> None:
    if not argument:
        repl.say(f"Folders: {', '.join(repl.talk.agent.place.roots)}. One more: /add-dir DIR", "")
        return
    folder = os.path.abspath(os.path.join(repl.setup.place.cwd, os.path.expanduser(argument)))
    if await repl.talk.set_up(add_dirs=(*repl.talk.partner.settings.add_dirs, folder)):
        repl.say(f"{folder} is part of the workspace from the next message on.")
