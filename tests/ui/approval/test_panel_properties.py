"""What holds for every call, every screen and every key."""

import io
import unicodedata

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from hitl_cli.interrupts import Approval, Approve, Choice, Edit, Field, Preview, Question, Review, Suggestion
from hitl_cli.journal import Call
from hitl_cli.ui.approval import Answered, Editor, Panel
from hitl_cli.ui.approval.body import sheet
from hitl_cli.ui.clean import reveal
from hitl_cli.ui.lines import width_of
from hitl_cli.ui.theme import STYLES, Line, plain, rich_text

ODD = st.sampled_from(
    [
        *"\x1b\x9b\x07\r\t\x00\u202e\u200b\u00a0\u3000漢👩\u200d\ufe0f\u0301\ud800[]<>",
        "\x1b[2J",
        "\x1b]0;x\x07",
        "    ",
        "\n\n",
    ]
)
TEXT = st.lists(ODD | st.text(max_size=20), max_size=30).map("".join)
WIDTHS = st.integers(20, 200)
KEYS = [
    "y",
    "a",
    "e",
    "E",
    "n",
    "N",
    "d",
    "?",
    "v",
    "p",
    " ",
    "enter",
    "escape",
    "up",
    "down",
    "s",
    "u",
    "t",
    "1",
    "2",
    "tab",
    "s-tab",
]
KEY = st.sampled_from(
    [
        *KEYS,
        "left",
        "right",
        "home",
        "backspace",
        "delete",
        "c-w",
        "c-k",
        "c-j",
        "c-left",
        "<bracketed-paste>",
        "漢",
        "x",
    ]
)


def approval(text: str, kind: str = "command") -> Approval:
    return Approval(
        id=text,
        call=Call("c", f"Bash{text[:5]}", {"command": text, text: [text]}),
        reason=text,
        suggested=(Suggestion(f"Bash({text})", text), Suggestion(text)),
        preview=Preview(kind, text, text, path=text, purpose=text),  # type: ignore[arg-type]
        trace=(text,),
        source=text,
    )


class Any:
    """A judge that finds no fault; what it says is the text it is given."""

    def __init__(self, words: str) -> None:
        self.words = words

    def problem(self, decision: str, rule: str, input: object) -> str:
        return ""

    def preview(self, input: object) -> tuple[Preview, str]:
        return Preview("command", "Bash", self.words), f"ask: {self.words}"

    def explain(self, input: object) -> list[str]:
        return [self.words]

    def destinations(self) -> dict[str, str]:
        return {"user": self.words}


def faults(lines: list[Line], width: int) -> list[Line]:
    """Lines that are too wide, hold an unknown style, or a character that moves or hides."""
    bad = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [
        line
        for line in lines
        if width_of(line) > width
        or any(style not in STYLES for style, _ in line)
        or any(unicodedata.category(c) in bad for c in plain(line))
    ]


@given(TEXT, WIDTHS, st.integers(8, 60), st.lists(KEY, max_size=15), st.sampled_from(["command", "diff", "text"]))
def test_nothing_odd_is_drawn_and_no_line_is_too_wide(text, width, height, keys, kind):
    panel = Panel(approval(text, kind), number=1, total=3, judge=Any(text), now=0.0, height=height, alerts=[text])
    lines = panel.body(width) + panel.bottom(width, 0.0)
    now = 1.0
    for key in keys:
        panel.press(key, now, text if key == "<bracketed-paste>" else "")
        if isinstance(panel.outcome, Editor):
            panel.edited(text, now)
        lines += panel.more(width) + panel.bottom(width, now) + panel.bottom(width, now + 0.6)
        now += 1
    assert faults(lines, width) == []
    assert [line for line in lines if line and plain(line)[0] not in "▌ ›"] == []  # the first column is the panel's


@given(TEXT, WIDTHS, st.lists(KEY, max_size=15))
def test_nothing_odd_is_drawn_of_a_question_or_a_review(text, width, keys):
    fields = (
        Field(text, header=text, description=text, choices=(Choice(text, text), Choice("b")), free=True),
        Field("n", "int", text, value=text),
        Field("m", choices=(Choice(text), Choice("c")), multiple=True),
    )
    payload = {text: text, "text": text}
    for interrupt in (
        Question(id="q", call=Call("c", text, {text: text}), fields=fields),
        Question(id="q", call=Call("c", text, {}), payload=payload, schema={"enum": [text, payload]}),
        Review(
            id="r", middleware=text, hook=text, payload=payload, schema={"type": "array", "items": {"type": "null"}}
        ),
    ):
        panel = Panel(interrupt, number=1, total=1, judge=Any(text), now=0.0)
        lines = panel.body(width) + panel.bottom(width, 0.0)
        for moment, key in enumerate(keys, 1):
            panel.press(key, float(moment), text)
            lines += panel.more(width) + panel.bottom(width, moment + 0.6)
        assert faults(lines, width) == []


@given(TEXT, WIDTHS, st.integers(8, 40))
def test_every_character_of_a_command_is_shown(text, width, height):
    call = Call("c", "Bash", {"command": text})
    panel = Panel(
        Approval(id="i", call=call, reason="", preview=Preview("command", "Bash", text)),
        number=1, total=1, judge=Any(""), now=0.0, height=height,
    )  # fmt: skip
    lines = panel.body(width)
    panel.bottom(width, 0.0)
    for moment in range(1, 400):
        panel.press(" ", float(moment))
        lines += panel.more(width)
    shown = "".join(plain(line) for line in lines)
    at = 0
    for character in reveal(text):  # in order; blanks may be shown as their number
        if character not in " \t\n":
            at = shown.index(character, at) + 1


@given(TEXT, st.integers(20, 120))
def test_a_terminal_shows_the_panel_as_its_lines_say(text, width):
    """Drawn with colours and put through a terminal emulator, nothing of the text styled, moved or cleared anything."""
    narrow = "".join(c for c in text if c.isascii() or unicodedata.category(c) in ("Cc", "Cf", "Zl"))
    lines = sheet(approval(narrow), 0.0).whole(width, [narrow])
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system="standard", highlight=False)
    for line in lines:
        console.print(rich_text(line))
    screen = pyte.Screen(width + 1, len(lines) + 1)
    pyte.Stream(screen).feed(out.getvalue().replace("\n", "\r\n"))
    assert [row.rstrip() for row in screen.display[:-1]] == [plain(line).rstrip() for line in lines]
    assert screen.title == ""


@given(st.lists(st.tuples(KEY, st.floats(0, 0.499)), max_size=60))
def test_keys_without_a_pause_never_answer(keys):
    panel = Panel(approval("ls"), number=1, total=2, judge=Any("ls"), now=0.0)
    panel.body(80)
    now = 0.0
    panel.bottom(80, now)
    for key, pause in keys:
        now += pause
        panel.press(key, now, "y")
        panel.bottom(80, now)
    assert panel.outcome is None


@given(
    st.integers(30, 200),
    st.lists(st.sampled_from(["y", "a", "enter", "e", " ", "escape", "r", "d2", "x"]), max_size=25),
)
def test_yes_is_impossible_before_the_end_was_shown(lines, keys):
    command = "\n".join(f"echo {n} end" for n in range(lines))
    panel = Panel(approval(command), number=1, total=1, judge=Any(command), now=0.0, height=20)
    printed = panel.body(80)
    panel.bottom(80, 0.0)
    for moment, key in enumerate(keys, 1):
        panel.press(key, float(moment))
        printed += panel.more(80)
    if isinstance(panel.outcome, Answered) and isinstance(panel.outcome.answer, Approve | Edit):
        assert any(plain(line).endswith(f"│ echo {lines - 1} end") for line in printed)
