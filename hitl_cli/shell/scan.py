"""A linear look at a text before it is parsed, and a rough split of what cannot be parsed.

`look` refuses what no honest command needs and what would make reading slow or ambiguous: its cost is that of a few
searches. `rough_words` is for deny and ask rules only: the words of a text as far as they can be told without
understanding it, so that `git push && echo "` is still known to speak of `git push`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.regex import later

LARGEST = 64_000  # characters
DEEPEST = 24  # levels of substitution, grouping and nested texts
WORDS = 1_000  # of one command
_PARTS = 2_000  # separators: more than any person reads, and a bound on the work of a reading
_BLANKS = 10_000  # between the words of all commands and the folders of all paths: the same

# Control characters (tab and newline are the shell's own blanks), bidirectional controls, characters that are not
# seen, tags, surrogates. U+200D and U+FE0F are left alone: emoji are made with them.
_UNSEEN = later(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_SEPARATORS = later(r"[|;&\n]+")
_BLANK = later(r"[\s/]+")
_OPENERS = later(r"[$<>]\(|`|<<|\$\{")
_QUOTES = "'\"\\`"
_ROUGH = later(r"(?:[^\s;&|()<>{}$=\\]++|\\\n?)+")
SEARCHED = 4_000  # rough words, or folders in them, that deny and ask rules look at


def look(text: str) -> str:
    """The reason in words why `text` is not read at all, "" when it may be."""
    size = len(text)
    if size > LARGEST:
        return f"it is longer than {LARGEST:,} characters"
    seen = text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()
    if not (seen and text.isascii()) and (found := _UNSEEN.search(text)) is not None:
        return f"it holds the unseen character U+{ord(found.group()):04X}"
    if size > _PARTS:
        if sum(1 for _ in _SEPARATORS.finditer(text)) > _PARTS:
            return f"it has more than {_PARTS:,} parts"
        if sum(1 for _ in _OPENERS.finditer(text)) > _PARTS:
            return f"it has more than {_PARTS:,} substitutions"
        if size > 2 * _BLANKS and sum(1 for _ in _BLANK.finditer(text)) > _BLANKS:
            return f"it has more than {_BLANKS:,} words"
    return ""


def rough_words(text: str) -> tuple[str, ...]:
    """The words of `text` with quotes and backslashes left out, in order. Of many, one more than are searched: that there
    are more has to be known, for nothing is known of those."""
    found, left = [], SEARCHED + 1
    for match in _ROUGH.finditer(text):
        word = match.group().replace("\\\n", "")
        for quote in _QUOTES:
            word = word.replace(quote, "")
        if word:
            parts = word.split("/", left)
            found.append(word if len(parts) <= left else "/".join(parts[:left]))
            left -= len(parts)
            if left <= 0:
                break
    return tuple(found)


def searched(words: Sequence[str]) -> bool:
    """Whether the rough words of a text are all of it, and not one more than are searched."""
    return len(words) + sum(word.count("/") for word in words) <= SEARCHED
