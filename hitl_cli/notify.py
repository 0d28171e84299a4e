"""A command of the person's own when something happens that they may be waiting for: `[notify]` in the settings.

Nobody waits for it and nothing of it is read: it runs in a group of its own with closed input, and after a time limit all
of the group is ended, also when this program is gone by then. What happened is told in environment variables, never in the
command's text, where a title could mean something to the shell.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

from hitl_cli.outcome import Completed, Outcome, Stopped, Suspended

Event = Literal["waiting", "done", "failed"]

LIMIT = 30  # seconds
# `$1` is the command, `$2` the limit. The watch ends the group, itself included, unless it is ended first.
_WATCHED = """
( trap 'kill $s 2>/dev/null; exit 0' TERM; sleep "$2" & s=$!; wait $s && kill -KILL 0 ) &
watch=$!
/bin/sh -c "$1"
kill -TERM $watch 2>/dev/null
"""


def notice_of(run: Outcome, asked: bool = True) -> Event | None:
    """The event that the end of a run is, if it is one: `asked`, whether anything new waits; what the person stopped
    themselves is none."""
    if isinstance(run, Suspended):
        return "waiting" if asked else None
    if isinstance(run, Completed):
        return "done"
    return None if isinstance(run, Stopped) and run.why == "interrupted" else "failed"


def notify(
    commands: Mapping[str, str], event: Event, *, session: str, title: str, cwd: str, limit: float = LIMIT
) -> None:
    """Start the command that `commands` has for `event`, if it has one; a command that cannot be started is nobody's loss."""
    command = commands.get(event)
    if not command:
        return
    told = {"HITL_EVENT": event, "HITL_SESSION": session, "HITL_TITLE": title.replace("\0", ""), "HITL_CWD": cwd}
    with suppress(OSError, ValueError):
        process = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHED, "hitl-notify", command, f"{limit:g}"],
            cwd=cwd if os.path.isdir(cwd) else "/", env={**os.environ, **told}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        threading.Thread(target=process.wait, name="notify", daemon=True).start()
