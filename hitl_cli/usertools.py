"""Two tools with which a model asks its user: a form of its own making, and questions with choices.

Neither has anything to run: the form is worked out from the arguments, and what the person fills in is the result.
"""

from __future__ import annotations

import json
from typing import Any

from hitl_cli.interrupts import Choice, Field
from hitl_cli.journal import Json, Result
from hitl_cli.tooldef import Context, Input, Tool

INSTRUCTIONS = (
    "When you need something that only the user knows, "
    "call get_user_input or ask_user instead of guessing or declining."
)
_KINDS = ("str", "int", "float", "bool", "list", "dict")


def user_tools(instructions: str = INSTRUCTIONS) -> list[Tool]:
    """`get_user_input` and `ask_user`. `instructions` are added to the system text; "" adds none.

    >>> [t.name for t in user_tools()]
    ['get_user_input', 'ask_user']
    """
    return [
        Tool(
            name="get_user_input",
            description="Ask the user to fill in a form.",
            schema=_object(fields={"type": "array", "items": _FIELD}),
            run=_filled_in,
            form=_form,
            read_only=True,
            instructions=instructions,
        ),
        Tool(
            name="ask_user",
            description="Ask the user questions with two to four options each.",
            schema=_object(questions={"type": "array", "minItems": 1, "items": _QUESTION}),
            run=_chosen,
            form=_choices,
            read_only=True,
        ),
    ]


def _object(needed: tuple[str, ...] = (), **properties: Json) -> dict[str, Json]:
    required = list(needed or properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_FIELD = _object(
    ("name",),
    name={"type": "string", "minLength": 1},
    type={"type": "string", "description": "str, int, float, bool, list or dict; str unless given."},
    description={"type": "string"},
)
_OPTION = _object(
    ("label",),
    label={"type": "string", "pattern": r"^\s*\S+(\s+\S+){0,4}\s*$", "description": "One to five words."},
    description={"type": "string"},
)
_QUESTION = _object(
    ("question", "header", "options"),
    question={"type": "string", "pattern": r"\?\s*$", "description": "Ends with a question mark."},
    header={"type": "string", "minLength": 1, "maxLength": 12},
    options={"type": "array", "minItems": 2, "maxItems": 4, "items": _OPTION},
    multi_select={"type": "boolean", "description": "Several options may be chosen; false unless given."},
)


def _form(input: Input) -> list[Field]:
    def kind(field: Input) -> Any:
        return field.get("type") if field.get("type") in _KINDS else "str"

    return [Field(f["name"], kind(f), f.get("description", "")) for f in input["fields"]]


def _filled_in(input: Input, ctx: Context) -> Result:
    values = [{"name": name, "value": value} for name, value in input.get("answers", {}).items()]
    return Result(json.dumps(values, ensure_ascii=False))


def _choices(input: Input) -> list[Field]:
    return [
        Field(
            name=q["question"],
            type="list",
            description=q["question"],
            header=q["header"],
            choices=tuple(Choice(o["label"], o.get("description", "")) for o in q["options"]),
            multiple=q.get("multi_select", False),
        )
        for q in input["questions"]
    ]


def _chosen(input: Input, ctx: Context) -> Result:
    pairs = [{"question": question, "selected": labels} for question, labels in input.get("answers", {}).items()]
    return Result(json.dumps(pairs, ensure_ascii=False))
