"""Every layer read into one policy: the files of people and program, flags, the session, the packs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hitl_cli import rulefile
from hitl_cli.access import Place
from hitl_cli.errors import RuleError, UsageError
from hitl_cli.paths import MANAGED, Paths, packs, project_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Layer, Rule, Source
from hitl_cli.records import Struct, replace
from hitl_cli.rulebook.trust import trust_state

if TYPE_CHECKING:
    from hitl_cli.journal import Grant

DEFAULT_PACKS = ("read-only",)
Scope = Literal["project", "user"]


class Rulebook(Struct, frozen=True):
    """`rules` in the order of layers; `on`: the packs that are switched on; `untrusted`: a repository file whose allow
    rules do not count yet."""

    policy: Policy
    rules: tuple[Rule, ...]
    files: tuple[Path, ...]
    on: tuple[str, ...] = ()
    untrusted: Path | None = None


def load(place: Place, paths: Paths, *, flags: Iterable[Rule] = (), session: Iterable[Rule] = ()) -> Rulebook:
    """Everything that holds in `place`. Raises RuleError: no rule is ever skipped."""
    managed = rulefile.read(MANAGED, "managed")
    people = rulefile.read(paths.user_config, "user", settings=True)
    user = rulefile.read(paths.user_rules, "user")
    project = rulefile.read(paths.project_rules(project_of(place.workspace)), "project")
    state = trust_state(place, paths)
    repository = rulefile.parse(state.file, state.text, "repository", settings=True)
    counted = [managed, people, user, project] + ([repository] if state.trusted else [])
    on = [name for name in DEFAULT_PACKS if name in available()]
    off: set[str] = set()
    for file in counted:
        for name, wanted in (file.packs or {}).items():
            if name not in available():
                from hitl_cli.config import line_of, nearest

                where = line_of(file.text, name) or line_of(file.text, "packs")
                remedy = nearest(name, available())
                raise RuleError(f"there is no pack {name!r}", file=str(file.file), line=where, remedy=remedy)
            on = [n for n in on if n != name] + ([name] if wanted else [])
        _known_off(file)
        off.update(file.off)
    packed = [rule for name in on for rule in pack(name) if rule.text not in off]
    told = [r for r in repository.rules if state.trusted or r.decision is not Decision.ALLOW]
    rules = (*managed.rules, *flags, *session, *project.rules, *people.rules, *user.rules, *told, *packed)
    for file in (*counted, repository):
        _exemplary([rule for rule in file.rules if file is not repository or rule in told], place)
    waiting = state.file if repository.text and not state.trusted and len(told) < len(repository.rules) else None
    files = tuple(f.file for f in (managed, people, user, project, repository) if f.text)
    return Rulebook(Policy(rules, place), rules, files, tuple(on), waiting)


def _known_off(file: rulefile.RuleFile) -> None:
    """RuleError when no pack has a rule that the file switches off: the one that was meant would stay on."""
    known = {rule.text for name in available() for rule in pack(name)} if file.off else set()
    for text in file.off:
        if text not in known:
            from hitl_cli.config import closest, line_of

            near = closest(text, sorted(known))
            raise RuleError(
                f"no pack has the rule {text!r}",
                file=str(file.file),
                line=line_of(file.text, "off"),
                remedy=f"Did you mean {near}?" if near else "`hitl rules packs NAME` shows what is in one.",
            )


def _exemplary(rules: list[Rule], place: Place) -> None:
    """RuleError when an example of a rule does not come out as the rule says."""
    if any(rule.match or rule.not_match for rule in rules):
        from hitl_cli.rulelint import Beside, examples  # the reader of commands is loaded by the first example

        beside = Beside(rules, place)
        for rule in rules:
            for found in examples(rule, beside, time.time()):
                where = rule.source
                raise RuleError(f"{rule.text} {found.problem}", file=where.file, line=where.line, remedy=found.remedy)


def available() -> tuple[str, ...]:
    """The names of the packs that ship."""
    return tuple(sorted(p.stem for p in packs().glob("*.toml")))


def pack(name: str) -> tuple[Rule, ...]:
    file = packs() / f"{name}.toml"
    if name not in available():
        raise UsageError(f"there is no pack {name!r}.\n  Packs: {', '.join(available())}.")
    return _shipped(file)


@cache
def _shipped(file: Path) -> tuple[Rule, ...]:
    """The rules of a pack, read once: it came with the program and stays as it is while that runs."""
    return rulefile.read(file, "pack").rules


def granted(grant: Grant, layer: Layer = "session") -> Rule:
    """The rule that an answer or a flag grants."""
    rule = codec.parse(grant.rule, Decision[grant.decision.upper()], Source(layer))
    return replace(rule, until=grant.until)


def file_of(scope: Scope, place: Place, paths: Paths) -> Path:
    return paths.user_rules if scope == "user" else paths.project_rules(project_of(place.workspace))
