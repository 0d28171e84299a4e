"""`Todo`: the model's list of what is to do, kept in the session's state and shown to the person."""

from __future__ import annotations

from hitl_cli.journal import Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.declare import body, schema, words

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


def todo_tool() -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        items = [{"text": item["text"], "status": item.get("status", "pending")} for item in input["items"]]
        ctx.state["todo"] = items
        lines = [f"{_MARKS[item['status']]} {item['text']}" for item in items]
        return Result("\n".join(lines) or "(the list is empty)", data={"todo": items})

    item = schema(
        ("text",),
        text={"type": "string", "minLength": 1, "description": "What is to do, in a few words."},
        status={"enum": list(_MARKS), "description": "pending unless given."},
    )
    return Tool(
        name="Todo",
        description=words("todo"),
        schema=schema(("items",), items={"type": "array", "maxItems": 100, "items": item}),
        run=run,
        read_only=True,
    )
