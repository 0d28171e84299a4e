"""Tools from functions: schema, descriptions, types, hidden parameters; and the examples of the public docstrings."""

from __future__ import annotations

import ast
import doctest
import enum
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest

import hitl_cli
from hitl_cli import schema
from hitl_cli.access import Place
from hitl_cli.journal import Result
from hitl_cli.tooldef import Context, Tool, as_result, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: float = 0.0


def test_the_schema_comes_from_the_signature_and_the_docstring() -> None:
    @tool
    def draw(
        name: str,
        at: Point,
        colour: Colour = Colour.RED,
        size: Literal["s", "l"] = "s",
        tags: Optional[list[str]] = None,  # noqa: UP045 - both spellings are read
        scale: Annotated[float, "how much larger"] = 1.0,
        *,
        ctx: Context,
    ) -> str:
        """Draw something.

        It appears at once.

        Args:
            name: what it is called
            tags (list): for finding it
                again later

        Returns:
            where it is
        """
        return ""

    assert (draw.name, draw.description, draw.hidden) == ("draw", "Draw something.\n\nIt appears at once.", ("ctx",))
    assert draw.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "what it is called"},
            "at": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
                "required": ["x"],
                "additionalProperties": False,
            },
            "colour": {"enum": ["red", "blue"]},
            "size": {"enum": ["s", "l"], "default": "s"},
            "tags": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                "description": "for finding it",
            },
            "scale": {"type": "number", "description": "how much larger", "default": 1.0},
        },
        "required": ["name", "at"],
        "additionalProperties": False,
    }


def test_arguments_reach_the_function_as_the_types_it_names() -> None:
    seen = []

    @tool
    def draw(at: Point, colour: Colour, n: float, maybe: Point | None = None, many: list[Colour] = []) -> str:  # noqa: B006
        """Draw."""
        seen.append((at, colour, n, maybe, many))
        return ""

    assert draw.run is not None
    draw.run({"at": {"x": 1}, "colour": "blue", "n": 2, "maybe": {"x": 3, "y": 1}, "many": ["red"]}, None)  # type: ignore[arg-type]
    assert seen == [(Point(1), Colour.BLUE, 2.0, Point(3, 1), [Colour.RED])]
    assert isinstance(seen[0][2], float)


def test_mistakes_in_a_declaration_are_told_when_it_is_made() -> None:
    with pytest.raises(TypeError, match="has no JSON schema"):

        @tool
        def one(x: object) -> str:
            """One."""
            return ""

    with pytest.raises(TypeError, match="named parameters only"):

        @tool
        def two(*rest: str) -> str:
            """Two."""
            return ""

    with pytest.raises(ValueError, match="no parameter whom"):

        @tool(user_fields=["whom"])
        def three(who: str) -> str:
            """Three."""
            return ""

    four = Tool(name="four", description="", schema={})
    with pytest.raises(ValueError, match="two tools have the name four"):
        hitl_cli.Agent(None, [four, four])


def test_what_a_function_returns_is_a_result() -> None:
    assert as_result("x") == Result("x")
    assert as_result({"é": Point(1, 2)}) == Result('{"é": "Point(x=1, y=2)"}')
    assert as_result(Result("x", False)) == Result("x", False)


def test_a_tool_states_itself_where_it_states_nothing_finer() -> None:
    plain = Tool(name="t", description="", schema={})
    place = Place("/w", ("/w",), "/h")
    assert plain.states({"a": 1}, place)[0].input == {"a": 1}  # type: ignore[union-attr]
    assert plain.shows({"a": "é"}, place).body == '{\n  "a": "é"\n}'


@pytest.mark.parametrize(
    ("value", "fits"), [({"a": 1}, True), ({"a": "1"}, False), ({}, False), ({"a": True}, False), ("x", False)]
)
def test_values_are_checked_against_the_schema(value: Any, fits: bool) -> None:
    shape = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert (schema.problem(value, shape) is None) is fits


def test_every_fault_is_told_and_a_bad_schema_lets_nothing_pass() -> None:
    shape = schema.of_type(Point)
    faults = str(schema.problem({"y": "b", "z": 1}, shape)).split("; ")
    assert sorted(faults) == [
        "'x' is a required property",
        "Additional properties are not allowed ('z' was unexpected)",
        "y: 'b' is not of type 'number'",
    ]
    assert "cannot be used" in str(schema.problem({}, {"type": "no such type"}))
    assert "cannot be used" in str(schema.problem({}, {"$ref": "http://127.0.0.1:9/schema.json"}))


def test_from_text_refuses_what_is_none_of_the_kind() -> None:
    assert [
        schema.from_text(v, k) for v, k in [("1.5", "float"), ("[1]", "list"), ('{"a":1}', "dict"), ("x", "str")]
    ] == [
        1.5,
        [1],
        {"a": 1},
        "x",
    ]
    for text, kind in [("x", "int"), ("x", "float"), ("[", "list"), ("{", "dict")]:
        with pytest.raises(ValueError, match="is not a"):
            schema.from_text(text, kind)


MODULES = (
    "interrupts",
    "tooldef",
    "schema",
    "middleware",
    "responders",
    "policies",
    "usertools",
    "transcript",
    "agent",
)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"hitl_cli.{module}"))
    assert found.failed == 0
    assert found.attempted > 0


def test_every_public_name_can_be_imported_and_nothing_else() -> None:
    for name in hitl_cli.__all__:
        assert getattr(hitl_cli, name) is not None
    assert set(hitl_cli.__all__) <= set(dir(hitl_cli))
    with pytest.raises(AttributeError, match="no 'nonsense'"):
        hitl_cli.nonsense  # noqa: B018


def test_the_package_loads_nothing_until_it_is_used() -> None:
    import subprocess
    import sys

    code = "import sys, hitl_cli; print([m for m in sys.modules if m.startswith('hitl_cli.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_type_checkers_see_every_public_name() -> None:
    tree = ast.parse(Path(hitl_cli.__file__).read_text(encoding="utf-8"))
    listed = {
        (node.module, alias.name)
        for block in ast.walk(tree)
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (node.module or "").startswith("hitl_cli")
    }
    assert listed == {(f"hitl_cli.{module}", name) for name, module in hitl_cli._NAMES.items()}
    assert (Path(hitl_cli.__file__).parent / "py.typed").exists()
