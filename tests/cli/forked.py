"""The program in processes forked from one that has imported it: a test that starts it again and again pays for what it
does, and not each time for importing it. Each is a process of its own, with its own folder, environment and standard
streams; that Python and the modules are there already is all that differs from one that was started.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import hitl_cli
from hitl_cli.__main__ import main

FIXED = ("LANG", "LC_", "PYTHON")  # what Python reads as it starts: with another value of these, it must be started


class Forks:
    """The process that forks is begun at the first use, and ends with the one that uses it. One program runs at a time."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env, self._lock = env, threading.Lock()

    def run(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], input: bytes | None, patience: float
    ) -> tuple[int, bytes, bytes]:
        """Its exit code (negative: the signal that ended it), and what it wrote; `input` None: an empty standard input."""
        ask = {"arguments": arguments, "cwd": str(cwd), "env": dict(env), "starter": os.getpid()}
        given, to = (os.open(os.devnull, os.O_RDONLY), None) if input is None else os.pipe()
        (out, told), (err, noted) = os.pipe(), os.pipe()
        with self._lock, ThreadPoolExecutor(3) as pool:
            socket.send_fds(self._control, [json.dumps(ask).encode() + b"\n"], [given, told, noted])
            for fd in (given, told, noted):
                os.close(fd)
            pid = int(self._answers.readline())
            if to is not None and input is not None:
                pool.submit(_write, to, input)
            texts = [pool.submit(_read, fd) for fd in (out, err)]
            try:
                said, noise = (text.result(patience) for text in texts)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            finally:
                code = int(self._answers.readline())
        return code, said, noise

    @cached_property
    def _control(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._server = subprocess.Popen(command, env=self._env, pass_fds=[theirs.fileno()])
        return ours

    @cached_property
    def _answers(self) -> BinaryIO:
        return self._control.makefile("rb")


def _read(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as file:
        return file.read()


def _write(fd: int, data: bytes) -> None:
    with os.fdopen(fd, "wb") as file:
        file.write(data)


# --- the process that forks -------------------------------------------------------------------------------------------


def serve(control: socket.socket) -> None:
    """Fork for each line that comes. Returns in each forked process, as the one that was asked for."""
    asked = control.makefile("rb")
    for module in pkgutil.walk_packages(hitl_cli.__path__, "hitl_cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    while True:
        begin, fds, _, _ = socket.recv_fds(control, 1, 3)
        if not begin:
            os._exit(0)
        ask = json.loads(begin + asked.readline())
        pid = os.fork()
        if pid == 0:
            asked.close()
            control.close()
            return become(ask, fds)
        for fd in fds:
            os.close(fd)
        control.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def become(ask: Mapping[str, Any], fds: Sequence[int]) -> None:
    for number, (fd, name, mode) in enumerate(zip(fds, ("stdin", "stdout", "stderr"), "rww", strict=True)):
        os.dup2(fd, number)
        os.close(fd)
        was = getattr(sys, name)
        options = {"encoding": was.encoding, "errors": was.errors, "closefd": False}
        setattr(sys, name, open(number, mode, 1 if name == "stderr" else -1, **options))  # noqa: SIM115 - it stays open
    os.chdir(ask["cwd"])
    os.environ.clear()
    os.environ.update(ask["env"])
    os.getppid = lambda: ask["starter"]  # type: ignore[method-assign]
    sys.argv[1:] = ask["arguments"]


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    sys.exit(main())
