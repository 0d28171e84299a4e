"""`Edit`: texts in a file replaced by others, all or none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hitl_cli.access import Place
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Json, Recorded, Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools import change
from hitl_cli.tools.declare import Failed, plain_body, schema, states, target, words
from hitl_cli.tools.text import ending, with_ending

_ONE: dict[str, Mapping[str, Json]] = {
    "old_string": {"type": "string", "minLength": 1, "description": "The text as it stands in the file."},
    "new_string": {"type": "string", "description": "The text in its place."},
    "replace_all": {"type": "boolean", "description": "Replace every occurrence, not the only one."},
}


def edit_tool() -> Tool:
    @plain_body
    def run(input: Input, ctx: Context) -> Result:
        return change.carry_out(_planned(input, ctx.place), ctx.history, ctx.call)

    several = {"type": "array", "minItems": 1, "items": schema(("old_string", "new_string"), **_ONE)}
    return Tool(
        name="Edit",
        approve=True,
        description=words("edit"),
        schema=schema(
            ("file_path",),
            file_path={"type": "string", "description": "The file, absolute or from the working folder."},
            edits=several | {"description": "Several replacements, made in order, all or none."},
            **_ONE,
        ),
        run=run,
        accesses=states("Edit"),
        preview=_preview,
        digest=lambda input, place: change.digest("Edit", input, place),
        check=_check,
        serial=True,
    )


def _planned(input: Input, place: Place) -> change.Change:
    edits = _edits(input)

    def edited(text: str) -> str:
        for number, edit in enumerate(edits, 1):
            where = f"edit {number} of {len(edits)}: " if len(edits) > 1 else ""
            text = _replaced(text, edit, where)
        return text

    return change.plan(target("Edit", input, place), place, edited, new=False)


def _check(input: Input, place: Place, history: Sequence[Recorded]) -> str:
    return change.check("Edit", lambda: _planned(input, place), input, place, history)


def _preview(input: Input, place: Place) -> Preview:
    return change.preview("Edit", lambda: _planned(input, place), input, place)


def _edits(input: Input) -> list[Mapping[str, Json]]:
    single = "old_string" in input or "new_string" in input
    if single == bool(input.get("edits")):
        raise Failed("give either `edits` or one `old_string` with its `new_string`")
    if not single:
        return list(input["edits"])
    if "old_string" not in input or "new_string" not in input:
        raise Failed("`old_string` and `new_string` go together")
    return [input]


def _replaced(text: str, edit: Mapping[str, Json], where: str) -> str:
    old, new = str(edit["old_string"]), str(edit["new_string"])
    if old == new:
        raise Failed(f"{where}old_string and new_string are the same")
    fresh = with_ending(new, ending(text)) if "\n" in text else new
    for written in (with_ending(old, ending(text)), old):
        times = text.count(written)
        if times == 1 or (times and edit.get("replace_all")):
            return text.replace(written, fresh)
        if times:
            raise Failed(
                f"{where}old_string occurs {times} times (lines {_lines_of(text, written)}): "
                "add lines around it until it is unique, or set replace_all"
            )
    raise Failed(f"{where}old_string does not occur in the file{_near_miss(text, old)}")


def _lines_of(text: str, part: str) -> str:
    lines: list[str] = []
    at = text.find(part)
    while at >= 0 and len(lines) < 6:
        lines.append(str(text.count("\n", 0, at) + 1))
        at = text.find(part, at + len(part))
    return ", ".join(lines[:5]) + (", ..." if len(lines) > 5 else "")


def _near_miss(text: str, old: str) -> str:
    """Where the text stands but for its white space, the usual slip."""
    parts = [re.escape(word) for word in old.split()]
    if not parts or len(parts) > 500:
        return ""
    found = re.search(r"\s+".join(parts), text)
    return f"; line {text.count(chr(10), 0, found.start()) + 1} has it with other white space" if found else ""
