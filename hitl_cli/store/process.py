"""Who holds a lease, and whether that holder still lives.

A process is named by host, boot, pid and start time, so that neither a reboot nor a reused pid is taken for it. On the
same boot its lease runs on the clock that counts since the boot, which nobody can set; for another host only the wall
clock can be compared.
"""

from __future__ import annotations

import functools
import json
import math
import os
import time
from pathlib import Path


@functools.cache
def boot() -> str:
    """An id of this boot, "" where the system gives none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _line(["sysctl", "-n", "kern.boottime"])


def started(pid: int) -> str:
    """When the process began, in the system's own words; "" when there is no such process."""
    return _told(pid, 19, "lstart")


def stopped(pid: int) -> bool:
    """Whether the process was stopped (Ctrl-Z, `kill -STOP`) and waits to be let on."""
    return _told(pid, 0, "state").upper().startswith("T")


def _told(pid: int, field: int, name: str) -> str:
    """What the system tells of a process: `field` counts from its state in proc(5), `name` is what `ps` calls it."""
    try:
        # The name in parentheses before the state may hold anything.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[field]
    except (OSError, IndexError):
        return "" if Path("/proc/self/stat").exists() else _line(["ps", "-o", f"{name}=", "-p", str(pid)])


def me() -> str:
    """This process as JSON, in the form that `now`, `gone` and `busy` read."""
    pid = os.getpid()
    return json.dumps({"host": os.uname().nodename, "boot": boot(), "pid": pid, "started": started(pid)})


def now(holder: str) -> float:
    """Seconds on the clock that leases of `holder` run on."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock) if json.loads(holder)["boot"] == boot() else time.time()


def gone(holder: str) -> bool:
    """True when the holder ran on this host and certainly no longer runs."""
    who = json.loads(holder)
    if who["host"] != os.uname().nodename:
        return False
    return bool(who["boot"] != boot() or started(who["pid"]) != who["started"])


def busy(session: str, holder: str, expires: float) -> str:
    """Who runs the session, and what can be done about it. `expires` is on the clock of `now`."""
    who = json.loads(holder)
    pid, ends = who["pid"], f"in {math.ceil(expires - now(holder))} s"
    if who["host"] != os.uname().nodename:
        advice = f"Wait until it is done. If it is gone, its claim ends {ends}; then go on here: hitl recover {session}"
    elif stopped(pid):
        advice = f"It is stopped: let it go on (kill -CONT {pid}), or go on here {ends}: hitl recover {session}"
    else:
        advice = f"Wait until it is done, or end it (kill {pid}) and go on here: hitl recover {session}"
    return f"Session {session} is run by another process (pid {pid} on {who['host']}).\n  {advice}"


def _line(command: list[str]) -> str:
    import subprocess

    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()
    except OSError:
        return ""
