"""Whether a repository's file counts: a person has to have trusted its content, and every change asks again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hitl_cli import rulefile, rulelines
from hitl_cli.access import Place
from hitl_cli.errors import RuleError
from hitl_cli.paths import Paths
from hitl_cli.permissions.rule import Decision
from hitl_cli.records import Struct
from hitl_cli.rulebook import replacing


class TrustState(Struct, frozen=True):
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
    import hashlib

    digest = hashlib.sha256(text.encode()).hexdigest()
    before = _records(paths).get(str(file))
    trusted = before is not None and before.get("digest") == digest
    return TrustState(file, digest, trusted, "" if trusted else _shown(file, text, before), text)


def _shown(file: Path, text: str, before: Mapping[str, Any] | None) -> str:
    found = rulefile.parse(file, text, "repository", settings=True)
    grants = [f"  allow {rule.text}" for rule in found.rules if rule.decision is Decision.ALLOW]
    grants += [f"  pack {name}" for name, on in (found.packs or {}).items() if on]
    grants += [f"  rule of a pack switched off: {text}" for text in found.off]
    tables, _ = rulelines.read(text)
    grants += [f"  server {name}: {_line(spec)}" for name, spec in tables.get("mcp", {}).items()]
    grants += [f"  tool {name}: {_line(spec)}" for name, spec in tables.get("tools", {}).items()]
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


def _line(table: Mapping[str, Any]) -> str:
    """A table of the file on one line, all of it, with what could deceive as escapes."""
    import json

    return ", ".join(f"{key} = {json.dumps(value, default=str)}" for key, value in table.items())


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
        return {r["file"]: r for r in rulelines.read(text)[0].get("repository", [])} if text else {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RuleError(
            "is damaged", file=str(paths.trust), remedy="Remove it, and trust repositories again."
        ) from None


def _record(paths: Paths, file: str, record: dict[str, Any] | None) -> None:
    import tomli_w

    with replacing.locked(paths.trust):
        records = {k: v for k, v in _records(paths).items() if k != file}
        if record is not None:
            records[file] = {"file": file, **record}
        replacing.replace(paths.trust, tomli_w.dumps({"repository": list(records.values())}))
