"""The instructions of a project for a folder go along with the first result about a file there.

An `AGENTS.md` below the session's folder counts for the files beside and below it. When `Read`, `Write` or `Edit` touches
such a file, the text is added to the result as a block of its own, and named in its data, so that the journal knows what
was given: each is given once, and once more after a summary took its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hitl_cli import instructions
from hitl_cli.journal import Changed, Recorded, Result, Returned
from hitl_cli.records import replace
from hitl_cli.tooldef import Context, Input, Tool


def guided(tool: Tool, readable: Callable[[str], bool]) -> Tool:
    """`tool`, whose plain body marks the file that it read or wrote (`tools.seen`), with instructions in its results."""
    body = tool.run
    assert body is not None

    def run(input: Input, ctx: Context) -> Result:
        result = body(input, ctx)
        assert isinstance(result, Result)
        mark = result.data.get("seen")
        if not result.ok or not mark:
            return result
        given = _given(ctx.history)
        new = [(f, t) for f, t in instructions.beside(str(mark["path"]), ctx.place, readable) if f not in given]
        if not new:
            return result
        content = result.content
        told = ({"type": "text", "text": content},) if isinstance(content, str) else content
        blocks = tuple({"type": "text", "text": _words(file, text)} for file, text in new)
        return replace(
            result, content=(*told, *blocks), data={**result.data, "instructions": [file for file, _ in new]}
        )

    return replace(tool, run=run)


def _given(history: Sequence[Recorded]) -> set[str]:
    given: set[str] = set()
    for recorded in reversed(history):
        entry = recorded.entry
        if isinstance(entry, Changed) and entry.what == "summary":
            break
        if isinstance(entry, Returned):
            given.update(map(str, entry.result.data.get("instructions", ())))
    return given


def _words(file: str, text: str) -> str:
    return (
        f"The project has instructions for everything below {Path(file).parent}; they are the project's own words, from "
        f"{file}, and count from now on for files there:\n<project_instructions>\n{text}\n</project_instructions>"
    )
