"""Letters that pass for others: where in a text they stand.

A word that mixes Latin letters with letters of a script that has look-alikes is shown letter by letter, an address with
any letter beyond ASCII in its host as well, and a word made of look-alikes alone when nothing else in the text is written
in that script (`сору` in Cyrillic; a Russian sentence has other letters). Greek symbols of science (Δ, λ, π, µ) pass.
The scripts are those that Unicode's confusables list (UTS 39) maps to Latin most.
"""

from __future__ import annotations

import re

from hitl_cli.regex import later

_CYRILLIC = "\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f"
_GREEK_TWINS = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχϲϳ"
_OTHER = (
    "\u0530-\u058f\u13a0-\u13ff\u1400-\u167f\u2c80-\u2cff\ua4d0-\ua4ff\uab70-\uabbf"  # Armenian … Cherokee
    "\u0251\u0261\u0269\u1d00-\u1d25\u2100-\u214f\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U00010280-\U0001044f"
    "\U0001d400-\U0001d7ff"
)
_TWINS = "асеорухіјѕһԁԛԝАВЕКМНОРСТУХЅІЈԌ" + _GREEK_TWINS
_FOREIGN = later(f"[{_CYRILLIC}{_GREEK_TWINS}{_OTHER}]")
_WORD = later(r"\w+")
_LATIN = later("[A-Za-z]")
_ALL_TWINS = later(f"[{_TWINS}]{{2,}}")
_NATIVE = later(f"(?![{_TWINS}])[{_CYRILLIC}\u0370-\u03ff]")
_HOST = later(r"[a-z][a-z0-9+.-]{0,20}://([^\s/?#'\"]+)", re.IGNORECASE)
_BEYOND = later(r"[^\x00-\x7f]")


def positions(text: str, alone: bool = True) -> set[int]:
    """Indexes of the characters of `text` that could be taken for others. `alone` is false for a piece of a longer text:
    whether anything else is written in the script of a word cannot be seen from it."""
    if text.isascii():
        return set()
    found = {match.start(1) + odd.start() for match in _HOST.finditer(text) for odd in _BEYOND.finditer(match.group(1))}
    if not _FOREIGN.search(text):
        return found
    alone = alone and not _NATIVE.search(text)
    for match in _WORD.finditer(text):
        word = match.group()
        if not word.isascii() and (_LATIN.search(word) or (alone and _ALL_TWINS.fullmatch(word))):
            found.update(match.start() + odd.start() for odd in _FOREIGN.finditer(word))
    return found
