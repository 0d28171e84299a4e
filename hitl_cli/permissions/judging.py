"""One judgement under way: each access of a call in turn, in the order that `policy` states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import get_args

from hitl_cli.access import Access, Act, Command, Host, Opaque, ReadPath, ToolUse, Unnamed, WritePath, lexical
from hitl_cli.permissions.files import File, brings
from hitl_cli.permissions.kinds import interprets
from hitl_cli.permissions.pathrules import READS, WRITES, Names, may_name, named_by, names_in, rules_for, strictest
from hitl_cli.permissions.places import spellings
from hitl_cli.permissions.rule import By, Decision, Mode, Part, Rule, Verdict, Why
from hitl_cli.permissions.scene import ALLOW, ASK, DENY, POLICY, Scene, Settled, called, named, said, shown, text
from hitl_cli.permissions.tables import Fit, Table, concerns, fits, live
from hitl_cli.records import Struct, field
from hitl_cli.shell.scan import SEARCHED, searched

READ_ONLY_PACK = "read-only.toml"
# Programs whose whole business is files: mode accept-edits runs them when every file they write is in the workspace.
_EDITORS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})

# Of parts with the same decision, the one that says most about it: what no rule could allow first.
_WEIGHT = dict.fromkeys(get_args(By), 0) | {"floor": 4, "rule": 3, "opaque": 2, "guarded": 1}
_STEP = 8  # from one decision to the next: more than any weight


class Judging(Struct, dict=True):
    scene: Scene
    accesses: Sequence[Access]
    consents: dict[int, Fit] = field(default_factory=dict)  # by the index of a command: the allow rule that covers it
    brought: dict[tuple[str, str | None, str], Settled] = field(
        default_factory=dict
    )  # a call may name one folder often

    def verdict(self) -> Verdict:
        """A part for each access, in order; a command stands before its files, which depend on it."""
        mode = self.scene.mode
        stricter = mode in ("plan", "dont-ask")
        parts: list[Part] = []
        worst, highest = None, -1
        commands = 0
        for access in self.accesses:
            number = 0
            if type(access) is Command:
                number = commands = commands + 1
                decision, by, why, rule = self._command(len(parts), access)
            elif type(access) is ReadPath or type(access) is WritePath:
                decision, by, why, rule = self._file(access).settled()
            else:
                decision, by, why, rule = self._other(access)
            part = Part(access, decision, by, why, rule, number)
            rank = decision * _STEP + _WEIGHT[by]
            if stricter:  # what the mode makes of it counts first, then what it was before
                part = _in_mode(part, mode)
                rank += part.decision * _STEP * _STEP
            parts.append(part)
            if rank > highest:
                worst, highest = part, rank
        if worst is None:
            return Verdict(ALLOW if mode == "bypass" else DENY if mode == "dont-ask" else ASK)
        if len(parts) > 1:
            if highest < _STEP and mode in ("bypass", "accept-edits"):
                # Of what is allowed, what the mode allows is the least sure.
                worst = next((part for part in parts if part.by == "mode"), worst)
            elif highest % _STEP == 0:
                worst = _removing(parts, worst)
        return Verdict(worst.decision, tuple(parts), worst)

    def _other(self, access: Unnamed | Host | ToolUse | Opaque) -> Settled:
        if isinstance(access, Opaque):
            return self._opaque(access)
        if isinstance(access, Unnamed):
            where = access.path, access.real, access.like
            if where not in self.brought:
                self.brought[where] = brings(self.scene, access)
            return self.brought[where]
        return self._host(access) if isinstance(access, Host) else self._use(access)

    def _file(self, access: ReadPath | WritePath) -> File:
        n, paths = access.by_command, spellings(access)
        if n is None:
            return File(self.scene, access, paths)
        command = self.accesses[n]
        assert isinstance(command, Command)
        return File(self.scene, access, paths, command, self.consents.get(n))

    # Commands

    @cached_property
    def _writes(self) -> dict[int, list[WritePath]]:
        """What is written, by the index of the command."""
        writes: dict[int, list[WritePath]] = {}
        for access in self.accesses:
            if isinstance(access, WritePath) and access.by_command is not None:
                writes.setdefault(access.by_command, []).append(access)
        return writes

    @cached_property
    def _begins(self) -> dict[str, int]:
        """The number of the first command of each text: it starts those of the same text."""
        commands = [access.text for access in self.accesses if isinstance(access, Command)]
        return {text: len(commands) - n for n, text in enumerate(reversed(commands))}

    def _what(self, part: Part) -> str:
        command = part.access
        assert isinstance(command, Command)
        inner = bool(command.within) and self._begins[command.text] < part.number
        return f"`{shown(called(command, inner))}`" + (f" within {shown(command.within[-1])}" if inner else "")

    def _ruled(self, part: Part) -> str:
        assert part.rule
        return said(part.rule, self._what(part))

    def _uncovered(self, part: Part) -> str:
        return f"no rule covers {self._what(part)}"

    def _stated(self, n: int) -> bool:
        """Whether files of the command are accesses of their own: these stand between it and the next."""
        at, accesses = n + 1, self.accesses
        while at < len(accesses) and type(access := accesses[at]) is not Command:
            if (type(access) is ReadPath or type(access) is WritePath) and access.by_command == n:
                return True
            at += 1
        return False

    def _command(self, n: int, command: Command) -> Settled:
        scene, bar = self.scene, self.scene.bar
        concerned, names = concerns(bar.first, command), None
        # Any word may be a file that a rule names where no files are stated, and in the code of an interpreter.
        if bar.paths and not command.free and (not self._stated(n) or interprets(command.names)):
            at = command.cwd or scene.place.cwd
            for index in bar.paths:
                if may_name(index, command, at):
                    names = names_in(command, at)
                    break
        if concerned or names is not None:
            barred = self._barred_command(command, concerned, names)
            if barred is not None:
                return barred
        if scene.own is not None:
            return scene.own, "policy", POLICY, None
        if command.free:
            return ALLOW, "free", command.free, None
        why: Why | None = None
        for fit in fits(scene.allow.tables, command, scene.now):
            if scene.mode == "plan" and fit.rule.tool == "Bash" and not _reads_only(fit.rule):
                continue
            act = self._act_left(n, command, fit) if command.acts else None
            if act is None:
                self.consents[n] = fit
                return ALLOW, "rule", self._ruled, fit.rule
            why = f"{named(fit.rule)} does not spell `{shown(text(command.words[act.at]))}`, which {act.does}"
        edits = scene.mode == "accept-edits" and self._edits_here(n, command)
        return scene.by_mode(why or self._uncovered, edits)

    def _barred_command(self, command: Command, concerned: bool, names: Names | None) -> Settled | None:
        """What a deny or ask rule says."""
        scene, hit, may = self.scene, dict[Decision, Rule](), dict[Decision, Rule]()
        for table in scene.bar.tables if concerned else ():
            for met, sure in table.met(command) if DENY not in hit else ():
                found = hit if sure else may
                if met.decision not in found and live(met, scene.now):
                    found[met.decision] = met
                    if DENY in hit:
                        break
        files = named_by(scene, names) if names and DENY not in hit else {}
        for decision in (DENY, ASK):
            if rule := hit.get(decision):
                return decision, "rule", self._ruled, rule
            if rule := may.get(decision):
                return ASK, "rule", lambda p: f"{self._what(p)} may turn out to be what {named(rule)} names", rule
            if rule := files.get(decision):
                return ASK, "rule", lambda p: f"{self._what(p)} names a file of {named(rule)}", rule
        return None

    def _act_left(self, n: int, command: Command, fit: Fit) -> Act | None:
        """The first act that the rule does not consent to; acts that only write are judged with the path they write."""
        for act in command.acts:
            if not fit.spells(command.words[act.at]) and not any(w.at == act.at for w in self._writes.get(n, ())):
                return act
        return None

    def _edits_here(self, n: int, command: Command) -> bool:
        """Mode accept-edits: a file program all of whose targets are in the workspace."""
        if command.words[0] not in _EDITORS:
            return False
        written = [File(self.scene, access, spellings(access)) for access in self._writes.get(n, ())]
        return (
            bool(written)
            and all(any(file.at == act.at for file in written) for act in command.acts)
            and all(file.inside() and not file.guarded() for file in written)
        )

    # The rest

    def _opaque(self, opaque: Opaque) -> Settled:
        if hit := self._hit(lambda t: t.hits_opaque(opaque), f"`{shown(opaque.text)}`" if opaque.text else "it"):
            return hit
        why = opaque.reason + (f": `{shown(opaque.text)}`" if opaque.text else "")
        for word in dict.fromkeys(opaque.words):
            path = lexical(word, self.scene.place.cwd)
            if met := rules_for(self.scene, self.scene.bar, (path,), READS | WRITES):
                rule = strictest(met)
                return ASK, "rule", f"{why}; {named(rule)} may forbid it", rule
        if not searched(opaque.words):
            why += f"; deny and ask rules were looked for among its first {SEARCHED:,} words"
            return DENY if self.scene.mode == "plan" else ASK, "opaque", why, None
        if self.scene.own is not None:
            return self.scene.own, "policy", POLICY, None
        if self.scene.mode in ("bypass", "plan"):
            return ALLOW if self.scene.mode == "bypass" else DENY, "mode", why, None
        return ASK, "opaque", why, None

    def _hit(self, look: Callable[[Table], Iterable[Rule]], what: str) -> Settled | None:
        """What a deny or ask rule says."""
        if met := self.scene.first(self.scene.bar, look):
            rule = met[max(met)]
            return rule.decision, "rule", said(rule, what), rule
        return None

    def _barred(self, look: Callable[[Table], Iterable[Rule]], what: str) -> Settled | None:
        """What a deny or ask rule says, else the program's policy."""
        return self._hit(look, what) or (None if self.scene.own is None else (self.scene.own, "policy", POLICY, None))

    def _host(self, host: Host) -> Settled:
        what = shown(host.host)
        if barred := self._barred(lambda t: t.host(host), f"`{what}`"):
            return barred
        if host.of:
            return ALLOW, "free", "the rule for the command covers it", None
        if self.scene.read_only:
            return ALLOW, "read-only", "the tool only reads", None
        if rule := self.scene.first(self.scene.allow, lambda t: t.host(host)).get(ALLOW):
            return ALLOW, "rule", said(rule, f"`{what}`"), rule
        return self.scene.by_mode(f"no rule covers {what}" + ("" if host.scheme == "https" else f" over {host.scheme}"))

    def _use(self, use: ToolUse) -> Settled:
        if barred := self._barred(lambda t: t.use(use), use.tool):
            return barred
        if self.scene.read_only:
            return ALLOW, "read-only", "the tool only reads", None
        if self.scene.mode == "plan":
            if use.tool == "Plan":
                return ASK, "mode", "a plan is approved before anything is done", None
            return DENY, "mode", f"mode plan runs only what is known to read, and {use.tool} is not", None
        if rule := self.scene.first(self.scene.allow, lambda t: t.use(use)).get(ALLOW):
            return ALLOW, "rule", said(rule, use.tool), rule
        return self.scene.by_mode(f"no rule covers {use.tool}")


def _removing(parts: Sequence[Part], worst: Part) -> Part:
    """Of parts that say as little as `worst` the first command that removes what nothing covers: it says more."""
    removers = {
        p.access.by_command for p in parts if p.by == "none" and type(p.access) is WritePath and p.access.removes
    }
    for n, part in enumerate(parts) if removers else ():
        if n in removers and part.decision is worst.decision and not _WEIGHT[part.by]:
            return part
    return worst


def _in_mode(part: Part, mode: Mode) -> Part:
    """Nobody is asked in dont-ask, and in plan nothing is written that a rule did not ask about."""
    if part.decision is not ASK:
        return part
    why: Why
    if mode == "dont-ask":
        why = lambda _: f"{part.reason} (mode dont-ask refuses what would ask)"  # noqa: E731
    elif mode == "plan" and isinstance(part.access, WritePath) and not part.rule:
        why = lambda _: f"mode plan writes nothing: {part.reason}"  # noqa: E731
    else:
        return part
    return Part(part.access, DENY, "mode", why, part.rule, part.number)


def _reads_only(rule: Rule) -> bool:
    return rule.source.layer == "pack" and rule.source.file.endswith(READ_ONLY_PACK)
