"""Rules for paths: those that a path meets, and those that name a file which a word of a command may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter

from hitl_cli.access import Command, Place, Unknown, lexical
from hitl_cli.permissions import globs, kinds, pathtree
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.permissions.scene import DENY, Rules, Scene
from hitl_cli.permissions.tables import CODE, live
from hitl_cli.records import Struct, field

READS = frozenset({"Read"})
SEARCHES = {tool: frozenset({"Read", tool}) for tool in ("Glob", "Grep")}  # with whose rules they meet
WRITES = frozenset({"Write", "Edit"})
_BOTH = READS | WRITES

Pattern = globs.Path | None  # None: every path
Index = pathtree.Index[tuple[Rule, Pattern]]


def index(rules: Iterable[Rule], place: Place, *, strict: bool) -> Index:
    """Rules of file tools. `strict`: they allow."""
    made = Index(place, strict=strict)
    for rule in rules:
        pattern = None if rule.pattern is None else globs.parse(rule.pattern, place.home)
        made.add(pattern, (rule, pattern))
    return made


def rules_for(scene: Scene, rules: Rules, paths: Collection[str], tools: Collection[str]) -> list[tuple[Rule, Pattern]]:
    """Those of `rules` for one of `tools` that meet any of the paths."""
    found = []
    for index in rules.paths:
        for path in paths:
            found += index.find(path)
    return [met for met in found if met[0].tool in tools and live(met[0], scene.now)] if found else found


def strictest(met: Collection[tuple[Rule, Pattern]]) -> Rule:
    """The first that denies, else the first that asks."""
    return max((rule for rule, _ in met), key=attrgetter("decision"))


def may_meet(scene: Scene, glob: str, tools: Collection[str]) -> Mapping[Decision, Rule]:
    """The first rule that denies, and the first that asks, for some path that a shell pattern may name."""
    found: dict[Decision, Rule] = {}

    def wanted(it: tuple[Rule, Pattern]) -> bool:
        rule, _ = it
        return rule.decision not in found and rule.tool in tools and live(rule, scene.now)

    for index in scene.bar.paths:
        for rule, _ in index.may(glob, wanted):
            found[rule.decision] = rule
            if len(found) == 2:
                return found
    return found


class Names(Struct):
    """What words of a command would be as paths, each with its kind; `parts` holds the last components of all of them."""

    paths: list[tuple[str, str]] = field(default_factory=list)
    parts: set[str] = field(default_factory=set)


def names_in(command: Command, at: str) -> Names:
    """For programs whose files nobody can tell: every word that may be one."""
    found = Names()
    if command.free or command.words[:1] == ("echo",):
        return found
    at = lexical(at, "/")
    found.parts.update(at.rsplit("/", 2))
    code = kinds.interprets(command.names)
    for word in command.words[1:]:
        if isinstance(word, str):
            value, pieces = word, [word] if word else []
            if code or "=" in word or "@" in word:
                value = word.rpartition("=")[2]
                every = (word, value, word.rpartition("@")[2], *(CODE.split(word) if code else ()))
                pieces = [piece for piece in dict.fromkeys(every) if piece]
            for piece in pieces:
                if "/" not in piece and piece not in (".", "..") and at != "/":
                    path = f"{at}/{piece}"
                    found.parts.add(piece)
                else:
                    path = lexical(piece, at)
                    found.parts.update(path.rsplit("/", 3))
                # A folder may be meant, not just any word.
                found.paths.append((path, "folder" if value != word or "/" in piece else "name"))
        elif word.glob:
            found.paths.append((lexical(word.text, at), "glob"))
    return found


def may_name(index: Index, command: Command, at: str) -> bool:
    """False when no word of the command is a path that some pattern names (`named_by`): no component of any does. True also
    for what is read in more ways than one, or goes up, or stands so high that a wildcard names what is missing above."""
    words: Sequence[str] = command.words[1:]  # type: ignore[assignment]
    try:
        text = "".join(words)
    except TypeError:  # there are unknown ones
        if any(isinstance(word, Unknown) and word.glob for word in words):
            return True
        words = [word for word in words if isinstance(word, str)]
        text = "".join(words)
    if not words:
        return False
    if kinds.interprets(command.names) and CODE.search(text):
        return True
    if "/" in text or "=" in text or "@" in text:
        text = "/".join(words)
        if "//" in text and not any(lexical(word, "/").count("/") < 3 for word in words if word[:1] == "/"):
            text = text.replace("//", "/")
        if "=" in text or "@" in text:
            text = f"{text}/{text.replace('=', '/')}/{text.replace('@', '/')}"
        words = text.split("/")
    return ".." in words or index.names(words) or index.names(_last(at))


@lru_cache(maxsize=64)
def _last(folder: str) -> Sequence[str]:
    """The last components that what is in the folder can have above it."""
    return folder.rsplit("/", 3)[-3:]


def named_by(scene: Scene, names: Names) -> Mapping[Decision, Rule]:
    """The rule that denies such a path, else the one that asks; a wide rule says nothing about a word that may be none."""
    found: dict[Decision, Rule] = {}
    indexes = [index for index in scene.bar.paths if index.names(names.parts)]
    for path, kind in dict.fromkeys(names.paths):
        if DENY in found:
            break
        if kind == "glob":
            for decision, rule in may_meet(scene, path, _BOTH).items():
                if rule.pattern not in (None, "*", "**"):
                    found.setdefault(decision, rule)
        elif indexes and any(index.names(path.rsplit("/", 3)[-3:]) for index in indexes):
            for each in (path, path + "/\0") if kind == "folder" else (path,):
                if each not in scene.met:
                    scene.met[each] = rules_for(scene, scene.bar, (each,), _BOTH)
                for rule, pattern in scene.met[each]:
                    if pattern is not None and any(pattern.names(part) for part in each.split("/")[-3:]):
                        found.setdefault(rule.decision, rule)
    return found
