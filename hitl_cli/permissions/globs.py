"""Path patterns in the manner of gitignore, and whether two patterns can name the same path.

`*` and `?` stop at a separator, `**` does not. A pattern without an inner slash matches at any depth below a root, one
with an inner slash is anchored there, one that ends in a slash is a folder and all below it. `~/` is the home folder,
a leading `/` the file system's root. Nothing relative matches outside the workspace.

Who asks differs: an *allow* rule has to match the path itself (or name, literally, a folder above it); for a *deny* or
*ask* rule it is enough to match any folder above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hitl_cli.errors import RuleError
from hitl_cli.permissions.automaton import ANY, STAY, Step, between
from hitl_cli.records import Struct
from hitl_cli.regex import later

WILD = later(r"[*?\[\\]")
_CHARACTERS = later(r"\\.|\[.[^\]]*\]|.", re.DOTALL)


class Path(Struct, frozen=True):
    """A compiled pattern. `base`: "" for the roots, else the absolute folder it is anchored at; `anywhere`: at any depth;
    `folder`: it ends in a slash. `segments` are unescaped when literal."""

    base: str
    segments: tuple[str, ...]
    anywhere: bool
    folder: bool

    @property
    def literal(self) -> int:
        """How many leading segments are literal."""
        for n, segment in enumerate(self.segments):
            if WILD.search(segment):
                return n
        return len(self.segments)

    @property
    def spelled(self) -> Iterator[tuple[str, bool]]:
        """Each segment as far as it is literal, and whether it goes on with a wildcard after more than a few letters."""
        for segment in self.segments:
            wild = WILD.search(segment)
            start = segment[: wild.start()] if wild else segment
            yield start, wild is not None and len(start) > 3

    def names(self, part: str) -> bool:
        """Whether it names a component literally, as a whole or up to a wildcard (`.env.*` names `.env.local`)."""
        return any(start == part or (wild and part.startswith(start)) for start, wild in self.spelled)


def parse(pattern: str, home: str) -> Path:
    """Compile a pattern; RuleError says what is wrong and what to write."""
    if not pattern.strip():
        raise RuleError("the path pattern is empty", remedy="Write `**` for every path of the workspace.")
    if "\0" in pattern:
        raise RuleError("a path pattern cannot hold a NUL")
    if pattern.startswith("!"):
        raise RuleError(
            f"`{pattern}` begins with `!`: a pattern cannot take paths back",
            remedy="Write a deny or ask rule for what is to be left out.",
        )
    text, base = pattern, ""
    if text == "~" or text.startswith("~/"):
        text, base = text[2:], home.rstrip("/") or "/"
    elif text.startswith("/"):
        text, base = text[1:], "/"
    while text.startswith("./"):
        text = text[2:].lstrip("/")
    folder = text.endswith("/") or (not text and bool(base))
    segments = tuple(_collapse(s for s in text.split("/") if s not in ("", ".")))
    if ".." in segments:
        raise RuleError(
            f"`{pattern}` holds `..`, which no path has after it is resolved",
            remedy="Write the folder itself, absolute or from `~/`.",
        )
    for segment in segments:
        if re.search(r"(?<!\\)\[(?!.+\])", segment):
            raise RuleError(
                f"the bracket in `{pattern}` is not closed", remedy="Close it, or write \\[ for the character itself."
            )
    anywhere = not base and len(segments) == 1 and pattern[:2] != "./" and segments[0] != "**"
    return Path(base, segments, anywhere, folder)


def _collapse(segments: Iterator[str]) -> Iterator[str]:
    """Without `**` after `**`, and literals without their backslashes."""
    last = None
    for segment in segments:
        if segment == "**" == last:
            continue
        last = segment
        plain = re.sub(r"\\(.)", r"\1", segment)
        yield plain if "\\" in segment and not re.search(r"[*?\[\\]", plain) else segment


@lru_cache(maxsize=20_000)
def regex(segment: str) -> re.Pattern[str]:
    """One segment as an expression."""
    pieces, i = [""], 0
    while i < len(segment):
        c = segment[i]
        if c == "\\" and i + 1 < len(segment):
            i += 1
            pieces[-1] += re.escape(segment[i])
        elif c == "*":
            pieces.append("")
        elif c == "?":
            pieces[-1] += "."
        elif c == "[" and (end := segment.find("]", i + 2)) > 0:
            body = segment[i + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            pieces[-1] += f"[{'^' + body[1:] if body[0] in '!^' else body}]"
            i = end
        else:
            pieces[-1] += re.escape(c)
        i += 1
    try:
        return re.compile(between(pieces), re.DOTALL)
    except re.error:
        return re.compile(re.escape(segment))


class Segment(Struct, frozen=True):
    """A segment with wildcards, as an automaton takes it."""

    written: str

    @property
    def expression(self) -> str:
        return regex(self.written).pattern

    def steps(self) -> Iterator[Step]:
        """Its characters. `*` are any, `?` is one, and what stands in brackets tells itself which."""
        for piece in _CHARACTERS.findall(self.written):
            if piece[0] == "[" and len(piece) > 1:
                yield Segment(piece)
            else:
                yield STAY if piece == "*" else ANY if piece == "?" else piece[-1]


def steps(segments: Sequence[str]) -> list[Step]:
    """The segments as an automaton takes them; `**` are any folders or none."""
    return [STAY if part == "**" else Segment(part) if WILD.search(part) else part for part in segments]


def agree(rule: Sequence[str], shell: Sequence[str]) -> int:
    """How many segments, from the first on, have names that fit both, as far as neither has `**`; -1 where one has none."""
    same = 0
    for mine, other in zip(rule, shell, strict=False):
        if mine == "**" or other == "**":
            break
        if not _meet(mine, other):
            return -1
        same += 1
    return same


def meet(rule: Sequence[str], shell: Sequence[str]) -> bool:
    """Whether some path fits both a rule's segments and those of a shell pattern; brackets count as any character."""
    same = agree(rule, shell)
    if same < 0:
        return False
    for pattern in (rule, shell):
        if len(pattern) == same + 1 and pattern[same] == "**":
            return True  # it takes whatever the other goes on with
    seen: set[tuple[int, int]] = set()
    pending = [(same, same)]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        i, k = state
        left, right = rule[i] if i < len(rule) else None, shell[k] if k < len(shell) else None
        if left is None and right is None:
            return True
        if left == "**":
            pending.append((i + 1, k))
            if right is not None:
                pending.append((i, k + 1))
        if right == "**":
            pending.append((i, k + 1))
            if left is not None:
                pending.append((i + 1, k))
        if left not in (None, "**") and right not in (None, "**") and _meet(left or "", right or ""):
            pending.append((i + 1, k + 1))
    return False


@lru_cache(maxsize=4096)
def _meet(rule: str, shell: str) -> bool:
    """Whether some name fits both segments. A shell pattern that does not begin with a dot names no hidden file."""
    if rule[:1] == "." and shell[:1] in ("*", "?", "["):
        return False
    a, b = re.sub(r"\[[^\]]+\]", "?", rule), re.sub(r"\[[^\]]+\]", "?", shell)
    seen: set[tuple[int, int]] = set()
    pending = [(0, 0)]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        i, k = state
        left, right = a[i : i + 1], b[k : k + 1]
        if not left and not right:
            return True
        if left == "*":
            pending.append((i + 1, k))
            if right:
                pending.append((i, k + 1))
        if right == "*":
            pending.append((i, k + 1))
            if left:
                pending.append((i + 1, k))
        if left not in ("", "*") and right not in ("", "*") and (left == right or "?" in (left, right)):
            pending.append((i + 1, k + 1))
    return False
