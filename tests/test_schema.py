"""What fits a schema without jsonschema being asked: only what jsonschema lets through as well."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hitl_cli import schema

NAMES = st.sampled_from(["a", "b", "c"])
SMALL = st.integers(-2, 3)
LEAVES = st.one_of(
    st.none(), st.booleans(), SMALL, st.sampled_from([0.0, 1.0, 1.5, float("nan")]), st.text("ab", max_size=3)
)
VALUES = st.recursive(LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(NAMES, v, max_size=3), max_leaves=8)
WORDS = (
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "multipleOf",
    "pattern",
    "$ref",
    "const",
)


def schemas() -> st.SearchStrategy[object]:
    """Schemas of the plain words, of some others, and some that no validator takes."""
    kinds = st.sampled_from([*schema._FITTING, "date", 5, ["string", "null"]])

    def inner(deeper: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
        return st.fixed_dictionaries(
            {},
            optional={
                "type": kinds,
                "enum": st.lists(LEAVES, max_size=3) | st.just("ab"),
                "items": deeper,
                "required": st.lists(NAMES, max_size=2) | st.just("a"),
                "properties": st.dictionaries(NAMES, deeper, max_size=3),
                "additionalProperties": deeper,
                "patternProperties": st.dictionaries(NAMES, deeper, max_size=1),
                "anyOf": st.lists(deeper, min_size=1, max_size=2),
                "description": st.just("words"),
                "default": LEAVES,
                **dict.fromkeys(WORDS, LEAVES),
            },
        ).map(lambda found: dict(list(found.items())[:4]))

    return st.recursive(st.booleans() | st.just({}), inner, max_leaves=8)


def let_through(value, shape):
    if schema._fits(value, shape):
        assert list(Draft202012Validator(shape).iter_errors(value)) == []


@pytest.mark.slow
@settings(max_examples=600)
@given(VALUES, schemas())
def test_what_is_let_through_fits_over_many_shapes(value, shape):
    let_through(value, shape)


@settings(max_examples=100)
@given(VALUES, schemas())
@example(1.0, {"type": "integer"})
@example(True, {"type": "integer"})
@example(True, {"enum": [1]})
@example({"b": 1}, {"additionalProperties": False, "properties": {"a": {}}})
@example(["a"], {"minLength": 2})
def test_what_is_let_through_without_jsonschema_fits(value, shape):
    let_through(value, shape)


PLAIN = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "description": "Words."},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "kind": {"enum": ["a", "b"]},
        "rows": {"type": "array", "maxItems": 2, "items": {"type": "object", "properties": {"on": {"type": "boolean"}}}},
    },
    "required": ["text"],
    "additionalProperties": False,
}  # fmt: skip


def test_a_fault_is_told_in_the_words_of_jsonschema():
    assert schema.problem({"text": "x", "count": 9, "kind": "b", "rows": [{"on": True}]}, PLAIN) is None
    assert schema.problem({"text": "", "count": 10, "more": 1}, PLAIN) == (
        "Additional properties are not allowed ('more' was unexpected); "
        "count: 10 is greater than the maximum of 9; text: '' should be non-empty"
    )


def test_what_plainly_fits_loads_no_jsonschema():
    program = f"""if True:
        import sys
        from hitl_cli.schema import problem
        assert problem({{"text": "x", "count": 1, "rows": []}}, {PLAIN!r}) is None
        assert "jsonschema" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", program], check=True)
