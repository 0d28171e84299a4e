"""`hitl demo`: the REPL on a scripted model in a scratch folder; without a terminal the story is played by itself."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

from hitl_cli.cli import streams
from hitl_cli.cli.declared import Option
from hitl_cli.cli.turn import Turn
from hitl_cli.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl_cli.demo import Demo
    from hitl_cli.interrupts import Answer
    from hitl_cli.outcome import Suspended


def demo(
    keep: Annotated[bool, Option("--keep", "Leave the scratch folder.")] = False,
    plain: Annotated[bool, Option("--plain", "Numbered lines, for screen readers.")] = False,
    no_color: Annotated[bool, Option("--no-color", "No colours.")] = False,
) -> int:
    """The REPL on a scripted model: no key, no network."""
    from hitl_cli import demo as story

    streams.interruptible()
    own = dict(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="hitl-demo-"))
    try:
        laid = story.lay(folder)
        os.environ.update(laid.environ)
        os.chdir(laid.repository)
        code = _play(laid, Turn(model=laid.model, plain=plain, no_color=no_color), own, keep)
        lines = story.closing(laid, kept=keep, environ=own)
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns - 1
            lines = tuple(fill(line, width, break_long_words=False, break_on_hyphens=False) for line in lines)
        print("\n" + "\n".join(lines))
        return code
    finally:
        os.chdir("/")
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _play(laid: Demo, turn: Turn, own: Mapping[str, str], kept: bool) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty():
        from hitl_cli.ui import keyboard

        with nullcontext() if turn.plain else keyboard.as_typed():
            from hitl_cli.cli.assemble import assemble
            from hitl_cli.ui.app import repl

            setup = assemble(turn).setup(laid.message, colour=not turn.no_color)
            setup.environ, setup.kept = own, kept
            return repl(setup)
    return asyncio.run(_alone(laid, turn))


async def _alone(laid: Demo, turn: Turn) -> int:
    """The story with the answers that stand in its file."""
    from hitl_cli import demo as story
    from hitl_cli.cli.assemble import assemble
    from hitl_cli.cli.narrate import Narrator
    from hitl_cli.cli.watch import Watch
    from hitl_cli.journal import Who

    print("Nobody is at a terminal here, so the demo answers its own questions.\n", flush=True)

    def respond(run: Suspended) -> Mapping[str, Answer]:
        return story.answers(laid.script, run)

    assembly = replace(assemble(turn, who=Who("program", "the demo")), responder=respond)
    agent = assembly.agent()
    narrator = Narrator(quiet=False, verbose=True, to=sys.stdout)
    async with Watch(assembly, agent, narrator, "text", None) as watch:
        for number, message in enumerate(t.user for t in laid.script.turns if t.user):
            print(f"{'' if number == 0 else chr(10)}> {message}", flush=True)
            run = await watch.turn(partial(agent.stream, message, session=watch.session))
            print(run.text, flush=True)
            if watch.signalled:
                break
        return watch.code(0)
