"""Records as lines: each thing is told once, and nothing that a tool or a model says leaves its place."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_cli.interrupts import Approve, Reject, dump_answer
from hitl_cli.journal import (
    Answered,
    Began,
    Call,
    Changed,
    Ended,
    Entry,
    Grant,
    Judged,
    ModelReply,
    Raised,
    Recorded,
    Replied,
    Result,
    Settings,
    Settled,
    Started,
    Who,
)
from hitl_cli.models import TextDelta
from hitl_cli.outcome import Notice
from hitl_cli.ui.render import Teller
from hitl_cli.ui.wording import call_words, expanded

BASH = Call("1.1.0", "Bash", {"command": "make test\nmake lint"})
READ = Call("1.1.1", "Read", {"file_path": "a.py"})


def told(*events: object, width: int = 60) -> str:
    teller = Teller(width, False)
    out = ""
    for seq, event in enumerate(events, 1):
        at = float(seq * 2)
        out += teller.tell(event if isinstance(event, TextDelta) else Recorded(seq, at, event))  # type: ignore[arg-type]
    return re.sub(r"\x1b\[[\d;]*m", "", out)


def reply(text: str, *calls: Call) -> Entry:
    blocks = ({"type": "text", "text": text},) if text else ()
    return Replied(1, 1, ModelReply(blocks, "tool_use" if calls else "end"), calls)


def test_a_turn_reads_from_top_to_bottom() -> None:
    assert told(
        Began(1, "Please\nfix it", Settings("m", "default", "/w")),
        TextDelta("I will "),
        TextDelta("look."),
        reply("I will look.", BASH, READ),
        Started("1.1.0", "k"),
        Settled("1.1.0", Result("one\ntwo\nthree\nfour\nfive\n")),
        Settled("1.1.1", Result("x = 1\n")),
        reply("Done."),
        Ended(1, "completed"),
    ) == (
        "\n> Please\n  fix it\n"
        "\n  I will look.\n\n"
        "✓ Bash make test … 2 lines  5 lines · 2 s\n  │ one\n  │ two\n  │ three\n  │ … 2 more lines, Ctrl-O shows them\n"
        "✓ Read a.py  1 line\n"
        "\n  Done.\n"
    )


def test_text_that_was_streamed_is_not_told_again_and_text_that_was_not_is() -> None:
    assert told(TextDelta("Hi"), reply("Hi")) == "\n  Hi\n"
    assert told(reply("Hi")) == "\n  Hi\n"


def test_a_stopped_answer_keeps_what_had_come() -> None:
    assert told(TextDelta("Half a "), Ended(1, "stopped", "The step limit of 3 was reached.", why="steps")) == (
        "\n  Half a\n  Stopped: The step limit of 3 was reached.\n"
    )
    assert told(Ended(1, "stopped", "x", why="interrupted")) == "  Stopped.\n"


def test_answers_tell_what_was_said_who_said_it_and_the_rule() -> None:
    yes = dump_answer(Approve((Grant("allow", "Bash(make:*)", "user"),)))
    no = dump_answer(Reject("not\nnow"))
    assert told(Answered({"a": yes}, Who("person"))) == "  approved\n  rule: allow Bash(make:*)  (user)\n"
    assert told(Answered({"a": no}, Who("program", "ci"))) == "  rejected: not now by program ci\n"


def test_an_answer_names_its_call_unless_the_panel_of_the_call_stands_above() -> None:
    """As for the rest of a message that is refused at once, and for a session that is reopened."""
    teller = Teller(60, False)
    teller.tell(Recorded(1, 1.0, reply("", BASH, READ)))
    for kind, words in (
        ("approve", "approved"),
        ("edit", "approved with changes"),
        ("reject", "rejected: later"),
        ("result", "result given"),
    ):
        answer = {kind: {"reason": "later"}}
        for faced, first in (("1.1.0", f"  {words}\n"), ("", f"  {words} · Bash make test … 2 lines\n")):
            teller.face(faced)
            answered = Answered({"1.1.0:approval": answer, "1.1.1:approval": answer}, Who("person"))
            out = re.sub(r"\x1b\[\d*m", "", teller.tell(Recorded(2, 2.0, answered)))
            teller._approved.clear()
            assert out == f"{first}  {words} · Read a.py\n"


def test_a_named_call_is_cut_to_the_line() -> None:
    long = Call("1.1.0", "Bash", {"command": "echo " + "x" * 100})
    out = told(reply("", long), Answered({"1.1.0:approval": dump_answer(Reject("later"))}, Who("person")))
    assert [len(line) for line in out.splitlines()] == [60]


def test_results_stand_apart_from_the_message_that_they_follow() -> None:
    began = Began(1, "go", Settings("m", "default", "/w"))
    out = told(began, reply("", READ), Settled("1.1.1", Result("x")), reply("", READ), Settled("1.1.1", Result("x")))
    assert out == "\n> go\n\n✓ Read a.py  1 line\n✓ Read a.py  1 line\n"


def test_a_call_that_a_rule_denied_says_why_and_not_what_the_model_is_told() -> None:
    why = "`make test` is denied by Bash(make:*): " + "too slow " * 30
    judged = Judged("1.1.0", "deny", Who("rule", "Bash(make:*)"), why)
    out = told(reply("", BASH), judged, Settled("1.1.0", Result("Denied: …", ok=False, kind="refused")))
    first, second, *_, last = out.splitlines()
    assert first == "✗ Bash make test … 2 lines  refused"
    assert second.startswith("  │ `make test` is denied by Bash(make:*): too slow")
    assert last.endswith("more lines, Ctrl-O shows them")


def test_a_refusal_and_a_failure_say_so() -> None:
    told_refusal = told(reply("", BASH), Settled("1.1.0", Result("no", ok=False, kind="refused")))
    assert told_refusal == "✗ Bash make test … 2 lines  refused\n  │ no\n"
    failure = told(reply("", READ), Settled("1.1.1", Result("a\nb\nc\nno such file", ok=False, kind="error")))
    assert (
        failure == "✗ Read a.py  failed · 4 lines\n  │ … 1 more line, Ctrl-O shows it\n  │ b\n  │ c\n  │ no such file\n"
    )


def test_changes_of_mode_and_model_are_told() -> None:
    assert told(Changed("mode", "plan"), Changed("title", "x")) == "  mode: plan\n"


def test_a_rule_that_could_not_be_saved_is_told() -> None:
    assert told(Changed("unsaved", {"grant": {"decision": "allow", "rule": "Bash(make:*)"}, "why": "disk full"})) == (
        "  Not saved: Bash(make:*): disk full. It holds for this\n  session.\n"
    )


def test_output_cannot_leave_its_place() -> None:
    nasty = "\x1b[2J\x1b[H\x1b]0;title\x07ok\r\nnext\x07\u202e"
    out = told(reply("", BASH), Settled("1.1.0", Result(nasty)))
    assert out == "✓ Bash make test … 2 lines  2 lines · 0 s\n  │ ok\n  │ next␇<U+202E>\n".replace(" · 0 s", "")
    _head, *rest = expanded(BASH, Result(nasty), 60)[1:]
    assert [text for line in rest for _, text in line] == ["  │ ", "ok", "  │ ", "next␇<U+202E>"]


def test_a_call_that_was_edited_is_told_as_it_ran() -> None:
    ran = Started("1.1.0", "k", {"command": "make other"})
    assert (
        told(reply("", BASH), ran, Settled("1.1.0", Result("ok"))).splitlines()[0] == "✓ Bash make other  1 line · 2 s"
    )


def test_no_output_is_one_line() -> None:
    out = told(reply("", BASH), Settled("1.1.0", Result("(no output)")))
    assert out == "✓ Bash make test … 2 lines  no output\n"


def test_a_call_is_named_by_what_tells_most() -> None:
    assert [
        call_words("Bash", {"command": "ls"}),
        call_words("mcp__x__y", {"b": 1}),
        call_words("Bash", {"command": "make \t deploy" + " " * 90 + "; rm -rf x"}),
        call_words("Todo", {}),
        call_words("Bash", None, "{broken"),
        call_words("Read\x1b[31m", {"file_path": "a\x1b[2Jb"}),
    ] == ["Bash ls", 'mcp__x__y {"b": 1}', "Bash make deploy ; rm -rf x", "Todo", "Bash {broken", "Read␛[31m a␛[2Jb"]


DIFF = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n x\n-one two\n+one three\n"
WRITE = Call("1.1.0", "Write", {"file_path": "a.py"})


def test_a_change_that_nobody_was_asked_about_is_shown() -> None:
    changed = Settled("1.1.0", Result("changed a.py", data={"diff": DIFF}))
    assert told(reply("", WRITE), changed) == ("✓ Write a.py  +1 −1\n  1   x\n  2 - one two\n  2 + one three\n")


def test_a_change_that_a_panel_showed_is_not_shown_again() -> None:
    """Where no panel stood, as in a session that is reopened, the change is shown although it was asked about."""
    asked = Raised(({"id": "1.1.0:approval", "kind": "approval"},))
    changed = Settled("1.1.0", Result("changed a.py", data={"diff": DIFF}))
    for panel, lines in ((True, 1), (False, 4)):
        teller = Teller(60, False)
        teller.tell(Recorded(1, 1.0, reply("", WRITE)))
        teller.tell(Recorded(2, 2.0, asked))
        if panel:
            teller.face("1.1.0")
        assert len(teller.tell(Recorded(3, 3.0, changed)).splitlines()) == lines


def test_what_is_to_do_is_listed() -> None:
    call = Call("1.1.0", "Todo", {"items": []})
    listed = Settled("1.1.0", Result("[x] one\n[ ] two", data={"todo": [{"text": "one"}, {"text": "two"}]}))
    assert told(reply("", call), listed) == "✓ Todo\n    [x] one\n    [ ] two\n"
    asked = Call("1.1.0", "AskUser", {"questions": [{"question": "Which?"}]})
    replied = Settled("1.1.0", Result("Which?\nthis"))
    assert told(reply("", asked), replied) == "✓ AskUser\n    Which?\n    this\n"


LINE = st.text(st.characters(codec="utf-8") | st.sampled_from("▌>✓ \n\n"), max_size=80)


@given(LINE, st.integers(20, 120))
@settings(max_examples=200)
def test_the_first_column_holds_marks_of_our_own_alone(text: str, width: int) -> None:
    call = Call("1.1.0", "Bash", {"command": text})
    out = told(
        TextDelta(text), reply(text, call), Settled("1.1.0", Result(text)), Notice(text), Ended(1, "blocked", text),
        width=width,
    )  # fmt: skip
    assert [line for line in out.split("\n") if line[:2] not in ("", "  ", "✓ ")] == []


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.integers(20, 120))
@settings(max_examples=200)
def test_no_text_of_others_is_printed_with_a_control_character(text: str, width: int) -> None:
    call = Call("1.1.0", "Bash", {"command": text})
    out = told(
        TextDelta(text), reply(text, call), Settled("1.1.0", Result(text)), Ended(1, "blocked", text), width=width
    )
    assert [c for c in out if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c in "\u202e\u200b\u2066"] == []
