"""`Plan`: what the model means to do, approved by the person like any call; then the session leaves plan mode."""

from __future__ import annotations

from hitl_cli.access import Place
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.declare import body, schema, words


def plan_tool() -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        return Result("The plan is approved: carry it out.", data={"mode": "default", "plan": input["plan"]})

    return Tool(
        name="Plan",
        description=words("plan"),
        schema=schema(("plan",), plan={"type": "string", "minLength": 1, "description": "The plan, in Markdown."}),
        run=run,
        preview=_preview,
        approve=True,
        serial=True,
    )


def _preview(input: Input, place: Place) -> Preview:
    return Preview("text", "Plan", str(input["plan"]))
