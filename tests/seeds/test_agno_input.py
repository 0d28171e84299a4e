"""agno, AG-21 to AG-35: what only the user knows. Forms for the arguments of a tool, forms and choices for the model."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from hitl_cli import Field, InvalidAnswers, Tool, reply, tool, user_tools
from hitl_cli.interrupts import Choice
from hitl_cli.records import replace
from hitl_cli.ui.plain import PlainConsole
from tests.seeds.stage import Stage, ids, outcome, results

EMAIL = [("send_email", {"subject": "Hello", "body": "How are you?"})]


def send_email(stage: Stage, **options: Any) -> Tool:
    @tool(**{"user_fields": ["to_address"], **options})
    def send_email(subject: str, body: str, to_address: str) -> str:
        """Send an email.

        Args:
            subject: What it is about.
            body: What it says.
            to_address: Who gets it.
        """
        stage.ran.append(f"{subject} / {body} / {to_address}")
        return "sent"

    return send_email


async def form(stage: Stage, fields: Any, *more: Any) -> tuple[Any, Any]:
    """The agent and its run, paused at a form that the model asked for."""
    agent = stage.agent([("get_user_input", {"fields": fields})], *more, "done", tools=user_tools())
    return agent, await stage.run(agent)


def question(text: str = "Which colour?", header: str = "Colour", options: int = 2, **more: Any) -> dict[str, Any]:
    labels = ["red", "blue", "green", "white", "black"][:options]
    return {"question": text, "header": header, "options": [{"label": label} for label in labels], **more}


async def choices(stage: Stage, *questions: Any, **options: Any) -> tuple[Any, Any]:
    """The agent and its run, paused at questions with choices."""
    agent = stage.agent([("ask_user", {"questions": list(questions)})], "done", tools=user_tools(), **options)
    return agent, await stage.run(agent)


async def test_AG_21_what_the_user_fills_in_is_not_in_the_schema_that_the_model_sees(stage: Stage) -> None:
    agent = stage.agent(EMAIL, tools=[send_email(stage)])
    run = await stage.run(agent)
    [spec] = agent.model.requests[0].tools
    assert (list(spec.schema["properties"]), spec.schema["required"]) == (["subject", "body"], ["subject", "body"])
    assert [i.kind for i in run.pending] == ["question"]  # naming fields is enough


async def test_AG_21_a_value_that_the_model_gives_for_it_all_the_same_is_dropped(stage: Stage) -> None:
    forged = [("send_email", {"subject": "Hello", "body": "Well?", "to_address": "eve@example.org"})]
    run = await stage.run(stage.agent(forged, tools=[send_email(stage)]))
    assert [field.value for field in run.pending[0].fields] == ["Hello", "Well?", None]


async def test_AG_22_the_form_lists_every_parameter_with_what_the_model_gave(stage: Stage) -> None:
    run = await stage.run(stage.agent(EMAIL, tools=[send_email(stage)]))
    assert run.pending[0].fields == (
        Field("subject", "str", "What it is about.", "Hello"),
        Field("body", "str", "What it says.", "How are you?"),
        Field("to_address", "str", "Who gets it.", None),
    )


async def test_AG_22_a_console_asks_for_the_empty_ones_and_an_empty_line_keeps_the_others(stage: Stage) -> None:
    shown = io.StringIO()
    console = PlainConsole(io.StringIO("r\n\n\nann@example.org\n"), shown)
    await stage.run(stage.agent(EMAIL, "done", tools=[send_email(stage)], responder=console))
    assert stage.ran == ["Hello / How are you? / ann@example.org"]


async def test_AG_23_the_user_may_review_all_that_the_model_filled_in(stage: Stage) -> None:
    agent = stage.agent(
        [("send_email", {"subject": "Hello", "body": "Well?", "to_address": "bob@example.org"})],
        "done",
        tools=[send_email(stage, user_fields="*")],
    )
    run = await stage.run(agent)
    assert [field.value for field in run.pending[0].fields] == ["Hello", "Well?", "bob@example.org"]
    assert "to_address" in agent.model.requests[0].tools[0].schema["properties"]
    await stage.resume(agent, run, {ids(run)[0]: reply({"subject": "Hi"})})
    assert stage.ran == ["Hi / Well? / bob@example.org"]


async def test_AG_24_a_form_stays_open_until_nothing_is_missing_and_unknown_names_are_refused(stage: Stage) -> None:
    """Stricter: a value for a field that is not there is refused, for a typing error must not pass as an answer."""
    agent = stage.agent(EMAIL, "done", tools=[send_email(stage)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="to_adress: no such field; the fields are subject, body, to_address"):
        await stage.resume(agent, run, {ids(run)[0]: reply({"to_adress": "ann@example.org"})})
    run = await stage.resume(agent, run, {ids(run)[0]: reply({"body": "Well?"})})
    assert [field.value for field in run.pending[0].fields] == ["Hello", "Well?", None]
    run = await stage.resume(agent, run, {ids(run)[0]: reply({"to_address": "ann@example.org"})})
    assert (run.text, stage.ran) == ("done", ["Hello / Well? / ann@example.org"])


async def test_AG_24_values_for_what_needs_none_are_refused(stage: Stage) -> None:
    agent = stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)])
    run = await stage.run(agent)
    with pytest.raises(InvalidAnswers, match="reply does not answer this approval"):
        await stage.resume(agent, run, {ids(run)[0]: reply({"x": "a"})})


async def test_AG_25_the_values_become_arguments_and_override_what_the_model_gave(stage: Stage) -> None:
    agent = stage.agent(EMAIL, "done", tools=[send_email(stage)])
    run = await stage.run(agent)
    values = {"subject": "Hi", "to_address": "ann@example.org"}
    await stage.resume(agent, run, {ids(run)[0]: reply(values)})
    assert stage.ran == ["Hi / How are you? / ann@example.org"]


async def test_AG_26_values_set_on_the_fields_themselves_amount_to_the_same(stage: Stage) -> None:
    agent = stage.agent(EMAIL, "done", tools=[send_email(stage)])
    run = await stage.run(agent)
    [waiting] = run.pending
    fields = [replace(field, value=field.value or "ann@example.org") for field in waiting.fields]
    run = await stage.resume(agent, run, {waiting.id: reply({field.name: field.value for field in fields})})
    assert (run.text, stage.ran) == ("done", ["Hello / How are you? / ann@example.org"])


async def test_AG_27_the_model_asks_for_a_form_of_its_own_making(stage: Stage) -> None:
    types = ["str", "int", "float", "bool", "list", "dict", "date", ""]
    fields = [{"name": f"a{n}", "type": type, "description": f"About {n}"} for n, type in enumerate(types)]
    _, run = await form(stage, [*fields, {"name": "bare"}])
    expected = [Field(f"a{n}", type if n < 6 else "str", f"About {n}") for n, type in enumerate(types)]
    assert run.pending[0].fields == (*expected, Field("bare", "str"))


async def test_AG_27_an_empty_form_asks_nobody(stage: Stage) -> None:
    agent, run = await form(stage, [])
    assert (run.text, results(agent)) == ("done", ["[]"])


@pytest.mark.parametrize("made", [None, ["city"], [Field("city", "date")]], ids=["none", "texts", "no such type"])  # type: ignore[arg-type]
async def test_AG_27_a_tool_that_makes_no_proper_form_fails_and_asks_nobody(made: Any, stage: Stage) -> None:
    where = Tool(name="where", description="", schema={"type": "object"}, form=lambda input: made)
    agent = stage.agent([("where", {})], "done", tools=[where])
    run = await stage.run(agent)
    assert run.text == "done"
    assert results(agent)[0].startswith("! where made no form of this: ")


async def test_AG_28_what_the_user_filled_in_goes_back_to_the_model_as_names_and_values(stage: Stage) -> None:
    agent, run = await form(stage, [{"name": "city"}, {"name": "nights", "type": "int"}])
    await stage.resume(agent, run, {ids(run)[0]: reply({"city": "Zürich 東京", "nights": 3})})
    [told] = results(agent)
    assert json.loads(told) == [{"name": "city", "value": "Zürich 東京"}, {"name": "nights", "value": 3}]
    assert "Zürich 東京" in told


TRUE = ["true", "True", "TRUE", "yes", "Yes", "y", "Y", "1", "on", "On", "t", "T", " yes "]
FALSE = ["", "  ", "false", "no", "n", "0", "off", "yess", "2", "ja"]


async def test_AG_29_what_counts_as_true(stage: Stage) -> None:
    said = [*TRUE, *FALSE]
    agent, run = await form(stage, [{"name": f"b{n}", "type": "bool"} for n in range(len(said))])
    await stage.resume(agent, run, {ids(run)[0]: reply({f"b{n}": text for n, text in enumerate(said)})})
    meant = [entry["value"] for entry in json.loads(results(agent)[0])]
    assert dict(zip(said, meant, strict=True)) == {text: text in TRUE for text in said}


@pytest.mark.parametrize(
    ("type", "said", "means"),
    [
        ("bool", "", False),
        ("int", "", ""),
        ("str", "", ""),
        ("int", "7", 7),
        ("float", "1.5", 1.5),
        ("list", "[1, 2]", [1, 2]),
        ("dict", '{"a": 1}', {"a": 1}),
        ("int", 7, 7),
    ],
)
async def test_AG_30_a_field_is_asked_about_once_and_any_answer_is_converted(
    type: str, said: Any, means: Any, stage: Stage
) -> None:
    agent, run = await form(stage, [{"name": "a", "type": type}])
    run = await stage.resume(agent, run, {ids(run)[0]: reply({"a": said})})
    assert (run.text, json.loads(results(agent)[0])) == ("done", [{"name": "a", "value": means}])


@pytest.mark.parametrize(
    ("type", "said"), [("int", "seven"), ("float", "x"), ("list", "1, 2"), ("dict", "[1]"), ("int", 1.5)]
)
async def test_AG_30_what_cannot_be_converted_is_refused(type: str, said: Any, stage: Stage) -> None:
    """Stricter: a value that is none of its type is not passed on; whoever answers is asked to repair it."""
    agent, run = await form(stage, [{"name": "a", "type": type}])
    with pytest.raises(InvalidAnswers, match="a: "):
        await stage.resume(agent, run, {ids(run)[0]: reply({"a": said})})
    assert (await agent.load(run.session)).pending == run.pending


async def test_AG_30_the_console_asks_again_for_what_cannot_be_converted(stage: Stage) -> None:
    shown = io.StringIO()
    console = PlainConsole(io.StringIO("r\nseven\n7\n"), shown)
    fields = [{"name": "a", "type": "int"}]
    agent = stage.agent([("get_user_input", {"fields": fields})], "done", tools=user_tools(), responder=console)
    await stage.run(agent)
    assert json.loads(results(agent)[0]) == [{"name": "a", "value": 7}]
    assert shown.getvalue().count("Answer") == 2


@pytest.mark.parametrize(
    ("kit", "added"),
    [
        (user_tools(), "call get_user_input or ask_user instead of guessing or declining."),
        (user_tools("Ask, do not guess."), "Ask, do not guess."),
        (user_tools(""), ""),
    ],
    ids=["as it comes", "in other words", "switched off"],
)
async def test_AG_31_the_kit_tells_the_model_to_ask(kit: list[Tool], added: str, stage: Stage) -> None:
    agent = stage.agent("done", tools=kit, instructions="Be brief.")
    await stage.run(agent)
    system = agent.model.requests[0].system
    assert system.startswith("Be brief.")
    assert system.endswith(added or "Be brief.")
    assert ("get_user_input" in system) == ("get_user_input" in added)


def labelled(label: str) -> dict[str, Any]:
    return {"question": "Which?", "header": "Which", "options": [{"label": label}, {"label": "other"}]}


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        (question(header="twelve chars"), None),
        (question(header="thirteen char"), "too long"),
        (question(options=2), None),
        (question(options=4), None),
        (question(options=1), "too short"),
        (question(options=5), "too long"),
        (question("Which colour"), "does not match"),
        (labelled("one two three four five"), None),
        (labelled("one two three four five six"), "does not match"),
        (labelled(""), "does not match"),
    ],
    ids=lambda value: value if value is None or isinstance(value, str) else json.dumps(value)[:60],
)
async def test_AG_32_a_question_outside_of_the_limits_is_an_error_that_the_model_can_repair(
    asked: Any, wrong: str | None, stage: Stage
) -> None:
    """Stricter: the limits are not only described to the model, they hold; nobody is shown what breaks the screen."""
    calls = [("ask_user", {"questions": [asked]})]
    agent = stage.agent(calls, [("ask_user", {"questions": [question()]})], tools=user_tools())
    run = await stage.run(agent)
    assert outcome(run) == "Suspended"
    if wrong is None:
        assert len(agent.model.requests) == 1
        assert run.pending[0].fields[0].multiple is False
    else:
        assert results(agent)[0].startswith("! ")
        assert wrong in results(agent)[0]
        assert run.pending[0].id == "1.2.0:input"  # only the repaired one reached the person


async def test_AG_32_a_question_has_header_options_and_their_descriptions(stage: Stage) -> None:
    asked = question(multi_select=True)
    asked["options"][0]["description"] = "The colour of fire."
    _, run = await choices(stage, asked)
    [field] = run.pending[0].fields
    assert (field.name, field.header, field.multiple) == ("Which colour?", "Colour", True)
    assert field.choices == (Choice("red", "The colour of fire."), Choice("blue"))


async def test_AG_33_selections_are_given_by_question_and_a_missing_one_keeps_it_open(stage: Stage) -> None:
    agent, run = await choices(stage, question(), question("Which size?", "Size"))
    run = await stage.resume(agent, run, {ids(run)[0]: reply({"Which size?": ["blue"]})})
    assert [(field.name, field.value) for field in run.pending[0].fields] == [
        ("Which colour?", None),
        ("Which size?", ["blue"]),
    ]
    run = await stage.resume(agent, run, {ids(run)[0]: reply({"Which colour?": []})})  # none of them is an answer
    assert run.text == "done"


async def test_AG_34_the_model_receives_each_question_with_what_was_selected(stage: Stage) -> None:
    agent, run = await choices(stage, question(multi_select=True), question("Which size?", "Size"))
    await stage.resume(agent, run, {ids(run)[0]: reply({"Which colour?": ["red", "blue"], "Which size?": []})})
    assert json.loads(results(agent)[0]) == [
        {"question": "Which colour?", "selected": ["red", "blue"]},
        {"question": "Which size?", "selected": []},
    ]


@pytest.mark.parametrize(
    ("typed", "multiple", "selected"),
    [
        (["1"], False, ["red"]),
        (["1,3"], True, ["red", "green"]),
        (["x", "2"], False, ["blue"]),
        (["9", "0", "2"], False, ["blue"]),
        (["1,3", "3"], False, ["green"]),
        (["1,x", "1, 2"], True, ["red", "blue"]),
    ],
    ids=str,
)
async def test_AG_35_numbers_at_the_console_are_labels_and_junk_is_asked_about_again(
    typed: list[str], multiple: bool, selected: list[str], stage: Stage
) -> None:
    """Stricter: what is no number of an option is not dropped, which would answer for the person."""
    shown = io.StringIO()
    console = PlainConsole(io.StringIO("".join(f"{line}\n" for line in ["r", *typed])), shown)
    agent, _ = await choices(stage, question(options=4, multi_select=multiple), responder=console)
    assert json.loads(results(agent)[0]) == [{"question": "Which colour?", "selected": selected}]
    assert shown.getvalue().count("Please give") == len(typed) - 1


@pytest.mark.parametrize(
    ("selection", "why"),
    [(["pink"], "pink is not on offer"), (["red", "blue"], "choose one only"), (3, "list of labels")],
)
async def test_AG_35_a_selection_that_was_not_on_offer_is_refused(selection: Any, why: str, stage: Stage) -> None:
    agent, run = await choices(stage, question())
    with pytest.raises(InvalidAnswers, match=why):
        await stage.resume(agent, run, {ids(run)[0]: reply({"Which colour?": selection})})
    assert (await agent.load(run.session)).pending == run.pending
