"""`hitl answer` and `hitl recover`: a waiting turn goes on from here, whoever started it.

The answers are checked whole before anything changes, and accepted once: whoever comes second is told what was decided
and by whom. Then the turn runs on in the session's folder, to its end or to the next question, unless that is declined.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hitl_cli.cli.options import Turn, moment, one_of, turn_options
from hitl_cli.errors import InvalidAnswers, NotSuspended, UsageError
from hitl_cli.times import to_come

if TYPE_CHECKING:
    from hitl_cli.agent import Agent
    from hitl_cli.cli.assemble import Assembly
    from hitl_cli.cli.watch import Events
    from hitl_cli.outcome import Snapshot

SCOPES = ("session", "project", "user")
Session = Annotated[str, typer.Argument(help="A session; the beginning of its id is enough.")]
Output = Annotated[
    str, typer.Option("--output", help="text, json, stream-json.", callback=one_of("text", "json", "stream-json"))
]


@turn_options
def answer(
    session: Session,
    interrupt: Annotated[str | None, typer.Argument(help="What to answer, when several requests wait.")] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Yes, as it was shown.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="No.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Why not; the model reads it.", metavar="TEXT")] = None,
    edit: Annotated[str | None, typer.Option("--edit", help="Yes, with this input.", metavar="JSON")] = None,
    reply: Annotated[
        str | None, typer.Option("--reply", help="To a question: JSON, or else a text.", metavar="VALUE")
    ] = None,
    result: Annotated[
        str | None, typer.Option("--result", help="What came of a call that ran elsewhere.", metavar="TEXT")
    ] = None,
    error: Annotated[bool, typer.Option("--error", help="With --result: it failed.")] = False,
    proceed: Annotated[bool, typer.Option("--proceed", help="To a breakpoint: go on.")] = False,
    rule: Annotated[list[str], typer.Option("--rule", help="A rule to keep with the answer.", metavar="RULE")] = [],  # noqa: B006 - typer reads it
    scope: Annotated[
        str | None, typer.Option("--scope", help=f"{', '.join(SCOPES)}; for the rules.", callback=one_of(*SCOPES))
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="8h, 7d or a date; for the rules.", metavar="TIME")
    ] = None,
    digest: Annotated[
        str | None, typer.Option("--digest", help="Only if the request is still this one.", metavar="D")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option("--answers", help="Several at once: {id: answer}; - is standard input.", metavar="FILE"),
    ] = None,
    no_continue: Annotated[bool, typer.Option("--no-continue", help="Only record the answer.")] = False,
    output: Output = "text",
    *,
    turn: Turn,
) -> int:
    """Answer what waits, from any terminal, once; the turn then goes on."""
    from hitl_cli.cli import assemble

    said = {
        "approve": approve or None,
        "edit": edit,
        "reject": reject or None,
        "reply": reply,
        "result": result,
        "proceed": proceed or None,
    }
    kinds = [kind for kind, value in said.items() if value is not None]
    if len(kinds) + (answers is not None) != 1:
        raise UsageError(
            "Give exactly one answer.\n"
            "  One of --approve, --reject, --edit, --reply, --result, --proceed, or --answers FILE."
        )
    if answers is None:
        plain = _plain(kinds[0], said[kinds[0]], reason, error, _rules(rule, kinds[0], scope, until))
    else:
        if reason or error or rule or scope or until or digest or interrupt:
            raise UsageError("--answers holds whole answers; --reason, --rule and the like go into the file.")
        plain = _read(answers)
    assembly = assemble.assemble(turn, session=session)
    return asyncio.run(
        _answer(assembly, turn, output, interrupt, digest, plain, whole=answers is not None, go_on=not no_continue)
    )


async def _answer(
    assembly: Assembly,
    turn: Turn,
    output: str,
    interrupt: str | None,
    digest: str | None,
    plain: Any,
    *,
    whole: bool,
    go_on: bool,
) -> int:
    from hitl_cli.cli import lines

    agent = assembly.agent()
    session = assembly.session or ""
    if not whole:
        snapshot = await agent.load(session)
        plain = {_the_one(snapshot, interrupt, digest): plain}
    try:
        given = lines.answers_of(plain)
    except ValueError as wrong:
        raise InvalidAnswers({"": str(wrong)}) from None
    if not go_on:
        await agent.answer(session, given)
        await agent.close()
        return 0
    return await _go_on(assembly, agent, turn, output, lambda: agent.stream_resume(session, given))


def _the_one(snapshot: Snapshot, id: str | None, digest: str | None) -> str:
    """The interrupt that is meant; the agent says what is wrong with one that does not wait."""
    if id is None:
        ids = ", ".join(i.id for i in snapshot.pending)
        if len(snapshot.pending) > 1:
            raise UsageError(f"{len(snapshot.pending)} requests wait in session {snapshot.session}: {ids}\n  Name one.")
        if not snapshot.pending:
            raise NotSuspended(
                f"Nothing waits in session {snapshot.session}.\n  `hitl pending` lists what waits anywhere."
            )
        id = snapshot.pending[0].id
    asked = next((i for i in snapshot.pending if i.id == id), None)
    if digest and asked and not getattr(asked, "digest", "").startswith(digest):
        raise InvalidAnswers({id: f"the request has changed; look at it again: hitl show {snapshot.session} {id}"})
    return id


@turn_options
def recover(session: Session, output: Output = "text", *, turn: Turn) -> int:
    """Go on after a crash; what may have run is asked about, never run again unasked."""
    from hitl_cli.cli import assemble

    assembly = assemble.assemble(turn, session=session)
    agent = assembly.agent()
    return asyncio.run(_go_on(assembly, agent, turn, output, lambda: agent.stream_recover(assembly.session or "")))


async def _go_on(assembly: Assembly, agent: Agent, turn: Turn, output: str, events: Events) -> int:
    from hitl_cli.cli.narrate import Narrator
    from hitl_cli.cli.watch import Watch

    narrator = Narrator(quiet=turn.quiet or output != "text", verbose=turn.verbose)
    async with Watch(assembly, agent, narrator, as_lines=output == "stream-json") as watch:
        return await watch.to_the_end(events, output, turn.store)


def _rules(rules: list[str], kind: str, scope: str | None, until: str | None) -> list[dict[str, Any]]:
    if (scope or until) and not rules:
        raise UsageError("--scope and --until say how far a rule holds.\n  Give the rule with --rule.")
    end = moment("--until", until, to_come) if until else None
    decision = "deny" if kind == "reject" else "allow"
    return [
        {"decision": decision, "rule": text, "scope": scope or "user", **({"until": end} if end else {})}
        for text in rules
    ]


def _plain(kind: str, value: Any, reason: str | None, error: bool, rules: list[dict[str, Any]]) -> dict[str, Any]:
    """One answer as plain JSON. Raises UsageError for options that do not belong to it."""
    if reason is not None and kind != "reject":
        raise UsageError("--reason belongs to --reject.")
    if error and kind != "result":
        raise UsageError("--error belongs to --result.")
    if rules and kind not in ("approve", "edit", "reject"):
        raise UsageError("--rule belongs to --approve, --edit and --reject.")
    kept = {"rules": rules} if rules else {}
    match kind:
        case "approve":
            return {"approve": kept}
        case "reject":
            return {"reject": {**({"reason": reason} if reason else {}), **kept}}
        case "edit":
            return {"edit": {"input": _object(value), **kept}}
        case "reply":
            return {"reply": {"value": _value(value)}}
        case "result":
            return {"result": {"output": value, **({"error": True} if error else {})}}
    return {"proceed": {}}


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as wrong:
        raise UsageError(f"--edit takes the whole new input as one JSON object: {wrong}.") from None
    if not isinstance(value, dict):
        raise UsageError("--edit takes the whole new input as one JSON object.")
    return value


def _value(text: str) -> Any:
    """A reply is JSON where it reads as JSON, else the text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read(source: str) -> Any:
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as wrong:
        raise UsageError(f"{source} cannot be read: {wrong.strerror}.") from None
    except ValueError as wrong:
        raise UsageError(
            f"{source} is not JSON: {wrong}.\n  It holds one object: an interrupt id and its answer each."
        ) from None
