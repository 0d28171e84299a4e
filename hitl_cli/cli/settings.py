"""`hitl config`: which files were read, and the settings that resulted, each with its origin."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from hitl_cli import config, rulebook
from hitl_cli.access import Place
from hitl_cli.cli.declared import Option
from hitl_cli.models import DEFAULT
from hitl_cli.paths import MANAGED, locate, place_for, project_of
from hitl_cli.ui.clean import clean

Json = Annotated[bool, Option("--json", "One JSON object.")]

WIDTH = 40  # of a value in the table of `config show`, at most


def files() -> dict[str, Path]:
    """Every file that may hold settings or rules, from the widest layer to the nearest, by what it is."""
    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    return {
        "managed": MANAGED,
        "user": paths.user_config,
        "user rules": paths.user_rules,
        "project rules": paths.project_rules(project_of(place.workspace)),
        "repository": Path(place.workspace, ".hitl", "config.toml"),
        "store": Path(os.environ.get("HITL_STORE") or paths.store),
    }


def path(as_json: Json = False) -> int:
    """Where settings, rules and sessions lie, and which are there."""
    found = files()
    if as_json:
        print(
            json.dumps({name: {"path": str(file), "exists": file.exists()} for name, file in found.items()}, indent=2)
        )
        return 0
    for name, file in found.items():
        print(f"{name:<14} {clean(str(file))}{'' if file.exists() else '  (not there)'}")
    return 0


def show(as_json: Json = False) -> int:
    """The settings that hold in this folder, each with where it was set."""
    settings, _ = resolved()
    rows = {
        name: {"value": _plain(getattr(settings, name)), "origin": settings.origins.get(name, "default")}
        for name in settings.__struct_fields__
        if name != "origins"
    }
    rows["model"]["value"] = settings.model or DEFAULT
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    print(*_table(rows), sep="\n")
    repository = files()["repository"]
    if repository.exists() and not _trusted():
        print(f"\n{repository} is not trusted: only what tightens counts. `hitl trust` shows what it would grant.")
    return 0


def _table(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A line a setting; where a value is longer than its column, the origin stands below it."""
    values = {name: clean(json.dumps(row["value"], ensure_ascii=False)) for name, row in rows.items()}
    width = max((len(v) for v in values.values() if len(v) <= WIDTH), default=0)
    for name, value in values.items():
        origin = clean(str(rows[name]["origin"]))
        yield f"{name:<11} {value:<{width}}  {origin}" if len(value) <= width else f"{name:<11} {value}"
        if len(value) > width:
            yield f"{'':<11} {'':<{width}}  {origin}"


def resolved() -> tuple[config.Settings, Place]:
    """The settings that hold in this folder, and the place it makes."""
    paths = locate()
    place = place_for(os.getcwd(), (), paths)
    repository = Path(place.workspace, ".hitl", "config.toml")
    layers = {"user": paths.user_config, "repository": repository}
    return config.resolve({}, os.environ, layers, rulebook.trust_state(place, paths).trusted), place


def _trusted() -> bool:
    paths = locate()
    return rulebook.trust_state(place_for(os.getcwd(), (), paths), paths).trusted


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
