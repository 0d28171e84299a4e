"""What waits for a person, in a line, and the commands that answer it."""

from __future__ import annotations

import json
import shlex
import time
from typing import TypeGuard

from hitl_cli.interrupts import Approval, Breakpoint, Interrupt, Question, Review
from hitl_cli.journal import Call
from hitl_cli.ui.clean import clean

WIDTH = 160
MAIN = ("command", "file_path", "path", "pattern", "url", "plan")  # the argument that says most about a call
LISTS = ("AskUser", "Todo")  # tools whose arguments say nothing in one line

# The answers to a call that was cut off and may have run.
UNSURE = {
    "--result TEXT": "it ran: what you know came of it",
    "--approve": "run it again",
    "--reject": "leave it as it is, and go on",
}


def title(call: Call) -> str:
    """A call in one line: its tool and its main argument."""
    return f"{clean(call.name)} {_cut(_main(call))}".rstrip()


def left_out(interrupt: Interrupt) -> int:
    """How many characters of the call `about` does not show."""
    return max(len(_main(interrupt.call)) - WIDTH, 0) if interrupt.call else 0


def _main(call: Call) -> str:
    values = call.input or {}
    main = next((str(values[name]) for name in MAIN if values.get(name)), "")
    if not main and values and call.name not in LISTS:
        main = json.dumps(values, ensure_ascii=False, default=str)
    return " ".join(clean(main).split())


def _cut(line: str) -> str:
    left = len(line) - WIDTH
    return line if left <= 0 else f"{line[:WIDTH]}… {left} more characters"


def about(interrupt: Interrupt) -> str:
    """What waits, in one line."""
    match interrupt:
        case Question(fields=(first, *_)):
            line = first.description or first.name
        case Question(payload=payload) | Review(payload=payload):
            line = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        case Breakpoint(step=step, phase=phase, call=None):
            return f"stopped {phase} the {step} step"
        case _:
            return title(interrupt.call) if interrupt.call else interrupt.kind
    return f"question: {_cut(' '.join(clean(line).split()))}"


def command_for(session: str, interrupt: Interrupt, store: str | None = None) -> str:
    """The command line that answers `interrupt`, to be completed with the answer; of several, the first to think of."""
    return next(iter(commands_for(session, interrupt, store)))


def commands_for(session: str, interrupt: Interrupt, store: str | None = None) -> dict[str, str]:
    """The commands that answer `interrupt`, each with what it means where that is not plain."""
    where = f" --store {shlex.quote(store)}" if store else ""
    if interrupt.expires is not None and interrupt.expires <= time.time():
        return {f"hitl recover {session}{where}": "it has expired: go on without an answer"}
    answer = f"hitl answer {session} {shlex.quote(interrupt.id)}"
    if unsure(interrupt):
        return {f"{answer} {says}{where}": meaning for says, meaning in UNSURE.items()}
    says = {
        "approval": "--approve",
        "question": "--reply VALUE",
        "external": "--result TEXT",
        "review": "--reply VALUE",
        "breakpoint": "--proceed",
    }[interrupt.kind]
    return {f"{answer} {says}{where}": ""}


def unsure(interrupt: Interrupt) -> TypeGuard[Approval]:
    """Whether it asks about a call that was cut off and may have run."""
    return isinstance(interrupt, Approval) and interrupt.source == "uncertain"


def answer_lines(session: str, interrupt: Interrupt, store: str | None = None) -> list[str]:
    """`commands_for` as people read them."""
    commands = commands_for(session, interrupt, store)
    width = max(map(len, commands))
    return [f"{command:<{width}}  {meaning}".rstrip() for command, meaning in commands.items()]
