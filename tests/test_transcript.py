"""History as messages: always valid, whatever happened."""

from __future__ import annotations

from typing import Any

from hitl_cli import interrupts
from hitl_cli.interrupts import Approval, dump_answer, edit
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    ModelReply,
    Raised,
    Replied,
    Result,
    Settings,
    Settled,
    Started,
    Who,
)
from hitl_cli.texts import Texts
from hitl_cli.transcript import messages

SETTINGS = Settings("m", "default", "/")
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


def began(turn: int = 1, text: str = "go") -> Began:
    return Began(turn, text, SETTINGS)


def replied(turn: int, step: int, *calls: tuple[str, str, Any], text: str = "", stop: Any = "end") -> Replied:
    blocks: list[dict[str, Any]] = [THINKING, {"type": "text", "text": text}]
    made = []
    for n, (id, name, input) in enumerate(calls):
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": input})
        made.append(Call(f"{turn}.{step}.{n}", name, input, "", id))
    return Replied(turn, step, ModelReply(tuple(blocks), stop), tuple(made))


def results(made: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(b["tool_use_id"], b["_kind"]) for m in made for b in m["content"] if b["type"] == "tool_result"]


def test_results_stand_in_call_order_and_blocks_go_back_as_they_came() -> None:
    two = replied(1, 1, ("a", "x", {"p": 1}), ("b", "y", {}), text="Both.")
    image = ({"type": "image", "source": {}},)
    made = messages([began(), two, Settled("1.1.1", Result("two")), Settled("1.1.0", Result(image, False, "error"))])
    assert made == [
        {"role": "user", "content": [{"type": "text", "text": "go"}], "_turn": 1},
        {"role": "assistant", "content": list(two.reply.blocks)},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [image[0]], "_kind": "error", "is_error": True},
                {"type": "tool_result", "tool_use_id": "b", "content": "two", "_kind": "ran"},
            ],
        },
    ]


def test_calls_of_a_turn_that_was_given_up_are_closed_and_those_that_wait_are_not() -> None:
    story: list[Entry] = [began(), replied(1, 1, ("a", "x", {}), ("b", "y", {}), ("c", "z", {})), Started("1.1.1", "k")]
    story += [Settled("1.1.0", Result("ok"))]
    assert results(messages(story)) == [("a", "ran")]
    made = messages([*story, Ended(1, "failed"), began(2, "next")])
    assert results(made) == [("a", "ran"), ("b", "interrupted"), ("c", "interrupted")]
    assert [m["role"] for m in made] == ["user", "assistant", "user"]
    assert made[-1]["_turn"] == 2
    assert made[-1]["content"][-1] == {"type": "text", "text": "next"}
    texts = [b["content"] for b in made[-1]["content"][:3]]
    assert "part of its effect" in texts[1]
    assert "before this call was run" in texts[2]


def test_ids_that_are_missing_odd_or_used_before_are_replaced() -> None:
    story = [
        began(),
        replied(1, 1, ("a", "x", {}), ("", "x", {}), ("a", "x", {}), ("no good", "x", {})),
        *[Settled(f"1.1.{n}", Result("ok")) for n in range(4)],
        replied(1, 2, ("a", "x", {})),
        Settled("1.2.0", Result("ok")),
    ]
    made = messages(story)
    used = [b["id"] for m in made for b in m["content"] if b["type"] == "tool_use"]
    assert used == ["a", "call_1_1_1", "call_1_1_2", "call_1_1_3", "call_1_2_0"]
    assert [id for id, _ in results(made)] == used


def test_an_edited_call_is_shown_as_it_ran_with_a_note() -> None:
    call = Call("1.1.0", "x", {"p": 1}, "", "a")
    asked = Approval(id="1.1.0:approval", call=call, reason="r")
    answers = {"1.1.0:approval": dump_answer(edit({"p": 2}))}
    story = [
        began(),
        replied(1, 1, ("a", "x", {"p": 1})),
        Raised((interrupts.dump(asked),)),
        Answered(answers, Who("person")),
        Settled("1.1.0", Result("ok")),
    ]
    made = messages(story, Texts(modify="{tool_name} ran with {final_tool_params}"))
    assert made[1]["content"][-1]["input"] == {"p": 2}
    assert made[2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": [{"type": "text", "text": 'x ran with {"p": 2}'}, {"type": "text", "text": "ok"}],
            "_kind": "ran",
            "_answer": "edited",
        }
    ]


def test_blocked_turns_leave_no_trace() -> None:
    story = [
        began(1, "one"),
        replied(1, 1, text="yes"),
        Ended(1, "completed"),
        began(2, "bad"),
        replied(2, 1, text="worse"),
        Ended(2, "blocked", by="g"),
        began(3, "three"),
    ]
    made = messages(story)
    assert [m["content"][-1]["text"] for m in made] == ["one", "yes", "three"]


def test_a_replaced_answer_a_stopped_answer_and_an_empty_one() -> None:
    story = [
        began(1, "one"),
        replied(1, 1, text="rude"),
        Ended(1, "completed", text="polite"),
        began(2, "two"),
        replied(2, 1, text="half", stop="interrupted"),
        Ended(2, "interrupted"),
        began(3, "three"),
        Replied(3, 1, ModelReply(({"type": "text", "text": ""},), "end")),
        Ended(3, "completed"),
        began(4, "four"),
    ]
    made = messages(story)
    assert [(m["role"], [b.get("text", b["type"]) for b in m["content"]]) for m in made] == [
        ("user", ["one"]),
        ("assistant", ["thinking", "polite"]),
        ("user", ["two"]),
        ("assistant", ["thinking", "half"]),
        ("user", ["(The user stopped the answer above before it was complete.)", "three", "four"]),
    ]


def test_a_summary_stands_for_what_was_before_it() -> None:
    story = [
        began(1, "one"),
        replied(1, 1, text="yes"),
        Ended(1, "completed"),
        Changed("summary", "They agreed."),
        began(2, "two"),
    ]
    assert [b["text"] for m in messages(story) for b in m["content"]] == [
        "Summary of the conversation so far:\n\nThey agreed.",
        "two",
    ]


def test_broken_arguments_go_back_as_none() -> None:
    blocks = ({"type": "tool_use", "id": "a", "name": "x", "input": {}, "raw": "{bro"},)
    broken = Replied(1, 1, ModelReply(blocks, "tool_use"), (Call("1.1.0", "x", None, "{bro", "a"),))
    made = messages([began(), broken, Settled("1.1.0", Result("no JSON", False, "error"))])
    assert made[1]["content"] == [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]
