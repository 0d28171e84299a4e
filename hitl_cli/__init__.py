"""hitl: an agent that acts only as far as people let it, as a terminal program and as a library.

The house has six floors, and imports only point down:

    0  errors, access, shell, permissions     what a call would touch, and whether that may be; pure
    1  records, journal, interrupts           what happened, what waits, what may be said to it; pure
    2  schema, tool, answers, state, steps,   how a tool is declared; whether an answer fits; a session as the fold of its
       texts, transcript, usertools           journal, and from it what comes next and what the model sees; pure
    3  tools, models, mcp, store, rulebook    the world: files and commands, models, servers, disks
    4  agent, loop, middleware, policies,     the loop: take a step, do it, record it, show it; code around it that asks
       responders, sessions, …                by replay; answers through their one door
    5  ui, cli                                the terminal

The library in five lines:

    agent = Agent(open_model("script:story.toml"), [deploy], instructions="Be brief.")
    run = agent.sync.run("Deploy the site")
    while isinstance(run, Suspended):
        run = agent.sync.resume(run.session, {i.id: approve() for i in run.pending})
    print(run.unwrap().text)

Every public name below is loaded when it is first used, so `import hitl_cli` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing typing would take longer than `hitl --version` in all

_HOMES = {
    "agent": "Agent",
    "outcome": "Run Completed Suspended Blocked Stopped NotCompleted RunEnded ToolOutput Snapshot",
    "interrupts": "Approval Question External Review Breakpoint Field Choice Suggestion Preview Interrupt Answer "
    "approve edit reject reply result proceed",
    "answers": "check",
    "tool": "Tool Context tool gate external_tool",
    "usertools": "user_tools",
    "middleware": "Middleware Block guardrail_review",
    "policies": "always never once",
    "responders": "Responder deny_all park",
    "texts": "Texts",
    "journal": "Call Result Grant Who Usage Changed Recorded Settings",
    "models": "open_model Request ModelReply TextDelta",
    "permissions.rule": "Rule Decision",
    "permissions.policy": "Policy",
    "access": "Place",
    "store.sqlite": "SqliteStore",
    "store.memory": "MemoryStore",
    "errors": "HitlError SessionPending SessionBusy Unfinished NotSuspended NothingToRecover InvalidAnswers UnknownStep "
    "StateTooNew Incompatible AskSwallowed ModelError ModelUnavailable StoreError StaleLease UnknownSession",
}
_NAMES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_NAMES)

if TYPE_CHECKING:
    from typing import Any

    from hitl_cli.agent import Agent as Agent
    from hitl_cli.interrupts import approve as approve
    from hitl_cli.interrupts import edit as edit
    from hitl_cli.interrupts import proceed as proceed
    from hitl_cli.interrupts import reject as reject
    from hitl_cli.interrupts import reply as reply
    from hitl_cli.interrupts import result as result
    from hitl_cli.tool import Context as Context
    from hitl_cli.tool import tool as tool


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"hitl_cli has no {name!r}")
    value = getattr(import_module(f"hitl_cli.{_NAMES[name]}"), name)
    return globals().setdefault(name, value)  # `tool` is there by now: the module, which decorates as well


def __dir__() -> list[str]:
    return __all__
