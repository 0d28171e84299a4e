"""Questions, reviews and their forms."""

import pytest

from hitl_cli.interrupts import Choice, Field, Question, Reject, Reply, Review
from hitl_cli.journal import Call
from hitl_cli.middleware import VERDICT
from hitl_cli.ui.approval import Answered, Parked, Stopped
from hitl_cli.ui.approval.entries import parse

DATABASE = Field(
    "Which database?",
    header="Database",
    choices=(Choice("PostgreSQL", "a server"), Choice("SQLite", "one file")),
)
PARTS = Field("Which parts?", choices=(Choice("Seeds"), Choice("Backups")), multiple=True, free=True)


def ask(*fields: Field, **rest: object) -> Question:
    return Question(id="q", call=Call("c", "AskUser", {}), fields=fields, **rest)  # type: ignore[arg-type]


def test_a_choice(drive):
    it = drive(ask(DATABASE))
    assert it.text == ["▌ Question"]
    assert it.bottom == [
        "  Database: Which database?",
        "› 1 PostgreSQL  a server",
        "  2 SQLite  one file",
        "  enter take it · ↑↓ move · esc back",
    ]
    assert it.press("down", "enter").outcome == Answered(Reply({"Which database?": ["SQLite"]}))


def test_a_number_moves_and_does_not_answer(drive):
    it = drive(ask(DATABASE)).press("2")
    assert it.outcome is None
    assert it.press("enter").outcome == Answered(Reply({"Which database?": ["SQLite"]}))


def test_a_question_is_deaf_too_and_says_so(drive):
    it = drive(ask(DATABASE))
    it.panel.renew(ask(DATABASE), it.now, "")
    assert it.bottom[-1] == "  wait …"
    assert it.press("enter").outcome is None
    assert it.press("enter").outcome == Answered(Reply({"Which database?": ["PostgreSQL"]}))


def test_several_choices_and_words_of_ones_own(drive):
    it = drive(ask(PARTS)).press("enter")
    assert it.bottom[-2] == "  ! Nothing is chosen yet: space chooses, enter sends."
    it.press("1", "down", "down", "enter").type("Docs 2").press("enter")
    assert it.outcome == Answered(Reply({"Which parts?": ["Seeds", "Docs 2"]}))


def test_several_questions_are_listed_before_they_are_sent(drive):
    it = drive(ask(DATABASE, PARTS)).press("enter")
    assert it.bottom[0] == "  2 of 2  Which parts?"
    it.press("1", "2", "enter")
    assert it.bottom == [
        "  1 Database: Which database?  PostgreSQL",
        "  2 Which parts?  Seeds, Backups",
        "  enter send · 1-9 change one · esc back",
    ]
    assert it.outcome is None
    it.press("1", "down", "enter")
    assert it.press("enter").outcome == Answered(
        Reply({"Which database?": ["SQLite"], "Which parts?": ["Seeds", "Backups"]})
    )


def test_typed_fields_are_checked_and_begin_with_what_the_model_proposed(drive):
    form = Question(
        id="q",
        call=Call("c", "send", {"subject": "Hi", "count": 1}),
        fields=(Field("to", description="address"), Field("count", "int", value=1), Field("urgent", "bool")),
    )
    it = drive(form)
    assert it.text == ["▌ send asks", "▌   subject: Hi"]
    assert it.bottom[0] == "  1 of 3  to: address"
    it.type("ann").press("enter").type("x").press("enter")
    assert it.bottom[-2] == "  ! Write a whole number."
    it.press("backspace").type("2").press("enter", "down", "enter")
    assert it.bottom[:3] == ["  1 to: address  ann", "  2 count  12", "  3 urgent  no"]
    assert it.press("enter").outcome == Answered(Reply({"to": "ann", "count": 12, "urgent": False}))


def test_words_of_ones_own_beside_choices(drive):
    it = drive(ask(PARTS)).press("1", str(len(PARTS.choices) + 1)).type("4 lamps").press("enter")
    assert it.outcome == Answered(Reply({"Which parts?": [PARTS.choices[0].label, "4 lamps"]}))


def test_a_long_question_stands_whole_above_its_choices(drive):
    text = "Which of these?\n\n    def f(): ...\n\n" + "word " * 60
    it = drive(ask(Field("q1", description=text, choices=DATABASE.choices)))
    assert "".join(it.text).count("word") == 60
    assert it.bottom[0] == "  Which of these? …"


def test_esc_goes_back_and_at_last_to_the_other_answers(drive):
    it = drive(ask(DATABASE, PARTS)).press("enter", "escape")
    assert it.bottom[0] == "  1 of 2  Database: Which database?"
    it.press("escape")
    assert it.bottom == ["  r reply · n no · p park · esc stop"]
    assert it.press("enter").outcome is None
    assert it.press("r").bottom[1] == "› 1 PostgreSQL  a server"
    assert drive(ask(DATABASE)).press("escape", "p").outcome == Parked()
    assert drive(ask(DATABASE)).press("escape", "escape").outcome == Stopped()
    assert drive(ask(DATABASE)).press("escape", "n", "enter").outcome == Answered(Reject(""))


def test_a_typed_question_of_a_tool(drive):
    it = drive(
        Question(id="q", call=Call("c", "deploy", {}), payload="How many?", type="int", schema={"type": "integer"})
    )
    assert it.text == ["▌ deploy asks", "▌   How many?"]
    it.type("many").press("enter")
    assert it.bottom[-2] == "  ! Write a whole number."
    assert it.press("c-u").type("3").press("enter").outcome == Answered(Reply(3))


def test_a_yes_or_no_question_of_a_tool(drive):
    it = drive(Question(id="q", call=Call("c", "deploy", {}), payload="Sure?", type="bool", schema={"type": "boolean"}))
    assert it.press("down", "enter").outcome == Answered(Reply(False))


def test_a_value_that_must_fit_a_schema(drive):
    shape = {"type": "array", "items": {"type": "integer"}}
    it = drive(Question(id="q", call=Call("c", "pick", {}), payload="Which?", type="list[int]", schema=shape))
    it.type('["a"]').press("enter")
    assert it.bottom[-2] == "  ! That does not fit: 0: 'a' is not of type 'integer'. Write a text, or JSON."
    assert it.press("c-u").type("[1, 2]").press("enter").outcome == Answered(Reply([1, 2]))


@pytest.mark.parametrize(
    ("keys", "value"),
    [(["enter"], "allow"), (["down", "enter"], "block"), (["3", "enter", "!", "enter"], {"edit": "Call 555!"})],
)
def test_a_review_of_a_text(drive, keys, value):
    payload = {"phase": "output", "guardrail": "pii", "reason": "a phone number", "text": "Call 555"}
    it = drive(Review(id="r", middleware="pii", hook="after_agent", payload=payload, type="verdict", schema=VERDICT))
    assert it.text == [
        "▌ pii asks after agent",
        "▌   Call 555",
        "  phase  output",
        "  guardrail pii",
        "  reason a phone number",
    ]
    assert it.bottom == ["› 1 allow", "  2 block", "  3 edit …", "  enter take it · ↑↓ move · esc back"]
    assert it.press(*keys).outcome == Answered(Reply(value))


def test_a_hostile_question_draws_nothing(drive):
    fields = Field("q\x1b[2J\n› 1 fake", choices=(Choice("a\u202eb\nc", "d\x1b]0;x\x07"), Choice("e")))
    assert drive(ask(fields)).bottom[:2] == ["  q␛[2J › 1 fake", "› 1 a<U+202E>b c  d␛]0;x␇"]


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("str", " as typed ", " as typed "),
        ("int", "-3", -3),
        ("float", "2.5", 2.5),
        ("bool", "Yes", True),
        ("bool", "off", False),
        ("list", '["a", 1]', ["a", 1]),
        ("dict", "{}", {}),
    ],
)
def test_typed_values(type, text, value):
    assert parse(type, text) == value


@pytest.mark.parametrize(
    ("type", "text"), [("int", "1.5"), ("float", "x"), ("bool", "maybe"), ("list", "{}"), ("dict", "[")]
)
def test_values_that_do_not_fit(type, text):
    with pytest.raises(ValueError, match="Write"):
        parse(type, text)
