"""An agent and all that it stands on, put together from what was typed, set and stored.

What can be refused is refused while it is put together: folders, settings, rules, session, model. What the agent itself is
made of takes longer to load than all of that, so it is loaded when the first agent is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_cli import config, rulebook
from hitl_cli.access import Place
from hitl_cli.cli import settle, streams
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import ModelError, UsageError
from hitl_cli.journal import Call, Changed, Grant, Settings, Who
from hitl_cli.models import open_model, unless_priced
from hitl_cli.paths import Paths, locate, place_for, project_of
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.records import Struct, dump, field
from hitl_cli.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from hitl_cli.agent import Agent
    from hitl_cli.mcp import Servers
    from hitl_cli.responders import Responder
    from hitl_cli.tooldef import Tool
    from hitl_cli.tools.jobs import Jobs
    from hitl_cli.ui.setup import Setup


class Assembly(Struct):
    """`session` is the one to continue, None for a new one; `notices` are lines a person should see at the start.

    `anew`: flags were given for a session that is continued, so `settings` are not those it is stored with.
    """

    store: SqliteStore
    paths: Paths
    place: Place
    config: config.Settings
    settings: Settings
    book: rulebook.Rulebook
    breaks: tuple[str, ...]
    who: Who
    session: str | None = None
    responder: Responder | None = None
    anew: bool = False
    notices: list[str] = field(default_factory=list)
    external: Sequence[Tool] = ()
    servers: Servers | None = None
    kept: Callable[[list[Rule]], None] = lambda rules: None  # told of rules that were written down
    running: Jobs | None = None  # `jobs`, once there may be any

    @property
    def jobs(self) -> Jobs:
        """What its agents leave running in the background."""
        if self.running is None:
            from hitl_cli.tools.jobs import Jobs

            self.running = Jobs()
        return self.running

    def agent(self, settings: Settings | None = None, breaks: Sequence[str] | None = None) -> Agent:
        """An agent for sessions in this place; `settings` and `breaks` in place of those at the start."""
        from hitl_cli import instructions
        from hitl_cli.accesses import reading
        from hitl_cli.agent import Agent
        from hitl_cli.tools import builtin

        settings = settings or self.settings
        place = place_for(settings.cwd, settings.add_dirs, self.paths)
        self.book = rulebook.load(place, self.paths)  # rules may have changed since
        breaks = self.breaks if breaks is None else breaks
        tools = [
            *builtin(
                place,
                self.paths.outputs,
                jobs=self.jobs,
                readable=reading(lambda: self.book.policy),
                private_host=self._names_host,
            ),
            *self.external,
        ]
        return Agent(
            open_model(settings.model, cwd=Path(settings.cwd)),
            tools,
            instructions=instructions.gather(place, self.paths).text,
            mode=settings.mode,
            rules=self.book.policy,
            place=place,
            break_before=[b.removeprefix("before:") for b in breaks if b.startswith("before:")],
            break_after=[b.removeprefix("after:") for b in breaks if b.startswith("after:")],
            store=self.store,
            responder=self.responder,
            expires=self.config.expires,
            save_rules=self.save,
            who=self.who,
            settings=settings,
            project=project_of(place.workspace),
            outputs=str(self.paths.outputs),
        )

    def save(self, grants: Sequence[Grant], call: Call) -> None:
        """Write accepted rules to their files; raises what `rulebook.add` raises."""
        kept = [
            rulebook.add(rulebook.granted(grant), grant.scope, self.place, self.paths)
            for grant in grants
            if grant.scope != "session"
        ]
        self.kept(kept)

    def keep_flags(self) -> None:
        """Flags given for a session that is continued hold from now on. SessionBusy while another process runs it."""
        if self.anew and self.session:
            from hitl_cli import sessions

            sessions.change(self.store, self.session, Changed("settings", dump(self.settings), Who("flag")))
            self.anew = False

    def require_model(self) -> None:
        """UsageError, before anything is begun, when the model cannot be held to the limits or its service would want a
        key and there is none."""
        model = open_model(self.settings.model, cwd=Path(self.settings.cwd))
        unless_priced(model, self.settings.max_cost)
        try:
            getattr(model, "require_key", lambda: None)()
        except ModelError as error:
            raise UsageError(str(error)) from None

    async def connect(self, agent: Agent) -> tuple[str, ...]:
        """Let the servers' tools join the agent's; what is wrong with those that cannot be reached."""
        if self.servers is None:
            return ()
        tools, problems = await self.servers.connect()
        agent.tools.update({tool.name: tool for tool in tools})
        return problems

    def setup(self, message: str | None, *, colour: bool) -> Setup:
        """What the REPL is given."""
        from hitl_cli.ui.setup import Setup

        return Setup(
            self,
            self.settings,
            self.store,
            self.paths,
            self.place,
            self.config,
            breaks=self.breaks,
            session=self.session,
            message=message,
            notices=tuple(self.notices),
            scopes={
                "session": "this session alone",
                "project": str(rulebook.file_of("project", self.place, self.paths)),
                "user": str(rulebook.file_of("user", self.place, self.paths)),
            },
            who=self.who,
            colour=colour,
        )

    async def close(self) -> None:
        if self.running:
            await self.running.close()
        if self.servers:
            await self.servers.close()

    def _names_host(self, host: str) -> bool:
        named = {f"domain:{host}"}
        return any(
            r.tool == "WebFetch" and r.decision is Decision.ALLOW and r.pattern in named for r in self.book.rules
        )


def assemble(
    turn: Turn,
    *,
    session: str | None = None,
    newest: bool = False,
    responder: Responder | None = None,
    who: Who | None = None,
) -> Assembly:
    """Everything for one session. Raises the errors of whatever cannot be used; nothing is changed then."""
    paths = locate()
    store = SqliteStore(turn.store or os.environ.get("HITL_STORE") or paths.store)
    if newest:
        session = settle.newest(store)
    began: Settings | None = None
    if session is not None:
        from hitl_cli.sessions import settings_of

        session = store.find(session)
        began = settings_of(store.read(session))
    place = settle.place(turn, began, paths, session)
    state = rulebook.trust_state(place, paths)
    resolved = config.resolve(
        settle.flags(turn, place), os.environ, {"user": paths.user_config, "repository": state.file}, state.trusted
    )
    if resolved.add_dirs and not place.roots[1:]:
        dirs = [os.path.join(place.workspace, os.path.expanduser(folder)) for folder in resolved.add_dirs]
        place = place_for(place.cwd, dirs, paths)
    book = rulebook.load(place, paths)
    settings = settle.settings(turn, resolved, began, place)
    notices = [f"{book.untrusted} is not trusted, so what it would allow does not count: hitl trust"]
    return Assembly(
        store,
        paths,
        place,
        resolved,
        settings,
        book,
        tuple(turn.break_),
        who or Who("person", streams.seat()),
        session,
        responder,
        anew=began is not None and settings != began and settle.settings(Turn(), resolved, began, place) != settings,
        notices=notices if book.untrusted else [],
        external=_external(resolved),
        servers=_servers(resolved, place, paths),
    )


def _external(resolved: config.Settings) -> Sequence[Tool]:
    if not resolved.tools:
        return ()
    from hitl_cli.tools.external import external_from_settings

    return external_from_settings(resolved.tools, file=str(resolved.origins.get("tools", "")))


def _servers(resolved: config.Settings, place: Place, paths: Paths) -> Servers | None:
    """The servers of the settings, not yet connected."""
    if not resolved.mcp:
        return None
    from hitl_cli.mcp import Servers, servers_from_settings

    servers = servers_from_settings(resolved.mcp, os.environ, file=str(resolved.origins.get("mcp", "")))
    return Servers(servers, place, paths.outputs)
