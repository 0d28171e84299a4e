"""Who holds a lease, and whether that holder still lives.

A process is named by host, boot, pid and start time, so that neither a reboot nor a reused pid is taken for it. On the
same boot its lease runs on the clock that counts since the boot, which nobody can set; for another host only the wall
clock can be compared.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
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
    try:
        # The name in parentheses may hold anything; the start time is the 20th field after it (proc(5), field 22).
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "" if Path("/proc/self/stat").exists() else _line(["ps", "-o", "lstart=", "-p", str(pid)])


def me() -> str:
    """This process as JSON, in the form that `gone` and `remaining` read."""
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


def _line(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()
    except OSError:
        return ""
