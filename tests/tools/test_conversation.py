"""Todo, AskUser and Plan, and the external tools of the settings."""

from __future__ import annotations

import asyncio

import jsonschema
import pytest

from hitl_cli.errors import SettingsError
from hitl_cli.interrupts import Choice, Field
from hitl_cli.journal import Result
from hitl_cli.tools import external_from_settings
from hitl_cli.tools.external import BUILT_IN

QUESTIONS = {
    "questions": [
        {
            "question": "Which database?",
            "header": "Database",
            "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}],
        },
        {"question": "Which targets?", "options": [{"label": "Linux"}, {"label": "macOS"}], "multiple": True},
    ]
}


def test_the_todo_list_is_kept_in_the_state_and_shown(session):
    items = [{"text": "read", "status": "completed"}, {"text": "write", "status": "in_progress"}, {"text": "test"}]
    kept = [*items[:2], {"text": "test", "status": "pending"}]
    assert session.run("Todo", items=items) == Result("[x] read\n[>] write\n[ ] test", data={"todo": kept})
    assert session.state == {"todo": kept}
    assert session.text("Todo", items=[]) == "(the list is empty)"


def test_questions_become_a_form_with_room_for_own_words(session):
    tool = session.tools["AskUser"]
    jsonschema.validate(QUESTIONS, tool.schema)
    assert tool.fields(QUESTIONS) == (
        Field(
            "q1",
            "str",
            "Which database?",
            header="Database",
            choices=(Choice("SQLite", "one file"), Choice("Postgres")),
            free=True,
        ),
        Field("q2", "list", "Which targets?", choices=(Choice("Linux"), Choice("macOS")), multiple=True, free=True),
    )


def test_the_answers_are_told_with_their_questions(session):
    answered = QUESTIONS | {"answers": {"q1": ["my own"], "q2": ["Linux", "macOS"]}}
    assert asyncio.run(session.tools["AskUser"].run(answered, session)) == Result(
        "Which database?\nmy own\n\nWhich targets?\nLinux, macOS",
        data={"answers": {"Which database?": ["my own"], "Which targets?": ["Linux", "macOS"]}},
    )


@pytest.mark.parametrize(
    "questions",
    [
        [],
        QUESTIONS["questions"] * 3,
        [{"question": "?", "options": [{"label": "only one"}]}],
        [{"question": "?", "options": [{"label": str(n)} for n in range(5)]}],
    ],
)
def test_the_number_of_questions_and_options_is_limited(session, questions):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"questions": questions}, session.tools["AskUser"].schema)


def test_the_model_cannot_answer_its_own_questions(session):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(QUESTIONS | {"answers": {"q1": "yes"}}, session.tools["AskUser"].schema)


def test_an_approved_plan_ends_plan_mode(session):
    result = session.run("Plan", plan="# Steps\n1. go")
    assert result == Result("The plan is approved: carry it out.", data={"mode": "default", "plan": "# Steps\n1. go"})
    assert session.tools["Plan"].shows({"plan": "# Steps"}, session.place).body == "# Steps"


def test_every_tool_has_words_and_a_schema_that_is_one(session):
    for tool in session.tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.schema)
        assert tool.schema["additionalProperties"] is False
        assert 40 < len(tool.description) < 1200, tool.name
        assert not {"oneOf", "anyOf", "allOf"} & tool.schema.keys()  # the Messages API takes none at the top


def test_the_names_kept_for_built_in_tools_are_theirs(session):
    assert session.tools.keys() == BUILT_IN


def test_external_tools_come_from_the_settings():
    schema = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
    (tool,) = external_from_settings({"query": {"description": " Runs SQL. ", "external": True, "schema": schema}})
    assert (tool.name, tool.description, tool.schema, tool.external, tool.run) == (
        "query",
        "Runs SQL.",
        schema,
        True,
        None,
    )
    (plain,) = external_from_settings({"now": {"description": "The time.", "external": True}})
    assert plain.schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("name", "table", "problem"),
    [
        ("a b", {}, "[tools.a b]: not a name for a tool"),
        ("Bash", {}, "[tools.Bash]: a tool of hitl's own or of a server has such a name"),
        ("mcp__a__b", {}, "[tools.mcp__a__b]: a tool of hitl's own or of a server has such a name"),
        ("x", "text", "[tools.x]: not a table"),
        ("x", {"descripton": "d"}, "[tools.x]: unknown key descripton"),
        ("x", {"external": True}, "[tools.x]: description is missing"),
        ("x", {"description": "d"}, "[tools.x]: external must be true"),
        ("x", {"description": "d", "external": True, "schema": {"type": "string"}}, "schema is not that of an object"),
        (
            "x",
            {"description": "d", "external": True, "schema": {"type": "object", "properties": 3}},
            "[tools.x]: schema is not valid: 3 is not of type 'object'",
        ),
    ],
)
def test_a_wrong_table_says_what_is_wrong_where_and_what_to_write(name, table, problem):
    with pytest.raises(SettingsError) as raised:
        external_from_settings({name: table}, file="config.toml")
    assert problem in str(raised.value)
    assert str(raised.value).startswith("config.toml: ")
    assert raised.value.remedy
