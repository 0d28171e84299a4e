"""An agent and all that it stands on, put together from what was typed, set and stored.

What a session was started with (model, mode, flag rules, folders, limits) is in its journal and holds when the session
is continued from elsewhere, unless a flag says otherwise; mode bypass is never restored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_cli import config, instructions, records, rulebook, sessions
from hitl_cli.access import Place
from hitl_cli.agent import Agent
from hitl_cli.cli import streams
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import ModelError, UsageError
from hitl_cli.journal import Began, Call, Changed, Grant, Settings, Who
from hitl_cli.loop import refusals
from hitl_cli.mcp import Servers, servers_from_settings
from hitl_cli.models import DEFAULT, open_model
from hitl_cli.paths import Paths, locate, place_for, project_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.records import Struct, field, replace
from hitl_cli.responders import Responder
from hitl_cli.store.sqlite import SqliteStore
from hitl_cli.times import duration
from hitl_cli.tools import Jobs, builtin
from hitl_cli.tools.external import external_from_settings

if TYPE_CHECKING:
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
    jobs: Jobs = field(default_factory=Jobs)
    servers: Servers | None = None
    kept: Callable[[list[Rule]], None] = lambda rules: None  # told of rules that were written down

    def agent(self, settings: Settings | None = None, breaks: Sequence[str] | None = None) -> Agent:
        """An agent for sessions in this place; `settings` and `breaks` in place of those at the start."""
        settings = settings or self.settings
        place = place_for(settings.cwd, settings.add_dirs, self.paths)
        self.book = rulebook.load(place, self.paths)  # rules may have changed since
        breaks = self.breaks if breaks is None else breaks
        tools = [
            *builtin(
                place,
                self.paths.outputs,
                jobs=self.jobs,
                readable=lambda path: self.book.policy.readable(path, os.path.realpath(path), now=_now()),
                private_host=self._names_host,
            ),
            *external_from_settings(self.config.tools, file=str(self.config.origins.get("tools", ""))),
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
            sessions.change(self.store, self.session, Changed("settings", records.dump(self.settings), Who("flag")))
            self.anew = False

    def require_model(self) -> None:
        """UsageError, before anything is begun, when the model cannot be held to the limits or its service would want a
        key and there is none."""
        model = open_model(self.settings.model, cwd=Path(self.settings.cwd))
        refusals.unless_priced(model, self.settings)
        try:
            getattr(model, "require_key", lambda: None)()
        except ModelError as error:
            raise UsageError(str(error)) from None

    async def connect(self, agent: Agent) -> tuple[str, ...]:
        """Let the servers' tools join the agent's; what is wrong with those that cannot be reached."""
        if not self.config.mcp:
            return ()
        if self.servers is None:
            origin = str(self.config.origins.get("mcp", ""))
            self.servers = Servers(
                servers_from_settings(self.config.mcp, os.environ, file=origin), self.place, self.paths.outputs
            )
        tools, problems = await self.servers.connect()
        agent.tools.update({tool.name: tool for tool in tools})
        return problems

    def setup(self, message: str | None, *, colour: bool) -> Setup:
        """What the REPL is given."""
        from hitl_cli.ui.setup import Setup

        return Setup(
            self.agent,
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
            connect=self.connect,
            jobs=self.jobs,
            close=self.close,
        )

    async def close(self) -> None:
        await self.jobs.close()
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
        session = _newest(store)
    began: Settings | None = None
    if session is not None:
        session = store.find(session)
        began = stored(store, session)
    place = _place(turn, began, paths, session)
    state = rulebook.trust_state(place, paths)
    resolved = config.resolve(
        _flags(turn, place), os.environ, {"user": paths.user_config, "repository": state.file}, state.trusted
    )
    if resolved.add_dirs and not place.roots[1:]:
        dirs = [os.path.join(place.workspace, os.path.expanduser(folder)) for folder in resolved.add_dirs]
        place = place_for(place.cwd, dirs, paths)
    book = rulebook.load(place, paths)
    settings = _settings(turn, resolved, began, place)
    assembly = Assembly(
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
        anew=began is not None and settings != began and _settings(Turn(), resolved, began, place) != settings,
    )
    if book.untrusted:
        assembly.notices.append(f"{book.untrusted} is not trusted, so what it would allow does not count: hitl trust")
    return assembly


def _place(turn: Turn, began: Settings | None, paths: Paths, session: str | None) -> Place:
    add_dirs = tuple(turn.add_dir) or (began.add_dirs if began else ())
    try:
        place = place_for(began.cwd if began else here(), add_dirs, paths)
        "".join((place.cwd, *place.roots)).encode()
        return place
    except UnicodeEncodeError:
        raise UsageError("The name of this folder is not UTF-8 text.\n  Rename it, or work in another one.") from None
    except UsageError as error:
        if session is None:
            raise
        raise UsageError(f"Session {session} cannot go on: {error}\n  What waits in it is kept.") from None


def here() -> str:
    """The current folder; UsageError when it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UsageError("The current folder is gone.\n  Change to one that exists.") from None


def _flags(turn: Turn, place: Place) -> dict[str, Any]:
    return {
        "model": turn.model,
        "mode": turn.mode,
        "max_steps": turn.max_steps,
        "max_tokens": turn.max_tokens,
        "max_cost": turn.max_cost,
        "expires": duration(turn.expires) if turn.expires else None,
        "add_dirs": place.roots[1:],
        "plain": turn.plain or None,
    }


def _settings(turn: Turn, resolved: config.Settings, began: Settings | None, place: Place) -> Settings:
    rules = tuple(
        Grant(decision, text)  # type: ignore[arg-type]
        for decision, texts in (("allow", turn.allow), ("ask", turn.ask), ("deny", turn.deny))
        for text in texts
    )
    for rule in rules:
        codec.parse(rule.rule, Decision[rule.decision.upper()])
    kept = began and began.mode != "bypass"
    return Settings(
        model=turn.model or (began.model if began else "") or resolved.model or DEFAULT,
        mode=turn.mode or (began.mode if began and kept else resolved.mode),
        cwd=place.cwd,
        add_dirs=place.roots[1:],
        rules=rules or (began.rules if began else ()),
        max_steps=turn.max_steps or (began.max_steps if began else resolved.max_steps),
        max_tokens=turn.max_tokens or (began.max_tokens if began else resolved.max_tokens),
        max_cost=turn.max_cost or (began.max_cost if began else resolved.max_cost),
    )


def stored(store: SqliteStore, session: str) -> Settings | None:
    """What the session's latest turn was started with, its mode and model as changed since; None before a first turn."""
    found: Settings | None = None
    for record in store.read(session):
        match record.entry:
            case Began(settings=settings):
                found = settings
            case Changed(what="settings", value=value):
                found = records.load(Settings, value)
            case Changed(what="mode" | "model" as what, value=value) if found:
                found = replace(found, **{what: value})
    return found


def _newest(store: SqliteStore) -> str:
    heads = store.heads(cwd=here(), limit=1)
    if not heads:
        raise UsageError(f"There is no session in {here()} yet.\n  `hitl sessions list` shows those of other folders.")
    return heads[0].session


def _now() -> float:
    import time

    return time.time()
