"""Diffs as screen lines."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli.ui.diff import counts, draw, parse
from hitl_cli.ui.lines import width_of
from hitl_cli.ui.theme import plain


def unified(old: str, new: str, context: int = 3) -> str:
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "old", "new", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def shown(diff: str, width: int = 60) -> list[str]:
    return [plain(line) for _, line in draw(parse(diff), width)]


OLD = "import os\n\n\ndef total(items):\n\treturn sum(items)\n\n\nprint(total([1, 2]))\nend\n"
NEW = "import os\n\n\ndef total(items, start=0):\n\treturn sum(items, start)\n\n\nprint(total([1, 2]))\nend\n"


def test_lines_have_their_numbers_and_signs():
    assert shown(unified(OLD, NEW, 1)) == [
        "  3   ",
        "  4 - def total(items):",
        "  5 -         return sum(items)",
        "  4 + def total(items, start=0):",
        "  5 +         return sum(items, start)",
        "  6   ",
    ]


def test_words_that_differ_are_marked():
    rows = parse(unified(OLD, NEW, 0))
    marked = [(row.text[start:end], style) for row in rows for start, end, style in row.hot]
    assert marked == [(", start=0", "add.word"), (", start", "add.word")]


def test_lines_with_little_in_common_are_not_marked():
    assert [row.hot for row in parse(unified("alpha beta\n", "something else\n"))[1:]] == [[], []]


def test_blocks_pair_line_by_line_and_do_not_run_into_each_other():
    rows = parse("@@ -1,3 +1,3 @@\n-one cat here\n+one dog here\n-two cats there\n+two dogs there\n same\n")
    assert [[row.text[a:b] for a, b, _ in row.hot] for row in rows[1:]] == [["cat"], ["dog"], ["cats"], ["dogs"], []]


def test_a_gap_between_hunks_is_shown_with_its_section():
    diff = "@@ -1 +1 @@\n-a\n+b\n@@ -10 +10 @@ def f():\n-c\n+d\n"
    assert shown(diff) == ["   1 - a", "   1 + b", "   ⋯   def f():", "  10 - c", "  10 + d"]


def test_lines_that_look_like_headers_are_lines():
    diff = unified("-- old\n@@ -1 +1 @@\n++ x\n", "-- new\n@@ -1 +1 @@\n++ y\n")
    assert shown(diff) == ["  1 - -- old", "  1 + -- new", "  2   @@ -1 +1 @@", "  3 - ++ x", "  3 + ++ y"]


def test_a_missing_line_end_is_said():
    assert shown(unified("a\n", "a")) == ["  1 - a", "  1 + a", "    \\ No newline at end of file"]


def test_carriage_returns_are_said_once_when_all_lines_have_them_and_shown_when_not():
    assert shown(unified("a\r\nb\r\n", "a\r\nc\r\n")) == [
        "  1   a",
        "  2 - b",
        "  2 + c",
        "    \\ Lines end with CR LF.",
    ]
    assert shown("@@ -1 +1 @@\n-a\n+a\r\n") == ["  1 - a", "  1 + a␍"]


def test_characters_that_deceive_are_shown():
    assert shown("@@ -1 +1 @@\n-a\n+\u202ea\x1b[2J\n") == ["  1 - a", "  1 + <U+202E>a␛[2J"]


def test_a_name_in_another_script_is_no_disguise_in_a_file():
    assert shown("@@ -0,0 +1,2 @@\n+Нора\n+pаypal\n") == ["  1 + Нора", "  2 + p<U+0430>ypal"]


def test_counts_are_of_lines():
    assert counts(parse(unified(OLD, NEW))) == (2, 2)


def test_text_that_is_no_diff_is_shown_as_it_is():
    assert shown("nothing to see") == ["    \\ nothing to see"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_wide_characters_and_tabs_fit_the_width(width):
    wide = "\t" + "漢字かな" * 30 + " 👩‍💻 " + "ascii words " * 20
    lines = draw(parse(unified(f"{wide}\n", f"{wide} more\n")), width)
    assert max(width_of(line) for _, line in lines) <= width


CONTENT = st.lists(
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), max_size=30), max_size=12
)


@given(CONTENT, CONTENT, st.integers(20, 200))
def test_no_line_is_lost_and_none_is_too_wide(old, new, width):
    hunk = [*("-" + line for line in old), *("+" + line for line in new)]
    rows = parse("\n".join([f"@@ -1,{len(old)} +1,{len(new)} @@", *hunk]) + "\n")
    assert counts(rows) == (len(new), len(old))
    drawn = draw(rows, width)
    assert all(width_of(line) <= width for _, line in drawn)
    assert {index for index, _ in drawn} >= {index for index, row in enumerate(rows) if row.sign in "+-"}


def test_a_very_large_diff_is_drawn_whole():
    diff = "@@ -1,20000 +1,20000 @@\n" + "-old text of a line, with words\n+new text of a line, with words\n" * 20_000
    assert len(draw(parse(diff), 80)) == 40_000
