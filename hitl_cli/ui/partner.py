"""Who answers: the agent of this conversation, what it was made with, and the rules it is held to.

Another model, folder or breakpoint means another agent; the session does not notice. Rules that were written meanwhile, by
this window or another, count from the next call on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hitl_cli import rulebook
from hitl_cli.access import Place
from hitl_cli.agent import Agent
from hitl_cli.journal import Settings
from hitl_cli.loop.context import tokens, tools_tokens
from hitl_cli.loop.modelstep import request_of
from hitl_cli.paths import MANAGED, Paths, project_of
from hitl_cli.records import replace
from hitl_cli.state import State
from hitl_cli.ui.setup import Setup

Seen = tuple[tuple[int, int], ...]  # time of change and inode of each rule file, zeros where there is none


class Partner:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.settings, self.breaks = setup.settings, tuple(setup.breaks)
        self.agent = setup.workshop.agent(self.settings, self.breaks)
        self._connected: Agent | None = None
        self._seen: Seen = ()
        self._fixed = 0, 0  # number of tools, and `fixed` with them

    @property
    def fixed(self) -> int:
        """An estimate of the tokens that every request holds: instructions and tools."""
        if self._fixed[0] != len(self.agent.tools):
            first = request_of(self.agent, State(), ())
            self._fixed = len(self.agent.tools), tokens(first.system) + tools_tokens(first.tools)
        return self._fixed[1]

    async def connect(self) -> Sequence[str]:
        """Let the servers' tools join the agent's, once; what is wrong with those that cannot be reached."""
        if self._connected is self.agent:
            return ()
        self._connected = self.agent
        return await self._setup.workshop.connect(self.agent)

    async def remake(self, settings: Settings, breaks: Sequence[str]) -> Sequence[str]:
        """An agent made anew; as `connect`. Raises HitlError, and then the old one stays."""
        agent = self._setup.workshop.agent(settings, tuple(breaks))
        await self.agent.model.close()
        self.agent, self.settings, self.breaks = agent, settings, tuple(breaks)
        self._seen, self._fixed = (), (0, 0)
        return await self.connect()

    def start_in(self, mode: str) -> None:
        """New sessions begin in this mode."""
        self.settings = replace(self.settings, mode=mode)
        self.agent.bench.mode = mode

    def renew_rules(self) -> None:
        """The rules as the files say them now, if one has changed. Raises RuleError: none is skipped."""
        seen = _look(self.agent.place, self._setup.paths)
        if seen != self._seen:
            policy = rulebook.load(self.agent.place, self._setup.paths).policy
            self.agent.bench.renew(policy)
            self._seen = seen


def _look(place: Place, paths: Paths) -> Seen:
    workspace = place.workspace
    own = (paths.user_config, paths.user_rules, paths.project_rules(project_of(workspace)), paths.trust)
    return tuple(_stamp(file) for file in (MANAGED, *own, Path(workspace, ".hitl", "config.toml")))


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_ino
