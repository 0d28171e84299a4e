"""What a person does outside hitl for a moment: `$EDITOR` on a text, and a command of their own with `!`.

Both own the terminal while they last. A command runs on a terminal of its own between us and the person's, so that pagers,
password prompts and Ctrl-C work as ever, while what it prints is also kept for the model to read with the next message.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import shlex
import subprocess
import sys
import tempfile
import termios
import tty
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hitl_cli.store import Head
from hitl_cli.ui.clean import clean
from hitl_cli.ui.picker import pick
from hitl_cli.ui.terminal import Paper

KEPT = 30_000  # characters of a command's output that the model is shown
NO_COMMAND = "Write the command behind the mark: !git status"


class Errands:
    """Each takes the terminal from the REPL for as long as it lasts."""

    def __init__(self, paper: Paper, cwd: str) -> None:
        self._paper, self._cwd = paper, cwd

    async def edit(self, text: str, suffix: str) -> str | None:
        async with self._paper.lent():
            return await asyncio.to_thread(edit_text, text, suffix)

    async def run(self, command: str) -> tuple[int, str]:
        async with self._paper.lent():
            return await asyncio.to_thread(run_command, command, self._cwd)

    async def pick(self, heads: Sequence[Head]) -> str | None:
        async with self._paper.lent():
            return await pick(heads, self._paper.output, self._paper.colour)


def edit_text(text: str, suffix: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """`text` as the person left it in `$VISUAL` or `$EDITOR`; None when the editor failed or could not be started."""
    editor = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="hitl-") as folder:
        file = Path(folder, "text" + suffix)
        file.write_text(text, encoding="utf-8", errors="surrogateescape")
        try:
            done = subprocess.run([*shlex.split(editor), str(file)], check=False)
        except (OSError, ValueError):
            return None
        if done.returncode:
            return None
        edited = file.read_text(encoding="utf-8", errors="replace")
    return edited if text.endswith("\n") else edited.removesuffix("\n")


def run_command(command: str, cwd: str) -> tuple[int, str]:
    """Run `command` as the person in `cwd`; its exit code and what it printed, clean and capped."""
    master, slave = os.openpty()
    _copy_size(slave)
    process = subprocess.Popen(
        [os.environ.get("SHELL") or "/bin/sh", "-c", command],
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        # A new session has no terminal; opening the slave by its name makes it this one's.
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
    )
    os.close(slave)
    try:
        printed = _between(process, master)
    finally:
        os.close(master)
    text = clean(printed.decode("utf-8", "replace").replace("\r\n", "\n")).strip("\n")
    if len(text) > KEPT:
        text = f"{text[: KEPT // 2]}\n[… {len(text) - KEPT} characters left out …]\n{text[-KEPT // 2 :]}"
    return process.wait(), text


def _between(process: subprocess.Popen[bytes], master: int) -> bytes:
    """Carry keys to the command and its output to the screen until it is over; the output."""
    keys = sys.stdin.fileno()
    settings = termios.tcgetattr(keys)
    tty.setraw(keys, termios.TCSADRAIN)
    kept: list[bytes] = []
    try:
        size = b""
        while True:
            size = _copy_size(master, size)
            ready, _, _ = select.select([master, keys], [], [], 0.1)
            if master in ready:
                piece = b""
                with suppress(OSError):  # Linux says EIO where others say end of file
                    piece = os.read(master, 65536)
                if not piece:
                    break
                os.write(sys.stdout.fileno(), piece)
                kept.append(piece)
            elif process.poll() is not None:
                break  # a background child of it may keep the terminal open for ever
            if keys in ready:
                os.write(master, os.read(keys, 4096))
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, settings)
    return b"".join(kept)


def _copy_size(target: int, known: bytes = b"") -> bytes:
    """Give `target` the size of the person's terminal when it is not the `known` one; the size."""
    size = known
    with suppress(OSError):
        size = fcntl.ioctl(sys.stdin.fileno(), termios.TIOCGWINSZ, bytes(8))
        if size != known:
            fcntl.ioctl(target, termios.TIOCSWINSZ, size)
    return size


def told(command: str, code: int, output: str) -> str:
    """How the model is told about a command that the person ran."""
    return f"I ran a command myself:\n$ {command}\n{output or '(no output)'}\n(exit code {code})\n"
