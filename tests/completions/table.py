"""The table behind the completions, read from the program's own commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import click
import typer

from hitl_cli.cli.main import COMMANDS, REPL, RUN
from hitl_cli.cli.typed import alone, application

# What an argument or option takes, by its name; what has fixed words says so itself.
ARGUMENTS = {
    "session": "sessions",
    "which": "sessions",
    "interrupt": "interrupts",
    "topic": "pages",
    "directory": "dirs",
    "files": "files",
}
OF_COMMAND = {("rules remove", "rule"): "rules", ("rules packs", "name"): "packs"}
OPTIONS = {
    "--session": "sessions",
    "--model": "models",
    "--add-dir": "dirs",
    "--store": "files",
    "--to": "files",
    "--answers": "files",
    "--batch": "files",
}
WHOLE = (  # what `__main__` answers before any command is read
    ("--version", None, "Print the version."),
    ("--install-completion", "shells", "Install completion for a shell."),
    ("--show-completion", "shells", "Show the completion of a shell."),
)


def table() -> dict[str, Any]:
    """Each command by its words ("" is the program itself)."""
    root = _entry("", typer.main.get_command(alone(REPL)))
    root["arguments"] = []  # a first message is nothing to complete
    root["options"] = [o for o in root["options"] if o["names"] != ["--version"]] + [
        _option([name], help, takes, False) for name, takes, help in WHOLE
    ]
    root["options"] += [_option(["-p", "--print"], "A message; one turn without a terminal.", "", False)]
    root["options"] += [o for o in _entry("run", typer.main.get_command(alone(RUN)))["options"] if not _known(o, root)]
    below = typer.main.get_command(application(COMMANDS))
    assert isinstance(below, click.Group)
    return {"": root} | dict(_below("", below))


def _known(option: dict[str, Any], entry: dict[str, Any]) -> bool:
    return any(set(option["names"]) & set(other["names"]) for other in entry["options"])


def _below(path: str, group: click.Group) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, command in group.commands.items():
        words = f"{path} {name}".strip()
        yield words, _entry(words, command)
        if isinstance(command, click.Group):
            yield from _below(words, command)


def _entry(path: str, command: click.Command) -> dict[str, Any]:
    context = click.Context(command, info_name=path)
    options, arguments = [], []
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Argument):
            name = str(parameter.name)
            takes = OF_COMMAND.get((path, name)) or ARGUMENTS.get(name, "")
            arguments.append({"takes": takes, "repeats": parameter.nargs == -1})
        elif isinstance(parameter, click.Option) and not parameter.hidden:
            takes = None if parameter.is_flag else _words(parameter, context) or OPTIONS.get(parameter.opts[-1], "")
            options.append(_option(parameter.opts, parameter.help or "", takes, parameter.multiple))
    return {"help": _first(command.help or ""), "options": options, "arguments": arguments}


def _option(names: list[str], help: str, takes: str | None, repeats: bool) -> dict[str, Any]:
    return {"names": names, "help": help, "takes": takes, "repeats": repeats}


def _words(parameter: click.Option, context: click.Context) -> str:
    """The fixed words that an option takes, as it says itself when it is given another one."""
    if parameter.type is not click.STRING and not isinstance(parameter.type, click.types.StringParamType):
        return ""
    try:
        parameter.process_value(context, ["?"] if parameter.multiple else "?")
    except click.BadParameter as error:
        found = re.search(r" is none of (.+)$", error.message)
        return "|".join(found[1].split(", ")) if found else ""
    return ""


def _first(help: str) -> str:
    return " ".join(help.partition("\n\n")[0].split())


def text() -> str:
    rows = [f"{json.dumps(path)}: {json.dumps(entry, ensure_ascii=False)}" for path, entry in table().items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"
