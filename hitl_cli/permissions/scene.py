"""What a judgement has before it: the rules, the place, the mode, and who else has a say; and how verdicts are worded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hitl_cli.access import Command, Place, ReadPath, Word, WritePath, inside, lexical
from hitl_cli.permissions.rule import By, Decision, Mode, Rule, Source
from hitl_cli.permissions.tables import Table
from hitl_cli.records import Struct

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
POLICY = "the program's own policy decides"


class Scene(Struct, frozen=True):
    """As the arguments of `Policy.judge`; `tables` are the compiled rules, one mapping for each layer of `plus`."""

    place: Place
    tables: Sequence[dict[Decision, Table]]
    mode: Mode
    now: float
    own: Decision | None = None
    read_only: bool = False
    declared: bool = False
    tool: str = ""

    def first(self, decision: Decision, look: Callable[[Table], Rule | None]) -> Rule | None:
        """The first rule of this decision that `look` finds."""
        for tables in self.tables:
            table = tables[decision]
            if not table.empty and (rule := look(table)):
                return rule
        return None

    def policy(self) -> Decision | None:
        """The program's own policy; in mode plan it can only be stricter."""
        return None if self.mode == "plan" and self.own is ALLOW else self.own

    def by_mode(self, why: str, edits: bool = False) -> tuple[Decision, By, str]:
        """What the mode makes of an access that nothing settled, and in words. `why`: that nothing did; `edits`: the access
        writes files of the workspace alone."""
        if self.mode == "bypass" or (self.mode == "accept-edits" and edits):
            return ALLOW, "mode", f"mode {self.mode} allows it: {why}"
        if self.mode == "declared" and not self.declared:
            return ALLOW, "mode", f"the tool does not ask: {why}"
        if self.mode == "plan":
            return DENY, "mode", f"mode plan only reads: {why}"
        return ASK, "none", why

    def in_roots(self, path: str) -> bool:
        return any(inside(path, root) for root in self.place.roots)

    def near(self, path: str) -> str:
        """The path as a person in the workspace would write it."""
        path = lexical(path, "/")
        for root in self.place.roots:
            if path != root and inside(path, root):
                return path[len(root.rstrip("/")) + 1 :]
        home = self.place.home
        return "~" + path[len(home) :] if home != "/" and path != home and inside(path, home) else path


def spellings(access: ReadPath | WritePath) -> Iterable[str]:
    """The path as written, from the workspace, and with links followed."""
    written = lexical(access.path, "/")
    found = [written]
    for other in (access.alias, access.real):
        if other is not None and other not in found:
            found.append(other)
    return found


def text(word: Word) -> str:
    return word if isinstance(word, str) else word.text


def joined(words: Sequence[Word]) -> str:
    return " ".join(map(text, words))


def shown(of: str) -> str:
    """Enough of it to recognise it on one line."""
    line = " ".join(of[:400].split())
    return line if len(line) <= 80 else line[:77] + "..."


def called(command: Command, inner: bool) -> str:
    """The command as people see it; `inner`: it stands in the text of one that starts it, and is named alone."""
    if not inner:
        return command.text or joined(command.words)
    program = f" {text(command.words[0])}"
    return command.text[command.text.index(program) + 1 :] if program in command.text else joined(command.words)


def named(rule: Rule) -> str:
    return f"{rule.decision} rule {rule.text}" + (f" ({where(rule.source)})" if rule.source.file else "")


def where(source: Source, home: str = "") -> str:
    """File and line, those of a pack by its name alone, `home` as `~`."""
    written = str(source)
    if source.layer == "pack":
        return written.rpartition("/")[2]
    return "~" + written[len(home) :] if home and inside(written, home) else written


def said(rule: Rule, what: str) -> str:
    """That the rule decides this, and the rule's own reason where it has one."""
    verb = {ALLOW: "allowed", ASK: "to be asked about", DENY: "denied"}[rule.decision]
    return f"{what} is {verb} by {rule.text}" + (f": {rule.reason}" if rule.reason else "")
