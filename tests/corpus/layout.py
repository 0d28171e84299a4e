"""Lays a corpus of decisions out on disk and judges it with the batch command's own code, in this process."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hitl_cli.cli.rules_batch import answers
from hitl_cli.paths import Paths

Case = dict[str, Any]


def read(file: Path) -> list[Case]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip() and not line.startswith("#")]


def placeholders(workspace: Path, home: Path) -> list[tuple[str, str]]:
    table = {
        "$WSLINK": f"{workspace}-link",
        "$WS": str(workspace),
        "$APPCFG_UPPER": f"{workspace}/.HITL/CONFIG.TOML",
        "$APPCFG_REL": ".hitl/config.toml",
        "$APPCFG": f"{workspace}/.hitl/config.toml",
        "$APPDIR": ".hitl",
        "$APPBASE": "config.toml",
        "$APPHOME": f"{home}/.config/hitl",
    }
    return sorted(table.items(), key=lambda item: -len(item[0]))


def fill(value: Any, table: list[tuple[str, str]], home: Path, shell: bool = False) -> Any:
    """`value` with its placeholders put in; inside a command `$HOME` is the shell's own variable."""
    if isinstance(value, dict):
        return {fill(k, table, home): fill(v, table, home, k == "command") for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, table, home) for v in value]
    if not isinstance(value, str):
        return value
    for name, text in table:
        value = value.replace(name, text)
    return value if shell else value.replace("$HOME", str(home))


def lay(root: Path, setup: dict[str, Any], table: list[tuple[str, str]], home: Path) -> dict[str, Any]:
    """The workspace of a case; its setup with placeholders filled."""
    workspace = root / "ws"
    (workspace / "src").mkdir(parents=True)
    for name in ("f.txt", "README.md", "src/a.py"):
        (workspace / name).write_text("x\n")
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    os.symlink(workspace, f"{workspace}-link")
    setup = fill(setup, table, home)
    for name in setup.get("dirs", []):
        Path(name).mkdir(parents=True, exist_ok=True)
    for name, text in setup.get("files", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    for kind, make in (("symlinks", os.symlink), ("hardlinks", os.link)):
        for name, target in setup.get(kind, {}).items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).unlink(missing_ok=True)
            if kind == "hardlinks":
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                Path(target).touch()
            make(target, name)
    for name in setup.get("exec", []):
        Path(name).chmod(0o755)
    return setup


def judged(cases: list[Case], scratch: Path) -> Iterator[tuple[Case, str]]:
    """Each case that this machine can provide, with the decision on it. HOME has to be `scratch/home`."""
    home = scratch / "home"
    home.mkdir()
    plain = scratch / "plain"
    lay(plain, {}, placeholders(plain / "ws", home), home)
    system = {"Darwin": "macos", "Linux": "linux"}[platform.system()]
    kept, lines = [], []
    for number, case in enumerate(cases):
        setup = case.get("setup") or {}
        if setup.get("platform", system) != system or "fs" in setup:
            continue
        root = scratch / f"case{number}" if setup else plain
        table = placeholders(root / "ws", home)
        filled = lay(root, setup, table, home) if setup else {}
        record = {
            "id": case["id"],
            "tool": case["tool"],
            "input": fill(case["input"], table, home),
            "rules": fill(case["rules"], table, home),
            "workspace": str(root / "ws"),
            "cwd": filled.get("cwd", str(root / "ws")),
            "mode": case.get("mode", "default"),
        }
        kept.append(case)
        lines.append(json.dumps(record))
    paths = Paths(home / ".config" / "hitl", home / ".state" / "hitl")
    for case, answer in zip(kept, answers(lines, paths, str(plain / "ws")), strict=True):
        assert answer["id"] == case["id"]
        yield case, answer.get("decision", answer.get("error"))


def right(case: Case, decision: str) -> bool:
    return decision == case["expect"] or (case["expect"] == "ask" and decision == "deny")
