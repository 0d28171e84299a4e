"""`Glob`: the files whose path fits a pattern."""

from __future__ import annotations

import os
from collections.abc import Callable

from hitl_cli.access import Place
from hitl_cli.journal import Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.declare import Failed, plain_body, schema, shown, states, target, words
from hitl_cli.tools.globs import matcher
from hitl_cli.tools.names import walk

_MOST = 1000  # names in a result


def glob_tool(readable: Callable[[str], bool]) -> Tool:
    @plain_body
    def run(input: Input, ctx: Context) -> Result:
        return _glob(input, ctx.place, readable)

    return Tool(
        name="Glob",
        description=words("glob"),
        schema=schema(
            ("pattern",),
            pattern={"type": "string", "minLength": 1, "description": "For example **/*.py or src/{a,b}/*.ts."},
            path={"type": "string", "description": "The folder; the working folder unless given."},
        ),
        run=run,
        accesses=states("Glob"),
        idempotent=True,
    )


def _glob(input: Input, place: Place, readable: Callable[[str], bool]) -> Result:
    start = target("Glob", input, place)
    fits = matcher(str(input["pattern"]))
    if not os.path.isdir(start):
        raise Failed(f"{shown(start)} is not a folder")
    found = [path for path, _ in walk(start, place, readable) if fits.match(os.path.relpath(path, start))]
    if not found:
        return Result("no files (what .gitignore names is not listed)", data={"files": 0})
    names = [shown(from_here(path, place)) for path in found[:_MOST]]
    if len(found) > _MOST:
        names.append(f"(and {len(found) - _MOST:,} more: give a narrower pattern or path)")
    return Result("\n".join(names), data={"files": len(found)})


def from_here(path: str, place: Place) -> str:
    """A path as short as it can be written in the working folder."""
    return path[len(place.cwd) + 1 :] if path.startswith(place.cwd + "/") else path
