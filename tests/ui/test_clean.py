"""What other people's text may do to the screen: nothing."""

import unicodedata

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_cli.ui.clean import Cleaner, cells, clean, cut, fold, reveal, suspicious

# Pieces that sequences are made of, so that random texts hold whole, broken and nested ones.
PIECES = st.sampled_from(
    [
        *"\x1b\x9b\x9d\x90\x98\x9e\x9f\x9c\x07\x08\r\n\t\x00\x7f\x0b\x0c",
        *"[]PX^_\\;?0123mHJKhlABc( #/",
        "\x1b[",
        "\x1b]0;",
        "\x1b\\",
        *"a中é👨⚠\u200d\ufe0f\u202e\u200b\u00a0\u3000\u2028\u0301\u0301\u0430\U000e0041\ud800",
        "word",
        "می\u200cخ",
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ntext", "plain\ntext"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38:2::1:2:3mx", "x"),
        ("\x1b]0;title\x07body", "body"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGk=\x07", ""),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1b_apc\x1b\\ \x1b^pm\x1b\\ \x1bXsos\x1b\\", "  "),
        ("\x9b2Jx \x9d0;t\x9cy \x90d\x9cz", "x y z"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b]0;over\nlines\x07", "0;over\nlines␇"),
        ("\x1b[12", ""),
        ("\x1b(B\x1bc\x1b7", ""),
        ("\x1b", "␛"),
        ("a\x08b\x7f\x00", "a␈b␡␀"),
        ("10%\r20%\r\ndone", "10%\n20%\ndone"),
        ("a\tb\n中\tc", "a       b\n中      c"),
        ("rm \u202e\u200b\u2066", "rm <U+202E><U+200B><U+2066>"),
        ("\u2028\u0085\U000e0041\ufeff", "<U+2028><U+0085><U+E0041><U+FEFF>"),
        ("a\u00a0b\u2009c\u3000d", "a b c  d"),
        ("⚠\ufe0f 👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f", "⚠ 👩💻 ❤🔥 1"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("می\u200cخواهم", "میخواهم"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301<U+0301>"),
        ("\ud800", "<U+D800>"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_text_that_is_read(raw, shown):
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown", "why"),
    [
        ("git log", "git log", []),
        ("x \x1b[2J", "x ␛[2J", ["control characters"]),
        ("rm \u202ex", "rm <U+202E>x", ["characters that reorder text"]),
        ("a\u200bb", "a<U+200B>b", ["invisible characters"]),
        ("a\u00a0b", "a<U+00A0>b", ["spaces that are not the ordinary space"]),
        ("x\u0336", "x<U+0336>", ["marks drawn over letters"]),
        ("literal <U+202E> and ␛", "literal <U+003C>U+202E> and <U+241B>", []),
        ("pаypal", "p<U+0430>ypal", ["letters that look like others"]),
        ("сору a", "<U+0441><U+043E><U+0440><U+0443> a", ["letters that look like others"]),
        ("git commit -m 'работа с файлами'", "git commit -m 'работа с файлами'", []),
        (
            "curl https://аррӏе.com/я",
            "curl https://<U+0430><U+0440><U+0440><U+04CF><U+0435>.com/я",
            ["letters that look like others"],
        ),
        ("10µs Δt λx", "10µs Δt λx", []),
        ("Vue組件 テスト", "Vue組件 テスト", []),
        ("echo ⚠\ufe0f", "echo ⚠<U+FE0F>", []),
        ("a\r\nb", "a␍\nb", []),
        ("a\tb\nc", "a\tb\nc", []),
    ],
)
def test_text_that_is_acted_on(raw, shown, why):
    assert (reveal(raw), suspicious(raw)) == (shown, why)


@given(HOSTILE)
def test_nothing_that_moves_or_hides_is_left(text):
    for shown in (clean(text), reveal(text)):
        for character in shown:
            assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"), shown
    assert "\t" not in clean(text)


def test_a_string_cut_off_by_a_sequence_that_has_not_ended():
    cleaner = Cleaner()
    assert cleaner.feed("\x1b]0;title\x1b[") + cleaner.feed("31mred") + cleaner.end() == "red"


@settings(max_examples=300)
@given(HOSTILE, st.data())
def test_where_a_stream_is_cut_changes_nothing(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    cleaner = Cleaner()
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join([*map(cleaner.feed, pieces), cleaner.end()]) == clean(text)


@given(HOSTILE)
def test_a_terminal_shows_clean_text_as_it_stands(text):
    """An emulator that is fed the cleaned text holds just its characters: no style, no title, no cursor move."""
    shown = clean(text)
    if not shown.isascii() and any(cells(c) != 1 for c in shown if c != "\n"):
        return  # pyte lays out wide and combining characters in its own way
    lines = shown.split("\n")
    screen = pyte.Screen(max(map(len, lines)) + 1, len(lines) + 1)
    pyte.Stream(screen).feed(shown.replace("\n", "\r\n"))
    assert [row.rstrip() for row in screen.display[: len(lines)]] == [line.rstrip() for line in lines]
    assert screen.title == ""


@given(st.text(), st.integers(2, 200))
def test_folding_loses_nothing_and_keeps_the_width(text, width):
    line = clean(text).replace("\n", " ")
    rows = fold(line, width)
    assert "".join(rows) == line
    assert all(cells(row) <= width for row in rows)


@given(st.text(), st.integers(0, 60))
def test_a_cut_line_fits(text, width):
    line = clean(text).replace("\n", " ")
    assert cells(cut(line, width)) <= width


def test_every_format_and_separator_character_is_shown():
    odd = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp", "Cs", "Cc")]
    hidden = [c for c in odd if c not in "\n\t" and c in reveal(f"a{c}b")]
    assert hidden == []


def test_every_space_but_the_ordinary_one_is_shown_in_what_is_acted_on():
    spaces = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Zs" and code != 0x20]
    assert [c for c in spaces if c in reveal(c)] == []
    assert [c for c in spaces if c in clean(c)] == []
