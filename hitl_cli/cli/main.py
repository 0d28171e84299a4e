"""The command line's door: which command is meant, and the one place where an error becomes a line and an exit code.

A first word that names a command is the command, and only that command's module is imported; exactly one argument that
holds a blank is a message; anything else is a mistake, answered with the nearest command.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence

from hitl_cli.cli import quick, streams
from hitl_cli.cli.declared import Entry, Group
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
TEXT = {"-p", "--print"}  # what takes a message as its value
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
    arguments, words, options = _looked_over(arguments)
    if words and arguments[words[0]] in COMMANDS:
        name = arguments.pop(words[0])  # options of a turn may stand before the command
        return _command(name, arguments)
    if options & TEXT:
        return _command("run", arguments, "hitl")
    if len(words) > 1 or (words and not any(c.isspace() for c in arguments[words[0]])):
        raise UsageError(_unknown(arguments[words[0]]))
    if not options & ABOUT and not sys.stdin.isatty():
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


def _looked_over(arguments: list[str]) -> tuple[list[str], list[int], set[str]]:
    """The arguments with bundles of short options taken apart; where the words stand among them that are neither options
    nor their values; and the options' names."""
    if arguments[:1] and arguments[0] in COMMANDS:  # most often: nothing need be known of options
        return arguments, [0], set()
    # The options of `run`; those of the REPL are among them.
    known = quick.by_name(RUN.load().parameters) if any(a.startswith("-") for a in arguments) else {}
    found: list[str] = []
    words: list[int] = []
    options: set[str] = set()
    rest = deque(arguments)
    while rest:
        word = rest.popleft()
        if bundled := quick.apart(word, known):
            rest.extendleft(reversed(bundled))
            continue
        found.append(word)
        if word == "--":
            words += range(len(found), len(found) + len(rest))
            return [*found, *rest], words, options
        if word[:1] != "-" or word == "-":
            words.append(len(found) - 1)
            continue
        name, equals, _ = word.partition("=")
        options.add(name)
        if rest and not equals and name in known and known[name].kind is not bool:
            found.append(rest.popleft())
    return found, words, options


def _unknown(word: str) -> str:
    from hitl_cli.config import closest

    close = closest(word, list(COMMANDS))
    nearest = f"Did you mean `hitl {close}`?" if close else f"Commands: {', '.join(COMMANDS)}."
    return f'{word!r} is no command. {nearest}\n  A message is one argument with a blank in it: hitl "fix the test"'
