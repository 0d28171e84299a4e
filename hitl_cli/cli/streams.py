"""The three standard streams, made so that the rest of the program need not think of them; what they say of
where the person is; and signals that raise.

A stream that was closed when the program began is /dev/null: else the next file that is opened would take its number, and
what is meant for a person would go into it. Text that the stream's encoding lacks is escaped instead of ending the program.
"""

from __future__ import annotations

import io
import os
import pwd
import signal
import sys


def prepare() -> None:
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            _open_null(fd)
            setattr(sys, name, open(fd, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - it stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def interruptible() -> None:
    """Let signals raise KeyboardInterrupt: for what has a terminal or a scratch folder to put in order."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _open_null(fd: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != fd:
        os.dup2(null, fd)
        os.close(null)


def discard_output(code: int) -> int:
    """`code`, with standard output pointed away: what is still buffered for it cannot be written when Python ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    return code


def failed(error: OSError) -> int:
    """The exit code where the system refused something. A reader of standard output that went away is no failure."""
    if isinstance(error, BrokenPipeError):
        return discard_output(0)
    named = f": {error.filename}" if error.filename else ""
    print(f"hitl: {error.strerror or error}{named}", file=sys.stderr)
    return discard_output(1)


def seat() -> str:
    """Where the person of this process is, as the log says it: `at /dev/pts/3`, or whose process it was that started this
    one."""
    for fd in (0, 1, 2):
        try:
            return f"at {os.ttyname(fd)}"
        except OSError:
            continue
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as nobody that it knows
        user = str(os.getuid())
    return f"without a terminal (user {user}, process {os.getppid()})"
