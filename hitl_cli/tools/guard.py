"""Ends the commands of a process that dies without a word.

A command leads a session of its own, so what kills hitl does not reach it, and it would go on while a person is asked
whether it ran. A small shell therefore reads from a pipe which commands run; only this process can write to that pipe, so
the pipe ends with it, however it ends, and then the shell ends what is left. A command waits at a gate until its number
is in the pipe (`processes`), so there is none that nobody would end.
"""

from __future__ import annotations

import contextlib
import subprocess

# `+ PID` a command runs, `- PID` it is over; at the end of input TERM to what is left, KILL after a grace.
_SCRIPT = """
live=
while read -r op pid; do
    rest=
    for p in $live; do [ "$p" = "$pid" ] || rest="$rest $p"; done
    live=$rest
    [ "$op" = + ] && live="$live $pid"
done
end() { for p in $live; do pkill "-$1" -s "$p"; kill "-$1" -- "-$p"; done; }
[ -z "$live" ] || { end TERM; sleep 2; end KILL; }
"""


class Guard:
    """Started with the first command. A system without `sh` has none; everything else works all the same."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None

    def watch(self, pid: int) -> None:
        """The session that `pid` leads ends with this process from now on."""
        if self._shell is None:
            with contextlib.suppress(OSError):
                self._shell = subprocess.Popen(
                    ["sh", "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    start_new_session=True,
                )
        self._tell(f"+ {pid}\n")

    def forget(self, pid: int) -> None:
        self._tell(f"- {pid}\n")

    def close(self) -> None:
        if self._shell and self._shell.stdin:
            self._shell.stdin.close()
            self._shell.wait()
            self._shell = None

    def _tell(self, line: str) -> None:
        if self._shell and self._shell.stdin:
            with contextlib.suppress(OSError):  # somebody ended it: the commands still end with their calls
                self._shell.stdin.write(line.encode())
