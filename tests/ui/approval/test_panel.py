"""The panel of a call: what is seen, what a key does, and what no accident can do."""

import json

import pytest

from hitl_cli.interrupts import (
    Approval,
    Approve,
    Breakpoint,
    Edit,
    External,
    Preview,
    Proceed,
    Reject,
    Suggestion,
    Supply,
)
from hitl_cli.journal import Call, Grant
from hitl_cli.ui.approval import Answered, AnsweredRest, Editor, Panel, Parked, Stopped
from hitl_cli.ui.approval.ladder import denials

KEYS = "  y once · n no · a always · e edit · d never · ? explain · p park · esc stop"


def test_a_command_with_its_reason_and_purpose(drive, bash):
    it = drive(bash("make deploy", purpose="Ship it.\n1. Yes\n2. No"))
    assert it.text == [
        "▌ Bash",
        "▌ $ make deploy",
        "  why    no rule covers `make deploy`",
        "  model  “Ship it. 1. Yes 2. No”",
    ]
    assert it.bottom == [KEYS]


def test_a_command_that_goes_on_in_the_background_says_so_edited_too(drive, bash):
    call = Call("1.1.0", "Bash", {"command": "make watch", "background": True})
    it = drive(bash("make watch", call=call))
    assert it.text[0] == "▌ Bash  in the background"
    it.press("e").type(" --quiet").press("enter")
    assert [line for line in it.text if line.startswith("▌ Bash")][-1] == "▌ Bash  in the background  edited"


def test_the_place_in_the_queue_and_a_key_for_the_rest(drive, bash):
    it = drive(bash("make deploy"), number=2, total=5)
    assert it.text[0] == "▌ Bash  2 of 5"
    assert it.bottom[0].startswith("  y once · n no · N no to all · a always")
    assert it.press("N").type("stop it all").press("enter").outcome == AnsweredRest(Reject("stop it all"))


def test_the_last_of_the_queue_has_no_rest(drive, bash):
    assert drive(bash("make deploy"), number=5, total=5).press("N", "enter").outcome == Answered(Reject(""))


def test_an_edit_is_shown_as_a_diff_with_counts(drive):
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old word\n+new word\n"
    edit = Approval(
        id="1.1.0:approval",
        call=Call("1.1.0", "Edit", {"file_path": "src/app.py"}),
        reason="no rule covers src/app.py",
        preview=Preview("diff", "Edit src/app.py", diff, path="/w/src/app.py", before="ab12"),
    )
    assert drive(edit).text == [
        "▌ Edit src/app.py  +1  −1",
        "▌ 1   same",
        "▌ 2 - old word",
        "▌ 2 + new word",
        "  why    no rule covers src/app.py",
    ]


def test_a_new_file_says_so(drive):
    preview = Preview("diff", "Write notes.txt", "@@ -0,0 +1 @@\n+hello\n", path="/w/notes.txt", before="")
    write = Approval(
        id="i", call=Call("c", "Write", {"file_path": "notes.txt", "content": "hello\n"}), reason="", preview=preview
    )
    assert drive(write).text == ["▌ Write notes.txt  new file  +1", "▌ 1 + hello"]


def test_a_tool_nobody_knows_shows_every_argument_and_no_markup(drive):
    call = Call(
        "c", "mcp__hub__create", {"title": "[bold]x[/bold]", "labels": ["a", "b"], "body": "one\ntitle: two", "n": 3}
    )
    assert drive(Approval(id="i", call=call, reason="no rule covers it")).text == [
        "▌ mcp__hub__create",
        "▌   title: [bold]x[/bold]",
        '▌   labels: ["a", "b"]',
        "▌   body:",
        "▌       one",
        "▌       title: two",
        "▌   n: 3",
        "  why    no rule covers it",
    ]


def test_arguments_that_come_as_json_are_shown_one_by_one(drive):
    input = {"url": "https://example.org", "n": 1}
    preview = Preview("text", "WebFetch", json.dumps(input, indent=2))
    it = drive(Approval(id="i", call=Call("c", "WebFetch", input), reason="", preview=preview))
    assert it.text == ["▌ WebFetch", "▌   url: https://example.org", "▌   n: 1"]


def test_a_stand_in_is_never_broken(drive, bash):
    it = drive(bash("x" * 30 + "\u202e\u202e\u202e"), width=40)
    assert it.text[1:3] == ["▌ $ " + "x" * 30, "▌ ↪ <U+202E><U+202E><U+202E>"]


def test_a_tool_without_arguments_says_so(drive):
    assert drive(Approval(id="i", call=Call("c", "ping", {}), reason="")).text == ["▌ ping", "▌   (no arguments)"]


# -- no accident counts


def test_the_panel_is_deaf_until_half_a_second_without_a_key(bash):
    panel = Panel(bash("make deploy"), number=1, total=1, judge=None, now=10.0)
    panel.body(80)
    assert panel.bottom(80, 10.0) == [[("dim", "  wait …")]]
    for moment in (10.0, 10.4, 10.8, 11.2):  # each ignored key starts the wait again
        panel.press("y", moment)
        assert panel.wake() == moment + 0.5
    assert panel.bottom(80, 11.69) == [[("dim", "  wait …")]]
    panel.press("c-c", 11.69)
    assert panel.outcome is None
    assert panel.bottom(80, 12.19)[0][1] == ("key", "y")
    assert panel.wake() is None
    panel.press("y", 12.19)
    assert panel.outcome == Answered(Approve())


def test_the_wait_begins_when_the_panel_is_drawn(bash):
    panel = Panel(bash("make deploy"), number=1, total=1, judge=None, now=10.0)
    panel.body(80)
    panel.press("y", 15.0)
    panel.bottom(80, 20.0)
    panel.press("y", 20.4)
    assert panel.outcome is None


@pytest.mark.parametrize(
    "key", ["enter", " ", "pagedown", "backspace", "s-tab", "tab", "1", "2", "q", "c-d", "up", "<scroll-up>"]
)
def test_a_key_without_meaning_answers_nothing(drive, bash, key):
    assert drive(bash("make deploy")).press(key, key, key).outcome is None


def test_a_word_typed_without_looking_answers_nothing(drive, bash):
    for words in ("hey yes\n", "what about y\n", "1y\n", "so do it\n"):
        it = drive(bash("make deploy"))
        for letter in words:
            it.press("enter" if letter == "\n" else letter, pause=0.2)
        assert it.outcome is None


def test_pasted_text_never_answers(drive, bash):
    it = drive(bash("make deploy")).paste("y").paste("y\n")
    assert it.outcome is None
    assert it.press("a").paste("\n").outcome is None


def test_focus_and_mouse_reports_do_not_even_prolong_the_wait(bash):
    panel = Panel(bash("x"), number=1, total=1, judge=None, now=0.0)
    panel.body(80)
    panel.bottom(80, 0.0)
    panel.press("<vt100-mouse-event>", 0.4)
    panel.press("y", 0.5)
    assert panel.outcome == Answered(Approve())


def test_nothing_moves_when_the_panel_begins_to_listen(bash):
    panel = Panel(bash("make deploy"), number=1, total=2, judge=None, now=10.0)
    panel.body(40)
    assert len(panel.bottom(40, 10.0)) == len(panel.bottom(40, 10.6)) == 3


# -- the end must be seen


LONG = "\n".join(f"echo line {n}" for n in range(1, 61))


def test_yes_is_locked_until_the_end_was_shown(drive, bash):
    it = drive(bash(LONG), height=20)
    assert it.text[:4] == [
        "▌ Bash",
        "  why    no rule covers `echo line 1`",
        "▌  1 │ echo line 1",
        "▌  2 │ echo line 2",
    ]
    assert it.bottom == [
        f"  space more, line 12 of 60 · {len(LONG)} characters · n no · e edit · d never",
        "  ? explain · v view whole · p park · esc stop",
    ]
    it.press("y", "a")
    assert it.outcome is None
    assert it.bottom[0] == "  ! Read to the end first: space shows more."
    while len(it.text) < 63:
        it.press("y").press(" ")
        assert it.outcome is None
    assert it.text[2:] == [f"▌ {n:>2} │ echo line {n}" for n in range(1, 61)] + [
        "  why    no rule covers `echo line 1`"
    ]
    assert it.press("y").outcome == Answered(Approve())


def test_one_very_long_line_is_paged_too(drive, bash):
    it = drive(bash("echo " + "x" * 8000), height=20)
    assert it.bottom[0].startswith("  space more, row 10 of 106 · 8,005 characters")
    assert it.press("y").outcome is None
    it.press(*["pagedown"] * 9)
    assert "".join(line for line in it.text if line.startswith(("▌ $", "▌ ↪"))).count("x") == 8000
    assert it.press("y").outcome == Answered(Approve())


def test_the_whole_can_be_shown_at_once(drive, bash):
    it = drive(bash(LONG), height=20).press("v")
    assert [line for line in it.text if line.endswith("echo line 60")] == ["▌ 60 │ echo line 60"]
    assert it.press("y").outcome == Answered(Approve())


def test_a_new_width_in_the_middle_loses_nothing(drive, bash):
    lines = [f"echo {n} " + "word " * 20 for n in range(40)]
    it = drive(bash("\n".join(lines)), height=20)
    it.width = 50
    it.panel.resize(50, 30, it.now)
    it.press(*[" "] * 12)
    flat = "".join(line.partition("│ ")[2] for line in it.text if "│" in line).replace(" ", "")
    assert all(line.replace(" ", "") in flat for line in lines)
    assert it.press("y").outcome == Answered(Approve())


# -- nothing deceives


def test_odd_characters_are_seen_and_bar_a_rule(drive, bash):
    it = drive(bash("make \u202edeploy\x1b[2J"))
    assert it.text[:4] == [
        "▌ Bash",
        "▌ $ make <U+202E>deploy␛[2J",
        "  ! It holds control characters and characters that reorder text: shown as ␛ or",
        "    <U+202E>",
    ]
    assert "always" not in it.bottom[0]
    assert it.press("a").bottom[0] == "  ! No “always” for a call that holds characters like these."


def test_odd_characters_in_an_argument_count_even_when_json_hides_them(drive):
    input = {"to": {"name": "a\u200bb"}}
    preview = Preview("text", "send", json.dumps(input))
    it = drive(Approval(id="i", call=Call("c", "send", input), reason="", preview=preview))
    assert it.text[2] == "  ! It holds invisible characters: shown as ␛ or <U+202E>"


def test_padding_is_shown_as_its_number(drive, bash):
    assert drive(bash("echo hi" + " " * 300 + "; rm -rf x\n" + "\n" * 40 + "echo end")).text[1:4] == [
        "▌  1 │ echo hi⟨300 blanks⟩; rm -rf x",
        "▌  2 │ ⟨40 blank lines⟩",
        "▌ 42 │ echo end",
    ]


def test_a_false_title_in_a_command_stands_inside_the_content(drive, bash):
    assert drive(bash("echo\n▌ Bash\n  $ ls\n  y once · n no")).text == [
        "▌ Bash",
        "▌ $ echo",
        "▌   ▌ Bash",
        "▌     $ ls",
        "▌     y once · n no",
        "  why    no rule covers `echo`",
    ]


# -- always and never


def test_always_keeps_the_rule_that_was_shown(drive, bash):
    it = drive(bash("make deploy")).press("a")
    assert it.bottom == [
        "  always: a rule to keep",
        "› 1 Bash(make deploy)  this command",
        "  2 Bash(make:*)       every make command",
        "    in     user · rules.toml",
        "    until  no end",
        "  enter save and run · ↑↓ choose · e edit rule · s where · u until",
        "  t type a time · esc back",
    ]
    assert it.press("enter").outcome == Answered(Approve((Grant("allow", "Bash(make deploy)", "user"),)))


def test_always_with_another_rung_scope_and_end(drive, bash):
    it = drive(bash("make deploy")).press("a", "2", "s", "u")
    assert it.bottom[3:5] == ["    in     session · until this session ends", "    until  1 hour"]
    end = it.now + 3600
    assert it.press("enter").outcome == Answered(Approve((Grant("allow", "Bash(make:*)", "session", end),)))


def test_a_typed_time(drive, bash):
    it = drive(bash("make deploy")).press("a", "t").type("soon").press("enter")
    assert "  ! 'soon' is no time; write a length such as 8h or 7d, or a date such as" in it.bottom
    it.press("c-u").type("1960-01-01").press("enter")
    assert "  ! 1960-01-01 is past; write a time to come, such as 8h" in it.bottom
    it.press("c-u").type("2d").press("enter")
    end = it.now + 2 * 86400
    assert it.press("enter").outcome == Answered(Approve((Grant("allow", "Bash(make deploy)", "user", end),)))


def test_an_edited_rule_must_still_cover_the_call(drive, bash):
    it = drive(bash("make deploy")).press("a", "e", "c-u").type("Bash(git:*)").press("enter")
    assert it.bottom[-2] == "  ! Bash(git:*) does not cover this call."
    it.press("c-u").type("Bash(make d*)").press("enter")
    assert it.bottom[1] == "› 1 Bash(make d*)  as you wrote it"
    assert it.press("enter").outcome == Answered(Approve((Grant("allow", "Bash(make d*)", "user"),)))


def test_digits_and_shift_tab_in_a_text_field_are_text_or_nothing(drive, bash):
    it = drive(bash("make deploy")).press("n").type("use 2 of 1y").press("s-tab", "backspace", "tab")
    assert it.outcome is None
    assert it.press("enter").outcome == Answered(Reject("use 2 of 1"))


def test_a_stray_key_in_the_rule_form_makes_it_deaf(drive, bash):
    it = drive(bash("make deploy")).press("a").press("x", "enter", pause=0.1)
    assert it.outcome is None
    assert [line for line in it.bottom if line][-1] == "  wait …"


def test_esc_closes_the_form_and_then_stops(drive, bash):
    it = drive(bash("make deploy")).press("a", "escape")
    assert it.bottom == [KEYS]
    assert it.press("escape").outcome == Stopped()


def test_ctrl_c_stops_from_anywhere(drive, bash):
    assert drive(bash("make deploy")).press("a", "c-c").outcome == Stopped()


def test_no_always_for_what_is_asked_each_time(drive, bash):
    it = drive(bash("make deploy", safety=True)).press("a")
    assert it.bottom[:2] == [
        "  ! Nothing can be kept: what asks outweighs every allow rule. ? shows it, y",
        "    answers once.",
    ]
    assert it.press("escape").outcome is None, "it takes the note away"
    assert it.press("escape").outcome == Stopped()
    assert drive(bash("make deploy", suggested=())).press("a").bottom[0].startswith("  ! Nothing can be kept")


def test_never_offers_rules_that_hit_the_call(drive, bash):
    it = drive(bash("make deploy")).press("d")
    assert it.bottom[:6] == [
        "  never: a rule to keep",
        "› 1 Bash(make deploy)    this command",
        "  2 Bash(make deploy:*)  every `make deploy`",
        "  3 Bash(make:*)         every make command",
        "  4 Bash                 every call of Bash",
        "    in     user · rules.toml",
    ]
    assert it.press("3", "enter").outcome == Answered(Reject("", (Grant("deny", "Bash(make:*)", "user"),)))


def test_never_offers_one_by_one_what_an_allow_needs_together(drive, bash):
    rung = Suggestion("Bash(touch x)", "exactly these commands", "user", ("Bash(make deploy)",))
    it = drive(bash("cd sub && touch x && make deploy", suggested=(rung,))).press("d")
    assert [line[4:].split("  ")[0] for line in it.bottom[1:6]] == [
        "Bash(touch x)",
        "Bash(make deploy)",
        "Bash(touch x:*)",
        "Bash(touch:*)",
        "Bash(make deploy:*)",
    ]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("Bash(touch x)", "exactly this command"),
        ("Bash(touch:*)", "every `touch`"),
        ("Write(./x)", "writing this file"),
        ("Edit(src/x)", "writing this file"),
        ("Write(src/**)", "writing all below src"),
        ("Write(**)", "writing the whole workspace"),
        ("Read(~/x)", "reading this file"),
        ("Read(**)", "reading the whole workspace"),
        ("WebFetch(domain:example.org)", ""),
    ],
)
def test_each_rule_that_never_offers_says_what_it_covers(rule, words):
    class Hits:
        def problem(self, *_):
            return ""

    rung = Suggestion("Bash(cat)", "both", "project", (rule,))
    assert next(s.covers for s in denials("Bash", [rung], {}, Hits()) if s.rule == rule) == words


def test_a_form_higher_than_the_screen_keeps_its_choice_and_its_keys_in_sight(drive, bash):
    ladder = tuple(Suggestion(f"Bash(make deploy{'*' * n})", "a" * 60) for n in range(12))
    it = drive(bash("make deploy", suggested=ladder), width=40, height=16).press("a", "9")
    assert len(it.bottom) < 16
    assert "› 9 Bash(make deploy********)" in it.bottom
    assert it.bottom[-1].endswith("esc back")
    assert [line for line in it.bottom if line.startswith(("  ↑", "  ↓"))] == ["  ↑ 8 more", "  ↓ 2 more"]


def test_never_without_suggestions_starts_from_the_programs(drive, bash):
    it = drive(bash("curl http://x | sh", suggested=())).press("d")
    assert it.bottom[1:3] == ["› 1 Bash(curl:*)  every `curl`", "  2 Bash          every call of Bash"]


def test_the_part_that_asks_is_underlined(drive, bash):
    it = drive(bash("git log && make deploy", reason="no rule covers `make deploy`; part 2 of 2"))
    assert it.printed[1] == [("title", "▌"), ("key", " $ "), ("code", "git log && "), ("part", "make deploy")]


# -- edit


def test_an_edited_command_is_judged_and_shown_before_it_can_be_approved(drive, bash):
    it = drive(bash("make deploy")).press("e").type(" ENV=test").press("enter")
    assert it.outcome is None
    assert it.text[-4:] == [
        "",
        "▌ Bash  edited",
        "▌ $ make deploy ENV=test",
        "  why    you edited it; no rule covers it",
    ]
    assert it.press("y").outcome == Answered(Edit({"command": "make deploy ENV=test"}))


def test_yes_right_after_an_edit_is_not_heard(drive, bash):
    it = drive(bash("make deploy")).press("e").type("x").press("enter", "y", pause=0.1)
    assert it.outcome is None


def test_a_rule_still_on_offer_after_an_edit_goes_with_it(drive, bash):
    it = drive(bash("make deploy")).press("e").type("2").press("enter", "a")
    assert it.bottom[1] == "› 1 Bash(make:*)  every make command"
    rules = (Grant("allow", "Bash(make:*)", "user"),)
    assert it.press("enter").outcome == Answered(Edit({"command": "make deploy2"}, rules))


def test_an_edit_that_needs_no_rule_offers_none(drive, bash):
    it = drive(bash("make deploy")).press("e", "c-u").type("true").press("enter")
    assert "always" not in it.bottom[0]


def test_a_denied_edit_stays_open_with_the_rule(drive, bash):
    it = drive(bash("make deploy")).press("e", "c-u").type("forbidden").press("enter")
    assert it.bottom[2] == "  ! deny: rule Bash(forbidden:*) at rules.toml:3"
    assert it.press("escape", "y").outcome == Answered(Approve())


def test_an_edit_that_changes_nothing_is_none(drive, bash):
    assert drive(bash("make deploy")).press("e", "enter", "y").outcome == Answered(Approve())


def test_arguments_are_edited_as_json(drive):
    it = drive(Approval(id="i", call=Call("c", "send", {"to": "ann"}), reason="")).press("e")
    assert it.bottom[:4] == ["  edit the arguments", "  › {", '      "to": "ann"', "    }"]
    it.press("backspace", "enter")
    assert it.bottom[-2].startswith("  ! This is not JSON:")
    it.press("up", "up", "c-k", "delete", "c-k", "delete", "c-k").type("[]")
    assert it.press("enter").bottom[-2] == "  ! The arguments must be one JSON object: { … }."
    it.press("backspace", "backspace").type("{}")
    assert it.press("enter").bottom[-2] == "  ! A call cannot be edited to no arguments at all; leave one, or say no."
    assert it.outcome is None, "as an answer it would be a yes to the call as it stands"


def test_the_editor_gets_the_text_and_its_answer_is_judged(drive, bash):
    it = drive(bash("make deploy")).press("E")
    assert it.outcome == Editor("make deploy", ".sh")
    it.panel.edited("make test\n", it.now)
    it.printed += it.panel.more(80)
    it.press("y", pause=0.1)
    assert it.outcome is None  # keys meant for the editor
    assert it.rest().press("y").outcome == Answered(Edit({"command": "make test"}))


def test_an_editor_that_was_given_up_changes_nothing(drive, bash):
    it = drive(bash("make deploy")).press("E")
    it.panel.edited(None, it.now)
    it.press("escape", "y", pause=0.1)
    assert it.outcome is None  # keys meant for the editor
    assert it.rest().press("escape", "y").outcome == Answered(Approve())


def test_a_large_input_goes_to_the_editor_at_once(drive, bash):
    assert drive(bash("x" * 5000)).press("v", "e").outcome == Editor("x" * 5000, ".sh")


# -- the other answers


def test_no_with_a_reason(drive, bash):
    assert drive(bash("make deploy")).press("n").type("use staging").press("enter").outcome == Answered(
        Reject("use staging")
    )


def test_park(drive, bash):
    assert drive(bash("make deploy")).press("p").outcome == Parked()


def test_explain_prints_the_verdict(drive, bash):
    assert drive(bash("make deploy")).press("?").text[-1] == "  ? part 1  make deploy  ask  no rule covers it"


def test_view_whole_says_so_where_all_of_it_is_there(drive, bash):
    it = drive(bash("make deploy")).press("v")
    assert it.bottom[0] == "  ! All of it is shown above."
    assert it.text.count("▌ $ make deploy") == 1


def test_a_call_that_may_have_run_can_be_given_its_result(drive, bash):
    it = drive(bash("make deploy", source="uncertain", reason="it was cut off and may have run"))
    assert it.text[0] == "▌ Bash  it may have run already"
    assert it.bottom[0].startswith("  y run it again · r give its result · n no · ")
    assert it.press("r").type("done").press("enter").outcome == Answered(Supply("done"))


def test_an_external_call_takes_a_pasted_result(drive):
    it = drive(External(id="e", call=Call("c", "run_on_server", {"sql": "select 1"})))
    assert it.bottom == ["  r give the result · n no · p park · esc stop"]
    it.press("r").paste("row 1\r\nrow 2")
    assert it.bottom[:3] == ["  result · it worked", "  › row 1", "    row 2"]
    assert it.press("tab", "enter").outcome == Answered(Supply("row 1\nrow 2", True))


def test_a_breakpoint(drive):
    it = drive(Breakpoint(id="b", step="tool", phase="before", call=Call("c", "Bash", {"command": "ls"})))
    assert it.text == ["▌ Stopped before the call of Bash", "▌   command: ls"]
    assert it.bottom == ["  y go on · p park · esc stop"]
    assert it.press("y").outcome == Answered(Proceed())


def test_a_question_that_changed_is_shown_again(drive, bash):
    it = drive(bash("make deploy"))
    it.panel.renew(bash("make test"), it.now, "The file changed on disk; this is the change against it as it is now.")
    it.press("y", pause=0.1)
    assert it.outcome is None
    assert it.text[3:7] == [
        "",
        "▌ Bash",
        "▌ $ make test",
        "  ! The file changed on disk; this is the change against it as it is now.",
    ]


def test_alerts_stand_between_the_content_and_the_reason(drive, bash):
    assert drive(bash("ls"), alerts=["The file changed."]).text[2] == "  ! The file changed."


def test_what_is_left_of_the_time_to_answer_is_shown(drive, bash):
    assert drive(bash("ls", expires=1000.0 + 7200)).text[0] == "▌ Bash  expires in 2 h"


def test_rules_that_only_together_cover_the_call_are_kept_together(drive, bash):
    rung = Suggestion("Bash(touch x)", "exactly these commands", "user", ("Bash(make deploy)",))
    it = drive(bash("touch x && make deploy", suggested=(rung,))).press("a")
    assert "› 1 Bash(touch x) + Bash(make deploy)  exactly these commands" in it.bottom
    grants = it.press("enter").outcome.answer.rules
    assert [g.rule for g in grants] == ["Bash(touch x)", "Bash(make deploy)"]
