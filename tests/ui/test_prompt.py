"""The prompt before there is a conversation behind it: what is typed is kept, and what goes wrong is said."""

from __future__ import annotations

import asyncio
import io
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import create_pipe_input

from hitl_cli import config
from hitl_cli.access import Place
from hitl_cli.errors import SettingsError
from hitl_cli.journal import Settings
from hitl_cli.paths import Paths
from hitl_cli.ui.prompt import Prompt
from hitl_cli.ui.setup import Setup
from hitl_cli.ui.terminal import open_output


class Broken:
    """A workshop in which no agent can be made, and none until `typed` is there."""

    jobs: Any = None
    closed = False

    def __init__(self) -> None:
        self.typed = threading.Event()

    def agent(self, settings: Any, breaks: Any) -> Any:
        self.typed.wait(20)
        raise SettingsError("the tool is wrong", file="config.toml")

    async def connect(self, agent: Any) -> Any:
        raise AssertionError("there is no agent")

    async def close(self) -> None:
        self.closed = True


def opened(keys: str, tmp_path: Path) -> tuple[str, Broken, BaseException | None]:
    """What is on the screen when a prompt is over in which `keys` were pressed, and how it ended."""
    workshop, screen = Broken(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    unset: Any = None
    place = Place(str(tmp_path), (str(tmp_path),), str(tmp_path), ())
    setup = Setup(
        workshop,
        Settings("claude-x", "default", str(tmp_path)),
        unset,
        Paths(tmp_path, tmp_path),
        place,
        config.Settings(),
        colour=False,
    )

    async def run(prompt: Prompt) -> None:
        task = asyncio.create_task(prompt.run())
        while keys and not (prompt.porter.kept or prompt.draft or task.done()):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        workshop.typed.set()
        await task

    failed: BaseException | None = None
    with create_pipe_input() as input:
        input.send_text(keys)
        try:
            asyncio.run(run(Prompt(setup, input, open_output(screen))))
        except SettingsError as error:
            failed = error
    screen.flush()
    shown = screen.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return re.sub(r"\x1b\[[\d;?]*\w", "", shown), workshop, failed


@pytest.mark.parametrize(
    ("keys", "unsent"), [("", []), ("hello\r", ["hello"]), ("one\rtwo\rthree", ["one", "two", "three"])]
)
def test_what_goes_wrong_ends_it_and_nothing_typed_is_lost(keys: str, unsent: list[str], tmp_path: Path) -> None:
    shown, workshop, failed = opened(keys, tmp_path)
    assert "/help for help" in shown
    assert isinstance(failed, SettingsError)
    assert [line.partition("Not sent: ")[2] for line in shown.splitlines() if "Not sent: " in line] == unsent
    assert workshop.closed


@pytest.mark.parametrize(("keys", "unsent"), [("\x03\x03", False), ("\x04", False), ("hello\r\x04", True)])
def test_a_person_may_leave_before_it_is_loaded(keys: str, unsent: bool, tmp_path: Path) -> None:
    shown, workshop, failed = opened(keys, tmp_path)
    assert failed is None
    assert workshop.closed
    assert ("Not sent: hello" in shown) is unsent
