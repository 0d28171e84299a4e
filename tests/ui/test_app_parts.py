"""The parts of the bottom of the screen: status, live lines, the picker's list. All pure."""

from hitl_cli.journal import Call, ModelReply, Recorded, Replied, Result, Settled, Started
from hitl_cli.models import CallDelta, Retrying, TextDelta
from hitl_cli.outcome import ToolOutput
from hitl_cli.store import Head
from hitl_cli.ui.bottom import Status, queued_lines, short_folder
from hitl_cli.ui.clean import cells
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.live import Live
from hitl_cli.ui.picker import Choice, ago
from hitl_cli.ui.theme import plain

BASH = Call("1.1.0", "Bash", {"command": "make test"})


def status(width: int) -> str:
    return plain(Status("plan", "claude-x", "~/work", 93, 0.5, 2).line(width))


def test_the_status_line_leaves_out_what_matters_least() -> None:
    assert status(80) == "plan · 2 waiting · claude-x · 93% left · $0.50 · ~/work"
    assert status(40) == "plan · 2 waiting · claude-x · 93% left"
    assert status(20) == "plan · 2 waiting"
    assert status(3) == "plan"


def test_a_hint_stands_in_place_of_the_status() -> None:
    assert plain(Status(hint="Ctrl-C again leaves").line(12)) == "Ctrl-C aga…"


def test_a_folder_is_shown_short() -> None:
    assert [short_folder(p, "/home/ann") for p in ("/home/ann", "/home/ann/x", "/home/anna", "/a/b/c/d", "/")] == [
        "~",
        "~/x",
        "/home/anna",
        "…/c/d",
        "/",
    ]


def test_of_many_messages_that_wait_the_last_are_shown() -> None:
    def shown(number: int) -> list[str]:
        return [plain(line) for line in queued_lines([Typed(f"m{n}", f"m{n}") for n in range(number)], 80)]

    assert shown(5) == [f"  next: m{n}" for n in range(5)]
    assert shown(200) == ["  next: 195 more, then", *(f"  next: m{n}" for n in range(195, 200))]


def live(*events: object, now: float = 0.0) -> Live:
    it = Live()
    it.begin(0.0)
    for event in events:
        it.see(event, now)
    return it


def words(it: Live, now: float, tail: str = "", width: int = 60, height: int = 10) -> list[str]:
    """The lines, the last without its spinner."""
    *above, spinner = (plain(line) for line in it.lines(tail, width, height, now))
    return [*above, spinner[2:]]


def test_nothing_is_shown_when_nothing_goes_on() -> None:
    assert Live().lines("left over", 80, 10, 0.0) == []


def test_a_spinner_tells_what_goes_on_and_for_how_long() -> None:
    assert words(live(), 0.5) == ["waiting for the model · Esc stops"]
    assert words(live(), 12.0) == ["waiting for the model · 12 s · Esc stops"]
    assert words(live(CallDelta("Write", 120)), 0.0) == ["writing a call of Write, 120 characters · Esc stops"]
    assert words(live(Retrying(4.0, "overloaded")), 1.0) == ["overloaded; next try in 3 s · Esc stops"]


def test_the_end_of_what_streams_is_folded_and_limited() -> None:
    text = "one two three\nfour " + "x" * 100
    shown = words(live(TextDelta("x")), 0.0, text, width=20, height=4)
    assert len(shown) == 4
    assert all(cells(line) < 20 for line in shown[:-1])
    assert shown[-1] == "answeri… · Esc stops"


def test_output_of_a_running_command_is_a_short_tail_without_its_sequences() -> None:
    it = live(
        Recorded(1, 0.0, Replied(1, 1, ModelReply((), "tool_use"), (BASH,))),
        Recorded(2, 0.0, Started("1.1.0", "k")),
        *(ToolOutput("1.1.0", f"line {n}\x1b[2J\n") for n in range(9)),
    )
    assert words(it, 2.0) == [*(f"  │ line {n}" for n in range(3, 9)), "Bash make test · 2 s · Esc stops"]
    it.see(Recorded(3, 0.0, Settled("1.1.0", Result(""))), 3.0)
    assert words(it, 3.0) == ["waiting for the model · Esc stops"]


HEADS = [
    Head("ab12", "fix the test", "/w", updated=100.0),
    Head("cd34", "漢字\x1b[2J", "/w", pending=({},), updated=10.0),
]


def test_the_picker_narrows_and_chooses() -> None:
    choice = Choice(HEADS, 130.0)
    assert [plain(line) for line in choice.lines(60)] == [
        "Which session?  ",
        "› ab12  just now    fix the test",
        "  cd34  2 min ago   漢字  1 waiting",
        "  enter opens · esc leaves · type to narrow",
    ]
    choice.move(5)
    assert choice.chosen == HEADS[1]
    choice.type("fix")
    assert choice.chosen == HEADS[0]
    choice.type("zzz")
    assert choice.chosen is None


def test_a_title_that_cannot_be_seen_is_listed_all_the_same() -> None:
    lines = Choice([Head("ab12", "\x1b[0m", "/w", updated=100.0)], 100.0).lines(40)
    assert plain(lines[1]) == "› ab12  just now"


def test_ages_have_one_unit() -> None:
    assert [ago(s) for s in (3, 70, 7300, 200_000)] == ["just now", "1 min ago", "2 h ago", "2 d ago"]
