"""Imports only point down the floors, the pure floors stay pure, and each heavy library has one home."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "hitl_cli"
# The floor of each module or package; the longest name that fits counts.
FLOORS = {
    "errors": 0,
    "access": 0,
    "shell": 0,
    "permissions": 0,
    "version": 0,
    "times": 0,
    "masking": 0,
    "records": 0,
    "regex": 0,
    "journal": 1,
    "interrupts": 1,
    "schema": 1,
    "answers": 2,
    "steps": 2,
    "transcript": 2,
    "outcome": 2,
    "tooldef": 2,
    "state": 2,
    "texts": 2,
    "usertools": 2,
    "tools": 3,
    "models": 3,
    "mcp": 3,
    "store": 3,
    "paths": 3,
    "config": 3,
    "below": 3,
    "globbing": 3,
    "links": 3,
    "tracked": 3,
    "twins": 3,
    "resolve": 3,
    "accesses": 3,
    "rulebook": 3,
    "rulefile": 3,
    "rulelines": 3,
    "rulelint": 3,
    "ruleproposal": 3,
    "importformats": 3,
    "importer": 3,
    "instructions": 3,
    "agent": 4,
    "loop": 4,
    "attachments": 4,
    "notify": 4,
    "policies": 4,
    "sessions": 4,
    "middleware": 4,
    "responders": 4,
    "demo": 4,
    "ui": 5,
    "cli": 6,
    "__main__": 7,
}
ORDER_WITHIN_0 = ("regex", "errors", "records", "access", "shell", "permissions")
IMPURE = {"os", "pathlib", "subprocess", "sqlite3", "asyncio", "time", "random", "socket", "threading", "secrets", "io"}
HOMES = {
    "anthropic": {"models/claude.py"},
    "msgspec": {"records.py"},
    "sqlite3": {"store/"},
    "tomli_w": {"rulebook/"},
    "mcp": {"mcp.py"},
    "prompt_toolkit": {"ui/"},
    "rich": {"ui/"},
    "typer": {"cli/typed.py"},
    "click": {"cli/typed.py"},
}
STRANGERS = ("tools", "models", "store", "rulebook")  # these do not know one another
MODULES = sorted(p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py"))
INNER = [module for module in MODULES if module != "__init__.py"]


def floor(name: str) -> int:
    parts = name.split(".")
    while parts:
        if ".".join(parts) in FLOORS:
            return FLOORS[".".join(parts)]
        parts.pop()
    raise AssertionError(f"hitl_cli.{name} stands on no floor; add it to FLOORS")


@cache
def imports(module: str) -> list[tuple[str, bool]]:
    """(dotted name, at the top of the module) of each import, those for type checkers alone left out."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))

    def walk(node: ast.AST, top: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.Import):
                yield from ((alias.name, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{module}: imports are written whole"
                yield child.module or "", top
                yield from ((f"{child.module}.{alias.name}", top) for alias in child.names)
            else:
                deeper = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, top and not deeper)

    return list(walk(tree, True))


@cache
def ours(module: str) -> set[str]:
    """The modules of this package that `module` imports, without the package's name."""
    names = {name.removeprefix("hitl_cli.") for name, _ in imports(module) if name.startswith("hitl_cli.")}
    return {
        n
        for n in names
        if (PACKAGE / (n.replace(".", "/") + ".py")).exists() or (PACKAGE / n.replace(".", "/")).is_dir()
    }


def dotted(module: str) -> str:
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_imports_point_down():
    assert [f"{m} imports {n}" for m in INNER for n in ours(m) if floor(n) > floor(dotted(m))] == []


def test_within_the_lowest_floor_there_is_an_order():
    for module in INNER:
        here = dotted(module).split(".")[0]
        if here in ORDER_WITHIN_0:
            allowed = ORDER_WITHIN_0[: ORDER_WITHIN_0.index(here) + 1]
            assert {n.split(".")[0] for n in ours(module)} <= set(allowed), module


def test_the_lower_floors_are_pure():
    pure = [module for module in INNER if floor(dotted(module)) <= 2]
    assert [m for m in pure if {name.split(".")[0] for name, _ in imports(m)} & IMPURE] == []


def test_each_heavy_library_has_one_home():
    for module in MODULES:
        for name, _ in imports(module):
            homes = HOMES.get(name.split(".")[0])
            assert homes is None or any(module.startswith(home) for home in homes), f"{module} imports {name}"


def test_only_the_entry_imports_the_command_line():
    others = [module for module in MODULES if not module.startswith("cli/") and module != "__main__.py"]
    assert [f"{m} imports {name}" for m in others for name in ours(m) if name.startswith("cli")] == []


def test_what_touches_the_world_does_not_know_its_siblings():
    for module in MODULES:
        here = module.split("/")[0].removesuffix(".py")
        if here in STRANGERS:
            assert not {n.split(".")[0] for n in ours(module)} & (set(STRANGERS) - {here}), module


def test_no_file_grows_past_its_limit():
    lines = {module: len((PACKAGE / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module: count for module, count in lines.items() if count > 400} == {}
