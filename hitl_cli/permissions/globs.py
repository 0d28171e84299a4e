"""Path patterns in the manner of gitignore, the index that finds the rules a path meets, and whether two patterns can
name the same path.

`*` and `?` stop at a separator, `**` does not. A pattern without an inner slash matches at any depth below a root, one
with an inner slash is anchored there, one that ends in a slash is a folder and all below it. `~/` is the home folder,
a leading `/` the file system's root. Nothing relative matches outside the workspace.

Who asks differs: an *allow* rule has to match the path itself (or name, literally, a folder above it); for a *deny* or
*ask* rule it is enough to match any folder above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from hitl_cli.access import Place, inside
from hitl_cli.errors import RuleError

R = TypeVar("R")
_WILD = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class Path:
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
            if _WILD.search(segment):
                return n
        return len(self.segments)

    def names(self, part: str) -> bool:
        """Whether it names a component literally, as a whole or up to a wildcard (`.env.*` names `.env.local`)."""
        for segment in self.segments:
            wild = _WILD.search(segment)
            start = segment[: wild.start()] if wild else segment
            if start == part or (len(start) > 3 and wild and part.startswith(start)):
                return True
        return False


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
def _regex(segment: str) -> re.Pattern[str]:
    """One segment as an expression."""
    out, i = [], 0
    while i < len(segment):
        c = segment[i]
        if c == "\\" and i + 1 < len(segment):
            i += 1
            out.append(re.escape(segment[i]))
        elif c == "*":
            out.append(".*")
        elif c == "?":
            out.append(".")
        elif c == "[" and (end := segment.find("]", i + 2)) > 0:
            body = segment[i + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[{'^' + body[1:] if body[0] in '!^' else body}]")
            i = end
        else:
            out.append(re.escape(c))
        i += 1
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        return re.compile(re.escape(segment))


def fits(pattern: Sequence[str], parts: Sequence[str], whole: bool, p: int = 0, k: int = 0) -> bool:
    """Whether the segments from `p` on fit the components from `k` on: all of them, or with `whole` false a folder above."""
    while p < len(pattern):
        segment = pattern[p]
        if segment == "**":
            if p + 1 == len(pattern):
                return k < len(parts)
            return any(fits(pattern, parts, whole, p + 1, n) for n in range(k, len(parts)))
        if k == len(parts):
            return False
        if segment != parts[k] and not (_WILD.search(segment) and _regex(segment).fullmatch(parts[k])):
            return False
        p, k = p + 1, k + 1
    return k == len(parts) or not whole


class Index(Generic[R]):
    """Path patterns with what they stand for, found by an absolute, normalised path."""

    def __init__(self, place: Place, *, strict: bool) -> None:
        """`strict`: patterns have to match the path itself, as allow rules do."""
        self.place, self.strict = place, strict
        self.folds = place.folds_case
        self.everything: list[R] = []  # no pattern at all
        self.anchored = _Tree[R]()  # below each root
        self.absolute = _Tree[R]()
        self.named: dict[str, list[tuple[Path, R]]] = {}  # at any depth, a literal name
        self.suffixed: dict[str, list[tuple[Path, R]]] = {}  # at any depth, `*.ext` by its last dot
        self.wild: list[tuple[Path, R]] = []  # at any depth, another pattern
        self.all: list[tuple[Path, R]] = []

    def add(self, pattern: Path | None, it: R) -> None:
        if pattern is None:
            self.everything.append(it)
            return
        if self.folds:
            pattern = Path(
                pattern.base.casefold(), tuple(s.casefold() for s in pattern.segments), pattern.anywhere, pattern.folder
            )
        self.all.append((pattern, it))
        if pattern.anywhere:
            if pattern.literal:
                self.named.setdefault(pattern.segments[0], []).append((pattern, it))
            elif re.fullmatch(r"\*[^*?\[\\]*\.[^*?\[\\.]+", pattern.segments[0]):
                self.suffixed.setdefault(pattern.segments[0].rpartition(".")[2], []).append((pattern, it))
            else:
                self.wild.append((pattern, it))
        elif pattern.base:
            base = tuple(part for part in pattern.base.split("/") if part)
            self.absolute.add(Path("/", base + pattern.segments, False, pattern.folder), it)
        else:
            self.anchored.add(pattern, it)

    def find(self, path: str) -> Iterator[R]:
        """What matches the path (an absolute, normalised one)."""
        yield from self.everything
        if not self.all:
            return
        if self.folds:
            path = path.casefold()
        yield from self.absolute.find([p for p in path.split("/") if p], self.strict)
        for root in self.place.roots:
            root = root.casefold() if self.folds else root
            if not inside(path, root):
                continue
            parts = [p for p in path[len(root) :].split("/") if p]
            yield from self.anchored.find(parts, self.strict)
            for n, part in enumerate(parts):
                last = n == len(parts) - 1
                for pattern, it in self.named.get(part, ()):
                    if not (last and pattern.folder and self.strict):
                        yield it
                if last or not self.strict:
                    for pattern, it in (*self.suffixed.get(part.rpartition(".")[2], ()), *self.wild):
                        fits = _regex(pattern.segments[0]).fullmatch(part)
                        if fits and not (last and pattern.folder and self.strict):
                            yield it

    def may(self, glob: str) -> Iterator[R]:
        """What could match some path that the shell pattern `glob` names (absolute; `/**`: any path at all)."""
        yield from self.everything
        if not self.all:
            return
        if self.folds:
            glob = glob.casefold()
        names = [p for p in glob.split("/") if p]
        for pattern, it in self.all:
            if pattern.base:
                tops: Sequence[str] = (pattern.base,)
            else:
                tops = [r.casefold() if self.folds else r for r in self.place.roots]
            for top in tops:
                segments = (
                    [p for p in top.split("/") if p] + (["**"] if pattern.anywhere else []) + list(pattern.segments)
                )
                if meet(segments, names) or meet([*segments, "**"], names):
                    yield it
                    break


class _Tree(Generic[R]):
    """Patterns by their leading literal segments."""

    __slots__ = ("below", "ends", "patterns")

    def __init__(self) -> None:
        self.below: dict[str, _Tree[R]] = {}
        self.ends: list[tuple[Path, R]] = []  # literal to the end
        self.patterns: list[tuple[Path, int, R]] = []

    def add(self, pattern: Path, it: R) -> None:
        node, literal = self, pattern.literal
        for segment in pattern.segments[:literal]:
            node = node.below.setdefault(segment, _Tree())
        if literal == len(pattern.segments):
            node.ends.append((pattern, it))
        else:
            node.patterns.append((pattern, literal, it))

    def find(self, parts: Sequence[str], strict: bool) -> Iterator[R]:
        node = self
        for n in range(len(parts) + 1):
            for pattern, it in node.ends:
                if n < len(parts) or not (pattern.folder and strict):
                    yield it
            for pattern, done, it in node.patterns:
                # A folder pattern takes all below it; a strict one otherwise has to reach the path itself.
                if fits(pattern.segments, parts, strict and not pattern.folder, done, n):
                    yield it
            following = node.below.get(parts[n]) if n < len(parts) else None
            if following is None:
                return
            node = following


def meet(rule: Sequence[str], shell: Sequence[str]) -> bool:
    """Whether some path fits both a rule's segments and those of a shell pattern; brackets count as any character."""
    seen: set[tuple[int, int]] = set()
    pending = [(0, 0)]
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
