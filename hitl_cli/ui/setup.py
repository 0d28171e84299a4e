"""All that the REPL is given by the command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from hitl_cli.journal import Settings, Who
from hitl_cli.paths import Paths, locate
from hitl_cli.records import Struct, field
from hitl_cli.ui.wording import questions

if TYPE_CHECKING:
    from hitl_cli import config
    from hitl_cli.access import Place
    from hitl_cli.agent import Agent
    from hitl_cli.store import Store
    from hitl_cli.tools.jobs import Jobs


class Workshop(Protocol):
    """Where agents for sessions in this place are made. Its first use loads all that an agent stands on."""

    @property
    def jobs(self) -> Jobs:
        """What the tools left running in the background."""

    def agent(self, settings: Settings, breaks: Sequence[str]) -> Agent:
        """With `breaks` such as "before:tool"; asked again when the model, folders or breakpoints change."""

    async def connect(self, agent: Agent) -> Sequence[str]:
        """Let further tools (servers) join an agent; what is wrong with those that cannot."""

    async def close(self) -> None:
        """End what was left running."""


class Setup(Struct):
    """
    settings    what a new session starts with, or what the reopened one goes on with
    session     the session to reopen, None for a new one
    message     what to send first
    notices     lines to show at the start
    scopes      where a rule can be kept: scope -> its file in words
    environ     the variables that other windows have, None for those of this process
    kept        the store outlives the REPL
    """

    workshop: Workshop
    settings: Settings
    store: Store
    paths: Paths
    place: Place
    config: config.Settings
    breaks: Sequence[str] = ()
    session: str | None = None
    message: str | None = None
    notices: Sequence[str] = ()
    scopes: Mapping[str, str] = field(default_factory=lambda: {"session": "this session alone"})
    who: Who = field(default_factory=lambda: Who("person"))
    colour: bool = True
    environ: Mapping[str, str] | None = None
    kept: bool = True

    def command(self, words: str) -> str:
        """`hitl WORDS` so that it finds this store, this configuration and this state when it is typed in another window."""
        environ = os.environ if self.environ is None else self.environ
        here, there = self.paths, locate(environ)
        folders = {"HITL_CONFIG_DIR": (here.config, there.config), "HITL_STATE_DIR": (here.state, there.state)}
        set_ = [f"{name}={shlex.quote(str(ours))}" for name, (ours, theirs) in folders.items() if ours != theirs]
        store = os.path.abspath(str(getattr(self.store, "path", "")))
        found = store == os.path.abspath(environ.get("HITL_STORE") or here.store)
        return " ".join([*set_, "hitl", words, *([] if found else ["--store", shlex.quote(store)])])

    def farewell(self, session: str | None, waiting: int) -> list[str]:
        """The last lines: how to go on with what is kept."""
        lines = []
        if session and self.kept:
            lines.append(f"Session {session} is kept. Reopen it: {self.command(f'resume {session}')}")
        if waiting and self.kept:
            lines.append(f"{questions(waiting)} waiting: {self.command('pending')}")
        return lines
