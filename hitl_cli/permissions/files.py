"""The files of a call: paths of file tools, redirections, and the operands of commands."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

from hitl_cli.access import Command, Named, ReadPath, Unnamed, WritePath, lexical
from hitl_cli.permissions import places
from hitl_cli.permissions.pathrules import READS, SEARCHES, WRITES, may_meet, rules_for, strictest
from hitl_cli.permissions.rule import Decision, Part, Rule
from hitl_cli.permissions.scene import ALLOW, ASK, DENY, POLICY, Scene, Settled, joined, named, said, shown
from hitl_cli.permissions.tables import Fit
from hitl_cli.records import Struct

_UNKNOWN = "files can have several names, and here there are more files than are looked at for them"


class File(Struct):
    """One path of a call, and its spellings. `command` is what it is an operand of, `fit` the allow rule that covers that."""

    scene: Scene
    access: ReadPath | WritePath
    paths: tuple[str, ...]
    command: Command | None = None
    fit: Fit | None = None
    unknown: bool = False  # whether too many files may be other names of it

    def settled(self) -> Settled:
        """What a deny rule, the floor or an ask rule says, else the program's policy, the command it belongs to or an allow
        rule, else the mode."""
        barred = self._barred() if self.scene.bar.paths else None
        if barred and barred[0] is DENY:
            return DENY, "rule", self._ruled, barred[1]
        if why := places.floor(self.access, self.paths, self.scene.place):
            return ASK, "floor", lambda _: f"{self._doing()}: {why}", None
        if barred is None:
            return self._opened() or self._left()
        rule = barred[1]
        if self.unknown:
            return ASK, "rule", lambda _: f"{named(rule)} may be about {self._doing()}: {_UNKNOWN}", rule
        if rule.decision is DENY:
            return ASK, "rule", lambda _: f"{named(rule)} may forbid {self._doing()}", rule
        return ASK, "rule", self._ruled, rule

    @property
    def write(self) -> WritePath | None:
        return self.access if type(self.access) is WritePath else None

    @property
    def written(self) -> str:
        return self.paths[0]

    @property
    def listing(self) -> bool:
        return type(self.access) is ReadPath and self.access.listing

    # In words

    def _ruled(self, part: Part) -> str:
        assert part.rule
        return said(part.rule, self._doing())

    def _covered(self, _: Part) -> str:
        assert self.command is not None
        return f"the rule for `{shown(self.command.text or joined(self.command.words))}` covers it"

    def _uncovered(self, _: Part) -> str:
        access, scene = self.access, self.scene
        link = access.real is not None and self.inside() != scene.place.holds(access.alias or self.written)
        return f"no rule covers {self._doing()}" + (f", a link to `{shown(access.real or '')}`" if link else "")

    def _doing(self) -> str:
        if self.write is not None:
            return f"{'removing' if self.write.removes else 'writing'} {self._what()}"
        return f"{'listing' if self.listing else 'reading'} {self._what()}"

    def _what(self) -> str:
        if self.access.path == "/**":
            return "a file only the shell knows"
        if self.access.path == "/*/**":
            return "a file that may lie anywhere"
        folder = self.access.path.removesuffix("/**/*").removesuffix("/**")
        if self.access.glob and folder != self.access.path:
            roots = self.scene.place.roots
            return "what is in " + ("the workspace" if folder in roots else f"`{shown(self.scene.near(folder))}`")
        return f"`{shown(self.scene.near(self.access.path))}`"

    # Deny, ask

    def _barred(self) -> tuple[Decision, Rule] | None:
        """The deny rule that the path meets, else the ask rule; and what it comes to: ASK when it only may meet it."""
        access, scene = self.access, self.scene
        searches = scene.tool in SEARCHES
        tools = WRITES if type(access) is WritePath else SEARCHES[scene.tool] if searches else READS
        if access.glob:
            barred = self._may_be_barred(tools)
        else:
            paths = (self.written, access.alias, *self.paths[1:]) if access.alias else self.paths
            met = rules_for(scene, scene.bar, paths, tools)
            if searches or (type(access) is WritePath and access.removes):
                # What closes all of a folder closes this as well.
                below = lexical(posixpath.join(access.real or access.path, "\0"), "/")
                met += rules_for(scene, scene.bar, (below,), tools)
            barred = ((rule := strictest(met)).decision, rule) if met else None
        if access.twins is None or (barred and barred[0] is DENY):
            return barred
        return self.barred_by_name(access.twins, tools) or barred

    def barred_by_name(self, twins: Named, tools: Collection[str]) -> tuple[Decision, Rule] | None:
        """As `_barred`, for other names of what is touched, as far as rules spell these or their folders."""
        scene, below = self.scene, self.access.below
        spelled = {at: it[0] for index in scene.bar.paths for at, it in index.places(lambda it: it[0].tool in tools)}
        if not spelled:
            return None
        names = twins(tuple(spelled))
        if names is None:
            self.unknown = True
            return ASK, max(spelled.values(), key=attrgetter("decision"))
        met = rules_for(scene, scene.bar, names, tools)
        if not met:
            return None
        rule = strictest(met)
        return rule.decision if below is None or below.every else ASK, rule

    def _may_be_barred(self, tools: Collection[str]) -> tuple[Decision, Rule] | None:
        """As `_barred`, for what only the shell knows."""
        if self.listing:
            return None  # that a name might be seen is no reason to ask
        met = may_meet(self.scene, self.written, tools)
        for decision in (DENY, ASK) if met else ():
            rule = met.get(decision)
            if rule is None:
                continue
            if rule.pattern is None:
                return decision, rule
            below = self.access.below
            if below is None or (there := below.paths()) is None:
                return ASK, rule
            key = id(below), DENY in met, tools is WRITES
            if key not in self.scene.below:
                self.scene.below[key] = self._first_met(there, tools, max(met))
            if found := self.scene.below[key].get(decision):
                return decision if below.every else ASK, found
        return None

    def _first_met(self, paths: Iterable[str], tools: Collection[str], worst: Decision) -> Mapping[Decision, Rule]:
        """The first rule that denies and the first that asks for one of the paths, up to the first of decision `worst`."""
        found: dict[Decision, Rule] = {}
        for path in paths:
            for rule, _ in rules_for(self.scene, self.scene.bar, (lexical(path, "/"),), tools):
                found.setdefault(rule.decision, rule)
            if worst in found:
                break
        return found

    # Policy, allow

    def _opened(self) -> Settled | None:
        """What the program's policy, the command it belongs to or an allow rule says."""
        access, scene = self.access, self.scene
        if scene.own is not None:
            return scene.own, "policy", POLICY, None
        if access.path in places.FREE_DEVICES:
            return ALLOW, "free", f"{access.path} keeps nothing", None
        writes = type(access) is WritePath
        if writes and scene.mode == "plan":
            return DENY, "mode", lambda _: f"mode plan writes nothing: {self._doing()}", None
        if self.command is not None:
            if self._with(self.command):
                return ALLOW, "free", self._covered, None
        elif scene.tool in ("", "Bash") and not writes and self.inside():
            return ALLOW, "free", "an input inside the workspace", None
        if scene.read_only and not writes:
            return ALLOW, "read-only", "the tool only reads", None
        if rule := self._allowing():
            return ALLOW, "rule", self._ruled, rule
        return None

    def inside(self) -> bool:
        """Whether it lies in the workspace, as written and as it is. A pattern: as far as its literal folders say."""
        access, place = self.access, self.scene.place
        if access.glob:
            parts = access.path.split("/")
            wild = next((n for n, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))
            return ".." not in parts[wild:] and place.holds(lexical("/".join(parts[:wild]) or "/", "/"))
        written, real = access.alias or self.paths[0], access.real
        return place.holds(written) and (real is None or real == written or place.holds(real))

    def guarded(self) -> list[tuple[str, str]]:
        """The guarded names on the way of a write."""
        access = self.access
        return list(places.guarded(access, self.paths, self.scene.place)) if type(access) is WritePath else []

    @property
    def at(self) -> int | None:
        """The word of its command that does the writing, where that is an act."""
        return self.write.at if self.write is not None else None

    def _with(self, command: Command) -> bool:
        """Whether the rule for its command covers this file as well."""
        access = self.access
        if type(access) is WritePath:
            covered = access.at is None and self.inside() and not self.guarded()
        else:
            covered = self.inside() or self.listing or access.path == "/**"
        if covered or self.fit is None:
            return covered
        return self._spelled(self.fit, command) or self._consents(self.fit, command)

    def _spelled(self, fit: Fit, command: Command) -> bool:
        """Whether the rule spells the option that writes (`sort -o:*`): then writing is what was allowed."""
        if self.at is None or self.guarded():
            return False
        return self.inside() and fit.spells(command.words[self.at])

    def _consents(self, fit: Fit, command: Command) -> bool:
        """Whether the rule spells this very file, and no link takes it elsewhere."""
        if self.access.glob:
            return False
        real = self.access.real
        if real is not None and real != self.written and not self.scene.place.holds(real):
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
        written = self.access.alias or self.written
        found: list[Rule] = []
        for path in (written,) if real is None or real == written else (written, real):
            # A search is covered by what covers all below its folder.
            below = (posixpath.join(path, "\0", "\0"),) if tool in SEARCHES else ()
            fits = rules_for(self.scene, self.scene.allow, (path, *below), tools)
            if not fits:
                return None
            guarded = self.guarded()
            named = (r for r, p in fits if all(p is not None and p.names(part) for part, _ in guarded))
            rule = next(named, None)
            if rule is None:
                return None
            found.append(rule)
        return found[0]

    # The mode

    def _left(self) -> Settled:
        """What the mode makes of a path that nothing settled."""
        scene, reads = self.scene, self.write is None
        if scene.mode == "plan" and reads:
            decision, why = (ALLOW, "reading is part of planning") if self.inside() else (ASK, self._uncovered)
            return decision, "mode", why, None
        if guarded := self.guarded():
            decision = ALLOW if scene.mode == "bypass" else ASK
            return decision, "guarded", lambda _: f"{self._doing()} needs a rule that names it: {guarded[0][1]}", None
        return scene.by_mode(self._uncovered, not reads and self.inside())


def brings(scene: Scene, access: Unnamed) -> Settled:
    """What deny and ask rules say of files whose names are not known: those that could close one of them ask."""
    for folder in dict.fromkeys((lexical(access.path, "/"), access.real or access.path)):
        met = may_meet(scene, folder if folder.endswith("**") else posixpath.join(folder, "**"), WRITES)
        for rule in (met[decision] for decision in (DENY, ASK) if decision in met):
            if rule.pattern is None or _brought(scene, access, folder, rule):
                place = f"in `{shown(scene.near(folder))}`" if folder != "/**" else "anywhere"
                place = "in the workspace" if folder in scene.place.roots else place
                return ASK, "rule", f"{named(rule)} may forbid what is written {place} under names not known", rule
    return ALLOW, "free", "the rule for the command covers it", None


def _brought(scene: Scene, access: Unnamed, folder: str, rule: Rule) -> bool:
    """Whether the rule could close a file below the folder: by the names of those that come, where these are known."""
    there = access.below.paths() if access.below is not None else None
    if there is None:
        return True
    paths = [folder + path[len(access.like) :] for path in there]
    return any(met.decision is rule.decision for met, _ in rules_for(scene, scene.bar, paths, WRITES))
