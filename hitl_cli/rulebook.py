"""All rules that hold in a place, from every layer, and the one way in which the program adds to them.

Layers: managed, flag, session, project, user, repository, packs. They do not outrank one another; a layer only says where
a rule comes from, and of the repository's file, which a stranger may have written, allow rules and packs count only once
a person has trusted its content.

Adding a rule happens under a lock: read again, add one, replace the file in one step, read it back and find the rule in
it. Concurrent sessions lose nothing; what a person wrote in the file stays as it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hitl_cli import rulefile
from hitl_cli.access import Place
from hitl_cli.errors import RuleError, SessionBusy, UsageError
from hitl_cli.paths import MANAGED, Paths, packs, private, project_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Layer, Rule, Source

if TYPE_CHECKING:
    from hitl_cli.journal import Grant

DEFAULT_PACKS = ("read-only",)
_WAIT = 10.0  # seconds for another process to finish adding its rule
Scope = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class Rulebook:
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
                raise RuleError(
                    f"there is no pack {name!r}", file=str(file.file), remedy=f"Packs: {', '.join(available())}."
                )
            on = [n for n in on if n != name] + ([name] if wanted else [])
        off.update(file.off)
    packed = [rule for name in on for rule in pack(name) if rule.text not in off]
    told = [r for r in repository.rules if state.trusted or r.decision is not Decision.ALLOW]
    rules = (*managed.rules, *flags, *session, *project.rules, *people.rules, *user.rules, *told, *packed)
    for file in (*counted, repository):
        _exemplary([rule for rule in file.rules if file is not repository or rule in told], place)
    waiting = state.file if repository.text and not state.trusted and len(told) < len(repository.rules) else None
    files = tuple(f.file for f in (managed, people, user, project, repository) if f.text)
    return Rulebook(Policy(rules, place), rules, files, tuple(on), waiting)


def _exemplary(rules: list[Rule], place: Place) -> None:
    """RuleError when an example of a rule does not come out as the rule says."""
    if any(rule.match or rule.not_match for rule in rules):
        from hitl_cli.rulelint import examples  # the reader of commands is loaded by the first example

        for rule in rules:
            for found in examples(rule, rules, place, time.time()):
                where = rule.source
                raise RuleError(f"{rule.text} {found.problem}", file=where.file, line=where.line, remedy=found.remedy)


def available() -> tuple[str, ...]:
    """The names of the packs that ship."""
    return tuple(sorted(p.stem for p in packs().glob("*.toml")))


def pack(name: str) -> tuple[Rule, ...]:
    file = packs() / f"{name}.toml"
    if name not in available():
        raise UsageError(f"there is no pack {name!r}.\n  Packs: {', '.join(available())}.")
    return rulefile.read(file, "pack").rules


def granted(grant: Grant, layer: Layer = "session") -> Rule:
    """The rule that an answer or a flag grants."""
    rule = codec.parse(grant.rule, Decision[grant.decision.upper()], Source(layer))
    return replace(rule, until=grant.until)


def file_of(scope: Scope, place: Place, paths: Paths) -> Path:
    return paths.user_rules if scope == "user" else paths.project_rules(project_of(place.workspace))


def add(rule: Rule, scope: Scope, place: Place, paths: Paths) -> Rule:
    """Write the rule down and return it as read back, with its file and line; a rule that is there already stays once.

    Raises RuleError (the file cannot be used or written) and SessionBusy (another process holds the lock); the file is
    then as it was.
    """
    file, layer = file_of(scope, place, paths), scope
    until = None if rule.until is None else float(int(rule.until))  # whole seconds: what is read back is the same
    rule = replace(rule, source=Source(layer, str(file)), until=until, added=rule.added or float(int(time.time())))
    codec.check(rule)

    def change(found: rulefile.RuleFile) -> str | None:
        same = [r for r in found.rules if (r.decision, r.text) == (rule.decision, rule.text)]
        if same and same[0].until == rule.until:
            return None
        if not same:
            return _appended(found.text, rule)
        return _rewritten(found.text, lambda t: codec.to_table(rule) if _is(t, rule) else t)

    _change(file, layer, change)
    for kept in rulefile.read(file, layer).rules:
        if (kept.decision, kept.text, kept.until) == (rule.decision, rule.text, rule.until):
            return kept
    raise RuleError(
        f"{rule.text} was written but is not there",
        file=str(file),
        remedy="Look at the file; nothing else was changed.",
    )


def remove(text: str, scope: Scope, place: Place, paths: Paths, decision: Decision | None = None) -> int:
    """Take rules with this text away; how many there were."""
    file = file_of(scope, place, paths)
    gone = 0

    def change(found: rulefile.RuleFile) -> str | None:
        nonlocal gone
        doomed = [r for r in found.rules if r.text == text and decision in (None, r.decision)]
        gone = len(doomed)
        return _rewritten(found.text, lambda t: None if any(_is(t, r) for r in doomed) else t) if doomed else None

    _change(file, scope, change)
    return gone


def switch(name: str, on: bool, scope: Scope, place: Place, paths: Paths) -> None:
    """Switch a pack on or off."""
    pack(name)
    _change(
        file_of(scope, place, paths), scope, lambda found: _with(found.text, "packs", {**(found.packs or {}), name: on})
    )


def switch_rule(text: str, on: bool, scope: Scope, place: Place, paths: Paths) -> None:
    """Switch one rule of a pack off, or on again."""

    def change(found: rulefile.RuleFile) -> str:
        kept = [t for t in found.off if t != text]
        return _with(found.text, "off", kept if on else [*kept, text])

    _change(file_of(scope, place, paths), scope, change)


def _is(table: Mapping[str, Any], rule: Rule) -> bool:
    said = table.get(str(rule.decision))
    return isinstance(said, str) and codec.split(said) == (rule.tool, rule.pattern)


def _appended(text: str, rule: Rule) -> str:
    """The text with one more table at its end; what people wrote above stays as it is."""
    import tomli_w

    if isinstance(tables := tomllib.loads(text).get("rule"), list) and tables and "[[" not in text:
        return _rewritten(text, lambda t: t, codec.to_table(rule))
    body = tomli_w.dumps({"rule": [codec.to_table(rule)]})
    if body.startswith("rule = ["):  # tomli_w writes short lists of tables on one line
        body = "[[rule]]\n" + tomli_w.dumps(codec.to_table(rule))
    return (text.rstrip("\n") + "\n\n" if text.strip() else f"format = {rulefile.FORMAT}\n\n") + body


def _rewritten(text: str, each: Callable[[dict[str, Any]], dict[str, Any] | None], *more: dict[str, Any]) -> str:
    document = tomllib.loads(text)
    tables = [new for table in document.pop("rule", []) if (new := each(table)) is not None]
    return _dumped(document, [*tables, *more])


def _with(text: str, key: str, value: Any) -> str:
    document = tomllib.loads(text)
    tables = document.pop("rule", [])
    return _dumped({**document, key: value}, tables)


def _dumped(document: dict[str, Any], rules: list[dict[str, Any]]) -> str:
    import tomli_w

    head = tomli_w.dumps({"format": rulefile.FORMAT, **{k: v for k, v in document.items() if not isinstance(v, dict)}})
    tables = tomli_w.dumps({k: v for k, v in document.items() if isinstance(v, dict)})
    return "\n".join(filter(None, (head, tables, *("[[rule]]\n" + tomli_w.dumps(table) for table in rules))))


def _change(file: Path, layer: Layer, change: Callable[[rulefile.RuleFile], str | None]) -> None:
    """Replace the file's text by what `change` makes of it, under its lock, in one step."""
    try:
        with _locked(file):
            found = rulefile.read(file, layer)
            text = change(found)
            if text is None:
                return
            rulefile.parse(file, text, layer)  # what is written can be read
            _replace(file, text)
    except OSError as error:
        raise RuleError(
            f"cannot be written: {error.strerror}",
            file=str(file),
            remedy=f"Make {file.parent} yours and writable, or choose another scope.",
        ) from None


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    private(file.parent)
    handle = os.open(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + _WAIT
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise SessionBusy(f"another process is writing {file}; nothing was changed. Try again.") from None
                time.sleep(0.01)
        yield
    finally:
        os.close(handle)


def _replace(file: Path, text: str) -> None:
    import tempfile

    target = Path(os.path.realpath(file))  # a link to a file kept elsewhere stays a link
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True)
class TrustState:
    """The repository's file, the digest of its content now, whether that content is trusted, and what a person is shown:
    what it would grant, and how it differs from what was trusted before."""

    file: Path
    digest: str
    trusted: bool
    shown: str
    text: str = ""


def trust_state(place: Place, paths: Paths) -> TrustState:
    file = Path(place.workspace) / ".hitl" / "config.toml"
    text = rulefile.text_of(file)
    if text is None:
        return TrustState(file, "", False, "")
    digest = hashlib.sha256(text.encode()).hexdigest()
    before = _records(paths).get(str(file))
    trusted = before is not None and before.get("digest") == digest
    return TrustState(file, digest, trusted, "" if trusted else _shown(file, text, before), text)


def _shown(file: Path, text: str, before: Mapping[str, Any] | None) -> str:
    found = rulefile.parse(file, text, "repository", settings=True)
    grants = [f"  allow {rule.text}" for rule in found.rules if rule.decision is Decision.ALLOW]
    grants += [f"  pack {name}" for name, on in (found.packs or {}).items() if on]
    grants += [f"  rule of a pack switched off: {text}" for text in found.off]
    tables = tomllib.loads(text)
    grants += [f"  server {name}: {spec}" for name, spec in tables.get("mcp", {}).items()]
    grants += [f"  tool {name}: {spec}" for name, spec in tables.get("tools", {}).items()]
    grants += [f"  on {name}, run: {command}" for name, command in tables.get("notify", {}).items()]
    lines = ["It would grant:", *grants] if grants else ["It grants nothing."]
    if before:
        import difflib

        old = str(before.get("content", "")).splitlines()
        lines += [
            "",
            "Changed since it was trusted:",
            *difflib.unified_diff(old, text.splitlines(), "trusted", "now", lineterm=""),
        ]
    return "\n".join(lines)


def trust(place: Place, paths: Paths, digest: str) -> None:
    """Trust the content with this digest; RuleError when the file has changed since it was shown."""
    state = trust_state(place, paths)
    if not digest or state.digest != digest:
        raise RuleError("has changed since it was shown", file=str(state.file), remedy="Run `hitl trust` again.")
    _record(paths, str(state.file), {"digest": digest, "content": state.text})


def untrust(place: Place, paths: Paths) -> bool:
    """Take trust back; whether there was any."""
    file = str(trust_state(place, paths).file)
    known = file in _records(paths)
    if known:
        _record(paths, file, None)
    return known


def _records(paths: Paths) -> dict[str, dict[str, Any]]:
    """What was trusted, by file. A record that cannot be read is no trust, and says so."""
    text = rulefile.text_of(paths.trust)
    try:
        return {r["file"]: r for r in tomllib.loads(text).get("repository", [])} if text else {}
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        raise RuleError(
            "is damaged", file=str(paths.trust), remedy="Remove it, and trust repositories again."
        ) from None


def _record(paths: Paths, file: str, record: dict[str, Any] | None) -> None:
    import tomli_w

    with _locked(paths.trust):
        records = {k: v for k, v in _records(paths).items() if k != file}
        if record is not None:
            records[file] = {"file": file, **record}
        _replace(paths.trust, tomli_w.dumps({"repository": list(records.values())}))
