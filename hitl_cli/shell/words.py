"""Words cooked as bash cooks them: braces, tilde, known values, quote removal -> literal `str`, or `Unknown`.

What the text alone does not settle stays unknown; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product

from hitl_cli.access import Unknown, Word
from hitl_cli.regex import later
from hitl_cli.shell.tree import Part, Raw

_LIVE = "\\*?["  # the backslash first: it is what the others are given
_NOT_PLAIN = later(r"\\|(?!^)[\"'$`{~<]")
_WILD = later(r"[*?\[]")
_GROUP = later(r"\{([^{}]*)\}")
_RANGE = later(r"(-?(?:0|[1-9][0-9]{0,5}))\.\.(-?(?:0|[1-9][0-9]{0,5}))\Z")
_SPLITS = later(r"[\s*?\[\\]|\A\Z")
_ASSIGNS = later(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
COUNTED = "#"  # before the name of a variable that only ever holds numbers, in `values`
_MOST = 64  # words that one word may be expanded to


def cook(raw: Raw, values: Mapping[str, str], assigned: bool = False) -> list[Word]:
    """The words that `raw` becomes; `values` are the variables known here, `~` and COUNTED ones among them.

    `assigned`: it is the value of an assignment, where braces and wildcards are ordinary characters and nothing splits.
    """
    parts = raw.parts
    if assigned:
        return [_single(raw.text, parts, values, True)]
    if "{" in raw.text and any(part.kind == "bare" and "{" in part.text and part.text != "{}" for part in parts):
        return _braces(raw, values)
    word = _single(raw.text, parts, values, False)
    return [word] if word or _kept(parts) else []


def joined(raw: Raw, values: Mapping[str, str]) -> str | None:
    """The text of a here-document or of the script of a nested shell when it is known, else None."""
    word = _single(raw.text, raw.parts, values, True)
    return word if isinstance(word, str) else None


def pattern(word: Unknown) -> str:
    """The shell pattern of the file names a glob stands for; `**` at its end where what follows is not plain."""
    begin = word.prefix
    for sign in _LIVE:
        if sign in begin:
            begin = begin.replace(sign, "\\" + sign)
    found = _WILD.search(word.text)
    if not word.glob or found is None or _NOT_PLAIN.search(word.text):
        return begin + "**"
    return begin + word.text[found.start() :]


def _kept(parts: list[Part]) -> bool:
    """An empty word stays one when something of it was quoted."""
    return any(part.kind == "quoted" or part.in_quotes for part in parts)


def _single(text: str, parts: list[Part], values: Mapping[str, str], assigned: bool) -> Word:
    out: list[str] = []
    unknown = glob = False
    single = digits = True
    prefix: str | None = None
    first = parts[0] if parts else None
    for part in parts:
        kind = part.kind
        if kind == "quoted":
            out.append(part.text)
            continue
        if kind == "bare":
            found = None if assigned else _WILD.search(part.text)
            if found is None or part.text == "[" == text:
                out.append(part.text)
                continue
            if prefix is None:
                prefix = "".join(out) + part.text[: found.start()]
            glob, single, digits = True, False, False
            continue
        known = _known(part, parts, values, assigned)
        if known is not None:
            out.append(known)
            continue
        if prefix is None:
            prefix = "".join(out)
        unknown = True
        digits = digits and (kind == "number" or (kind == "value" and COUNTED + part.text in values))
        if not (part.in_quotes or assigned or kind in ("number", "tilde", "file")):
            single = False
    if prefix is None:
        return "".join(out)
    glob = glob and not unknown
    firm = (prefix and prefix[0] != "-") or (first is not None and first.kind in ("tilde", "file"))
    return Unknown(text, glob, prefix, bool(firm and (glob or single)) or digits, single)


def _known(part: Part, parts: list[Part], values: Mapping[str, str], assigned: bool) -> str | None:
    """The text that an expansion certainly becomes, or None."""
    if part.kind == "tilde":
        if part is not parts[0] and not assigned:
            head = parts[0]
            if head.kind != "bare" or not _ASSIGNS.match(head.text):
                return "~"
        return values.get("~") if part.text == "~" else None
    if part.kind != "value":
        return None
    value = values.get(part.text)
    if value is None or (not part.in_quotes and not assigned and _SPLITS.search(value)):
        return None
    return value


def _braces(raw: Raw, values: Mapping[str, str]) -> list[Word]:
    """Brace expansion of words whose groups are plain: unnested, unquoted, of literal text."""
    pieces: list[list[list[Part]]] = []  # alternatives one after the other, each a list of parts
    count = 1
    for part in raw.parts:
        if part.kind != "bare":
            pieces.append([[part]])
            continue
        at = 0
        text = part.text
        for found in _GROUP.finditer(text):
            choices = _choices(found.group(1))
            if choices is None:
                return [_unexpanded(raw)]
            pieces.append([[Part("bare", text[at : found.start()])]])
            pieces.append([[Part("bare", choice)] for choice in choices])
            count *= len(choices)
            at = found.end()
        if "{" in text[at:].replace("{}", "") or "}" in text[at:].replace("{}", "") or count > _MOST:
            return [_unexpanded(raw)]
        pieces.append([[Part("bare", text[at:])]])
    words: list[Word] = []
    for combination in product(*pieces):
        parts = [part for piece in combination for part in piece if part.text or part.kind != "bare"]
        word = _single("".join(p.text for p in parts) if count > 1 else raw.text, parts, values, False)
        if word != "" or _kept(parts):
            words.append(word)
    return words


def _choices(body: str) -> list[str] | None:
    """What `{body}` may become: the braces themselves when they are literal, None when that is not plain."""
    if "," in body:
        return body.split(",")
    if ".." not in body:
        return ["{" + body + "}"]
    found = _RANGE.match(body)
    if found is None:
        return None
    low, high = int(found.group(1)), int(found.group(2))
    if abs(high - low) >= _MOST:
        return None
    step = 1 if high >= low else -1
    return [str(n) for n in range(low, high + step, step)]


def _unexpanded(raw: Raw) -> Unknown:
    out: list[str] = []
    for part in raw.parts:
        if part.kind == "quoted":
            out.append(part.text)
            continue
        if part.kind == "bare":
            out.append(re.split(r"[{*?\[]", part.text)[0])
        break
    prefix = "".join(out)
    return Unknown(raw.text, False, prefix, bool(prefix) and prefix[0] != "-" and _plain_choices(raw), False)


def _plain_choices(raw: Raw) -> bool:
    """True when each word it becomes begins with the same literal text: no blank can split it."""
    return all(part.kind in ("bare", "quoted") for part in raw.parts)
