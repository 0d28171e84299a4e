"""What each command loads, by name, in a process of its own: what a command does not need, nobody waits for.

How long it takes is measured by `python -m tests.bench`; here only what cannot vary is counted.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect

from hitl_cli.cli.declared import Entry
from hitl_cli.cli.main import COMMANDS
from tests.models.server import Server, ask, call, say

# Libraries that take long to load, the standard library's among them, and the parts of ours that lead to them.
# fmt: off
HEAVY = frozenset(
    {
        "anthropic", "httpx2", "httpx", "pydantic", "mcp", "jsonschema", "prompt_toolkit", "rich", "markdown_it",
        "wcwidth", "typer", "click", "platformdirs", "asyncio", "ssl", "email", "sqlite3", "tomllib", "tomli_w",
        "subprocess", "difflib", "inspect", "typing", "enum", "re", "dataclasses",
        "hashlib", "secrets", "shutil", "multiprocessing", "unittest", "xml", "hitl_cli.agent",
        "hitl_cli.shell", "hitl_cli.shell.reader", "hitl_cli.journal", "hitl_cli.permissions", "hitl_cli.ui",
        "hitl_cli.tools", "hitl_cli.mcp",
    }
)
# fmt: on
RECORDS = frozenset({"inspect", "typing", "enum", "re"})  # what making records loads
TYPER = RECORDS | {"typer", "click", "subprocess", "difflib", "shutil"}
TOLD = re.compile(r"^import time:[ \d]+\|[ \d]+\| *([\w.]+)", re.MULTILINE)


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "ANTHROPIC_", "PYTHON"))}
    own = {"HITL_CONFIG_DIR": str(folder / "config"), "HITL_STATE_DIR": str(folder / "state"), "HOME": str(folder)}
    return kept | own | {"PYTHONPATH": str(Path(__file__).parent.parent), "TERM": "xterm-256color"} | more


def heavy(told: str) -> set[str]:
    """The heavy ones of all modules that Python said it loaded."""
    return HEAVY & set(TOLD.findall(told.replace("\r", "")))


def loads(folder: Path, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        cwd=folder, env=environment(folder), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return heavy(done.stderr)


def test_the_version_is_told_with_nothing_loaded(tmp_path):
    assert loads(tmp_path, "-m", "hitl_cli", "--version") == set()


def test_the_package_costs_nothing_until_a_name_is_used(tmp_path):
    assert loads(tmp_path, "-c", "import hitl_cli") == set()


def test_help_loads_no_command(tmp_path):
    assert loads(tmp_path, "-m", "hitl_cli", "--help") == TYPER


def test_rules_check_loads_the_judgement_and_nothing_that_runs(tmp_path):
    needed = {"hashlib", "hitl_cli.shell", "hitl_cli.shell.reader", "hitl_cli.permissions", "hitl_cli.ui"}
    assert loads(tmp_path, "-m", "hitl_cli", "rules", "check", "git log") == RECORDS | needed


def test_pending_loads_the_store_and_nothing_that_runs(tmp_path):
    needed = {"sqlite3", "hitl_cli.journal", "hitl_cli.permissions", "hitl_cli.ui"}
    assert loads(tmp_path, "-m", "hitl_cli", "pending") == RECORDS | needed


def test_a_run_with_a_command_loads_nothing_for_questions_mistakes_and_settings(tmp_path):
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        return say("Hello.") if len(request["messages"]) > 1 else ask(call("Bash", {"command": "echo hello"}))

    unused = {"hitl_cli.permissions.suggest", "hitl_cli.loop.blocking", "hitl_cli.sessions", "difflib", "tomllib"}
    with Server(answer) as server:
        env = environment(tmp_path, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="x", PYTHONPROFILEIMPORTTIME="1")
        argv = [sys.executable, "-m", "hitl_cli", "run", "--model", "claude-x", "hello"]
        done = subprocess.run(
            argv, cwd=tmp_path, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
        )
    assert done.stdout == "Hello.\n"
    assert len(server.requests) == 2
    loaded = set(TOLD.findall(done.stderr))
    assert {"hitl_cli.agent", "anthropic"} <= loaded
    assert not loaded & unused


def test_the_help_of_run_loads_no_agent(tmp_path):
    assert loads(tmp_path, "-m", "hitl_cli", "run", "--help") - {"asyncio", "ssl"} == TYPER


def test_the_list_of_commands_says_what_their_own_help_says_first():
    entries = {name: entry for name, entry in COMMANDS.items() if isinstance(entry, Entry)}
    said = {name: inspect.getdoc(entry.load().function).partition("\n\n")[0] for name, entry in entries.items()}
    assert {name: entry.says for name, entry in entries.items()} == {n: " ".join(s.split()) for n, s in said.items()}


def test_the_first_prompt_waits_for_no_service(tmp_path):
    """Before the prompt nothing of the SDK, of servers, of validation or of reading commands is loaded, and no typer; nor
    the agent and its tools, which are loaded once it is there."""
    env = environment(
        tmp_path,
        ANTHROPIC_API_KEY="x",
        ANTHROPIC_BASE_URL="http://127.0.0.1:9",
        PYTHONPROFILEIMPORTTIME="1",
        HITL_MODEL="claude-x",
    )
    child = pexpect.spawn(sys.executable, ["-m", "hitl_cli"], cwd=str(tmp_path), env=env, dimensions=(40, 200))  # type: ignore[arg-type]
    try:
        child.expect("/help for help", timeout=60)
        told = child.before.decode(errors="replace")
    finally:
        child.close(force=True)
    strangers = {
        "anthropic",
        "httpx2",
        "httpx",
        "pydantic",
        "mcp",
        "jsonschema",
        "markdown_it",
        "tomli_w",
        "unittest",
        "typer",
        "rich",
        "hitl_cli.shell.reader",
        "hitl_cli.agent",
        "hitl_cli.tools",
        "hitl_cli.mcp",
    }
    assert heavy(told) & strangers == set()
    assert "prompt_toolkit" in heavy(told)
