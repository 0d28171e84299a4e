"""The command line's door: which command is meant, and the one place where an error becomes a line and an exit code.

A first word that names a command is the command, and only that command's module is imported; exactly one argument that
holds a blank is a message; anything else is a mistake, answered with the nearest command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hitl_cli.cli import quick, streams
from hitl_cli.cli.declared import Entry, Group, Option
from hitl_cli.errors import HitlError, UsageError

RUN = Entry("run", "run", "Run one turn without a terminal; nothing is ever asked here.")
REPL = Entry("chat", "chat")
TOPICS: dict[str, dict[str, Entry | Group]] = {
    "Begin": {
        "demo": Entry("demo", "demo", "The REPL on a scripted model: no key, no network."),
        "resume": Entry("chat", "resume", "Reopen a session; without one, choose from a list."),
        "run": RUN,
        "help": Entry("pages", "help_", "Short pages about what people do with hitl."),
    },
    "Answer what waits": {
        "pending": Entry("waiting", "pending", "Everything that waits for a person, over all sessions."),
        "show": Entry("waiting", "show", "One session, or one waiting request in full."),
        "answer": Entry("answer", "answer", "Answer what waits, once; the turn then goes on."),
        "recover": Entry("answer", "recover", "Go on after a crash; nothing is run again unasked."),
    },
    "Decide what is asked": {
        "rules": Group(
            "Rules: list, add, remove, check, explain, …",
            {
                "check": Entry("rules_check", "check"),
                "explain": Entry("rules_check", "explain"),
                "suggest": Entry("rules_study", "suggest"),
                "lint": Entry("rules_study", "lint"),
                "import": Entry("rules_import", "import_"),
                "list": Entry("rules", "list_"),
                "add": Entry("rules", "add"),
                "remove": Entry("rules", "remove"),
                "packs": Entry("rules", "packs"),
            },
        ),
        "log": Entry("log", "log", "Every decision: what was allowed, asked, refused, by whom."),
        "trust": Entry("trust", "trust", "Let this repository's .hitl/config.toml count, once seen."),
        "untrust": Entry("trust", "untrust", "Take that back."),
    },
    "Look after it": {
        "sessions": Group(
            "Sessions: list, rename, fork, export, delete.",
            {
                "list": Entry("sessions", "list_"),
                "rename": Entry("sessions", "rename"),
                "fork": Entry("sessions", "fork"),
                "export": Entry("sessions", "export"),
                "delete": Entry("sessions", "delete"),
            },
        ),
        "config": Group(
            "Settings: the files, and what resulted.",
            {"path": Entry("settings", "path"), "show": Entry("settings", "show")},
        ),
        "doctor": Entry("doctor", "doctor", "Look for what is wrong here; 1 when something is."),
    },
}
COMMANDS = {name: entry for entries in TOPICS.values() for name, entry in entries.items()}
HELPS = (["--help"], ["-h"])  # of the whole program, not of one command
ABOUT = {"--help", "-h", "--version"}  # what needs no message, whatever else is said


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code. Errors of ours are one message on standard error, a closed pipe is quiet."""
    streams.prepare()
    try:
        code = _dispatch(list(arguments))
        sys.stdout.flush()
        return code
    except (KeyboardInterrupt, EOFError):  # the second: the input ended where a person was asked
        return streams.discard_output(130)
    except OSError as error:
        return streams.failed(error)
    except HitlError as error:
        from hitl_cli.ui.clean import clean

        print("hitl: " + clean(str(error)), file=sys.stderr)
        return error.exit_code
    except Exception as error:
        from hitl_cli.cli.crash import tell

        print(tell(error), file=sys.stderr)
        return 1


def _dispatch(arguments: list[str]) -> int:
    if arguments in HELPS:
        from hitl_cli.cli import typed

        return typed.invoke(typed.overview(TOPICS), arguments)
    words = _words(arguments)
    if words and arguments[words[0]] in COMMANDS:
        name = arguments.pop(words[0])  # options of a turn may stand before the command
        return _command(name, arguments)
    if _takes_text(arguments):
        return _command("run", arguments, "hitl")
    if len(words) > 1 or (words and not any(c.isspace() for c in arguments[words[0]])):
        raise UsageError(_unknown(arguments[words[0]]))
    if not ABOUT.intersection(arguments) and not sys.stdin.isatty():
        return _command("run", arguments, "hitl")
    if not arguments:
        from hitl_cli.cli.opening import open_repl
        from hitl_cli.cli.turn import Turn

        return open_repl(Turn())
    if (done := _quickly(REPL, arguments)) is not None:
        return done
    from hitl_cli.cli import typed

    return typed.invoke(typed.alone(REPL), arguments)


def _command(name: str, arguments: list[str], typed_as: str = "") -> int:
    """Run the command of this name. `typed_as`: what the person called, where that is not the command itself."""
    entry: Entry | Group | None = COMMANDS[name]
    rest = arguments
    if isinstance(entry, Group):
        entry, rest = (entry.commands.get(rest[0]), rest[1:]) if rest else (None, rest)
    if entry and (done := _quickly(entry, rest)) is not None:
        return done
    from hitl_cli.cli import typed

    return typed.invoke(typed.application({name: COMMANDS[name]}), [name, *arguments], typed_as)


def _quickly(entry: Entry, arguments: list[str]) -> int | None:
    """The exit code of a command that was typed without a mistake; None, and nothing was run, when there may be one."""
    command = entry.load()
    given = quick.read(command.parameters, arguments)
    return None if given is None else command(**given)


def _words(arguments: list[str]) -> list[int]:
    """Where the arguments stand that are neither options nor values of options."""
    plain = bool(arguments) and arguments[0] in COMMANDS  # most often: nothing need be known of options
    options = _with_value() if not plain and any(a.startswith("-") for a in arguments) else frozenset()
    found: list[int] = []
    skip = False
    for number, argument in enumerate(arguments):
        if skip:
            skip = False
        elif argument == "--":
            return found + list(range(number + 1, len(arguments)))
        elif argument.startswith("-") and argument != "-":
            skip = argument in options
        else:
            found.append(number)
    return found


def _with_value() -> frozenset[str]:
    """The options of `run` that take a value; those of the REPL are among them."""
    found = [p.said for p in RUN.load().parameters if isinstance(p.said, Option) and p.kind is not bool]
    return frozenset(name for option in found for name in option.names.split())


def _takes_text(arguments: list[str]) -> bool:
    return any(a in ("-p", "--print") or a.startswith(("--print=", "-p")) for a in arguments)


def _unknown(word: str) -> str:
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, 1, 0.6)
    nearest = f"Did you mean `hitl {close[0]}`?" if close else f"Commands: {', '.join(COMMANDS)}."
    return f'{word!r} is no command. {nearest}\n  A message is one argument with a blank in it: hitl "fix the test"'
