"""Streamed Markdown: the same blocks however it is cut, every word shown, nothing printed twice, cost linear."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_cli.ui.stream import CODE_LINES, Block, Splitter, rendered

TEXT = """# Title

One **bold** `code` line
goes on.
- first
- second
  more
  - nested

1. one

   still one
2. two

| a | b |
|---|--:|
| 1 | 22 |

```python
def f():

    return 1
```
Right below.
"""


def blocks(text: str, size: int = 10_000) -> list[Block]:
    splitter = Splitter()
    found = [b for i in range(0, len(text), size) for b in splitter.feed(text[i : i + size])]
    return found + splitter.end()


def shown(text: str, width: int = 40) -> str:
    out = "".join(rendered(b, width, False) for b in blocks(text))
    return re.sub(r"\x1b\[[\d;]*m", "", out)


def test_blocks_end_where_no_later_text_can_change_them() -> None:
    assert [(b.kind, b.joined, b.text) for b in blocks(TEXT)] == [
        ("text", False, "# Title"),
        ("text", False, "One **bold** `code` line\ngoes on."),
        ("item", False, "- first"),
        ("item", True, "- second\n  more\n  - nested"),
        ("item", False, "1. one\n\n   still one"),
        ("item", True, "2. two"),
        ("text", False, "| a | b |\n|---|--:|\n| 1 | 22 |"),
        ("code", False, "def f():\n\n    return 1"),
        ("text", False, "Right below."),
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_where_the_stream_is_cut_does_not_matter(size: int) -> None:
    assert blocks(TEXT, size) == blocks(TEXT)


def test_a_block_looks_as_markdown_looks_and_is_never_padded() -> None:
    assert shown(TEXT) == (
        "\n  Title\n\n  One bold code line goes on.\n\n  • first\n  • second more\n    • nested\n"
        "\n  1. one\n\n     still one\n  2. two\n\n"
        "  a    b\n  ──────\n  1   22\n\n    def f():\n\n        return 1\n\n  Right below.\n"
    )


def test_everything_that_was_written_is_shown() -> None:
    text = "See <b>this</b> [docs](https://example.org/a) ![a plan](p.png) and <script>x</script>."
    assert shown(text, 200) == (
        "\n  See <b>this</b> docs (https://example.org/a) [a plan] (p.png) and <script>x</script>.\n"
    )


def test_entities_cannot_smuggle_what_the_cleaner_took_out() -> None:
    out = shown("a &#x202e;b &#27;[31m &#x9b;2J `&#x1b;[2J`", 200)
    assert "\u202e" not in out
    assert "\x1b" not in out
    assert "<U+202E>" in out


def test_a_paragraph_is_not_broken_by_a_year_at_the_start_of_a_line() -> None:
    assert [b.text for b in blocks("It was in\n1986. A good year.\n")] == ["It was in\n1986. A good year."]


def test_long_code_appears_before_its_fence_ends() -> None:
    splitter = Splitter()
    found = splitter.feed("```\n" + "line\n" * (CODE_LINES + 3))
    assert [(b.kind, b.joined, b.text.count("\n") + 1) for b in found] == [("code", False, CODE_LINES)]
    assert [(b.kind, b.joined, b.text) for b in splitter.feed("```\n")] == [("code", True, "line\nline\nline")]


def test_an_unclosed_fence_ends_with_the_answer() -> None:
    assert blocks("```sh\nls\n") == [Block("code", "ls", False, "sh")]


def test_wide_characters_are_folded_by_their_cells() -> None:
    assert shown("漢字かな漢字かな漢字かな", 14) == "\n  漢字かな漢字\n  かな漢字かな\n"


@given(st.text(alphabet="ab *-`#>|1.\n\t[]()<&;~", max_size=200), st.integers(1, 9))
@settings(max_examples=300)
def test_any_text_keeps_its_blocks_whatever_the_pieces(text: str, size: int) -> None:
    found = blocks(text)
    assert blocks(text, size) == found
    for block in found:
        rendered(block, 20, True)


def test_a_long_answer_costs_what_its_length_costs() -> None:
    """20,000 tokens in pieces of 16 characters. The bound is generous: linear takes about a second here."""
    text = TEXT * 250
    began = time.process_time()
    splitter = Splitter()
    for i in range(0, len(text), 16):
        for block in splitter.feed(text[i : i + 16]):
            rendered(block, 80, True)
        assert len(splitter.tail) < 20_000
    assert time.process_time() - began < 30
