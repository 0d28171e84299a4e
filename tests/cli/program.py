"""The real program in a process of its own, with folders of its own; what it said is compared whole."""

from __future__ import annotations

import json
import os
import pwd
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.forked import FIXED, Forks

PATIENCE = 30.0  # seconds; only a failing test ever waits so long
DONE = '[[turn]]\n[[turn.reply]]\ntext = "Done."\n'


NOBODY = f"person without a terminal (user {pwd.getpwuid(os.getuid()).pw_name}, process {os.getpid()})"  # who answers


@dataclass(frozen=True)
class Said:
    """What a process wrote, and its exit code (negative: the signal that ended it)."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


# What of the environment all homes share.
ENV = {
    **{k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "ANTHROPIC_", "GIT_", "LC_"))},
    "LANG": "C.UTF-8",
    "TERM": "dumb",
}
FORKS = Forks(ENV)


class Home:
    """A person's folders and a workspace, apart from everything else on this machine."""

    def __init__(self, root: Path) -> None:
        self.root, self.config, self.state, self.work = root, root / "config", root / "state", root / "work"
        for folder in (self.config, self.state, self.work):
            folder.mkdir()
        self.env = {
            **ENV,
            "HITL_CONFIG_DIR": str(self.config),
            "HITL_STATE_DIR": str(self.state),
            "HOME": str(root),
        }
        self.model: list[str] = []

    def script(self, text: str) -> Home:
        """Make `text` (turns of a script) the model of every turn from now on."""
        file = self.root / "script.toml"
        file.write_text("format = 1\ndelay = 0\n" + text)
        self.model = ["--model", f"script:{file}"]
        return self

    def calls(self, *calls: tuple[str, Mapping[str, Any]], last: str = "Done.") -> Home:
        """A script of one turn: these calls in one reply, then a text."""
        listed = ", ".join(
            f'{{ name = "c{n}", tool = "{tool}", input = {_toml(input)} }}' for n, (tool, input) in enumerate(calls)
        )
        return self.script(f'[[turn]]\n[[turn.reply]]\ncalls = [{listed}]\n[[turn.reply]]\ntext = "{last}"\n')

    def more(self, *texts: str) -> Home:
        """Further turns of the script that there is, each one text."""
        with (self.root / "script.toml").open("a") as file:
            file.writelines(f'[[turn]]\n[[turn.reply]]\ntext = "{text}"\n' for text in texts)
        return self

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        env = {**self.env, **options.pop("env", {})}
        cwd = options.pop("cwd", self.work)
        return subprocess.Popen([sys.executable, "-m", "hitl_cli", *arguments], cwd=cwd, env=env, **options)

    def hitl(self, *arguments: str, input: str | bytes | None = None, **options: Any) -> Said:
        """Run to the end; `input` goes to standard input, which is empty without it."""
        data = input.encode() if isinstance(input, str) else input
        if options.keys() <= {"cwd", "env"} and not any(name.startswith(FIXED) for name in options.get("env", ())):
            env, cwd = {**self.env, **options.get("env", {})}, options.get("cwd", self.work)
            code, out, err = FORKS.run(arguments, cwd=cwd, env=env, input=data, patience=PATIENCE)
            return Said(code, out.decode(), err.decode())
        process = self.start(*arguments, **({"stdin": subprocess.PIPE} if data is not None else {}), **options)
        return end_of(process, data)

    def run(self, *arguments: str, **options: Any) -> Said:
        """`hitl run` with the model of this home."""
        return self.hitl("run", *self.model, *arguments, **options)

    def parked(self, *calls: tuple[str, Mapping[str, Any]]) -> str:
        """The id of a session that waits for an approval of the first of these calls."""
        said = self.calls(*(calls or (("Bash", {"command": "touch made"}),))).run("go", "--output", "json")
        assert said.code == 4, said
        return str(said.json["session"])

    def pending(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.hitl("pending", "--json").json
        return found

    def allow(self, *rules: str) -> Home:
        """Rules of the user."""
        (self.config / "config.toml").write_text(f"[permissions]\nallow = {json.dumps(rules)}\n")
        return self


def end_of(process: subprocess.Popen[bytes], input: bytes | None = None) -> Said:
    try:
        out, err = process.communicate(input, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Said(process.returncode, (out or b"").decode(), (err or b"").decode())


def until(fits: Callable[[], Any], what: str = "it") -> Any:
    """The first true value of `fits`."""
    end = time.monotonic() + PATIENCE
    while not (value := fits()):
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.01)
    return value


def stop(process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> Said:
    process.send_signal(number)
    return end_of(process)


def steady(text: str) -> str:
    """`text` without what differs from run to run: session ids, digests, times."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    return re.sub(r"(?<=[Ss]ession )[0-9a-f]{4}\b|(?<=hitl answer )[0-9a-f]{4}\b", "ID", text)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
