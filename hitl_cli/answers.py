"""Whether an answer fits what it answers: strict and closed, decided before anything is touched.

The one lenient place is a tool's own typed question: what it takes is the tool's business, so a reply that does not fit
is accepted and becomes that call's error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hitl_cli import schema
from hitl_cli.interrupts import (
    VERBS,
    Answer,
    Approval,
    Approve,
    Breakpoint,
    Edit,
    External,
    Field,
    Interrupt,
    Proceed,
    Question,
    Reject,
    Reply,
    Review,
    Supply,
)
from hitl_cli.journal import Json
from hitl_cli.records import replace

_TAKES: dict[type, tuple[type, ...]] = {
    Approval: (Approve, Edit, Reject, Supply),
    Question: (Reply, Reject),
    External: (Supply, Reject),
    Review: (Reply,),
    Breakpoint: (Proceed,),
}


def check(interrupt: Interrupt, answer: Answer, arguments: Mapping[str, Json] | None = None) -> str | None:
    """What is wrong with `answer` as an answer to `interrupt`, or None. `arguments` is the schema of the call's tool."""
    try:
        fit(interrupt, answer, arguments)
    except ValueError as error:
        return str(error)
    return None


def fit(interrupt: Interrupt, answer: Answer, arguments: Mapping[str, Json] | None = None) -> Answer:
    """`answer` with its values as the types they stand for; ValueError says what is wrong with it."""
    takes = takes_of(interrupt)
    if not isinstance(answer, takes):
        fitting = ", ".join(VERBS[t] for t in takes)
        raise ValueError(
            f"{VERBS.get(type(answer), repr(answer))} does not answer this {interrupt.kind}; use {fitting}"
        )
    if isinstance(answer, Approve | Edit | Reject):
        _fit_rules(interrupt, answer)
    if isinstance(answer, Edit) and answer.input and arguments is not None:
        wrong = schema.problem(dict(answer.input), arguments)
        if wrong:
            raise ValueError(f"the new input does not fit the tool: {wrong}")
    if isinstance(answer, Edit) and isinstance(interrupt, Approval) and _changes_nothing(answer, interrupt):
        return Approve(answer.rules)
    if isinstance(answer, Reply):
        return Reply(_fit_reply(interrupt, answer.value, arguments))
    return answer


def _changes_nothing(answer: Edit, interrupt: Approval) -> bool:
    """Compared as JSON: for Python 1 and True are equal."""
    old, new = (json.dumps(input, sort_keys=True) for input in (interrupt.call.input, dict(answer.input)))
    return not answer.input or new == old


def takes_of(interrupt: Interrupt) -> tuple[type, ...]:
    """The kinds of answer that an interrupt takes."""
    takes = _TAKES[type(interrupt)]
    if isinstance(interrupt, Approval) and interrupt.source == "uncertain":
        return tuple(t for t in takes if t is not Edit)
    return (*takes, Reject) if isinstance(interrupt, Review) and interrupt.call else takes


def _fit_rules(interrupt: Interrupt, answer: Approve | Edit | Reject) -> None:
    wanted = "deny" if isinstance(answer, Reject) else "allow"
    if answer.rules and not isinstance(interrupt, Approval):
        raise ValueError(f"rules are accepted with an approval only, not with a {interrupt.kind}")
    wrong = [grant.rule for grant in answer.rules if grant.decision != wanted]
    if wrong:
        raise ValueError(f"{VERBS[type(answer)]} takes {wanted} rules only: {', '.join(wrong)}")


def _fit_reply(interrupt: Interrupt, value: Json, arguments: Mapping[str, Json] | None) -> Json:
    if isinstance(interrupt, Question) and interrupt.fields:
        return _fit_form(interrupt.fields, value, {} if interrupt.under else (arguments or {}).get("properties", {}))
    if not isinstance(interrupt, Review):
        return value
    value = schema.from_text(value, interrupt.type)
    wrong = schema.problem(value, interrupt.schema)
    if wrong:
        raise ValueError(f"the reply does not fit: {wrong}")
    return value


def _fit_form(fields: Sequence[Field], value: Json, properties: Mapping[str, Json]) -> Json:
    if not isinstance(value, Mapping) or not value:
        raise ValueError("the reply to a form is an object from field name to value")
    known = {field.name: field for field in fields}
    problems, out = [], {}
    for name, given in value.items():
        try:
            if name not in known:
                raise ValueError(f"no such field; the fields are {', '.join(known)}")
            out[name] = _fit_field(known[name], given)
            wrong = schema.problem(out[name], properties.get(name, {}))
            if wrong:
                raise ValueError(wrong)
        except ValueError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise ValueError("; ".join(problems))
    return out


def _fit_field(field: Field, value: Json) -> Json:
    if not field.choices:
        value = schema.from_text(value, field.type)
        kinds = {"str": str, "int": int, "float": (int, float), "list": list, "dict": dict, "bool": bool}[field.type]
        if not isinstance(value, kinds) and value != "":  # type: ignore[arg-type]
            raise ValueError(f"{value!r} is no {field.type}")
        return value
    chosen = [value] if isinstance(value, str) else value
    if not isinstance(chosen, list) or not all(isinstance(label, str) for label in chosen):
        raise ValueError("the reply is a list of labels")
    labels = [choice.label for choice in field.choices]
    outside = [label for label in chosen if label not in labels and not field.free]
    if outside:
        raise ValueError(f"{', '.join(outside)} is not on offer; the choices are {', '.join(labels)}")
    if len(chosen) > 1 and not field.multiple:
        raise ValueError("choose one only")
    return chosen


def filled(question: Question, values: Mapping[str, Json]) -> Question:
    """The form with `values` in it; it stays open while a field has none."""
    return replace(question, fields=tuple(replace(f, value=values.get(f.name, f.value)) for f in question.fields))
