"""The files of a call: paths of file tools, redirections, and the operands of commands."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

from hitl_cli.access import Command, Place, ReadPath, Unknown, WritePath, lexical
from hitl_cli.permissions import globs, kinds, pathtree, places
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.permissions.scene import ALLOW, ASK, DENY, POLICY, Rules, Scene, Settled, joined, named, said, shown
from hitl_cli.permissions.tables import CODE, Fit, live
from hitl_cli.records import Struct, field

READS = frozenset({"Read"})
SEARCHES = {tool: frozenset({"Read", tool}) for tool in ("Glob", "Grep")}  # with whose rules they meet
WRITES = frozenset({"Write", "Edit"})
_BOTH = READS | WRITES


Pattern = globs.Path | None  # None: every path
Index = pathtree.Index[tuple[Rule, Pattern]]


def index(rules: Iterable[Rule], place: Place, *, strict: bool) -> Index:
    """Rules of file tools, of one decision. `strict`: they allow."""
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


def strictest(met: Collection[tuple[Rule, Pattern]]) -> Rule | None:
    """The first that denies, else the first that asks."""
    return max((rule for rule, _ in met), key=attrgetter("decision")) if met else None


def _may(scene: Scene, decision: Decision, glob: str, tools: Collection[str]) -> Rule | None:
    """A rule for some path that a shell pattern may name."""

    def wanted(it: tuple[Rule, Pattern]) -> bool:
        rule, _ = it
        return rule.decision is decision and rule.tool in tools and live(rule, scene.now)

    for index in scene.bar.paths:
        for rule, _ in index.may(glob, wanted):
            return rule
    return None


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
    code = command.words[0] in kinds.INTERPRETERS
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
    if Unknown in map(type, command.words):
        return True
    words: tuple[str, ...] = command.words[1:]  # type: ignore[assignment]
    text = "/".join((*at.rsplit("/", 3)[-3:], *words))
    if command.words[0] in kinds.INTERPRETERS and CODE.search(text):
        return True
    if "//" in text and not any(lexical(word, "/").count("/") < 3 for word in words if word[:1] == "/"):
        text = text.replace("//", "/")
    if "=" in text or "@" in text:
        text = f"{text}/{text.replace('=', '/')}/{text.replace('@', '/')}"
    parts = text.split("/")
    return ".." in parts or index.names(parts)


def named_by(scene: Scene, names: Names) -> Mapping[Decision, Rule]:
    """The rule that denies such a path, else the one that asks; a wide rule says nothing about a word that may be none."""
    found: dict[Decision, Rule] = {}
    indexes = [index for index in scene.bar.paths if index.names(names.parts)]
    for path, kind in names.paths:
        if DENY in found:
            break
        if kind == "glob":
            for decision in (DENY, ASK):
                rule = _may(scene, decision, path, _BOTH)
                if rule is not None and rule.pattern not in (None, "*", "**"):
                    found.setdefault(decision, rule)
        elif indexes and any(index.names(path.rsplit("/", 3)[-3:]) for index in indexes):
            for each in (path, path + "/\0") if kind == "folder" else (path,):
                for rule, pattern in rules_for(scene, scene.bar, (each,), _BOTH):
                    if pattern is not None and any(pattern.names(part) for part in each.split("/")[-3:]):
                        found.setdefault(rule.decision, rule)
    return found


class File:
    """One path of a call. `command` is what it is an operand of, `fit` the allow rule that covers that."""

    def __init__(
        self, scene: Scene, access: ReadPath | WritePath, command: Command | None = None, fit: Fit | None = None
    ) -> None:
        self.scene, self.access = scene, access
        self.command, self.fit = command, fit
        self.write: WritePath | None = None
        self.listing = False
        if isinstance(access, ReadPath):
            self.listing = access.listing
        else:
            self.write = access
        self.paths = places.spellings(access)
        self.written = self.paths[0]

    def settled(self) -> Settled:
        return self._closed() or self._opened() or self._left()

    # In words

    def _doing(self) -> str:
        if self.write is not None:
            return f"{'removing' if self.write.removes else 'writing'} {self._what()}"
        return f"{'listing' if self.listing else 'reading'} {self._what()}"

    def _what(self) -> str:
        if self.access.path == "/**":
            return "a file only the shell knows"
        folder = self.access.path.removesuffix("/**/*").removesuffix("/**")
        if self.access.glob and folder != self.access.path:
            roots = self.scene.place.roots
            return "what is in " + ("the workspace" if folder in roots else f"`{shown(self.scene.near(folder))}`")
        return f"`{shown(self.scene.near(self.access.path))}`"

    # Deny, floor, ask

    def _closed(self) -> Settled | None:
        """What a deny rule, the floor or an ask rule says."""
        barred = self._barred()
        if barred and barred[0] is DENY:
            return DENY, "rule", said(barred[1], self._doing), barred[1]
        if why := places.floor(self.access, self.paths, self.scene.place):
            return ASK, "floor", lambda: f"{self._doing()}: {why}", None
        if barred is None:
            return None
        rule = barred[1]
        if rule.decision is DENY:
            return ASK, "rule", lambda: f"{named(rule)} may forbid {self._doing()}", rule
        return ASK, "rule", said(rule, self._doing), rule

    def _barred(self) -> tuple[Decision, Rule] | None:
        """The deny rule that the path meets, else the ask rule; and what it comes to: ASK when it only may meet it."""
        access, scene = self.access, self.scene
        if not scene.bar.paths:
            return None
        searches = scene.tool in SEARCHES
        tools = WRITES if self.write is not None else SEARCHES[scene.tool] if searches else READS
        if access.glob:
            return self._may_be_barred(DENY, tools) or self._may_be_barred(ASK, tools)
        paths = (self.written, access.alias, *self.paths[1:]) if access.alias else self.paths
        met = rules_for(scene, scene.bar, paths, tools)
        if searches or (self.write is not None and self.write.removes):
            # What closes all of a folder closes this as well.
            below = lexical(posixpath.join(access.real or access.path, "\0"), "/")
            met += rules_for(scene, scene.bar, (below,), tools)
        rule = strictest(met)
        return (rule.decision, rule) if rule else None

    def _may_be_barred(self, decision: Decision, tools: Collection[str]) -> tuple[Decision, Rule] | None:
        """As `_barred`, for what only the shell knows."""
        if self.listing:
            return None  # that a name might be seen is no reason to ask
        rule = _may(self.scene, decision, self.written, tools)
        if rule is None or rule.pattern is None:
            return (decision, rule) if rule else None
        below = self.access.below
        if below is not None and (there := below.paths()) is not None:
            for path in there:
                for found, _ in rules_for(self.scene, self.scene.bar, (lexical(path, "/"),), tools):
                    if found.decision is decision:
                        return decision if below.every else ASK, found
            return None
        return ASK, rule

    # Policy, allow

    def _opened(self) -> Settled | None:
        """What the program's policy, the command it belongs to or an allow rule says."""
        access, scene = self.access, self.scene
        if scene.own is not None:
            return scene.own, "policy", POLICY, None
        if access.path in places.FREE_DEVICES:
            return ALLOW, "free", f"{access.path} keeps nothing", None
        if self.write is not None and scene.mode == "plan":
            return DENY, "mode", lambda: f"mode plan writes nothing: {self._doing()}", None
        if self.command is not None:
            if self._with(self.command):
                return ALLOW, "free", self._covered, None
        elif scene.tool in ("", "Bash") and self.write is None and self.inside:
            return ALLOW, "free", "an input inside the workspace", None
        if scene.read_only and self.write is None:
            return ALLOW, "read-only", "the tool only reads", None
        if rule := self._allowing():
            return ALLOW, "rule", said(rule, self._doing), rule
        return None

    def _covered(self) -> str:
        assert self.command is not None
        return f"the rule for `{shown(self.command.text or joined(self.command.words))}` covers it"

    @property
    def inside(self) -> bool:
        """Whether it lies in the workspace, as written and as it is. A pattern: as far as its literal folders say."""
        access, scene = self.access, self.scene
        if access.glob:
            parts = access.path.split("/")
            wild = next((n for n, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))
            return ".." not in parts[wild:] and scene.in_roots(lexical("/".join(parts[:wild]) or "/", "/"))
        written = access.alias or self.written
        return scene.in_roots(written) and (
            access.real is None or access.real == written or scene.in_roots(access.real)
        )

    @property
    def guarded(self) -> list[tuple[str, str]]:
        """The guarded names on the way of a write."""
        return list(places.guarded(self.write, self.paths, self.scene.place)) if self.write is not None else []

    @property
    def at(self) -> int | None:
        """The word of its command that does the writing, where that is an act."""
        return self.write.at if self.write is not None else None

    def _with(self, command: Command) -> bool:
        """Whether the rule for its command covers this file as well."""
        if self.write is None:
            covered = self.listing or self.access.path == "/**" or self.inside
        else:
            covered = self.at is None and self.inside and not self.guarded
        if covered or self.fit is None:
            return covered
        return self._spelled(self.fit, command) or self._consents(self.fit, command)

    def _spelled(self, fit: Fit, command: Command) -> bool:
        """Whether the rule spells the option that writes (`sort -o:*`): then writing is what was allowed."""
        if self.at is None or self.guarded:
            return False
        return self.inside and fit.spells(command.words[self.at])

    def _consents(self, fit: Fit, command: Command) -> bool:
        """Whether the rule spells this very file, and no link takes it elsewhere."""
        if self.access.glob:
            return False
        real = self.access.real
        if real is not None and real != self.written and not self.scene.in_roots(real):
            return False
        at = command.cwd or self.scene.place.cwd
        for word in command.words if fit.spelled is None else fit.spelled:
            if isinstance(word, str):
                for text in (word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""):
                    if text and lexical(text, at) == self.written:
                        return True
        return False

    def _allowing(self) -> Rule | None:
        """An allow rule for the path as written, given one for where it really is; both name what is guarded."""
        if self.access.glob:
            return None
        tool, real = self.scene.tool, self.access.real
        tools = READS | {tool} if self.write is None else {"Edit"} if tool == "Edit" else WRITES
        written, guarded = self.access.alias or self.written, self.guarded
        found: list[Rule] = []
        for path in (written,) if real is None or real == written else (written, real):
            # A search is covered by what covers all below its folder.
            below = (posixpath.join(path, "\0", "\0"),) if tool in SEARCHES else ()
            fits = rules_for(self.scene, self.scene.allow, (path, *below), tools)
            named = (r for r, p in fits if all(p is not None and p.names(part) for part, _ in guarded))
            rule = next(named, None)
            if rule is None:
                return None
            found.append(rule)
        return found[0]

    # The mode

    def _left(self) -> Settled:
        """What the mode makes of a path that nothing settled."""
        access, scene, reads = self.access, self.scene, self.write is None

        def why() -> str:
            link = access.real is not None and self.inside != scene.in_roots(access.alias or self.written)
            return f"no rule covers {self._doing()}" + (f", a link to `{shown(access.real or '')}`" if link else "")

        if scene.mode == "plan" and reads:
            return (ALLOW, "mode", "reading is part of planning", None) if self.inside else (ASK, "mode", why, None)
        if guarded := self.guarded:
            decision = ALLOW if scene.mode == "bypass" else ASK
            return decision, "guarded", lambda: f"{self._doing()} needs a rule that names it: {guarded[0][1]}", None
        return scene.by_mode(why, not reads and self.inside)
