"""Looks: the same names for both libraries, and no meaning in colour alone."""

import pytest
from prompt_toolkit.styles import Attrs
from rich.color import ColorSystem
from rich.style import Style

from hitl_cli.ui.theme import STYLES, ansi, plain, prompt_fragments, prompt_style, rich_style, rich_text

LINE = [("title", "▌ Bash"), ("", "  "), ("del.word", "x")]


def test_both_libraries_know_every_name():
    for name in STYLES:
        rich = Style.parse(rich_style(name) or "none")
        prompt: Attrs = prompt_style().get_attrs_for_style_str(f"class:{name.replace('.', '-')}")
        assert (bool(rich.bold), bool(rich.underline), bool(rich.dim)) == (prompt.bold, prompt.underline, prompt.dim)
        assert (rich.color.name if rich.color else "") == (prompt.color or "").removeprefix("ansi")


@pytest.mark.parametrize("colour", [True, False])
def test_the_terminal_is_sent_what_rich_would_send(colour: bool):
    for name in STYLES:
        style = Style.parse(rich_style(name, colour) or "none")
        assert ansi([[(name, "x")]], colour) == style.render("x", color_system=ColorSystem.STANDARD) + "\n"


def test_without_colour_only_attributes_are_left():
    assert [name for name in STYLES if Style.parse(rich_style(name, colour=False) or "none").color] == []
    assert prompt_style(colour=False).get_attrs_for_style_str("class:add-word").color in ("", None)


def test_colours_are_the_terminals_own():
    assert {ink for _, ink in STYLES.values()} <= {"", "red", "green", "yellow", "blue", "magenta", "cyan"}


def test_a_line_for_either_library_is_its_text():
    assert rich_text(LINE).plain == plain(LINE) == "▌ Bash  x"
    assert prompt_fragments([LINE, LINE])[2:5] == [("class:del-word", "x"), ("", "\n"), ("class:title", "▌ Bash")]
