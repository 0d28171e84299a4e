"""May this call be done? The one judgement over accesses, in the one order.

For each access: deny rule, the floor, ask rule, the program's own policy, a tool's read-only flag, allow rule, and for
what is left the mode. Layers do not outrank one another and order never matters. The strictest part is the verdict.

A command's own words, what it reads and what it writes are parts of one call: a rule for the command covers its files
inside the workspace, files outside need a rule for the path, and deny rules on paths bite either way. What a word of the
command does beyond the program's business (an `Act`) is covered only by a rule that spells the word.

Pure: the time is given, links were resolved by whoever stated the accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_cli.access import Access, Place, ReadPath, WritePath
from hitl_cli.permissions.files import READS, Files
from hitl_cli.permissions.judging import Judging
from hitl_cli.permissions.rule import Decision, Mode, Rule, Verdict
from hitl_cli.permissions.scene import Scene
from hitl_cli.permissions.tables import Table

# Of parts with the same decision, the one that says most about it: what no rule could allow first.
_WEIGHT = {"floor": 8, "rule": 6, "opaque": 4, "guarded": 2}
_TABLES = 4  # more layers of `plus` than this are laid out anew


class Policy:
    """Rules compiled for one place. Immutable: `plus` gives another policy and shares what is compiled."""

    def __init__(self, rules: Iterable[Rule], place: Place) -> None:
        self.rules = tuple(rules)
        self.place = place
        self._tables: tuple[dict[Decision, Table], ...] = (_tables(self.rules, place),)

    def plus(self, rules: Iterable[Rule]) -> Policy:
        """This policy and `rules` as well."""
        added = tuple(rules)
        if len(self._tables) >= _TABLES:
            return Policy(self.rules + added, self.place)
        other = Policy.__new__(Policy)
        other.rules, other.place = self.rules + added, self.place
        other._tables = (*self._tables, _tables(added, self.place))
        return other

    def judge(
        self,
        accesses: Sequence[Access],
        *,
        mode: Mode,
        now: float,
        own: Decision | None = None,
        read_only: bool = False,
        declared: bool = False,
        tool: str = "",
    ) -> Verdict:
        """The verdict on one call.

        accesses   what the call would touch, links resolved (`hitl_cli.accesses`)
        now        seconds since the epoch, for rules with an end
        own        what the program that uses the library decided for this tool, None: nothing
        read_only  the flag of a library tool
        declared   whether the tool asks in mode `declared`
        tool       the name of the tool called, "" when it is a command
        """
        scene = Scene(self.place, self._tables, mode, now, own, read_only, declared, tool)
        judging = Judging(scene)
        found = judging.parts(accesses)
        parts = [judging.in_mode(part) for part in found]
        if not parts:
            decision = Decision.ALLOW if mode == "bypass" else Decision.DENY if mode == "dont-ask" else Decision.ASK
            return Verdict(decision, "there is nothing in it that a rule could cover")
        removers = {
            p.access.by_command
            for p in parts
            if isinstance(p.access, WritePath) and p.access.removes and p.by == "none"
        }
        weights = [
            (p.decision, f.decision, _WEIGHT.get(f.by, int(n in removers)))
            for n, (p, f) in enumerate(zip(parts, found, strict=True))
        ]
        worst = parts[weights.index(max(weights))]
        total = max(p.number for p in parts)
        if total <= 1 or not worst.number:
            reason = worst.reason
        elif worst.decision is Decision.ALLOW:
            reason = f"each of its {total} parts is allowed"
        else:
            reason = f"{worst.reason}; part {worst.number} of {total}"
        return Verdict(worst.decision, reason, tuple(parts), worst)

    def readable(self, path: str, real: str | None = None, *, now: float, tool: str = "Read") -> bool:
        """False when a deny rule closes the file to `tool`: searches leave such files out. Absolute paths."""
        scene = Scene(self.place, self._tables, "default", now, tool=tool)
        return Files(scene, {}).rule(Decision.DENY, ReadPath(path, real=real), READS | {tool}) is None


def _tables(rules: Sequence[Rule], place: Place) -> dict[Decision, Table]:
    return {decision: Table(rules, decision, place) for decision in Decision}
