"""hitl: an agent that acts only as far as people let it, as a terminal program and as a library.

The house has six floors, and imports only point down:

    0  errors, access, shell, permissions     what a call would touch, and whether that may be; pure
    1  records, journal, interrupts           what happened, what waits, what may be said to it; pure
    2  schema, tooldef, answers, state,       how a tool is declared; whether an answer fits; a session as the fold of its
       steps, texts, transcript, usertools    journal, and from it what comes next and what the model sees; pure
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

TYPE_CHECKING = False  # importing typing would take longer than `hitl --version` in all

_HOMES = {
    "agent": "Agent",
    "outcome": "Run Completed Suspended Blocked Stopped NotCompleted RunEnded ToolOutput Snapshot",
    "interrupts": "Approval Question External Review Breakpoint Field Choice Suggestion Preview Interrupt Answer "
    "approve edit reject reply result proceed",
    "answers": "check",
    "tooldef": "Tool Context tool gate external_tool",
    "usertools": "user_tools",
    "middleware": "Middleware Block guardrail_review",
    "policies": "always never once dump_policies load_policies",
    "responders": "Responder deny_all park",
    "texts": "Texts",
    "ui.plain": "PlainConsole RichConsole",
    "journal": "Call Result Grant Who Usage Changed Recorded Settings ModelReply",
    "models": "open_model Request TextDelta",
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

    from hitl_cli.access import Place as Place
    from hitl_cli.agent import Agent as Agent
    from hitl_cli.answers import check as check
    from hitl_cli.errors import AskSwallowed as AskSwallowed
    from hitl_cli.errors import HitlError as HitlError
    from hitl_cli.errors import Incompatible as Incompatible
    from hitl_cli.errors import InvalidAnswers as InvalidAnswers
    from hitl_cli.errors import ModelError as ModelError
    from hitl_cli.errors import ModelUnavailable as ModelUnavailable
    from hitl_cli.errors import NothingToRecover as NothingToRecover
    from hitl_cli.errors import NotSuspended as NotSuspended
    from hitl_cli.errors import SessionBusy as SessionBusy
    from hitl_cli.errors import SessionPending as SessionPending
    from hitl_cli.errors import StaleLease as StaleLease
    from hitl_cli.errors import StateTooNew as StateTooNew
    from hitl_cli.errors import StoreError as StoreError
    from hitl_cli.errors import Unfinished as Unfinished
    from hitl_cli.errors import UnknownSession as UnknownSession
    from hitl_cli.errors import UnknownStep as UnknownStep
    from hitl_cli.interrupts import Answer as Answer
    from hitl_cli.interrupts import Approval as Approval
    from hitl_cli.interrupts import Breakpoint as Breakpoint
    from hitl_cli.interrupts import Choice as Choice
    from hitl_cli.interrupts import External as External
    from hitl_cli.interrupts import Field as Field
    from hitl_cli.interrupts import Interrupt as Interrupt
    from hitl_cli.interrupts import Preview as Preview
    from hitl_cli.interrupts import Question as Question
    from hitl_cli.interrupts import Review as Review
    from hitl_cli.interrupts import Suggestion as Suggestion
    from hitl_cli.interrupts import approve as approve
    from hitl_cli.interrupts import edit as edit
    from hitl_cli.interrupts import proceed as proceed
    from hitl_cli.interrupts import reject as reject
    from hitl_cli.interrupts import reply as reply
    from hitl_cli.interrupts import result as result
    from hitl_cli.journal import Call as Call
    from hitl_cli.journal import Changed as Changed
    from hitl_cli.journal import Grant as Grant
    from hitl_cli.journal import ModelReply as ModelReply
    from hitl_cli.journal import Recorded as Recorded
    from hitl_cli.journal import Result as Result
    from hitl_cli.journal import Settings as Settings
    from hitl_cli.journal import Usage as Usage
    from hitl_cli.journal import Who as Who
    from hitl_cli.middleware import Block as Block
    from hitl_cli.middleware import Middleware as Middleware
    from hitl_cli.middleware import guardrail_review as guardrail_review
    from hitl_cli.models import Request as Request
    from hitl_cli.models import TextDelta as TextDelta
    from hitl_cli.models import open_model as open_model
    from hitl_cli.outcome import Blocked as Blocked
    from hitl_cli.outcome import Completed as Completed
    from hitl_cli.outcome import NotCompleted as NotCompleted
    from hitl_cli.outcome import Run as Run
    from hitl_cli.outcome import RunEnded as RunEnded
    from hitl_cli.outcome import Snapshot as Snapshot
    from hitl_cli.outcome import Stopped as Stopped
    from hitl_cli.outcome import Suspended as Suspended
    from hitl_cli.outcome import ToolOutput as ToolOutput
    from hitl_cli.permissions.policy import Policy as Policy
    from hitl_cli.permissions.rule import Decision as Decision
    from hitl_cli.permissions.rule import Rule as Rule
    from hitl_cli.policies import always as always
    from hitl_cli.policies import dump_policies as dump_policies
    from hitl_cli.policies import load_policies as load_policies
    from hitl_cli.policies import never as never
    from hitl_cli.policies import once as once
    from hitl_cli.responders import Responder as Responder
    from hitl_cli.responders import deny_all as deny_all
    from hitl_cli.responders import park as park
    from hitl_cli.store.memory import MemoryStore as MemoryStore
    from hitl_cli.store.sqlite import SqliteStore as SqliteStore
    from hitl_cli.texts import Texts as Texts
    from hitl_cli.tooldef import Context as Context
    from hitl_cli.tooldef import Tool as Tool
    from hitl_cli.tooldef import external_tool as external_tool
    from hitl_cli.tooldef import gate as gate
    from hitl_cli.tooldef import tool as tool
    from hitl_cli.ui.plain import PlainConsole as PlainConsole
    from hitl_cli.ui.plain import RichConsole as RichConsole
    from hitl_cli.usertools import user_tools as user_tools


def __getattr__(name: str) -> "Any":
    if name not in _NAMES:
        raise AttributeError(f"hitl_cli has no {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"hitl_cli.{_NAMES[name]}"), name)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return __all__
