"""The command line as typer tells it: help, and what is wrong with a line. The home of typer."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import click
import typer
from typer.core import TyperGroup

from hitl_cli.cli import quick
from hitl_cli.cli.declared import Argument, Check, Command, Entry, Group, Parameter
from hitl_cli.cli.root import root
from hitl_cli.errors import UsageError
from hitl_cli.regex import later

HELP = {"help_option_names": ["-h", "--help"]}
_DOUBLED = later(r"( Did you mean [^?]*\?)\1$")  # typer and click may both say it


def application(commands: Mapping[str, Entry | Group]) -> typer.Typer:
    """The typer application with these commands."""
    app = _bare()
    _add(app, commands)
    return app


def _add(app: typer.Typer, commands: Mapping[str, Entry | Group]) -> None:
    for name, entry in commands.items():
        if isinstance(entry, Group):
            group = typer.Typer(help=entry.says, rich_markup_mode=None, no_args_is_help=True)
            _add(group, entry.commands)
            app.add_typer(group, name=name)
        else:
            app.command(name)(function(entry.load()))


def alone(entry: Entry) -> typer.Typer:
    """The typer application that is nothing but this command."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(context_settings=HELP)(function(entry.load()))
    return app


def overview(topics: Mapping[str, Mapping[str, Entry | Group]]) -> typer.Typer:
    """The application as `hitl --help` shows it: by topics, and without the modules of its commands."""

    class ByTopic(TyperGroup):
        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            for topic, entries in topics.items():
                with formatter.section(topic):
                    formatter.write_dl([(f"{name:<8}", entry.says) for name, entry in entries.items()])

    app = _bare(ByTopic)
    for entries in topics.values():
        for name in entries:
            app.command(name)(lambda: None)
    return app


def _bare(cls: type[TyperGroup] | None = None) -> typer.Typer:
    app = typer.Typer(
        name="hitl",
        cls=cls,
        no_args_is_help=False,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=HELP,
    )
    app.callback(invoke_without_command=True)(function(Command(root)))
    return app


def function(command: Command) -> Callable[..., Any]:
    """`command` as a function that typer reads."""

    def run(**given: Any) -> Any:
        return command(**given)

    parameters = [
        inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default, annotation=_annotation(p))
        for p in command.parameters
    ]
    run.__doc__ = command.function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _annotation(parameter: Parameter) -> Any:
    said = parameter.said
    if isinstance(said, Argument):
        return Annotated[parameter.hint, typer.Argument(help=said.help)]
    return Annotated[
        parameter.hint,
        typer.Option(
            *said.names.split(),
            help=said.help,
            metavar=said.metavar,
            callback=said.check and _callback(said.check),
            hidden=said.hidden,
        ),
    ]


def _callback(check: Check) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        try:
            for one in value if isinstance(value, list | tuple) else [value]:
                if one is not None:
                    check(one)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        return value

    return checked


def invoke(app: typer.Typer, arguments: Sequence[str], typed: str = "") -> int:
    """`typed`: what the person called, where that is not the command itself."""
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
        problem = _no_such(error, where) if isinstance(error, click.NoSuchOption) else error.format_message()
        problem = _DOUBLED.sub(r"\1", problem)
        if problem.startswith("Got unexpected extra argument"):
            problem += "\n  Words that belong together go into quotes, such as 'git status'."
        raise UsageError(f"{problem}\n  `{where} --help` shows what it takes.") from None
    return code if isinstance(code, int) else 0


def _no_such(error: click.NoSuchOption, where: str) -> str:
    """That there is no such option, and the nearest that there is; `hitl` itself also takes what no command does."""
    from hitl_cli.config import closest

    known = [name for p in error.ctx.command.get_params(error.ctx) for name in p.opts] if error.ctx else []
    if where == "hitl":
        known += quick.by_name(Command(root).parameters)
    close = closest(error.option_name, known)
    return f"No such option {error.option_name!r}." + (f" Did you mean {close}?" if close else "")
