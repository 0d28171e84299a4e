"""What a judgement has before it: the rules, the place, the mode, and who else has a say; and how verdicts are worded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hitl_cli.access import Command, Place, Word, inside, lexical
from hitl_cli.permissions.globs import Path
from hitl_cli.permissions.pathtree import Index
from hitl_cli.permissions.rule import By, Decision, Mode, Rule, Source, Why, told
from hitl_cli.permissions.tables import Table, live
from hitl_cli.records import Struct, field

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
POLICY = "the program's own policy decides"
# What became of an access: the fields of its `Part`.
Settled = tuple[Decision, By, Why, Rule | None]


class Rules(Struct, frozen=True):
    """Compiled rules that allow, or that deny or ask: those for what is no path, and those of file tools. Of both there is
    one more for each layer of `plus`. `first`: as of a table, for all of them."""

    tables: tuple[Table, ...] = ()
    paths: tuple[Index[tuple[Rule, Path | None]], ...] = ()
    first: frozenset[str] | None = frozenset()

    def __add__(self, other: Rules) -> Rules:
        first = None if self.first is None or other.first is None else self.first | other.first
        return Rules(self.tables + other.tables, self.paths + other.paths, first)


class Scene(Struct, frozen=True):
    """As the arguments of `Policy.judge`. `allow` are the allow rules, `bar` those that deny or ask. `own` is None as well
    where the mode is stricter. `met`: the rules for files that words of commands were found to meet as paths; `below`:
    those that what is below a folder was found to meet, by the id of its `Below`."""

    place: Place
    allow: Rules
    bar: Rules
    mode: Mode
    now: float
    own: Decision | None = None
    read_only: bool = False
    declared: bool = False
    tool: str = ""
    met: dict[str, list[tuple[Rule, Path | None]]] = field(default_factory=dict)
    below: dict[tuple[int, bool, bool], Mapping[Decision, Rule]] = field(default_factory=dict)

    def first(self, rules: Rules, look: Callable[[Table], Iterable[Rule]]) -> dict[Decision, Rule]:
        """Of each decision the first rule that `look` finds and that has not ended; where one denies, that is all."""
        found: dict[Decision, Rule] = {}
        for table in rules.tables:
            for rule in look(table):
                if rule.decision not in found and live(rule, self.now):
                    found[rule.decision] = rule
                    if rule.decision is DENY:
                        return found
        return found

    def by_mode(self, why: Why, edits: bool = False) -> Settled:
        """What the mode makes of an access that nothing settled. `why`: that nothing did; `edits`: the access writes files of
        the workspace alone."""
        mode = self.mode
        if mode == "bypass" or (mode == "accept-edits" and edits):
            return ALLOW, "mode", _noting(f"mode {mode} allows it", why), None
        if mode == "declared" and not self.declared:
            return ALLOW, "mode", _noting("the tool does not ask", why), None
        if mode == "plan":
            return DENY, "mode", _noting("mode plan only reads", why), None
        return ASK, "none", why, None

    def near(self, path: str) -> str:
        """The path as a person in the workspace would write it."""
        path = lexical(path, "/")
        for root in self.place.roots:
            if path != root and inside(path, root):
                return path[len(root.rstrip("/")) + 1 :]
        home = self.place.home
        return "~" + path[len(home) :] if home != "/" and path != home and inside(path, home) else path


def _noting(first: str, why: Why) -> Why:
    return lambda part: f"{first}: {told(why, part)}"


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


_VERBS = ("allowed", "to be asked about", "denied")


def said(rule: Rule, what: str) -> str:
    """That the rule decides this, and the rule's own reason where it has one."""
    return f"{what} is {_VERBS[rule.decision]} by {rule.text}" + (f": {rule.reason}" if rule.reason else "")
