"""Consoles that answer line by line."""

import io
import os
import pickle
import pty
import threading
import time

import pytest
from rich.console import Console

from hitl_cli.interrupts import (
    Approval,
    Approve,
    Breakpoint,
    Choice,
    Edit,
    External,
    Field,
    Preview,
    Proceed,
    Question,
    Reject,
    Reply,
    Review,
    Suggestion,
    Supply,
)
from hitl_cli.journal import Call, Grant
from hitl_cli.middleware import VERDICT
from hitl_cli.outcome import Suspended
from hitl_cli.ui.approval import Answered, AnsweredRest, Parked, Stopped
from hitl_cli.ui.plain import PlainConsole, RichConsole


def bash(command: str = "make deploy", id: str = "1.1.0:approval", **rest: object) -> Approval:
    known: dict[str, object] = {
        "reason": "no rule covers `make`",
        "suggested": (
            Suggestion("Bash(make deploy)", "this command"),
            Suggestion("Bash(make:*)", "every make command"),
        ),
        "preview": Preview("command", "Bash", command, purpose="Ship it"),
    }
    return Approval(id=id, call=Call("c", "Bash", {"command": command, "timeout": 5}), **(known | rest))  # type: ignore[arg-type]


def ask(interrupt, *typed: str, **rest):
    out = io.StringIO()
    console = PlainConsole(io.StringIO("".join(f"{line}\n" for line in typed)), out)
    return console.ask(interrupt, **rest), out.getvalue().splitlines()


def test_a_command_as_numbered_lines():
    outcome, shown = ask(bash("make a\nmake b"), "y", number=1, total=2)
    assert outcome == Answered(Approve())
    assert shown == [
        "Question 1 of 2",
        "Bash",
        "1: make a",
        "2: make b",
        "why    no rule covers `make`",
        "model  “Ship it”",
        "y yes once, n no, x no to all, a always, m modify, d never, ? explain, p park, s stop: ",
    ]


def test_an_edit_as_words_before_numbers():
    preview = Preview("diff", "Edit a.py", "@@ -1,2 +1,2 @@\n same\n-old\n+new\n", path="/w/a.py", before="x")
    _, shown = ask(Approval(id="i", call=Call("c", "Edit", {}), reason="", preview=preview), "p")
    assert shown[:4] == ["Edit a.py, +1, −1", "same 1: same", "removed 2: old", "added 2: new"]


@pytest.mark.parametrize("yes", ["y", "Y", "yes", " YES "])
def test_yes_in_any_case(yes):
    assert ask(bash(), yes)[0] == Answered(Approve())


def test_it_asks_again_until_the_answer_can_be_used_and_has_no_default():
    outcome, shown = ask(bash(), "", "maybe", "yess", "NO", "")
    assert outcome == Answered(Reject(""))
    assert sum(line.startswith("y yes once") and "Please answer" in line for line in shown) == 3


def test_a_reason_reaches_the_answer():
    assert ask(bash(), "n", "use staging")[0] == Answered(Reject("use staging"))


def test_the_end_of_input_parks():
    assert ask(bash())[0] == Parked()
    assert ask(bash(), "a", "1x")[0] == Parked()


def test_park_stop_and_no_to_all():
    assert [ask(bash(), key)[0] for key in ("p", "stop")] == [Parked(), Stopped()]
    assert ask(bash(), "x", "", number=1, total=2)[0] == AnsweredRest(Reject(""))


def test_arguments_are_modified_one_by_one():
    outcome, shown = ask(bash(), "m", "make test", "soon", "10")
    assert outcome == Answered(Edit({"command": "make test", "timeout": 10}))
    assert any("That is not JSON" in line for line in shown)
    assert ask(bash(), "modify", "", "", "y")[0] == Answered(Approve())


def test_a_call_without_arguments_has_nothing_to_modify():
    outcome, shown = ask(Approval(id="i", call=Call("c", "ping", {}), reason=""), "m", "y")
    assert outcome == Answered(Approve())
    assert any("no arguments to modify" in line for line in shown)


def test_rules_to_keep():
    grant = Grant("allow", "Bash(make:*)", "user")
    assert ask(bash(), "a", "3", "2", "")[0] == Answered(Approve((grant,)))
    deny = Grant("deny", "Bash(rm:*)", "user")
    assert ask(bash(), "d", "Bash(rm:*)", "")[0] == Answered(Reject("", (deny,)))


def test_a_rule_until_a_time():
    outcome, shown = ask(bash(), "a", "1", "soon", "8h")
    assert abs(outcome.answer.rules[0].until - time.time() - 8 * 3600) < 60
    assert any("'soon' is no time" in line for line in shown)


class Judge:
    def problem(self, decision, rule, input):
        return "" if "make" in rule and "make" in input["command"] else f"{rule} does not cover this call."

    def preview(self, input):
        return Preview("command", "Bash", input["command"]), (
            "deny: no" if "rm" in input["command"] else "ask: why not"
        )

    def explain(self, input):
        return ["part 1  ask"]

    def destinations(self):
        return {"session": "this session", "user": "rules.toml"}


def test_with_a_judge_an_edit_is_judged_and_shown_again():
    outcome, shown = ask(bash(), "m", "rm x", "", "m", "make x", "", "y", judge=Judge())
    assert outcome == Answered(Edit({"command": "make x", "timeout": 5}))
    assert "deny: no" in " ".join(shown)
    assert shown[-4:-1] == ["1: make x", "why    you edited it", "rules  ask: why not"]


def test_with_a_judge_a_rule_must_cover_the_call_and_has_a_place():
    outcome, shown = ask(bash(), "a", "Bash(git:*)", "Bash(make d*)", "1", "", judge=Judge())
    assert outcome == Answered(Approve((Grant("allow", "Bash(make d*)", "session"),)))
    assert any("Bash(git:*) does not cover this call." in line for line in shown)
    assert ask(bash(), "?", "p", judge=Judge())[1][-2].endswith("part 1  ask")


def test_odd_characters_are_shown_and_bar_always():
    outcome, shown = ask(bash("make \x1b[2J\u202e"), "a", "p")
    assert shown[1:3] == [
        "1: make ␛[2J<U+202E>",
        "! It holds control characters and characters that reorder text: shown as ␛ or <U+202E>",
    ]
    assert outcome == Parked()


def test_a_question_with_choices():
    one = Field("Which?", choices=(Choice("A", "first"), Choice("B")))
    many = Field("What?", choices=(Choice("C"), Choice("D"), Choice("E")), multiple=True, free=True)
    form = Question(id="q", call=Call("c", "AskUser", {}), fields=(one, many))
    outcome, shown = ask(
        form,
        "r",
        "3",
        "1,2",
        "x",
        "2",
        "1,3",
    )
    assert outcome == Answered(Reply({"Which?": ["B"], "What?": ["C", "E"]}))
    assert sum("Please give one number from 1 to 2." in line for line in shown) == 3
    assert ask(form, "r", "1", "2,4", "mine")[0] == Answered(Reply({"Which?": ["A"], "What?": ["D", "mine"]}))
    assert ask(form, "n", "")[0] == Answered(Reject(""))


def test_a_question_is_read_before_any_key_is_asked_for():
    one = Field("Which?", choices=(Choice("A", "first"), Choice("B")))
    _, shown = ask(Question(id="q", call=Call("c", "AskUser", {}), fields=(one,)), "r", "2")
    assert shown == ["Question", "Which?", "1  A  first", "2  B", "r reply, n no, p park, s stop: Number: "]


def test_typed_fields_and_their_defaults():
    form = Question(
        id="q", call=Call("c", "send", {}), fields=(Field("to"), Field("count", "int", value=3), Field("ok", "bool"))
    )
    assert ask(form, "r", "ann", "x", "", "2")[0] == Answered(Reply({"to": "ann", "count": 3, "ok": False}))


def test_a_typed_question_a_review_a_breakpoint_and_an_outside_call():
    call = Call("c", "t", {})
    assert ask(Question(id="q", call=call, payload="How many?", schema={"type": "integer"}), "r", "7")[0] == Answered(
        Reply(7)
    )
    review = Review(id="r", middleware="m", hook="after_agent", payload={"text": "hi"}, schema=VERDICT)
    assert ask(review, "r", "2")[0] == Answered(Reply("block"))
    assert ask(review, "r", "3", "ho")[0] == Answered(Reply({"edit": "ho"}))
    assert ask(Breakpoint(id="b", step="model", phase="before"), "y")[0] == Answered(Proceed())
    assert ask(External(id="e", call=call), "r", "one", "two", ".", "n")[0] == Answered(Supply("one\ntwo", False))


def test_as_a_responder_it_answers_what_waits():
    run = Suspended(session="s", state={}, pending=(bash(id="a"), bash(id="b"), bash(id="c")))
    console = PlainConsole(io.StringIO("y\nx\nno more\n"), io.StringIO())
    assert console(run) == {"a": Approve(), "b": Reject("no more"), "c": Reject("no more")}
    assert PlainConsole(io.StringIO(""), io.StringIO())(run) is None
    assert PlainConsole(io.StringIO("y\np\nn\n\n"), io.StringIO())(run) == {"a": Approve(), "c": Reject("")}
    assert PlainConsole(io.StringIO("y\ns\n"), io.StringIO())(run) is None


def rich(typed: str, width: int = 60) -> tuple[RichConsole, io.StringIO]:
    out = io.StringIO()
    return RichConsole(Console(file=out, width=width, highlight=False), io.StringIO(typed)), out


def test_the_rich_console_draws_the_panel_and_reads_no_markup():
    console, out = rich("junk\ny\n")
    call = Call("c", "send", {"text": "[bold]x[/bold] [link=http://x]"})
    assert console.ask(Approval(id="i", call=call, reason="[red]why")) == Answered(Approve())
    assert out.getvalue().splitlines()[:4] == [
        "",
        "▌ send",
        "▌   text: [bold]x[/bold] [link=http://x]",
        "  why    [red]why",
    ]


def test_a_stored_rich_console_holds_no_console():
    console, _ = rich("")
    assert pickle.loads(pickle.dumps(console)) == RichConsole()


def test_two_threads_do_not_mix_their_questions():
    """The second question is not printed before the first is answered."""
    read, write = os.pipe()
    out = io.StringIO()
    console = PlainConsole(os.fdopen(read), out)
    asks = [threading.Thread(target=console.ask, args=(bash(f"echo {n}"),), daemon=True) for n in (1, 2)]
    for thread in asks:
        thread.start()
    while "yes once" not in out.getvalue():
        time.sleep(0.01)
    asks[1].join(0.3)
    shown = out.getvalue()
    os.write(write, b"y\ny\n")
    os.close(write)
    for thread in asks:
        thread.join(10)
    console.input.close()
    assert shown.count("echo") == 1  # the other one waits for its turn
    assert out.getvalue().count("echo") == 2


def test_what_was_typed_before_the_question_does_not_answer_it():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as terminal:
        os.write(ours, b"y\n")  # typed ahead
        out = io.StringIO()
        console = PlainConsole(terminal, out)
        got: list[object] = []
        thread = threading.Thread(target=lambda: got.append(console.ask(bash())))
        thread.start()
        while "yes once" not in out.getvalue():
            time.sleep(0.01)
        os.write(ours, b"n\nlater\n")
        thread.join(10)
    os.close(ours)
    assert got == [Answered(Reject("later"))]
