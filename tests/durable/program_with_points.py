"""The real program, which can be made to end itself with SIGKILL just before or just after its nth lasting write.

Lasting writes are the transactions of the store (create, claim, append, release) and the replacing of a rule file. With
HITL_TEST_FREEZE it freezes there instead (SIGSTOP) and writes its process id beside COUNT. With HITL_TEST_LEASE leases last
so many seconds and are not renewed.

    program_with_points.py COUNT AT MODULE ARG...    run MODULE.main(ARGS); COUNT is a file that gets the points passed
    program_with_points.py serve                     orders as JSON lines on standard input, exit codes on standard output

Served, each order runs in a process of its own made from one in which all modules are loaded and nothing was done yet:
what is killed is the same code in the same order, only sooner there.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOADED = (
    "anthropic",
    "hitl_cli.cli.answer",
    "hitl_cli.cli.assemble",
    "hitl_cli.cli.host",
    "hitl_cli.cli.log",
    "hitl_cli.cli.run",
    "hitl_cli.cli.sessions",
    "hitl_cli.cli.stdin",
    "hitl_cli.cli.waiting",
    "hitl_cli.cli.watch",
    "hitl_cli.models.scripted",
    "hitl_cli.tools.engines",
    "jsonschema",
    "tomli_w",
)


class Points:
    def __init__(self, at: int, count: str) -> None:
        self.at, self.count, self.passed = at, Path(count), 0

    def point(self) -> None:
        self.passed += 1
        if self.passed == self.at:
            if "HITL_TEST_FREEZE" in os.environ:
                self.count.with_suffix(".pid").write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGSTOP)
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        from hitl_cli.loop import leasing
        from hitl_cli.store.sqlite import SqliteStore

        if seconds := os.environ.get("HITL_TEST_LEASE"):
            leasing.TTL, leasing.RENEW = float(seconds), 3600.0
        transaction, replace_file = SqliteStore._transaction, os.replace

        @contextmanager
        def watched(store: SqliteStore) -> Iterator[Any]:
            with transaction(store) as db:
                yield db
                self.point()
            self.point()

        def replaced(old: str, new: str) -> None:
            self.point()
            replace_file(old, new)
            self.point()

        SqliteStore._transaction = watched  # type: ignore[method-assign]
        os.replace = replaced  # type: ignore[assignment]

    def run(self, module: str, arguments: list[str]) -> int:
        self.install()
        try:
            return int(importlib.import_module(module).main(arguments))
        finally:
            self.count.write_text(str(self.passed))


def serve() -> None:
    for module in LOADED:
        importlib.import_module(module)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                os.environ.clear()
                os.environ.update(order["env"])
                os.chdir(order["cwd"])
                os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
                for fd, path in ((1, order["out"]), (2, order["err"])):
                    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), fd)
                code = Points(order["at"], order["count"]).run(order["module"], order["arguments"])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        sys.exit(Points(int(sys.argv[2]), sys.argv[1]).run(sys.argv[3], sys.argv[4:]))
