"""One judgement under way: each access of a call in turn, in the order that `policy` states."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from hitl_cli.access import (
    Access,
    Act,
    Command,
    Host,
    Opaque,
    Place,
    ReadPath,
    ToolUse,
    Word,
    WritePath,
    inside,
    lexical,
)
from hitl_cli.permissions import places
from hitl_cli.permissions.rule import By, Decision, Mode, Part, Rule
from hitl_cli.permissions.tables import Fit, Table

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
READS = frozenset({"Read"})
WRITES = frozenset({"Write", "Edit"})
READ_ONLY_PACK = "read-only.toml"
# Programs whose whole business is files: mode accept-edits runs them when every file they write is in the workspace.
_EDITORS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})


class Judging:
    def __init__(
        self,
        place: Place,
        tables: Sequence[dict[Decision, Table]],
        mode: Mode,
        now: float,
        own: Decision | None,
        read_only: bool,
        declared: bool,
        tool: str,
    ) -> None:
        self.place, self.tables, self.mode, self.now = place, tables, mode, now
        self.own, self.read_only, self.declared, self.tool = own, read_only, declared, tool
        self.consents: dict[int, Fit] = {}  # by the index of a command: the allow rule that covers it
        self.writes: dict[int, list[WritePath]] = {}

    def parts(self, accesses: Sequence[Access]) -> list[Part]:
        """A part for each access, in order; commands are judged first because their files depend on them."""
        for access in accesses:
            if isinstance(access, WritePath) and access.by_command is not None:
                self.writes.setdefault(access.by_command, []).append(access)
        done: dict[int, Part] = {}
        number = 0
        for n, access in enumerate(accesses):
            if isinstance(access, Command):
                number += 1
                done[n] = self._command(n, access, number)
        for n, access in enumerate(accesses):
            if n not in done:
                done[n] = self._other(access, accesses)
        return [self._in_mode(done[n]) for n in range(len(accesses))]

    def _other(self, access: Access, accesses: Sequence[Access]) -> Part:
        if isinstance(access, (ReadPath, WritePath)):
            return self._path(access, accesses)
        if isinstance(access, Opaque):
            return self._opaque(access)
        if isinstance(access, Host):
            return self._host(access)
        assert isinstance(access, ToolUse)
        return self._use(access)

    def _in_mode(self, part: Part) -> Part:
        """Nobody is asked in dont-ask, and nothing is written in plan, whoever it was that would have asked."""
        if part.decision is ASK and self.mode == "dont-ask":
            return Part(
                part.access,
                DENY,
                "mode",
                f"{part.reason} (mode dont-ask refuses what would ask)",
                part.rule,
                part.number,
            )
        if part.decision is ASK and self.mode == "plan" and isinstance(part.access, WritePath):
            return Part(part.access, DENY, "mode", "mode plan writes nothing", part.rule, part.number)
        return part

    # Commands

    def _command(self, n: int, command: Command, number: int) -> Part:
        shown = _shown(command.text or _joined(command.words))

        def part(decision: Decision, by: By, reason: str, rule: Rule | None = None) -> Part:
            return Part(command, decision, by, reason, rule, number)

        for decision in (DENY, ASK):
            if rule := self._first(lambda t: t.hits(command, self.now), decision):
                return part(decision, "rule", _said(rule, shown), rule)
            if rule := self._first(lambda t: t.may_hit(command, self.now), decision):
                return part(
                    ASK, "rule", f"only the shell knows what `{shown}` becomes, and {_named(rule)} may forbid it", rule
                )
        if (own := self._own()) is not None:
            return part(own, "policy", "the program's own policy decides", None)
        if command.free:
            return part(ALLOW, "free", command.free)
        why = f"no rule covers `{shown}`"
        for fit in self._fits(command):
            if fit.rule.tool == "Bash" and self.mode == "plan" and not _reads_only(fit.rule):
                continue
            act = self._act_left(n, command, fit)
            if act is None:
                self.consents[n] = fit
                return part(ALLOW, "rule", _said(fit.rule, shown), fit.rule)
            why = f"{_named(fit.rule)} does not spell `{_shown(_text(command.words[act.at]))}`, which {act.does}"
        return part(*self._by_mode(edits=self._edits_here(n, command)), why)

    def _fits(self, command: Command) -> Iterable[Fit]:
        """Rules that cover the command, those that spell more of it first."""
        fits = [fit for tables in self.tables for fit in tables[ALLOW].fits(command, self.now)]
        if len(fits) > 1 and (command.acts or command.words):
            fits.sort(key=lambda f: -1 if f.spelled is None else 0 if f.spelled else 1)
        return fits

    def _act_left(self, n: int, command: Command, fit: Fit) -> Act | None:
        """The first act that the rule does not consent to; acts that only write are judged with the path they write."""
        for act in command.acts:
            if not _spells(fit, command.words[act.at]) and not any(w.at == act.at for w in self.writes.get(n, ())):
                return act
        return None

    def _edits_here(self, n: int, command: Command) -> bool:
        """Mode accept-edits: a file program all of whose targets are in the workspace."""
        written = self.writes.get(n, ())
        return (
            self.mode == "accept-edits"
            and command.words[0] in _EDITORS
            and bool(written)
            and all(any(w.at == act.at for w in written) for act in command.acts)
            and all(self._inside(w) and not any(places.guarded(w, self.place)) for w in written)
        )

    # Paths

    def path_rule(self, decision: Decision, access: ReadPath | WritePath, tools: Iterable[str]) -> Rule | None:
        """A deny or ask rule that any spelling of the path meets."""
        for tables in self.tables:
            table = tables[decision]
            if table.paths:
                for path in _spellings(access):
                    for rule, _ in table.path(tools, path, self.now):
                        return rule
        return None

    def _path(self, access: ReadPath | WritePath, accesses: Sequence[Access]) -> Part:
        writes = isinstance(access, WritePath)
        shown = _shown(self._near(access.path))
        does = (
            f"{'writes' if writes else 'lists' if isinstance(access, ReadPath) and access.listing else 'reads'} {shown}"
        )

        def part(decision: Decision, by: By, reason: str, rule: Rule | None = None) -> Part:
            return Part(access, decision, by, reason, rule)

        bite = WRITES if writes else READS | ({self.tool} if self.tool in ("Glob", "Grep") else frozenset())
        if (denied := self._bites(DENY, access, bite)) and denied[0] is DENY:
            return part(DENY, "rule", _said(denied[1], does), denied[1])
        if why := places.floor(access, self.place):
            return part(ASK, "floor", f"it {does}: {why}")
        if denied:
            return part(ASK, "rule", f"{_named(denied[1])} closes some of what it {does}", denied[1])
        if asked := self._bites(ASK, access, bite):
            return part(ASK, "rule", _said(asked[1], does), asked[1])
        if (own := self._own()) is not None:
            return part(own, "policy", "the program's own policy decides")
        if access.path in places.FREE_DEVICES:
            return part(ALLOW, "free", f"{access.path} keeps nothing")
        if access.by_command is not None:
            command = accesses[access.by_command]
            assert isinstance(command, Command)
            if self._with_command(access, command):
                return part(ALLOW, "free", f"the rule for `{_shown(command.text or _joined(command.words))}` covers it")
        elif self.tool in ("", "Bash") and isinstance(access, ReadPath) and self._inside(access):
            return part(ALLOW, "free", "an input inside the workspace")
        allow = {"Edit"} if self.tool == "Edit" else WRITES if writes else READS | {self.tool}
        rule, why = self._allows_path(access, allow, does)
        if rule:
            return part(ALLOW, "rule", _said(rule, does), rule)
        if self.read_only and not writes:
            return part(ALLOW, "read-only", "the tool only reads")
        if self.mode == "plan" and not writes:
            return part(
                ALLOW if self._inside(access) else ASK,
                "mode",
                "reading is part of planning" if self._inside(access) else why,
            )
        if any_guarded := self._guarded(access):
            return part(
                ALLOW if self.mode == "bypass" else ASK, "guarded", f"it {does}: {any_guarded}, and no rule names it"
            )
        return part(*self._by_mode(edits=writes and access.by_command is None and self._inside(access)), why)

    def _bites(
        self, decision: Decision, access: ReadPath | WritePath, tools: Iterable[str]
    ) -> tuple[Decision, Rule] | None:
        if not access.glob:
            rule = self.path_rule(decision, access, tools)
            if rule is None and self.tool in ("Glob", "Grep"):  # a rule that closes all of a folder closes searching it
                rule = self.path_rule(decision, ReadPath(posixpath.join(access.real or access.path, "\0")), tools)
            return (decision, rule) if rule else None
        rule = self._first(lambda t: t.may_path(tools, lexical(access.path, "/"), self.now), decision)
        return (decision if rule.pattern is None else ASK, rule) if rule else None

    def _inside(self, access: ReadPath | WritePath) -> bool:
        """Whether it lies in the workspace, as written and as it is. A pattern: as far as its literal folders say."""
        if access.glob:
            fixed = access.path
            for n, part in enumerate(access.path.split("/")):
                if any(c in part for c in "*?["):
                    fixed = "/".join(access.path.split("/")[:n])
                    if ".." in access.path.split("/")[n:]:
                        return False
                    break
            return self._in_roots(lexical(fixed or "/", "/"))
        written = access.alias or lexical(access.path, "/")
        return self._in_roots(written) and (
            access.real is None or access.real == written or self._in_roots(access.real)
        )

    def _in_roots(self, path: str) -> bool:
        return any(inside(path, root) for root in self.place.roots)

    def _with_command(self, access: ReadPath | WritePath, command: Command) -> bool:
        """Whether the rule for a command covers this file of it as well."""
        fit = self.consents.get(access.by_command if access.by_command is not None else -1)
        if fit is not None and self._consents(fit, access, command):
            return True
        if isinstance(access, ReadPath):
            return access.listing or access.path == "/**" or self._inside(access)
        return access.at is None and self._inside(access) and not any(places.guarded(access, self.place))

    def _consents(self, fit: Fit, access: ReadPath | WritePath, command: Command) -> bool:
        """Whether the rule spells this very file, and no link takes it elsewhere."""
        if access.glob:
            return False
        written = lexical(access.path, "/")
        if access.real is not None and access.real != written and not self._in_roots(access.real):
            return False
        at = command.cwd or self.place.cwd
        for word in command.words if fit.spelled is None else fit.spelled:
            if isinstance(word, str):
                for text in (word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""):
                    if text and lexical(text, at) == written:
                        return True
        return False

    def _allows_path(self, access: ReadPath | WritePath, tools: Iterable[str], does: str) -> tuple[Rule | None, str]:
        """An allow rule for the path as written and one for where it really is; a guarded name must be in them."""
        why = f"no rule covers what it {does}"
        if access.glob:
            return None, why
        named = [part for part, _ in places.guarded(access, self.place)] if isinstance(access, WritePath) else []
        first: Rule | None = None
        written = access.alias or lexical(access.path, "/")
        for path in (written,) if access.real in (None, written) else (written, str(access.real)):
            found = None
            for tables in self.tables:
                for rule, pattern in tables[ALLOW].path(tools, path, self.now):
                    if all(pattern is not None and pattern.names(part) for part in named):
                        found = rule
                if found:
                    break
            if found is None:
                if path != written:
                    why = f"it {does}, which is a link to {_shown(path)}, and no rule covers that"
                return None, why
            first = first or found
        return first, why

    def _guarded(self, access: ReadPath | WritePath) -> str:
        if isinstance(access, WritePath) and not access.glob:
            for _, why in places.guarded(access, self.place):
                return why
        return ""

    def _near(self, path: str) -> str:
        """The path as a person in the workspace would write it."""
        path = lexical(path, "/")
        for root in self.place.roots:
            if path != root and inside(path, root):
                return path[len(root.rstrip("/")) + 1 :]
        home = self.place.home
        return "~" + path[len(home) :] if home != "/" and path != home and inside(path, home) else path

    # The rest

    def _opaque(self, opaque: Opaque) -> Part:
        for decision in (DENY, ASK):
            if rule := self._first(lambda t: t.hits_opaque(opaque, self.now), decision):
                return Part(opaque, decision, "rule", _said(rule, _shown(opaque.text) or "it"), rule)
        why = opaque.reason + (f": `{_shown(opaque.text)}`" if opaque.text else "")
        for word in opaque.words:
            path = ReadPath(lexical(word, self.place.cwd))
            if rule := self.path_rule(DENY, path, READS | WRITES) or self.path_rule(ASK, path, READS | WRITES):
                return Part(opaque, ASK, "rule", f"{why}; {_named(rule)} may forbid it", rule)
        if (own := self._own()) is not None:
            return Part(opaque, own, "policy", "the program's own policy decides")
        if self.mode in ("bypass", "plan"):
            return Part(opaque, ALLOW if self.mode == "bypass" else DENY, "mode", why)
        return Part(opaque, ASK, "opaque", why)

    def _host(self, host: Host) -> Part:
        shown = _shown(host.host)
        for decision in (DENY, ASK):
            if rule := self._first(lambda t: t.host(host, self.now), decision):
                return Part(host, decision, "rule", _said(rule, shown), rule)
        if (own := self._own()) is not None:
            return Part(host, own, "policy", "the program's own policy decides")
        if host.of:
            return Part(host, ALLOW, "free", "the rule for the command covers it")
        if self.read_only:
            return Part(host, ALLOW, "read-only", "the tool only reads")
        if rule := self._first(lambda t: t.host(host, self.now), ALLOW):
            return Part(host, ALLOW, "rule", _said(rule, shown), rule)
        why = f"no rule covers {shown}" + ("" if host.scheme == "https" else f" over {host.scheme}")
        return Part(host, *self._by_mode(), why)

    def _use(self, use: ToolUse) -> Part:
        for decision in (DENY, ASK):
            if rule := self._first(lambda t: t.use(use, self.now), decision):
                return Part(use, decision, "rule", _said(rule, use.tool), rule)
        if (own := self._own()) is not None:
            return Part(use, own, "policy", "the program's own policy decides")
        if self.read_only:
            return Part(use, ALLOW, "read-only", "the tool only reads")
        if self.mode == "plan":
            if use.tool == "Plan":
                return Part(use, ASK, "mode", "a plan is approved before anything is done")
            return Part(use, DENY, "mode", f"mode plan runs only what is known to read, and {use.tool} is not")
        if rule := self._first(lambda t: t.use(use, self.now), ALLOW):
            return Part(use, ALLOW, "rule", _said(rule, use.tool), rule)
        return Part(use, *self._by_mode(), f"no rule covers {use.tool}")

    def _own(self) -> Decision | None:
        """The program's own policy; in mode plan it can only be stricter."""
        return None if self.mode == "plan" and self.own is ALLOW else self.own

    def _by_mode(self, edits: bool = False) -> tuple[Decision, By]:
        """What the mode makes of an access that nothing settled."""
        if (
            self.mode == "bypass"
            or (self.mode == "declared" and not self.declared)
            or (self.mode == "accept-edits" and edits)
        ):
            return ALLOW, "mode"
        if self.mode == "plan":
            return DENY, "mode"
        return ASK, "none"

    def _first(self, look: object, decision: Decision) -> Rule | None:
        for tables in self.tables:
            if not tables[decision].empty and (rule := look(tables[decision])):  # type: ignore[operator]
                return rule  # type: ignore[no-any-return]
        return None


def _reads_only(rule: Rule) -> bool:
    return rule.source.layer == "pack" and rule.source.file.endswith(READ_ONLY_PACK)


def _spells(fit: Fit, word: Word) -> bool:
    return isinstance(word, str) and (fit.spelled is None or word in fit.spelled)


def _spellings(access: ReadPath | WritePath) -> Iterable[str]:
    written = lexical(access.path, "/")
    found = [written]
    for other in (access.alias, access.real):
        if other is not None and other not in found:
            found.append(other)
    return found


def _text(word: Word) -> str:
    return word if isinstance(word, str) else word.text


def _joined(words: Sequence[Word]) -> str:
    return " ".join(map(_text, words))


def _shown(text: str) -> str:
    """Enough of it to recognise it on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."


def _named(rule: Rule) -> str:
    return f"{rule.decision} rule {rule.text}" + (f" ({rule.source})" if rule.source.file else "")


def _said(rule: Rule, what: str) -> str:
    """The rule's own reason where it has one, else that it covers this."""
    verb = {ALLOW: "allowed", ASK: "to be asked about", DENY: "denied"}[rule.decision]
    return f"{what} is {verb} by {rule.text}" + (f": {rule.reason}" if rule.reason else "")
