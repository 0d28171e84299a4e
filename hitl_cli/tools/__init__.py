"""The built-in tools: one file each, its words for the model in a text file beside it.

A tool states its accesses through `accesses_of`, so that what is judged, shown and done is one thing; its body never
asks, never prints, and fails with a result.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from hitl_cli.access import Place
from hitl_cli.tooldef import Tool
from hitl_cli.tools.ask_user import ask_user_tool
from hitl_cli.tools.bash import bash_tool, kill_tool, output_tool
from hitl_cli.tools.edit import edit_tool
from hitl_cli.tools.external import external_from_settings
from hitl_cli.tools.glob import glob_tool
from hitl_cli.tools.grep import grep_tool
from hitl_cli.tools.guided import guided
from hitl_cli.tools.jobs import Jobs
from hitl_cli.tools.plan import plan_tool
from hitl_cli.tools.read import read_tool
from hitl_cli.tools.todo import todo_tool
from hitl_cli.tools.web_fetch import web_fetch_tool
from hitl_cli.tools.write import write_tool

__all__ = ["Jobs", "builtin", "external_from_settings"]


def _yes(_: str) -> bool:
    return True


def _no(_: str) -> bool:
    return False


def builtin(
    place: Place,
    outputs: Path,
    *,
    jobs: Jobs,
    readable: Callable[[str], bool] = _yes,
    private_host: Callable[[str], bool] = _no,
) -> tuple[Tool, ...]:
    """The tools of a session that runs in `place`.

    outputs       a folder private to the user: the whole output of a call is kept in `outputs/SESSION/CALL.txt` when
                  the result shows only part of it
    jobs          holds what runs in the background; `await jobs.close()` at the end of the session
    readable      whether no rule denies reading an absolute path: Glob and Grep leave out what is not readable
    private_host  whether a rule names this host, so that it may be fetched although its address is not a public one;
                  asked with `name:port` (when the port is not the scheme's own) and with the name alone
    """
    return (
        bash_tool(place, outputs, jobs),
        output_tool(jobs),
        kill_tool(jobs),
        *(guided(tool, readable) for tool in (read_tool(readable), write_tool(), edit_tool())),
        glob_tool(readable),
        grep_tool(readable, shutil.which("rg")),
        web_fetch_tool(outputs, private_host),
        todo_tool(),
        ask_user_tool(),
        plan_tool(),
    )
