"""Interrupts and answers as plain data, and which answer fits which interrupt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli.answers import check, fit
from hitl_cli.interrupts import (
    Answer,
    Approval,
    Breakpoint,
    Choice,
    Edit,
    External,
    Field,
    Preview,
    Question,
    Reject,
    Reply,
    Review,
    Suggestion,
    approve,
    dump,
    dump_answer,
    edit,
    load,
    load_answer,
    proceed,
    reject,
    reply,
    result,
)
from hitl_cli.journal import Call, Grant

CALL = Call("1.1.0", "Bash", {"command": "ls"}, "", "use_0")
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
APPROVAL = Approval(
    id="1.1.0:approval",
    call=CALL,
    reason="no rule",
    suggested=(Suggestion("Bash(ls:*)", "ls with any options", "user"), Suggestion("Bash(a)", also=("Bash(b)",))),
    digest="d",
    preview=Preview("command", "Bash", "ls", purpose="to look"),
    trace=("ls: ask",),
    expires=2.0,
    since=1.0,
)
COLOURS = Field("Which?", "list", choices=(Choice("Red"), Choice("Blue", "deep")))
FORM = Question(id="1.1.0:input", call=CALL, fields=(Field("n", "int", value=3), Field("to")))
ASKED = Question(
    id="1.1.0:ask", call=CALL, payload={"any": ["thing"]}, type="bool", schema={"type": "boolean"}, memo="m"
)
OUT = External(id="1.1.0:external", call=CALL, silent=True)
REVIEW = Review(
    id="1:before_agent.m", middleware="m", hook="before_agent", payload="?", type="int", schema={"type": "integer"}
)
BREAK = Breakpoint(id="1.1:before_model", step="model", phase="before")
ALL: list[Any] = [APPROVAL, FORM, ASKED, OUT, REVIEW, BREAK]


@pytest.mark.parametrize("interrupt", ALL, ids=lambda i: i.id)
def test_an_interrupt_comes_back_from_json_with_only_the_fields_of_its_kind(interrupt: Any) -> None:
    data = json.loads(json.dumps(dump(interrupt)))
    assert load(data) == interrupt
    assert data["kind"] == interrupt.kind
    if interrupt is BREAK:
        assert data == {"kind": "breakpoint", "id": "1.1:before_model", "step": "model", "phase": "before"}


def test_a_bad_time_is_left_out_and_other_faults_are_reported() -> None:
    assert load({**dump(OUT), "since": "yesterday"}) == OUT
    for bad in (None, {}, {**dump(OUT), "kind": "extern"}, {**dump(OUT), "silent": "no"}, {"kind": "approval"}):
        with pytest.raises(ValueError, match=r"must be|missing"):
            load(bad)  # type: ignore[arg-type]


texts = st.text(max_size=8)
grants = st.builds(
    Grant,
    st.sampled_from(["allow", "deny"]),
    texts,
    st.sampled_from(["session", "project", "user"]),
    st.none() | st.floats(0, 9),
)
rules = st.lists(grants, max_size=2)
leaves = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(leaves, lambda v: st.lists(v, max_size=2) | st.dictionaries(texts, v, max_size=2))
answers = st.one_of(
    st.builds(approve, rules),
    st.builds(edit, st.dictionaries(texts, values, max_size=2), rules),
    st.builds(reject, texts, rules),
    st.builds(reply, values),
    st.builds(result, values, st.booleans()),
    st.just(proceed()),
)


@given(answers)
def test_an_answer_comes_back_from_json(answer: Answer) -> None:
    assert load_answer(json.loads(json.dumps(dump_answer(answer)))) == answer


def test_rules_of_an_answer_may_be_bare_texts() -> None:
    data = {"approve": {"rules": ["Bash(ls)", {"rule": "Read", "scope": "user"}], "scope": "project", "until": 5}}
    assert load_answer(data) == approve(
        [Grant("allow", "Bash(ls)", "project", 5.0), Grant("allow", "Read", "user", 5.0)]
    )
    assert load_answer({"reject": {"rules": ["Bash"]}}) == Reject("", (Grant("deny", "Bash"),))
    with pytest.raises(TypeError, match="not one text"):
        approve("Bash")
    assert approve(APPROVAL.suggested[1:]).rules == (Grant("allow", "Bash(a)"), Grant("allow", "Bash(b)"))


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "approve",
        {},
        {"approve": {}, "reject": {}},
        {"confirm": {}},
        {"approve": []},
        {"approve": {"rule": "x"}},
        {"approve": {"rules": "Bash"}},
        {"approve": {"scope": "galaxy"}},
        {"reject": {"until": "tomorrow"}},
        {"approve": {"rules": [3]}},
        {"approve": {"rules": [{"rule": "x", "decision": "maybe"}]}},
        {"edit": {}},
        {"edit": {"input": "x"}},
        {"reply": {}},
        {"result": {}},
        {"result": {"output": "", "error": "no"}},
        {"proceed": {"now": True}},
    ],
)
def test_malformed_answers_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_answer(bad)


ANSWERS = {
    "approve": approve(),
    "edit": edit({"command": "pwd"}),
    "reject": reject(),
    "reply": reply({"to": "x"}),
    "result": result("x"),
    "proceed": proceed(),
}
FITS = {
    APPROVAL.id: {"approve", "edit", "reject", "result"},
    FORM.id: {"reply", "reject"},
    ASKED.id: {"reply", "reject"},
    OUT.id: {"result", "reject"},
    REVIEW.id: set(),
    BREAK.id: {"proceed"},
}


@pytest.mark.parametrize("interrupt", ALL, ids=lambda i: i.id)
def test_each_kind_takes_its_own_answers_only(interrupt: Any) -> None:
    assert {name for name, answer in ANSWERS.items() if check(interrupt, answer, SCHEMA) is None} == FITS[interrupt.id]
    assert check(REVIEW, reply("7")) is None
    assert "use reply" in (check(REVIEW, approve()) or "")


def test_what_may_have_run_cannot_be_edited() -> None:
    uncertain = Approval(id="1.1.0:uncertain", call=CALL, reason="may have run", source="uncertain")
    assert [name for name, a in ANSWERS.items() if check(uncertain, a) is None] == ["approve", "reject", "result"]


@pytest.mark.parametrize(
    ("interrupt", "answer", "why"),
    [
        (APPROVAL, edit({"command": 3}), "command: 3 is not of type"),
        (APPROVAL, approve([Grant("deny", "Bash")]), "takes allow rules only: Bash"),
        (APPROVAL, reject(rules=[Grant("allow", "Bash")]), "takes deny rules only"),
        (OUT, reject(rules=["Bash"]), "with an approval only"),
        (REVIEW, reply("many"), "not a whole number"),
        (REVIEW, reply(True), "not of type 'integer'"),
        (FORM, reply("x"), "an object from field name"),
        (FORM, reply({}), "an object from field name"),
        (
            FORM,
            reply({"who": "x", "n": "many"}),
            "who: no such field; the fields are n, to; n: 'many' is not a whole number",
        ),
        (FORM, reply({"to": 3}), "3 is no str"),
    ],
)
def test_answers_that_do_not_fit_say_why(interrupt: Any, answer: Any, why: str) -> None:
    assert why in (check(interrupt, answer, SCHEMA) or "")


def test_values_become_what_they_stand_for() -> None:
    assert fit(FORM, reply({"n": " 7 ", "to": ""})) == Reply({"n": 7, "to": ""})
    assert fit(REVIEW, reply("7")) == Reply(7)
    assert fit(ASKED, reply("whatever")) == Reply("whatever")  # a tool's own question is the tool's business
    assert fit(APPROVAL, Edit({})) == fit(APPROVAL, Edit(dict(CALL.input))) == approve()


@pytest.mark.parametrize(
    ("text", "truth"),
    [(t, True) for t in ("true", "TRUE", "yes", "Y", "1", "on", "On", "t", " yes ")]
    + [(t, False) for t in ("false", "no", "n", "0", "off", "f", "", " ", "2", "yess", "ja")],
)
def test_what_counts_as_true(text: str, truth: bool) -> None:
    form = Question(id="x", call=CALL, fields=(Field("b", "bool"),))
    assert fit(form, reply({"b": text})) == Reply({"b": truth})


def test_choices() -> None:
    def said(value: Any, **changes: Any) -> Any:
        field = Field(**{**{f: getattr(COLOURS, f) for f in COLOURS.__slots__}, **changes})
        question = Question(id="x", call=CALL, fields=(field,))
        return check(question, reply({"Which?": value})) or fit(question, reply({"Which?": value}))

    assert said("Red") == said(["Red"]) == Reply({"Which?": ["Red"]})
    assert said([]) == Reply({"Which?": []})
    assert said(["Red", "Blue"]) == "Which?: choose one only"
    assert said(["Red", "Blue"], multiple=True) == Reply({"Which?": ["Red", "Blue"]})
    assert said("Green") == "Which?: Green is not on offer; the choices are Red, Blue"
    assert said("Green", free=True) == Reply({"Which?": ["Green"]})
    assert said(3) == "Which?: the reply is a list of labels"
