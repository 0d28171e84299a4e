"""Slash commands: the table of them, and doing what was typed.

Those marked `anytime` run while the model works; the others wait in the queue for their turn.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from hitl_cli.errors import HitlError
from hitl_cli.ui.commands import conversation, jobs, program, project
from hitl_cli.ui.commands.host import Command, Host
from hitl_cli.ui.commands.own import filled, own_commands, summary
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.setup import Setup

__all__ = [
    "COMMANDS",
    "Command",
    "Host",
    "choices",
    "filled",
    "must_wait",
    "named",
    "offered",
    "own_commands",
    "run",
    "summary",
]


def named(text: str) -> Command | None:
    name = text.partition(" ")[0]
    return next((c for c in COMMANDS if c.name == name), None)


def must_wait(repl: Host, typed: Typed) -> bool:
    """A turn is going on, and the command would get in its way."""
    command = named(typed.text)
    return command is not None and not command.anytime and repl.talk.working


async def run(repl: Host, typed: Typed) -> None:
    """Do what a line that begins with a slash says; any mistake is one line."""
    name, _, argument = typed.text.partition(" ")
    command = named(typed.text)
    if must_wait(repl, typed):
        repl.talk.queue.append(typed)
    elif command is not None:
        try:
            done = command.run(repl, argument.strip())
            if done is not None:
                await done
        except OSError as error:
            repl.say(f"{error.filename or name}: {error.strerror or error}", "warn")
        except (HitlError, ValueError) as error:
            repl.say(str(error), "warn")
    elif (text := _own(repl.setup).get(name)) is not None:
        repl.talk.send(Typed(typed.shown, filled(text, argument.strip())))
    else:
        close = difflib.get_close_matches(name, offered(repl.setup), 1)
        repl.say(f"{name} is no command." + (f" Did you mean {close[0]}?" if close else " /help lists them."), "warn")


def offered(setup: Setup) -> Mapping[str, str]:
    """Every command there is, those of the person's own included, with words about it."""
    return {c.name: c.help for c in COMMANDS} | {name: summary(text) for name, text in _own(setup).items()}


def _own(setup: Setup) -> Mapping[str, str]:
    return own_commands(setup.paths.config / "commands")


def choices(name: str) -> tuple[str, ...]:
    """What may follow a command."""
    return next((c.choices for c in COMMANDS if c.name == name), ())


def _help(repl: Host, argument: str) -> None:
    rows = {f"{c.name} {c.takes}": c.help for c in COMMANDS} | {
        n: summary(text) for n, text in _own(repl.setup).items()
    }
    width = min(32, max(map(len, rows)))
    repl.say("\n".join(["", *(f"{name:<{width}}  {help}" for name, help in rows.items()), "", KEYS]), "")


KEYS = """Enter sends · Ctrl-J, Alt-Enter or \\ at the end: new line · @ completes files
Esc or Ctrl-C stops a turn · Ctrl-D leaves · Shift-Tab: the next mode
Ctrl-R: history · Ctrl-G: $EDITOR · Ctrl-O: the last result whole
! runs a command of yours, and the model is told what it printed
Typing while the model works queues; Up takes the last message back."""


COMMANDS: tuple[Command, ...] = (
    Command("/help", "this list, and the keys", _help, anytime=True),
    Command("/clear", "a new session; this one is kept", conversation.clear),
    Command("/compact", "let a summary stand for what was said", conversation.compact, takes="[WHAT TO KEEP]"),
    Command("/model", "show or change the model", conversation.model, takes="[NAME]"),
    Command(
        "/mode",
        "how much is asked",
        conversation.mode,
        anytime=True,
        takes="[MODE]",
        choices=conversation.MODES,
    ),
    Command(
        "/permissions",
        "rules: list, find, allow, ask, deny, remove",
        program.permissions,
        anytime=True,
        takes="[TEXT|allow RULE|…]",
        choices=("allow", "ask", "deny", "remove"),
    ),
    Command("/pending", "what waits for an answer, in all sessions", conversation.pending, anytime=True),
    Command("/status", "session, model, folders", program.status, anytime=True),
    Command("/cost", "tokens and price so far", program.cost, anytime=True),
    Command("/context", "how full the model's window is", program.context, anytime=True),
    Command("/resume", "reopen another session of this folder", conversation.resume, takes="[SESSION]"),
    Command("/fork", "go on in a copy of this session", conversation.fork),
    Command("/export", "write the conversation to a file", conversation.export, takes="[FILE]"),
    Command("/diff", "what differs from the last commit", project.diff, anytime=True, takes="[PATH]"),
    Command("/init", "let the model write AGENTS.md", project.init),
    Command(
        "/memory",
        "instructions that were read; edit them",
        project.memory,
        takes="[project|user]",
        choices=("project", "user"),
    ),
    Command("/add-dir", "one more folder to work in", project.add_dir, takes="[DIR]"),
    Command(
        "/break",
        "hold before or after a step",
        conversation.hold,
        takes="[STEP|off]",
        choices=(*conversation.BREAKS, "off"),
    ),
    Command("/config", "the settings and where each was set", program.config, anytime=True),
    Command("/jobs", "commands in the background", jobs.jobs, anytime=True, takes="[NAME|end NAME]", choices=("end",)),
    Command("/mcp", "servers and their tools", program.mcp, anytime=True),
    Command("/doctor", "what is wrong with this installation", program.doctor, anytime=True),
    Command("/exit", "leave; the session is kept", conversation.leave, anytime=True),
)
