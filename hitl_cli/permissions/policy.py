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

from hitl_cli.access import Access, Named, Place, ReadPath
from hitl_cli.permissions.codec import FILE_TOOLS
from hitl_cli.permissions.files import File
from hitl_cli.permissions.judging import Judging
from hitl_cli.permissions.pathrules import READS, index, rules_for, strictest
from hitl_cli.permissions.places import spellings
from hitl_cli.permissions.rule import Decision, Mode, Rule, Verdict
from hitl_cli.permissions.scene import Rules, Scene
from hitl_cli.permissions.tables import Table

_LAYERS = 4  # with more of them by `plus` all is laid out anew


class Policy:
    """Rules compiled for one place. Immutable: `plus` gives another policy and shares what is compiled."""

    def __init__(self, rules: Iterable[Rule], place: Place) -> None:
        self.rules = tuple(rules)
        self.place = place
        self._layers = 1
        self._allow = _compiled(self.rules, place, Decision.ALLOW)
        self._bar = _compiled(self.rules, place, Decision.DENY, Decision.ASK)

    def plus(self, rules: Iterable[Rule]) -> Policy:
        """This policy and `rules` as well."""
        added = tuple(rules)
        if self._layers == _LAYERS:
            return Policy(self.rules + added, self.place)
        other = Policy.__new__(Policy)
        other.rules, other.place, other._layers = self.rules + added, self.place, self._layers + 1
        other._allow = self._allow + _compiled(added, self.place, Decision.ALLOW)
        other._bar = self._bar + _compiled(added, self.place, Decision.DENY, Decision.ASK)
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
        if mode == "plan" and own is Decision.ALLOW:
            own = None  # there it can only be stricter
        scene = Scene(self.place, self._allow, self._bar, mode, now, own, read_only, declared, tool)
        return Judging(scene, accesses).verdict()

    def readable(
        self, path: str, real: str | None = None, *, now: float, tool: str = "Read", twins: Named | None = None
    ) -> bool:
        """False when a deny rule closes the file to `tool`, or may: searches leave such files out. Absolute paths; `real` and
        `twins` as of a `ReadPath`."""
        scene = Scene(self.place, self._allow, self._bar, "default", now, tool=tool)
        access = ReadPath(path, real=real)
        file = File(scene, access, spellings(access))
        met = rules_for(scene, scene.bar, file.paths, READS | {tool})
        if met and strictest(met).decision is Decision.DENY:
            return False
        named = file.barred_by_name(twins, READS | {tool}) if twins is not None else None
        return named is None or named[1].decision is not Decision.DENY


def _compiled(rules: Sequence[Rule], place: Place, *decisions: Decision) -> Rules:
    """The rules of these decisions."""
    made, files = Rules(), [rule for rule in rules if rule.tool in FILE_TOOLS and rule.decision in decisions]
    if files:
        made += Rules(paths=(index(files, place, strict=Decision.ALLOW in decisions),))
    others = [rule for each in decisions for rule in rules if rule.decision is each and rule.tool not in FILE_TOOLS]
    if others:
        table = Table(others, place.home, strict=Decision.ALLOW in decisions)
        made += Rules((table,), first=table.first)
    return made
