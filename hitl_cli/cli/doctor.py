"""`hitl doctor`: what is wrong with this installation, each finding with what to do about it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated

from hitl_cli.cli.declared import Option
from hitl_cli.errors import HitlError
from hitl_cli.records import Struct
from hitl_cli.ui.clean import clean


class Check(Struct, frozen=True):
    """`problem` is empty when all is well; else what is wrong and, on the lines after it, what to do."""

    name: str
    found: str
    problem: str = ""


def doctor(
    as_json: Annotated[bool, Option("--json", "One JSON array.")] = False,
    offline: Annotated[bool, Option("--offline", "Do not ask the model's service.")] = False,
) -> int:
    """Look for what is wrong here; 1 when something is."""
    checks = [_checked(name, check) for name, check in _checks(offline).items()]
    if as_json:
        rows = [{"check": c.name, "ok": not c.problem, "found": c.found, "problem": c.problem} for c in checks]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for check in checks:
            print(f"{'ok  ' if not check.problem else 'FAIL'}  {check.name:<11} {clean(check.found)}".rstrip())
            for line in check.problem.splitlines():
                print(f"      {'':<11} {clean(line)}")
    return 1 if any(check.problem for check in checks) else 0


def _checks(offline: bool) -> dict[str, Callable[[], tuple[str, str]]]:
    checks = {
        "python": _python,
        "terminal": _terminal,
        "shell": _shell,
        "git": _git,
        "search": _search,
        "settings": _settings,
        "rules": _rules,
        "packs": _packs,
        "store": _store,
        "servers": _servers,
    }
    return checks if offline else {**checks, "model": _model}


def _checked(name: str, check: Callable[[], tuple[str, str]]) -> Check:
    try:
        return Check(name, *check())
    except HitlError as error:
        return Check(name, "", str(error))


def _python() -> tuple[str, str]:
    problem = "" if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed"
    return f"{platform.python_version()} on {platform.system()}", problem


def _terminal() -> tuple[str, str]:
    name = os.environ.get("TERM", "")
    if not sys.stdout.isatty():
        return "standard output is no terminal", ""
    width = shutil.get_terminal_size().columns
    encoding = (sys.stdout.encoding or "").lower()
    found = f"{name or 'TERM is not set'}, {width} columns, {encoding}"
    if "utf" not in encoding:
        return found, "the encoding is not UTF-8\nexport LANG=C.UTF-8, or start hitl with --plain"
    if name in ("", "dumb"):
        return found, "this terminal cannot move its cursor\nstart hitl with --plain"
    return found, "" if width >= 40 else "fewer than 40 columns: panels need more room"


def _program(name: str, remedy: str) -> tuple[str, str]:
    path = shutil.which(name)
    if path is None:
        return "", f"{name} is not on the PATH\n{remedy}"
    done = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return f"{path}, {done.stdout.splitlines()[0] if done.stdout else 'no version'}", ""


def _shell() -> tuple[str, str]:
    return _program("bash", "Bash calls need it; install bash")


def _git() -> tuple[str, str]:
    return _program("git", "@file completion and /diff need it; install git")


def _search() -> tuple[str, str]:
    path = shutil.which("rg")
    return (path or "ripgrep is not there; Grep works without it, more slowly"), ""


def _settings() -> tuple[str, str]:
    from hitl_cli.cli.settings import resolved

    settings, _ = resolved()
    return f"{len(settings.origins)} set", ""


def _rules() -> tuple[str, str]:
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for

    paths = locate()
    book = rulebook.load(place_for(os.getcwd(), (), paths), paths)
    found = f"{len(book.rules)}, {sum(rule.source.layer == 'pack' for rule in book.rules)} of them from packs"
    if book.untrusted:
        return f"{found}; {book.untrusted} is not trusted (hitl trust)", ""
    return found, ""


def _packs() -> tuple[str, str]:
    from hitl_cli import rulebook
    from hitl_cli.paths import packs

    names = rulebook.available()
    if not names:
        return str(packs()), "the rule packs that ship with hitl are missing\nInstall hitl again."
    for name in names:
        rulebook.pack(name)
    return ", ".join(names), ""


def _store() -> tuple[str, str]:
    from hitl_cli.cli.opened import opened, store_path

    with opened(None) as store:
        damaged = store.check()
        return f"{store_path(None)}, {len(store.heads())} sessions", damaged


def _servers() -> tuple[str, str]:
    import asyncio

    from hitl_cli.cli.settings import resolved
    from hitl_cli.mcp import Servers, servers_from_settings
    from hitl_cli.paths import locate

    settings, place = resolved()
    if not settings.mcp:
        return "none are set", ""
    origin = str(settings.origins.get("mcp", ""))
    servers = Servers(servers_from_settings(settings.mcp, os.environ, file=origin), place, locate().outputs)

    async def ask() -> tuple[int, tuple[str, ...]]:
        try:
            tools, problems = await servers.connect()
            return len(tools), problems
        finally:
            await servers.close()

    tools, problems = asyncio.run(ask())
    return f"{len(settings.mcp)} servers, {tools} tools", "\n".join(problems)


def _model() -> tuple[str, str]:
    from hitl_cli.cli.settings import resolved
    from hitl_cli.models import DEFAULT, open_model
    from hitl_cli.models.probe import probe

    settings, _ = resolved()
    name = settings.model or DEFAULT
    open_model(name)
    return name, "" if name.startswith("script:") else probe(os.environ)
