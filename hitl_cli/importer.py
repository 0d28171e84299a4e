"""What becomes of another assistant's rule: kept, split, narrowed or refused, always with the reason.

A rule is never made wider than it was. What it would grant here is tried out: an exact command must be allowed by what it
became, and a prefix must cover the command it spells, or the rule is refused and says why. The other products match the
text of a whole command line; here a rule covers one simple command, so a compound line becomes a rule for each part.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Literal

from hitl_cli.access import Access, Command, Opaque, Place, WritePath, inside, lexical
from hitl_cli.accesses import accesses_of
from hitl_cli.errors import RuleError
from hitl_cli.importformats import SETTING, Foreign, spelled, stars_are_quoted
from hitl_cli.permissions import codec, kinds, words
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule, Source, Verdict
from hitl_cli.records import Struct

Status = Literal["kept", "split", "narrowed", "refused"]
_SHELL_WORDS = frozenset(
    "do done then else elif fi if for while until case esac in function select { } ( ) [[ ! coproc".split()  # noqa: SIM905
)
_SAME = frozenset(("Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch"))
_NAMES = {"MultiEdit": "Edit", "NotebookEdit": "Edit", "NotebookRead": "Read"}
_NEEDLESS = frozenset(
    ("LS", "TodoWrite", "TodoRead", "Task", "Agent", "ExitPlanMode", "todowrite", "todoread", "list", "task")
)


class Outcome(Struct, frozen=True):
    """What became of one rule; `rules` are those to be written, `note` says why and what is different."""

    foreign: Foreign
    status: Status
    rules: tuple[Rule, ...] = ()
    note: str = ""


def convert(foreign: Foreign, place: Place) -> Outcome:
    """The outcome for one rule; never raises."""
    try:
        return _convert(foreign, place)
    except RuleError as error:
        return _refused(foreign, error.problem + (f". {error.remedy}" if error.remedy else ""))


def convert_all(rules: Sequence[Foreign], place: Place) -> Iterator[Outcome]:
    """All outcomes, in order; where the last match won, a wide rule that later ones relax is left out."""
    for n, foreign in enumerate(rules):
        later = [r for r in rules[n + 1 :] if r.product == "opencode" and r.tool == foreign.tool]
        if (
            foreign.product == "opencode"
            and foreign.pattern in ("*", None)
            and foreign.decision is not Decision.ALLOW
            and any(r.decision < foreign.decision for r in later)
        ):
            note = "it is the default that later rules relax; here what no rule covers is asked about anyway"
            yield _refused(foreign, note)
        else:
            yield convert(foreign, place)


def _convert(foreign: Foreign, place: Place) -> Outcome:
    tool = _NAMES.get(foreign.tool, foreign.tool)
    if tool == SETTING:
        return _refused(foreign, foreign.pattern or "")
    if tool.startswith("agent/"):
        return _refused(foreign, "it is for one agent of several, and here there is one")
    if tool == "*":
        return _refused(foreign, "it would allow everything; `hitl --mode bypass` does that for one run")
    if tool in _NEEDLESS:
        return _refused(foreign, f"{tool} needs no rule here: it touches nothing")
    if tool == "Bash":
        return _command(foreign, place)
    if tool.startswith("mcp__"):
        return _kept(foreign, _rule(foreign, foreign.text.strip() if foreign.product == "claude" else tool))
    if "(" in tool:
        return _refused(foreign, f"its parenthesis is not closed. Write `{foreign.text})`.")
    if tool not in _SAME:
        return _refused(foreign, f"there is no tool {tool} here")
    if foreign.how == "regex":
        return _refused(foreign, "a regular expression over arguments has no counterpart here")
    whole = foreign.pattern is None or foreign.pattern.strip() in ("*", "**")
    if foreign.tool.startswith("Notebook") and not (foreign.pattern or "").endswith(".ipynb"):
        if whole:
            return _kept(foreign, _rule(foreign, f"{tool}(*.ipynb)"), "it is for notebooks alone")
        return _refused(foreign, f"it is for notebooks alone. Write `{tool}(….ipynb)` for those that are meant.")
    if tool == "WebFetch" or whole:
        return _kept(foreign, _rule(foreign, tool if whole else f"{tool}({foreign.pattern})"))
    return _path(foreign, tool, place)


def _refused(foreign: Foreign, why: str) -> Outcome:
    return Outcome(foreign, "refused", (), why)


def _kept(foreign: Foreign, rule: Rule, note: str = "") -> Outcome:
    return Outcome(foreign, "kept", (rule,), note)


def _rule(foreign: Foreign, text: str) -> Rule:
    return codec.parse(text, foreign.decision, Source("user"))


def _path(foreign: Foreign, tool: str, place: Place) -> Outcome:
    pattern, note = (foreign.pattern or "").strip().replace("\\", "/"), ""
    if foreign.product == "claude" and pattern.startswith("//"):
        pattern = pattern[1:]
        note = "two leading slashes meant the root of the disk; here one does"
    elif foreign.product == "claude" and pattern.startswith("/"):
        first = pattern[1:].split("/", 1)[0]
        if first in ("Users", "home", "tmp", "private", "etc", "var", "opt", "usr", "mnt", "c", "d", "Volumes", "root"):
            return _refused(
                foreign,
                f"a single leading slash meant the project folder, so it never matched /{first}. "
                f"Write `{tool}({pattern})` here if the root of the disk is meant.",
            )
        pattern = pattern[1:] if "/" in pattern[1:].rstrip("/") else "./" + pattern[1:]
        note = "a single leading slash meant the project folder; here the pattern is relative without it"
    if re.match(r"[A-Za-z]:/", pattern):
        return _refused(foreign, "it is a path of Windows")
    return _kept(foreign, _rule(foreign, f"{tool}({pattern})"), note)


def _command(foreign: Foreign, place: Place) -> Outcome:
    pattern = foreign.pattern
    if foreign.how == "words":
        shell = len(foreign.words) == 3 and foreign.words[0].rpartition("/")[2] in ("bash", "sh", "zsh")
        if shell and re.fullmatch(r"-l?c", foreign.words[1]):
            return _exact(foreign, foreign.words[2], place)
        return _prefix(foreign, " ".join(map(words.quote, foreign.words)), place)
    if pattern is None or pattern.strip() in ("*", ":*"):
        return _kept(foreign, _rule(foreign, "Bash"), "" if foreign.decision else _wide("Bash"))
    if not pattern.strip():
        words.parse("")  # says that it names no word
    if foreign.how == "regex":
        return _regex(foreign, pattern, place)
    if foreign.how == "prefix":
        return _prefix(foreign, spelled(pattern), place)
    if foreign.how == "claude" and pattern.endswith(":*"):
        if pattern[:-2].endswith(" "):
            words.parse(pattern)  # says what is wrong with the blank
        return _prefix(foreign, pattern[:-2], place)
    if pattern.endswith(" *") and "*" not in pattern[:-2]:
        return _prefix(foreign, pattern[:-2], place)
    if re.search(r"(?<!\\)\*", pattern) and not stars_are_quoted(pattern):
        return _starred(foreign, pattern, place)
    return _exact(foreign, pattern, place)


def _prefix(foreign: Foreign, text: str, place: Place) -> Outcome:
    """A command that begins with these words."""
    _whole(text)
    text = text.strip()
    rule = _rule(foreign, f"Bash({text}:*)")
    if foreign.decision is not Decision.ALLOW:
        return _kept(foreign, rule)
    compiled = words.parse(f"{text}:*", place.home)
    verdict = _verdict([rule], accesses_of("Bash", {"command": shlex.join(compiled.literal)}, place), place)
    opaque = next((p for p in verdict.parts if isinstance(p.access, Opaque)), None)
    if opaque is not None and not any(p.rule is not None for p in verdict.parts):
        return _refused(foreign, f"it cannot be judged, so no rule covers it: {opaque.reason}")
    if opaque is None and verdict.decision is not Decision.ALLOW and (more := _inner(foreign, verdict)):
        return Outcome(foreign, "split", (rule, *more), "a wrapper and what it runs have a rule each")
    first = compiled.literal[0] if compiled.literal else ""
    if compiled.rest and len(compiled.items) == 1 and first.rpartition("/")[2] in kinds.RUNS_ANYTHING:
        return _kept(foreign, rule, _wide(first))
    if verdict.decision is not Decision.ALLOW:
        return Outcome(foreign, "narrowed", (rule,), f"what it spells alone still asks: {verdict.reason}")
    return _kept(foreign, rule)


def _inner(foreign: Foreign, verdict: Verdict) -> tuple[Rule, ...]:
    """Rules for the commands that a wrapper runs, as far as their words are known; none when something else is missing."""
    rules = []
    for part in verdict.parts:
        if part.decision is Decision.ALLOW:
            continue
        if not isinstance(part.access, Command) or not part.access.within or part.access.acts:
            return ()
        literal = list(takewhile(lambda word: isinstance(word, str), part.access.words))
        rules.append(_rule(foreign, f"Bash({' '.join(words.quote(str(word)) for word in literal)}:*)"))
    return tuple(rules)


def _wide(what: str) -> str:
    return f"it is wide: {what} runs any code it is given"


def _starred(foreign: Foreign, pattern: str, place: Place) -> Outcome:
    """Stars went over blanks; here one stays in its word, except where it stands alone or ends the pattern."""
    try:
        _whole(pattern)
    except RuleError:
        if foreign.decision is Decision.ALLOW and (exact := _exact(foreign, pattern, place)).rules:
            return exact
        raise
    if pattern.endswith("*") and not pattern.endswith(" *"):
        rule = _rule(foreign, f"Bash({pattern}:*)")
        if "*" not in pattern[:-1]:
            return _kept(foreign, rule, "the last star also went over further words; that is written `:*` here")
    else:
        rule = _rule(foreign, f"Bash({pattern})")
        if foreign.decision is Decision.ALLOW and not _allows((rule,), pattern, place):
            exact = _exact(foreign, pattern, place)  # the star of a file pattern, in a command allowed as it stands
            if exact.rules:
                return exact
    if any(isinstance(item, words.Star) for item in words.parse(rule.pattern or "", place.home).items):
        return Outcome(foreign, "narrowed", (rule,), "a star inside a word stays in that word here")
    return _kept(foreign, rule, "a star alone is one or more words of one command here")


def _regex(foreign: Foreign, regex: str, place: Place) -> Outcome:
    """`^word word\\b` and a choice in one group are prefixes; anything else is refused."""
    found = re.fullmatch(
        r"\^((?:[\w./-]|\\[-./]|\\s\+|\s)*)(?:\(\??:?([\w|./-]+)\)((?:[\w./-]|\\s\+|\s)*))?(?:\\b|\\s|\$)?", regex
    )
    if not found or regex.endswith("$"):
        return _refused(foreign, "this regular expression has no counterpart; write the words it stands for")
    start, choice, end = (re.sub(r"\\s\+?", " ", part or "").replace("\\", "") for part in found.groups())
    texts = [f"{start}{one}{end}".strip() for one in choice.split("|")]
    if any(not text for text in texts):
        return _refused(foreign, "the regular expression spells no word")
    outcomes = [_prefix(foreign, text, place) for text in texts]
    rules = tuple(rule for outcome in outcomes for rule in outcome.rules)
    notes = "; ".join(dict.fromkeys(o.note for o in outcomes if o.note))
    if not rules:
        return _refused(foreign, notes)
    status: Status = "split" if len(rules) > 1 else outcomes[0].status
    return Outcome(foreign, status, rules, notes or "the words it stands for")


def _allows(rules: Sequence[Rule], command: str, place: Place) -> bool:
    return _verdict(rules, accesses_of("Bash", {"command": command}, place), place).decision is Decision.ALLOW


def _verdict(rules: Sequence[Rule], accesses: Sequence[Access], place: Place) -> Verdict:
    return Policy(rules, place).judge(accesses, mode="default", now=0, tool="Bash")


def _whole(text: str) -> None:
    """RuleError for texts that were cut out of a larger one."""
    first = (text.split() or [""])[0]
    if first in _SHELL_WORDS:
        raise RuleError(
            f"`{first}` belongs to the shell, the rule was cut out of a loop or condition and never matched anything useful",
            remedy="Write a rule for the command inside.",
        )
    words.parse(text if text.strip() else "")


def _exact(foreign: Foreign, text: str, place: Place) -> Outcome:
    """One command line: itself where that allows it, else a rule for each of its parts, which together do."""
    first = (text.split() or [""])[0]
    if first in ("do", "then", "else", "done", "fi", "esac", "in"):
        _whole(text)
    if foreign.decision is not Decision.ALLOW:
        return _kept(foreign, _rule(foreign, f"Bash({text})"))
    accesses = accesses_of("Bash", {"command": text}, place)
    opaque = next((a for a in accesses if isinstance(a, Opaque)), None)
    if opaque is not None:
        return _refused(foreign, f"it cannot be judged, so no rule covers it: {opaque.reason}")
    if all(isinstance(a, Command) and a.free for a in accesses) and accesses:
        return _refused(foreign, "it needs no rule here")
    with suppress(RuleError):
        same = _rule(foreign, f"Bash({text})")
        if _allows((same,), text, place):
            return _kept(foreign, same)
    texts: list[str] = []
    for access in accesses:
        if isinstance(access, Command) and not access.free:
            keys = [words.key(word) for word in access.words]
            if None in keys:
                return _refused(foreign, "only the shell knows one of its words, so it cannot be spelled out")
            texts.append(f"Bash({' '.join(words.quote(str(k)) for k in keys)})")
        elif isinstance(access, WritePath) and access.by_command is None:
            path = lexical(access.path, "/")
            if inside(path, place.workspace) and path != place.workspace:
                path = "./" + path[len(place.workspace) + 1 :]
            texts.append(f"Write({path})")
    rules = tuple(_rule(foreign, text) for text in dict.fromkeys(texts))
    verdict = _verdict(rules, accesses, place)
    if verdict.decision is not Decision.ALLOW:
        return _refused(foreign, f"no rule can allow it: {verdict.reason}")
    if len(rules) > 1:
        return Outcome(foreign, "split", rules, "a rule here covers one simple command, so each part has its own")
    return Outcome(foreign, "kept", rules)
