"""One judgement under way: each access of a call in turn, in the order that `policy` states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_cli.access import Access, Act, Command, Host, Opaque, ReadPath, ToolUse, WritePath, lexical
from hitl_cli.permissions import places
from hitl_cli.permissions.files import READS, WRITES, Files, spells
from hitl_cli.permissions.rule import By, Decision, Part, Rule
from hitl_cli.permissions.scene import ALLOW, ASK, DENY, POLICY, Scene, called, named, said, shown, text
from hitl_cli.permissions.tables import Fit

READ_ONLY_PACK = "read-only.toml"
# Programs whose whole business is files: mode accept-edits runs them when every file they write is in the workspace.
_EDITORS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})


class Judging:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.consents: dict[int, Fit] = {}  # by the index of a command: the allow rule that covers it
        self.writes: dict[int, list[WritePath]] = {}
        self.stated: set[int] = set()  # commands whose files are stated as accesses of their own
        self.files = Files(scene, self.consents)
        # The decisions that any rule can bring about beside an allow rule, the strictest first.
        self.strict = [d for d in (DENY, ASK) if any(not tables[d].empty for tables in scene.tables)]

    def parts(self, accesses: Sequence[Access]) -> list[Part]:
        """A part for each access, in order; commands are judged first because their files depend on them."""
        for access in accesses:
            if isinstance(access, (ReadPath, WritePath)) and access.by_command is not None:
                self.stated.add(access.by_command)
                if isinstance(access, WritePath):
                    self.writes.setdefault(access.by_command, []).append(access)
        done: dict[int, Part] = {}
        number, texts = 0, set[str]()
        for n, access in enumerate(accesses):
            if isinstance(access, Command):
                number += 1
                inner = bool(access.within) and access.text in texts
                texts.add(access.text)
                done[n] = self._command(n, access, number, inner)
        for n, access in enumerate(accesses):
            if n not in done:
                done[n] = self._other(access, accesses)
        return [done[n] for n in range(len(accesses))]

    def _other(self, access: Access, accesses: Sequence[Access]) -> Part:
        if isinstance(access, (ReadPath, WritePath)):
            return self.files.part(access, accesses)
        if isinstance(access, Opaque):
            return self._opaque(access)
        if isinstance(access, Host):
            return self._host(access)
        assert isinstance(access, ToolUse)
        return self._use(access)

    def in_mode(self, part: Part) -> Part:
        """Nobody is asked in dont-ask, and in plan nothing is written that a rule did not ask about."""
        if part.decision is ASK and self.scene.mode == "dont-ask":
            return Part(
                part.access,
                DENY,
                "mode",
                f"{part.reason} (mode dont-ask refuses what would ask)",
                part.rule,
                part.number,
            )
        if part.decision is ASK and self.scene.mode == "plan" and isinstance(part.access, WritePath) and not part.rule:
            return Part(part.access, DENY, "mode", "mode plan writes nothing", part.rule, part.number)
        return part

    # Commands

    def _command(self, n: int, command: Command, number: int, inner: bool) -> Part:
        what = f"`{shown(called(command, inner))}`" + (f" within {shown(command.within[-1])}" if inner else "")
        now = self.scene.now

        def part(decision: Decision, by: By, reason: str, rule: Rule | None = None) -> Part:
            return Part(command, decision, by, reason, rule, number)

        for decision in self.strict:
            if rule := self.scene.first(decision, lambda t: t.hits(command, now)):
                return part(decision, "rule", said(rule, what), rule)
            if rule := self.scene.first(decision, lambda t: t.may_hit(command, now)):
                return part(ASK, "rule", f"{what} may turn out to be what {named(rule)} names", rule)
            if n not in self.stated and (rule := self.files.named_by(decision, command)):
                return part(ASK, "rule", f"{what} names a file of {named(rule)}", rule)
        if (own := self.scene.policy()) is not None:
            return part(own, "policy", POLICY, None)
        if command.free:
            return part(ALLOW, "free", command.free)
        why = f"no rule covers {what}"
        for fit in self._fits(command):
            if fit.rule.tool == "Bash" and self.scene.mode == "plan" and not _reads_only(fit.rule):
                continue
            act = self._act_left(n, command, fit)
            if act is None:
                self.consents[n] = fit
                return part(ALLOW, "rule", said(fit.rule, what), fit.rule)
            why = f"{named(fit.rule)} does not spell `{shown(text(command.words[act.at]))}`, which {act.does}"
        return part(*self.scene.by_mode(why, self._edits_here(n, command)))

    def _fits(self, command: Command) -> Iterable[Fit]:
        """Rules that cover the command, those that spell more of it first."""
        fits = [fit for tables in self.scene.tables for fit in tables[ALLOW].fits(command, self.scene.now)]
        if len(fits) > 1 and (command.acts or command.words):
            fits.sort(key=lambda f: -1 if f.spelled is None else 0 if f.spelled else 1)
        return fits

    def _act_left(self, n: int, command: Command, fit: Fit) -> Act | None:
        """The first act that the rule does not consent to; acts that only write are judged with the path they write."""
        for act in command.acts:
            if not spells(fit, command.words[act.at]) and not any(w.at == act.at for w in self.writes.get(n, ())):
                return act
        return None

    def _edits_here(self, n: int, command: Command) -> bool:
        """Mode accept-edits: a file program all of whose targets are in the workspace."""
        written = self.writes.get(n, ())
        return (
            self.scene.mode == "accept-edits"
            and command.words[0] in _EDITORS
            and bool(written)
            and all(any(w.at == act.at for w in written) for act in command.acts)
            and all(self.files.inside(w) and not any(places.guarded(w, self.scene.place)) for w in written)
        )

    # The rest

    def _opaque(self, opaque: Opaque) -> Part:
        for decision in (DENY, ASK):
            if rule := self.scene.first(decision, lambda t: t.hits_opaque(opaque, self.scene.now)):
                return Part(
                    opaque, decision, "rule", said(rule, f"`{shown(opaque.text)}`" if opaque.text else "it"), rule
                )
        why = opaque.reason + (f": `{shown(opaque.text)}`" if opaque.text else "")
        for word in opaque.words:
            path = ReadPath(lexical(word, self.scene.place.cwd))
            if rule := self.files.rule(DENY, path, READS | WRITES) or self.files.rule(ASK, path, READS | WRITES):
                return Part(opaque, ASK, "rule", f"{why}; {named(rule)} may forbid it", rule)
        if (own := self.scene.policy()) is not None:
            return Part(opaque, own, "policy", POLICY)
        if self.scene.mode in ("bypass", "plan"):
            return Part(opaque, ALLOW if self.scene.mode == "bypass" else DENY, "mode", why)
        return Part(opaque, ASK, "opaque", why)

    def _host(self, host: Host) -> Part:
        what = shown(host.host)
        for decision in (DENY, ASK):
            if rule := self.scene.first(decision, lambda t: t.host(host, self.scene.now)):
                return Part(host, decision, "rule", said(rule, f"`{what}`"), rule)
        if (own := self.scene.policy()) is not None:
            return Part(host, own, "policy", POLICY)
        if host.of:
            return Part(host, ALLOW, "free", "the rule for the command covers it")
        if self.scene.read_only:
            return Part(host, ALLOW, "read-only", "the tool only reads")
        if rule := self.scene.first(ALLOW, lambda t: t.host(host, self.scene.now)):
            return Part(host, ALLOW, "rule", said(rule, f"`{what}`"), rule)
        why = f"no rule covers {what}" + ("" if host.scheme == "https" else f" over {host.scheme}")
        return Part(host, *self.scene.by_mode(why))

    def _use(self, use: ToolUse) -> Part:
        for decision in (DENY, ASK):
            if rule := self.scene.first(decision, lambda t: t.use(use, self.scene.now)):
                return Part(use, decision, "rule", said(rule, use.tool), rule)
        if (own := self.scene.policy()) is not None:
            return Part(use, own, "policy", POLICY)
        if self.scene.read_only:
            return Part(use, ALLOW, "read-only", "the tool only reads")
        if self.scene.mode == "plan":
            if use.tool == "Plan":
                return Part(use, ASK, "mode", "a plan is approved before anything is done")
            return Part(use, DENY, "mode", f"mode plan runs only what is known to read, and {use.tool} is not")
        if rule := self.scene.first(ALLOW, lambda t: t.use(use, self.scene.now)):
            return Part(use, ALLOW, "rule", said(rule, use.tool), rule)
        return Part(use, *self.scene.by_mode(f"no rule covers {use.tool}"))


def _reads_only(rule: Rule) -> bool:
    return rule.source.layer == "pack" and rule.source.file.endswith(READ_ONLY_PACK)
