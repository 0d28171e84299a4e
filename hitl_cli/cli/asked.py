"""What waits for a person, in a line, and the command that answers it."""

from __future__ import annotations

import json
import shlex

from hitl_cli.interrupts import Breakpoint, Interrupt, Question, Review
from hitl_cli.journal import Call
from hitl_cli.ui.clean import clean

WIDTH = 160
MAIN = ("command", "file_path", "path", "pattern", "url", "plan")  # the argument that says most about a call


def title(call: Call) -> str:
    """A call in one line: its tool and its main argument."""
    values = call.input or {}
    main = next((str(values[name]) for name in MAIN if values.get(name)), "")
    line = " ".join(clean(main).split())
    return f"{clean(call.name)} {line if len(line) < WIDTH else line[: WIDTH - 1] + '…'}".rstrip()


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
    line = " ".join(clean(line).split())
    return f"question: {line if len(line) < WIDTH else line[: WIDTH - 1] + '…'}"


def command_for(session: str, interrupt: Interrupt, store: str | None = None) -> str:
    """The command line that answers `interrupt`, to be completed with the answer."""
    says = {
        "approval": "--approve",
        "question": "--reply VALUE",
        "external": "--result TEXT",
        "review": "--reply VALUE",
        "breakpoint": "--proceed",
    }[interrupt.kind]
    where = f" --store {shlex.quote(store)}" if store else ""
    return f"hitl answer {session} {shlex.quote(interrupt.id)} {says}{where}"
