"""A scratch folder, the tools in it, and a session that remembers what they returned."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hitl_cli.access import Place
from hitl_cli.journal import Recorded, Result, Returned
from hitl_cli.tooldef import Tool
from hitl_cli.tools import Jobs, builtin


@dataclass
class Session:
    """The context of a body, and a driver that keeps what it returned in the history."""

    place: Place
    outputs: Path
    tools: dict[str, Tool] = field(default_factory=dict)
    session: str = "2f9c"
    call: str = "1.1.0"
    key: str = "k"
    state: dict[str, Any] = field(default_factory=dict)
    context: Any = None
    approved: bool = True
    history: list[Recorded] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    on_progress: Callable[[str], None] | None = None
    calls: int = 0

    def ask(self, question: Any, type: Any = str, key: str | None = None) -> Any:
        raise AssertionError("built-in tools never ask from inside")

    def needs_approval(self, reason: str) -> None:
        raise AssertionError("built-in tools never ask from inside")

    def progress(self, text: str) -> None:
        self.shown.append(text)
        if self.on_progress:
            self.on_progress(text)

    async def arun(self, name: str, **input: Any) -> Result:
        tool = self.tools[name]
        input = {key.replace("dash_", "-"): value for key, value in input.items()}
        jsonschema.validate(input, tool.schema)
        self.calls += 1
        self.call = f"1.1.{self.calls}"
        assert tool.run is not None
        outcome = tool.run(input, self)
        result = await outcome if inspect.isawaitable(outcome) else outcome
        self.history.append(Recorded(len(self.history) + 1, 0.0, Returned(self.call, result)))
        return result

    def run(self, name: str, **input: Any) -> Result:
        return asyncio.run(self.arun(name, **input))

    def text(self, name: str, **input: Any) -> str:
        result = self.run(name, **input)
        assert isinstance(result.content, str)
        return result.content


def make(tmp_path: Path, **options: Any) -> Session:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    place = Place(cwd=str(work), roots=(str(work),), home=str(tmp_path / "home"))
    session = Session(place, tmp_path / "state" / "outputs")
    jobs = options.pop("jobs", None) or Jobs()
    session.tools = {tool.name: tool for tool in builtin(place, session.outputs, jobs=jobs, **options)}
    return session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return make(tmp_path)


@pytest.fixture
def work(session: Session) -> Path:
    return Path(session.place.cwd)


@pytest.fixture
def new_session(tmp_path: Path) -> Callable[..., Session]:
    return lambda **options: make(tmp_path, **options)
