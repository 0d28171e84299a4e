"""The files of a call: paths of file tools, redirections, and the operands of commands."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from hitl_cli.access import Access, Command, ReadPath, Word, WritePath, lexical
from hitl_cli.permissions import kinds, places
from hitl_cli.permissions.rule import Decision, Part, Rule
from hitl_cli.permissions.scene import ALLOW, ASK, DENY, POLICY, Scene, joined, named, said, shown, spellings
from hitl_cli.permissions.tables import CODE, Fit

READS = frozenset({"Read"})
SEARCHES = frozenset({"Glob", "Grep"})
WRITES = frozenset({"Write", "Edit"})


class Files:
    """`consents`: by the index of a command in the call, the allow rule that covers it."""

    def __init__(self, scene: Scene, consents: Mapping[int, Fit]) -> None:
        self.scene, self.consents = scene, consents

    def rule(self, decision: Decision, access: ReadPath | WritePath, tools: Iterable[str]) -> Rule | None:
        """A deny or ask rule that any spelling of the path meets."""
        for tables in self.scene.tables:
            table = tables[decision]
            if table.paths:
                for path in spellings(access):
                    for rule, _ in table.path(tools, path, self.scene.now):
                        return rule
        return None

    def named_by(self, decision: Decision, command: Command) -> Rule | None:
        """A deny or ask rule for a file that a word of the command names, for programs whose files nobody can tell."""
        if command.free or command.words[:1] == ("echo",) or not any(t[decision].paths for t in self.scene.tables):
            return None
        code = command.words[0] in kinds.INTERPRETERS
        at = command.cwd or self.scene.place.cwd
        for word in command.words[1:]:
            if isinstance(word, str):
                value = word.rpartition("=")[2]
                for piece in {word, value, word.rpartition("@")[2], *(CODE.split(word) if code else ())} - {""}:
                    path = lexical(piece, at)
                    below = value != word or "/" in piece  # a folder is meant, not just any word
                    if rule := self._names(decision, path) or (below and self._names(decision, path + "/\0")):
                        return rule
            elif (
                word.glob
                and (rule := self._may(decision, lexical(word.text, at)))
                and rule.pattern not in (None, "*", "**")
            ):
                return rule
        return None

    def _may(self, decision: Decision, glob: str, tools: Iterable[str] = READS | WRITES) -> Rule | None:
        """A rule for some path that a shell pattern may name."""
        return self.scene.first(decision, lambda table: table.may_path(tools, glob, self.scene.now))

    def _names(self, decision: Decision, path: str) -> Rule | None:
        """A rule that matches the path and names a part of it; a wide rule says nothing about a word that may be none."""
        for tables in self.scene.tables:
            for rule, pattern in tables[decision].path(READS | WRITES, path, self.scene.now):
                if pattern is not None and any(pattern.names(part) for part in path.split("/")[-3:]):
                    return rule
        return None

    def part(self, access: ReadPath | WritePath, accesses: Sequence[Access]) -> Part:
        """The verdict on one path; `accesses` are all those of the call."""
        return self._closed(access) or self._opened(access, accesses) or self._left(access)

    def _doing(self, access: ReadPath | WritePath) -> str:
        return f"{_verb(access)} {self._what(access)}"

    def _what(self, access: ReadPath | WritePath) -> str:
        if access.path == "/**":
            return "a file only the shell knows"
        roots = self.scene.place.roots
        folder = access.path.removesuffix("/**/*").removesuffix("/**")
        if access.glob and folder != access.path:
            return "what is in " + ("the workspace" if folder in roots else f"`{shown(self.scene.near(folder))}`")
        return f"`{shown(self.scene.near(access.path))}`"

    def _closed(self, access: ReadPath | WritePath) -> Part | None:
        """What a deny rule, the floor or an ask rule says."""
        bite = self._biting(access)
        denied = self._bites(DENY, access, bite)
        if denied and denied[0] is DENY:
            return Part(access, DENY, "rule", said(denied[1], self._doing(access)), denied[1])
        if why := places.floor(access, self.scene.place):
            return Part(access, ASK, "floor", f"{self._doing(access)}: {why}")
        if denied:
            return Part(access, ASK, "rule", f"{named(denied[1])} may forbid {self._doing(access)}", denied[1])
        if asked := self._bites(ASK, access, bite):
            return Part(access, ASK, "rule", said(asked[1], self._doing(access)), asked[1])
        return None

    def _opened(self, access: ReadPath | WritePath, accesses: Sequence[Access]) -> Part | None:
        """What the program's policy, the command it belongs to or an allow rule says."""
        writes = isinstance(access, WritePath)
        if (own := self.scene.policy()) is not None:
            return Part(access, own, "policy", POLICY)
        if access.path in places.FREE_DEVICES:
            return Part(access, ALLOW, "free", f"{access.path} keeps nothing")
        if writes and self.scene.mode == "plan":
            return Part(access, DENY, "mode", f"mode plan writes nothing: {self._doing(access)}")
        if access.by_command is not None:
            command = accesses[access.by_command]
            assert isinstance(command, Command)
            if self._with_command(access, command):
                covers = f"the rule for `{shown(command.text or joined(command.words))}` covers it"
                return Part(access, ALLOW, "free", covers)
        elif self.scene.tool in ("", "Bash") and not writes and self.inside(access):
            return Part(access, ALLOW, "free", "an input inside the workspace")
        if self.scene.read_only and not writes:
            return Part(access, ALLOW, "read-only", "the tool only reads")
        if rule := self._allowing(access):
            return Part(access, ALLOW, "rule", said(rule, self._doing(access)), rule)
        return None

    def _left(self, access: ReadPath | WritePath) -> Part:
        """What the mode makes of a path that nothing settled."""
        doing = self._doing(access)
        writes, inside = isinstance(access, WritePath), self.inside(access)
        why = f"no rule covers {doing}"
        if access.real is not None and inside != self.scene.in_roots(access.alias or lexical(access.path, "/")):
            why = f"no rule covers {doing}, a link to `{shown(access.real)}`"
        if self.scene.mode == "plan" and not writes:
            return Part(access, ALLOW if inside else ASK, "mode", "reading is part of planning" if inside else why)
        if isinstance(access, WritePath) and (guard := next(places.guarded(access, self.scene.place), None)):
            decision = ALLOW if self.scene.mode == "bypass" else ASK
            return Part(access, decision, "guarded", f"{doing} needs a rule that names it: {guard[1]}")
        return Part(access, *self.scene.by_mode(why, writes and inside))

    def _biting(self, access: ReadPath | WritePath) -> frozenset[str]:
        """The tools whose deny and ask rules concern this access."""
        if isinstance(access, WritePath):
            return WRITES
        return READS | ({self.scene.tool} if self.scene.tool in SEARCHES else frozenset())

    def _bites(
        self, decision: Decision, access: ReadPath | WritePath, tools: Iterable[str]
    ) -> tuple[Decision, Rule] | None:
        """The rule of this decision that the path meets, and what it comes to: ASK when it only may meet it."""
        if not access.glob:
            rule = self.rule(decision, access, tools)
            goes = isinstance(access, WritePath) and access.removes
            if rule is None and (
                goes or self.scene.tool in SEARCHES
            ):  # what closes all of a folder closes this as well
                below = posixpath.join(access.real or access.path, "\0")
                rule = self.rule(decision, ReadPath(below), tools)
            return (decision, rule) if rule else None
        if isinstance(access, ReadPath) and access.listing:
            return None  # that a name might be seen is no reason to ask
        rule = self._may(decision, lexical(access.path, "/"), tools)
        if rule is None or rule.pattern is None:
            return (decision, rule) if rule else None
        if access.below is not None and (there := access.below.paths()) is not None:
            met = (self.rule(decision, ReadPath(path), tools) for path in there)
            found = next((each for each in met if each), None)
            return (decision if access.below.every else ASK, found) if found else None
        return ASK, rule

    def inside(self, access: ReadPath | WritePath) -> bool:
        """Whether it lies in the workspace, as written and as it is. A pattern: as far as its literal folders say."""
        if access.glob:
            fixed = access.path
            for n, part in enumerate(access.path.split("/")):
                if any(c in part for c in "*?["):
                    fixed = "/".join(access.path.split("/")[:n])
                    if ".." in access.path.split("/")[n:]:
                        return False
                    break
            return self.scene.in_roots(lexical(fixed or "/", "/"))
        written = access.alias or lexical(access.path, "/")
        return self.scene.in_roots(written) and (
            access.real is None or access.real == written or self.scene.in_roots(access.real)
        )

    def _with_command(self, access: ReadPath | WritePath, command: Command) -> bool:
        """Whether the rule for a command covers this file of it as well."""
        if isinstance(access, ReadPath):
            covered = access.listing or access.path == "/**" or self.inside(access)
        else:
            covered = access.at is None and self.inside(access) and not any(places.guarded(access, self.scene.place))
        if covered or access.by_command is None:
            return covered
        fit = self.consents.get(access.by_command)
        return fit is not None and (self._spelled(fit, access, command) or self._consents(fit, access, command))

    def _spelled(self, fit: Fit, access: ReadPath | WritePath, command: Command) -> bool:
        """Whether the rule spells the option that writes (`sort -o:*`): then writing is what was allowed."""
        if not isinstance(access, WritePath) or access.at is None or any(places.guarded(access, self.scene.place)):
            return False
        return self.inside(access) and spells(fit, command.words[access.at])

    def _consents(self, fit: Fit, access: ReadPath | WritePath, command: Command) -> bool:
        """Whether the rule spells this very file, and no link takes it elsewhere."""
        if access.glob:
            return False
        written = lexical(access.path, "/")
        if access.real is not None and access.real != written and not self.scene.in_roots(access.real):
            return False
        at = command.cwd or self.scene.place.cwd
        for word in command.words if fit.spelled is None else fit.spelled:
            if isinstance(word, str):
                for text in (word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""):
                    if text and lexical(text, at) == written:
                        return True
        return False

    def _allowing(self, access: ReadPath | WritePath) -> Rule | None:
        """An allow rule for the path as written, given one for where it really is; both name what is guarded."""
        if access.glob:
            return None
        if isinstance(access, WritePath):
            tools = {"Edit"} if self.scene.tool == "Edit" else WRITES
            guarded = [part for part, _ in places.guarded(access, self.scene.place)]
        else:
            tools, guarded = READS | {self.scene.tool}, []
        written = access.alias or lexical(access.path, "/")
        found: list[Rule] = []
        for path in (written,) if access.real in (None, written) else (written, str(access.real)):
            # A search is covered by what covers all below its folder.
            below = (posixpath.join(path, "\0", "\0"),) if self.scene.tool in SEARCHES else ()
            fits = (
                rule
                for tables in self.scene.tables
                for each in (path, *below)
                for rule, pattern in tables[ALLOW].path(tools, each, self.scene.now)
                if all(pattern is not None and pattern.names(part) for part in guarded)
            )
            rule = next(fits, None)
            if rule is None:
                return None
            found.append(rule)
        return found[0]


def spells(fit: Fit, word: Word) -> bool:
    """Whether the rule spells this word of the command, and so consents to what it does."""
    return isinstance(word, str) and (fit.spelled is None or word in fit.spelled)


def _verb(access: ReadPath | WritePath) -> str:
    if isinstance(access, WritePath):
        return "removing" if access.removes else "writing"
    return "listing" if access.listing else "reading"
