"""`AskUser`: questions to the person, with choices and always room for words of their own.

The form is worked out from the arguments; a turn that cannot reach anybody waits with it, like an approval.
"""

from __future__ import annotations

from collections.abc import Mapping

from hitl_cli.interrupts import Choice, Field
from hitl_cli.journal import Json, Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.declare import body, schema, words


def ask_user_tool() -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        answers = input.get("answers") or {}
        fields = form(input)
        lines = [f"{field.description}\n{_written(answers.get(field.name))}" for field in fields]
        return Result("\n\n".join(lines), data={"answers": {f.description: answers.get(f.name) for f in fields}})

    option = schema(
        ("label",),
        label={"type": "string", "minLength": 1, "description": "One to five words."},
        description={"type": "string", "description": "What choosing it means."},
    )
    question = schema(
        ("question", "options"),
        question={"type": "string", "minLength": 1, "description": "The whole question."},
        header={"type": "string", "maxLength": 24, "description": "A word or two that name it."},
        options={"type": "array", "minItems": 2, "maxItems": 4, "items": option},
        multiple={"type": "boolean", "description": "Several options may be chosen."},
    )
    return Tool(
        name="AskUser",
        description=words("ask_user"),
        schema=schema(("questions",), questions={"type": "array", "minItems": 1, "maxItems": 4, "items": question}),
        run=run,
        form=form,
        read_only=True,
        serial=True,
    )


def form(input: Input) -> tuple[Field, ...]:
    """A field a question, named by its place: `q1`, `q2`, ..."""
    return tuple(_field(number, question) for number, question in enumerate(input["questions"], 1))


def _field(number: int, question: Mapping[str, Json]) -> Field:
    multiple = bool(question.get("multiple"))
    return Field(
        name=f"q{number}",
        type="list" if multiple else "str",
        description=question["question"],
        header=question.get("header", ""),
        choices=tuple(Choice(o["label"], o.get("description", "")) for o in question["options"]),
        multiple=multiple,
        free=True,
    )


def _written(answer: Json) -> str:
    return ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer or "(no answer)")
