"""The quick reader of rule files: it means what tomllib means, or leaves the text to it."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_cli import rulebook, rulelines
from hitl_cli.paths import Paths, packs, place_for
from hitl_cli.permissions import codec
from hitl_cli.records import replace

# Pieces of lines: what is simple, what only looks so, and what is wrong.
WORDS = r"""
    [[rule]] [rule] [packs] allow deny rule format a.b "k" = "x" "x\"y\\" "\u00e9" "\/" 'x' ''' "#" # #c [] ["a"] [ ] , true
    1 0 01 1_0 1.5 12345678901 2026-11-30 2026-11-30T12:00:00Z 2026-13-30T12:00:00Z 2026-11-30T24:00:00Z 0000-01-01T00:00:00Z
    2026-11-30T12:00:00+00:00 2026-11-30T12:00:00+01:00
"""
BETWEEN = (" = ", " ", "\t", "\n", "\n\n", "\r")
PIECE = st.sampled_from(
    [*WORDS.split(), *BETWEEN, "2026-11-30 12:00:00+00:00", '"""', '"é\x7f"', '["a", "b"]', '["a", ]']
)
LINE = st.one_of(
    st.lists(PIECE, max_size=6).map("".join),
    st.tuples(st.sampled_from(["allow", "added", "match", "format"]), PIECE).map(" = ".join),
    st.just("[[rule]]"),
)


@given(st.lists(LINE, max_size=8).map("\n".join))
def test_a_text_means_what_it_means_to_tomllib(text: str) -> None:
    try:
        meant = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(tomllib.TOMLDecodeError):
            rulelines.read(text)
        return
    assert rulelines.read(text)[0] == meant
    plain = rulelines._plain(text)
    if plain is not None:
        assert plain[1] == list(rulelines._headers(text))


@pytest.mark.parametrize("file", sorted(packs().glob("*.toml")), ids=lambda file: file.stem)
def test_the_packs_are_read_without_tomllib(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert rulelines._plain(text) == (tomllib.loads(text), list(rulelines._headers(text)))


def test_what_the_program_writes_is_read_without_tomllib(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "config", tmp_path / "state")
    for rule in (codec.parse("Bash(git log:*)"), replace(codec.parse('Bash(echo "a\\b é")'), until=2e9, reason="mine")):
        rulebook.add(rule, "user", place_for(tmp_path, (), paths), paths)
    text = paths.user_rules.read_text(encoding="utf-8")
    assert rulelines._plain(text) == (tomllib.loads(text), list(rulelines._headers(text)))


def test_rules_are_read_with_their_lines() -> None:
    text = '# mine\nformat = 1\n\n[[rule]] # one\nallow = "Bash(a \\"b\\")"\nadded = 2026-11-30T12:00:00Z\n\n\n'
    text += '[[rule]]\nask = "x"'
    added = datetime(2026, 11, 30, 12, tzinfo=UTC)
    rules = [{"allow": 'Bash(a "b")', "added": added}, {"ask": "x"}]
    assert rulelines._plain(text) == ({"format": 1, "rule": rules}, [4, 9])
    assert rulelines.read(text + "\n[packs]\ngit = true") == (
        {"format": 1, "rule": rules, "packs": {"git": True}},
        [4, 9],
    )
