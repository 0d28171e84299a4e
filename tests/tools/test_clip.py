"""Long output cut to its ends, and bytes that are no text."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_cli.tools.clip import clip, clip_file, plain
from hitl_cli.tools.text import encoding_of, is_binary

TEXTS = st.text(st.sampled_from("ab\n é日🎉"), max_size=400)
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_a_text_within_the_limit_is_left_alone_and_a_longer_one_keeps_both_ends():
    assert clip("x" * 10, 10) == "x" * 10
    assert clip("abcdefghijk", 4, whole="/f") == "ab\n\n[... 7 characters left out; the whole is in /f ...]\n\njk"


@quick
@given(TEXTS, TEXTS, st.integers(2, 60))
def test_a_file_is_clipped_at_whole_characters_as_its_text_would_be(tmp_path: Path, before, text, limit):
    file = tmp_path / "f"
    file.write_bytes((before + text).encode())
    start, end = len(before.encode()), len((before + text).encode())
    shown, cut = clip_file(file, start, end, limit)
    assert cut == (len(text) > limit)
    if not cut:
        assert shown == text
    else:
        half = limit // 2
        assert shown.startswith(text[:half] + "\n\n[... ")
        assert shown.endswith(" ...]\n\n" + text[-half:])


@quick
@given(st.binary(max_size=60))
def test_any_bytes_can_be_shown(data):
    shown = plain(data)
    shown.encode()
    assert not {c for c in shown if c < " "} - set("\t\n\r\x1b")


@quick
@given(st.binary(max_size=60) | st.text(max_size=20).map(lambda t: t.encode("utf-16")))
def test_text_goes_back_to_the_very_same_bytes(data):
    encoding = encoding_of(data)
    assert is_binary(data) or encoding.encode(encoding.decode(data)) == data
