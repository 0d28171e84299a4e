"""The command line's door: which command is meant, and the one place where an error becomes a line and an exit code.

A first word that names a command is the command, and only that command's module is imported; exactly one argument that
holds a blank is a message; anything else is a mistake, answered with the nearest command.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hitl_cli.cli import streams
from hitl_cli.errors import HitlError, UsageError
from hitl_cli.records import Struct
from hitl_cli.regex import later

if TYPE_CHECKING:
    import typer
    from typer.core import TyperGroup

HELP = {"help_option_names": ["-h", "--help"]}


class Entry(Struct, frozen=True):
    """Where a command lives: a module of `cli` and the name in it, a function or (`group`) a typer app; and what its own
    help says first, so that the list of all commands loads none of them."""

    module: str
    name: str
    says: str
    group: bool = False


TOPICS = {
    "Begin": {
        "demo": Entry("demo", "demo", "The REPL on a scripted model: no key, no network."),
        "resume": Entry("chat", "resume", "Reopen a session; without one, choose from a list."),
        "run": Entry("run", "run", "Run one turn without a terminal; nothing is ever asked here."),
        "help": Entry("pages", "help_", "Short pages about what people do with hitl."),
    },
    "Answer what waits": {
        "pending": Entry("waiting", "pending", "Everything that waits for a person, over all sessions."),
        "show": Entry("waiting", "show", "One session, or one waiting request in full."),
        "answer": Entry("answer", "answer", "Answer what waits, once; the turn then goes on."),
        "recover": Entry("answer", "recover", "Go on after a crash; nothing is run again unasked."),
    },
    "Decide what is asked": {
        "rules": Entry("rules", "app", "Rules: list, add, remove, check, explain, …", group=True),
        "log": Entry("log", "log", "Every decision: what was allowed, asked, refused, by whom."),
        "trust": Entry("trust", "trust", "Let this repository's .hitl/config.toml count, once seen."),
        "untrust": Entry("trust", "untrust", "Take that back."),
    },
    "Look after it": {
        "sessions": Entry("sessions", "app", "Sessions: list, rename, fork, export, delete.", group=True),
        "config": Entry("settings", "app", "Settings: the files, and what resulted.", group=True),
        "doctor": Entry("doctor", "doctor", "Look for what is wrong here; 1 when something is."),
    },
}
COMMANDS = {name: entry for entries in TOPICS.values() for name, entry in entries.items()}
_DOUBLED = later(r"( Did you mean [^?]*\?)\1$")  # typer and click may both say it
HELPS = (["--help"], ["-h"])  # of the whole program, not of one command


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code. Errors of ours are one message on standard error, a closed pipe is quiet."""
    streams.prepare()
    try:
        code = _dispatch(list(arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return streams.discard_output(0)
    except KeyboardInterrupt:
        return streams.discard_output(130)
    except OSError as error:
        named = f": {error.filename}" if error.filename else ""
        print(f"hitl: {error.strerror or error}{named}", file=sys.stderr)
        return streams.discard_output(1)
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
        return _invoke(overview(), arguments)
    words = _words(arguments)
    if words and arguments[words[0]] in COMMANDS:
        name = arguments.pop(words[0])  # options of a turn may stand before the command
        return _invoke(application([name], arguments[:1]), [name, *arguments])
    if _takes_text(arguments):
        return _invoke(application(["run"]), ["run", *arguments], "hitl")
    if len(words) > 1 or (words and not any(c.isspace() for c in arguments[words[0]])):
        raise UsageError(_unknown(arguments[words[0]]))
    if "--help" not in arguments and "-h" not in arguments and not sys.stdin.isatty():
        return _invoke(application(["run"]), ["run", *arguments], "hitl")
    if not arguments:
        from hitl_cli.cli.opening import open_repl
        from hitl_cli.cli.turn import Turn

        return open_repl(Turn())
    import typer

    from hitl_cli.cli import chat

    app = typer.Typer(add_completion=False)
    app.command(context_settings=HELP)(chat.chat)
    return _invoke(app, arguments)


def application(names: Sequence[str] | dict[str, Entry], first: Sequence[str] = ()) -> typer.Typer:
    """The typer application with these commands. `first`: the word behind the command, if there is one; where it names a
    command of a group, the others of that group are not made."""
    app = _bare()
    for name in names:
        entry = COMMANDS[name]
        target = getattr(importlib.import_module(f"hitl_cli.cli.{entry.module}"), entry.name)
        if entry.group:
            app.add_typer(_narrowed(target, first), name=name)
        else:
            app.command(name)(target)
    return app


def overview() -> typer.Typer:
    """The application as `hitl --help` shows it: by topics, and without the modules of its commands."""
    from click import Context, HelpFormatter
    from typer.core import TyperGroup

    class ByTopic(TyperGroup):
        def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
            for topic, entries in TOPICS.items():
                with formatter.section(topic):
                    formatter.write_dl([(f"{name:<8}", entry.says) for name, entry in entries.items()])

    app = _bare(ByTopic)
    for name in COMMANDS:
        app.command(name)(lambda: None)
    return app


def _bare(cls: type[TyperGroup] | None = None) -> typer.Typer:
    import typer

    from hitl_cli.cli.root import root

    app = typer.Typer(
        name="hitl",
        cls=cls,
        no_args_is_help=False,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=HELP,
    )
    app.callback(invoke_without_command=True)(root)
    return app


def _narrowed(group: typer.Typer, first: Sequence[str]) -> typer.Typer:
    """`group` with the one command that is wanted, or all of it: making a command of a function takes a while."""
    wanted = [c for c in group.registered_commands if (c.name or (c.callback and c.callback.__name__)) in first]
    alone = copy.copy(group)
    alone.registered_commands = wanted or group.registered_commands
    return alone


def _invoke(app: typer.Typer, arguments: list[str], typed: str = "") -> int:
    """`typed`: what the person called, where that is not the command itself."""
    import click
    import typer

    command = typer.main.get_command(app)
    try:
        code = command.main(arguments, prog_name="hitl", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.Abort:
        return 130
    except SystemExit:  # what click makes of a closed pipe
        raise BrokenPipeError from None
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        where = typed or (error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "hitl")
        problem = _DOUBLED.sub(r"\1", error.format_message())
        if problem.startswith("Got unexpected extra argument"):
            problem += "\n  Words that belong together go into quotes, such as 'git status'."
        raise UsageError(f"{problem}\n  `{where} --help` shows what it takes.") from None
    return code if isinstance(code, int) else 0


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
    import typer

    run = typer.main.get_command(application(["run"])).commands["run"]  # type: ignore[attr-defined]
    return frozenset(o for p in run.params for o in p.opts if not getattr(p, "is_flag", True))


def _takes_text(arguments: list[str]) -> bool:
    return any(a in ("-p", "--print") or a.startswith(("--print=", "-p")) for a in arguments)


def _unknown(word: str) -> str:
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, 1, 0.6)
    nearest = f"Did you mean `hitl {close[0]}`?" if close else f"Commands: {', '.join(COMMANDS)}."
    return f'{word!r} is no command. {nearest}\n  A message is one argument with a blank in it: hitl "fix the test"'
