"""`hitl rules check` and `explain`: the verdict on a call, without running it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.options import MODES, json_object, one_of
from hitl_cli.errors import UsageError

INPUT = '--input takes a JSON object, such as {"file_path": "src/a.py"}'
EXITS = {"allow": 0, "deny": 3, "ask": 4}
Command = Annotated[str | None, Argument("A command as the shell would get it.")]
ToolName = Annotated[str, Option("--tool", "Another tool than Bash.", metavar="NAME")]
InputText = Annotated[str | None, Option("--input", "The arguments of the call.", metavar="JSON")]
ModeName = Annotated[str, Option("--mode", ", ".join(MODES) + ".", check=one_of(*MODES), metavar="MODE")]


def check(
    command: Command = None,
    tool: ToolName = "Bash",
    input: InputText = None,
    mode: ModeName = "default",
    as_json: Annotated[bool, Option("--json", "One JSON object.")] = False,
    batch: Annotated[
        str | None, Option("--batch", "JSON lines from a file, or - for standard input.", metavar="FILE")
    ] = None,
) -> int:
    """Judge a call without running it. Exit: 0 allow, 3 deny, 4 ask."""
    from hitl_cli.ui.clean import reveal

    if batch is not None:
        if command is not None or input is not None:
            raise UsageError("With --batch the calls stand in the file.\n  Leave the command out.")
        return _batch(batch)
    verdict, _ = judged(command, tool, input, mode)
    if as_json:
        from hitl_cli.cli.rules_batch import told

        print(json.dumps(told(verdict), ensure_ascii=False))
    else:
        print(f"{verdict.decision}: {reveal(verdict.reason)}")
    return EXITS[str(verdict.decision)]


def explain(
    command: Command = None, tool: ToolName = "Bash", input: InputText = None, mode: ModeName = "default"
) -> int:
    """Show the parts of a call, and which rule of which file decides."""
    from hitl_cli.permissions.explain import tree
    from hitl_cli.ui.clean import reveal

    verdict, place = judged(command, tool, input, mode)
    for line in tree(verdict, near=place.workspace, home=place.home):
        print(reveal(line))
    return EXITS[str(verdict.decision)]


def judged(command: str | None, tool: str, input: str | None, mode: str) -> tuple[Any, Any]:
    """The verdict on one call in this folder, under the rules that hold here, and the place."""
    import time

    from hitl_cli import rulebook
    from hitl_cli.accesses import accesses_of
    from hitl_cli.paths import locate, place_for

    if (command is None) == (input is None):
        raise UsageError(
            "Name a command, or a tool and its arguments.\n"
            "  'git log | head', or --tool Read --input '{\"file_path\": \"notes.md\"}'"
        )
    if command is not None and tool != "Bash":
        raise UsageError(f"The arguments of {tool} are given as JSON.\n  --tool {tool} --input '{{…}}'")
    arguments = {"command": command} if input is None else json_object(INPUT, input)
    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    policy = rulebook.load(place, paths).policy
    accesses = accesses_of(tool, arguments, place)
    return policy.judge(accesses, mode=mode, now=time.time(), tool=tool), place  # type: ignore[arg-type]


def _batch(file: str) -> int:
    from hitl_cli.cli.rules_batch import answers
    from hitl_cli.paths import locate

    failed = False
    with _opened(file) as source:
        for answer in answers(source, locate(), os.getcwd()):
            failed = failed or "error" in answer
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    return 2 if failed else 0


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == "-":
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
        yield sys.stdin
        return
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as source:
            yield source
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
