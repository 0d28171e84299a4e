"""`Write`: a whole file, new or in place of one that was read."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.access import Place
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Recorded, Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools import change
from hitl_cli.tools.declare import plain_body, schema, states, target, words


def write_tool() -> Tool:
    @plain_body
    def run(input: Input, ctx: Context) -> Result:
        return change.carry_out(_planned(input, ctx.place), ctx.history, ctx.call)

    return Tool(
        name="Write",
        approve=True,
        description=words("write"),
        schema=schema(
            ("file_path", "content"),
            file_path={"type": "string", "description": "The file, absolute or from the working folder."},
            content={"type": "string", "description": "The whole new content."},
        ),
        run=run,
        accesses=states("Write"),
        preview=_preview,
        digest=lambda input, place: change.digest("Write", input, place),
        check=_check,
        serial=True,
    )


def _planned(input: Input, place: Place) -> change.Change:
    def whole(_: str) -> str:
        return str(input["content"])

    return change.plan(target("Write", input, place), place, whole, new=True)


def _check(input: Input, place: Place, history: Sequence[Recorded]) -> str:
    return change.check("Write", lambda: _planned(input, place), input, place, history)


def _preview(input: Input, place: Place) -> Preview:
    return change.preview("Write", lambda: _planned(input, place), input, place)
