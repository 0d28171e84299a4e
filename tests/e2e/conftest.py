"""A real terminal for the stories: the program in a pty, its screen kept by a terminal emulator, no clock of our own.

Every wait is for words on the screen. The one delay that a story meets is the panel's own half second, and it waits for
that, too, by the words that end it (`y once`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

PATIENCE = 30.0  # seconds; only a failing story ever waits so long


class Terminal:
    """One window. `text` is everything that was ever on it, `screen` what is on it now."""

    def __init__(self, arguments: list[str], cwd: Path, env: dict[str, str], columns: int, rows: int) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=1)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._child = pexpect.spawn(
            sys.executable, ["-m", "hitl_cli", *arguments], cwd=str(cwd), env=env, dimensions=(rows, columns)
        )  # type: ignore[arg-type]
        self._child.delaybeforesend = None

    @property
    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def text(self) -> str:
        gone = [
            "".join(line[x].data for x in range(self._screen.columns)).rstrip() for line in self._screen.history.top
        ]
        return "\n".join([*gone, self.screen])

    @property
    def title(self) -> str:
        return self._screen.title

    @property
    def echoes(self) -> bool:
        """Does the terminal itself show what is typed?"""
        return bool(self._child.getecho())

    @property
    def pid(self) -> int:
        return int(self._child.pid)

    def read(self, seconds: float) -> bool:
        """Take in what the program wrote; False when it has ended."""
        try:
            piece = self._child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += piece
        self._stream.feed(piece)
        return True

    def until(self, true: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            alive = self.read(0.05)
            if not alive and not true():
                raise AssertionError(f"the program ended before {what}; its screen:\n{self.text}")
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come; the screen:\n{self.text}")

    def wait(self, *words: str) -> None:
        """Until all of `words` are on the screen now."""
        self.until(lambda: all(word in self.screen for word in words), repr(words))

    def gone(self, word: str) -> None:
        self.until(lambda: word not in self.screen, f"the end of {word!r}")

    def asked(self, *words: str) -> None:
        """Until a panel that shows `words` takes keys."""
        self.wait("y once", *words)

    def type(self, text: str) -> None:
        self._child.send(text.encode())

    def enter(self, text: str = "") -> None:
        self.type(text + "\r")

    def say(self, text: str) -> None:
        """Send a message once the input line is there."""
        self.wait("\n>")
        self.enter(text)

    def paste(self, text: str) -> None:
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        self._child.setwinsize(rows, columns)

    def leave(self) -> int:
        """Ctrl-D on an empty line; the exit code."""
        self.type("\x04")
        return self.ended()

    def ended(self) -> int:
        end = time.monotonic() + PATIENCE
        while self.read(0.05) and time.monotonic() < end:
            pass
        self._child.close()
        return int(self._child.exitstatus if self._child.exitstatus is not None else -(self._child.signalstatus or 0))

    def close(self) -> None:
        self._child.close(force=True)


class Home:
    """A person's folders and a workspace, apart from everything else on this machine."""

    def __init__(self, root: Path) -> None:
        self.config, self.state, self.work = root / "config", root / "state", root / "work"
        self.work.mkdir()
        self._root = root
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "ANTHROPIC_", "GIT_"))},
            "HITL_CONFIG_DIR": str(self.config),
            "HITL_STATE_DIR": str(self.state),
            "HOME": str(root),
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
        }
        self.env.pop("NO_COLOR", None)

    def script(self, text: str) -> list[str]:
        """The options that make `text` (turns of a script) the model."""
        file = self._root / "script.toml"
        file.write_text("format = 1\n" + text)
        return ["--model", f"script:{file}"]

    def hitl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another process of the program, without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "hitl_cli", *arguments],
            cwd=self.work, env=self.env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
        )  # fmt: skip

    @property
    def rules(self) -> str:
        file = self.config / "rules.toml"
        return file.read_text() if file.exists() else ""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def terminal(home: Home) -> Iterator[Callable[..., Terminal]]:
    """`terminal(*arguments, columns=80, rows=24)` opens a window; all are closed at the end."""
    opened: list[Terminal] = []

    def open_window(*arguments: str, columns: int = 80, rows: int = 24, **env: str) -> Terminal:
        window = Terminal(list(arguments), home.work, {**home.env, **env}, columns, rows)
        opened.append(window)
        return window

    yield open_window
    for window in opened:
        window.close()
