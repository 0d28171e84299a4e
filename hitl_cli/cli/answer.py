"""`hitl answer` and `hitl recover`: a waiting turn goes on from here, whoever started it.

The answers are checked whole before anything changes, and accepted once: whoever comes second is told what was decided
and by whom. Then the turn runs on in the session's folder, to its end or to the next question, unless that is declined.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hitl_cli.cli import keeping
from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.options import Output, Session, json_object, moment, not_empty, one_of
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import InvalidAnswers, NotSuspended, SessionBusy, UsageError
from hitl_cli.interrupts import Interrupt, Question
from hitl_cli.journal import Answered
from hitl_cli.records import Struct, field
from hitl_cli.times import to_come
from hitl_cli.ui.clean import clean

if TYPE_CHECKING:
    from hitl_cli.agent import Agent
    from hitl_cli.interrupts import Answer
    from hitl_cli.outcome import Snapshot

SCOPES = ("session", "project", "user")


class Said(Struct, frozen=True):
    """The answer as it was typed: one of its kinds, and what belongs to some of them."""

    approve: Annotated[bool, Option("--approve", "Yes, as it was shown.")] = False
    reject: Annotated[bool, Option("--reject", "No.")] = False
    reason: Annotated[str | None, Option("--reason", "Why not; the model reads it.", metavar="TEXT")] = None
    edit: Annotated[str | None, Option("--edit", "Yes, with this whole input.", metavar="JSON")] = None
    reply: Annotated[str | None, Option("--reply", "To a question: JSON, or else a text.", metavar="VALUE")] = None
    result: Annotated[str | None, Option("--result", "What came of a call made elsewhere.", metavar="TEXT")] = None
    error: Annotated[bool, Option("--error", "With --result: it failed.")] = False
    proceed: Annotated[bool, Option("--proceed", "To a breakpoint: go on.")] = False
    answers: Annotated[
        str | None, Option("--answers", "Several at once: {id: answer}; - is standard input.", metavar="FILE")
    ] = None
    rule: Annotated[list[str], Option("--rule", "A rule to keep with the answer.", metavar="RULE")] = field(
        default_factory=list
    )
    scope: Annotated[
        str | None, Option("--scope", f"Of the rules: {', '.join(SCOPES)}.", check=one_of(*SCOPES), metavar="SCOPE")
    ] = None
    until: Annotated[str | None, Option("--until", "Of the rules: 8h, 7d or a date.", metavar="TIME")] = None
    digest: Annotated[
        str | None, Option("--digest", "Only if the request is still this one.", check=not_empty, metavar="D")
    ] = None

    def plain(self) -> Any:
        """One answer as plain JSON, or with `--answers` a whole set. UsageError for what does not belong together."""
        given = {k: getattr(self, k) for k in ("approve", "reject", "edit", "reply", "result", "proceed")}
        kinds = [kind for kind, value in given.items() if value is not None and value is not False]
        if len(kinds) + (self.answers is not None) != 1:
            raise UsageError(
                "Give exactly one answer.\n"
                "  One of --approve, --reject, --edit, --reply, --result, --proceed, or --answers FILE."
            )
        if self.answers is not None:
            if self.error or self.rule or {self.reason, self.scope, self.until, self.digest} != {None}:
                raise UsageError("--answers holds whole answers; --reason, --rule and the like go into the file.")
            return _read(self.answers)
        return {kinds[0]: self._body(kinds[0])}

    def _body(self, kind: str) -> dict[str, Any]:
        if self.reason is not None and kind != "reject":
            raise UsageError("--reason belongs to --reject.")
        if self.error and kind != "result":
            raise UsageError("--error belongs to --result.")
        if self.rule and kind not in ("approve", "edit", "reject"):
            raise UsageError("--rule belongs to --approve, --edit and --reject.")
        kept = self._rules("deny" if kind == "reject" else "allow")
        match kind:
            case "reject":
                return {**({"reason": self.reason} if self.reason else {}), **kept}
            case "edit":
                return {
                    "input": json_object("--edit takes the whole new input as one JSON object", self.edit or ""),
                    **kept,
                }
            case "reply":
                return {"value": _value(self.reply or "")}
            case "result":
                return {"output": self.result, **({"error": True} if self.error else {})}
        return kept

    def _rules(self, decision: str) -> dict[str, Any]:
        if {self.scope, self.until} != {None} and not self.rule:
            raise UsageError("--scope and --until say how far a rule holds.\n  Give the rule with --rule.")
        end = {"until": moment("--until", self.until, to_come)} if self.until is not None else {}
        rules = [{"decision": decision, "rule": text, "scope": self.scope or _scope(text), **end} for text in self.rule]
        return {"rules": rules} if rules else {}


def answer(
    session: Session,
    interrupt: Annotated[str | None, Argument("What to answer, when several requests wait.")] = None,
    no_continue: Annotated[bool, Option("--no-continue", "Only record the answer.")] = False,
    output: Output = "text",
    *,
    said: Said,
    turn: Turn,
) -> int:
    """Answer what waits, once; the turn then goes on."""
    from hitl_cli.cli import assemble

    if said.answers is not None and interrupt is not None:
        raise UsageError("--answers names what it answers.\n  Leave INTERRUPT out.")
    plain = said.plain()
    assembly = assemble.assemble(turn, session=session)

    async def work() -> int:
        from hitl_cli.cli.watch import patiently, watched

        async with watched(assembly, turn, output or "text") as watch:
            agent, id = watch.agent, watch.session
            given = await _answers(agent, id, plain, said, interrupt)
            snapshot = await agent.load(id)
            if problems := keeping.problems(agent, snapshot, given):
                raise InvalidAnswers(problems)
            in_session = keeping.in_the_session(snapshot, given)

            def tell(lines: Iterable[str]) -> None:
                for line in lines:
                    watch.narrator.say(f"  {clean(line)}")

            assembly.kept = lambda rules: tell(keeping.lines(rules))
            if no_continue:
                await patiently(lambda: _once(agent, id, given))
                tell(in_session)
                return 0
            return await watch.to_the_end(lambda: _events(agent, id, given, lambda: tell(in_session)))

    return asyncio.run(work())


async def _answers(agent: Agent, session: str, plain: Any, said: Said, interrupt: str | None) -> Mapping[str, Answer]:
    from hitl_cli.cli import lines

    if said.answers is None:
        snapshot = await agent.load(session)
        asked = the_one(snapshot, interrupt)
        if said.digest and not getattr(asked, "digest", "").startswith(said.digest):
            problem = f"the request has changed; look at it again: hitl show {session} {asked.id}"
            raise InvalidAnswers({asked.id: problem})
        plain = {asked.id: _to_form(asked, plain)}
    try:
        return lines.answers_of(plain)
    except ValueError as wrong:
        raise InvalidAnswers({"": str(wrong)}) from None


def the_one(snapshot: Snapshot, id: str | None) -> Interrupt:
    """The interrupt with this id, the only one whose id begins so, or the only one that waits."""
    waiting = {i.id: i for i in snapshot.pending}
    found = [i for i in waiting.values() if id is None or i.id.startswith(id)]
    if id in waiting:
        return waiting[id]
    if len(found) == 1:
        return found[0]
    ids = ", ".join(i.id for i in found or snapshot.pending)
    if found:
        raise UsageError(f"{len(found)} requests wait in session {snapshot.session}: {ids}\n  Name one.")
    before = answered(snapshot)
    told = {i: f"already answered: {words}" for i, words in before.items() if id and i.startswith(id)}
    if told:
        raise InvalidAnswers(told)
    if id is not None and snapshot.pending:
        raise InvalidAnswers({id: f"nothing with this id waits in session {snapshot.session}; waiting: {ids}"})
    last = [f"\n  The last answer: {i}: {words}" for i, words in before.items()][-1:]
    raise NotSuspended(
        f"Nothing waits in session {snapshot.session}.{''.join(last)}\n  `hitl pending` lists what waits anywhere."
    )


def answered(snapshot: Snapshot) -> dict[str, str]:
    """What was answered in the session, and by whom; oldest first."""
    return {
        id: f"{next(iter(said))} by {entry.who.kind} {entry.who.detail}".rstrip()
        for entry in (record.entry for record in snapshot.history)
        if isinstance(entry, Answered)
        for id, said in entry.answers.items()
    }


def _to_form(asked: Interrupt, plain: dict[str, Any]) -> dict[str, Any]:
    """A reply to a form of one field may be just the value of the field."""
    if "reply" in plain and isinstance(asked, Question) and len(asked.fields) == 1:
        value = plain["reply"]["value"]
        if not isinstance(value, dict) or asked.fields[0].name not in value:
            return {"reply": {"value": {asked.fields[0].name: value}}}
    return plain


async def _events(
    agent: Agent, session: str, given: Mapping[str, Answer], accepted: Callable[[], None]
) -> AsyncGenerator[Any, None]:
    """The turn goes on. Where somebody else answered meanwhile, that is what is told, and not that the session is busy."""
    told = False
    try:
        async with aclosing(agent.stream_resume(session, given)) as events:
            async for event in events:
                if not told:
                    accepted()
                    told = True
                yield event
    except SessionBusy:
        await _unless_answered(agent, session, given)
        raise


async def _once(agent: Agent, session: str, given: Mapping[str, Answer]) -> None:
    try:
        await agent.answer(session, given)
    except SessionBusy:
        await _unless_answered(agent, session, given)
        raise


async def _unless_answered(agent: Agent, session: str, given: Mapping[str, Answer]) -> None:
    before = answered(await agent.load(session))
    problems = {id: f"already answered: {before[id]}" for id in given if id in before}
    if problems:
        raise InvalidAnswers(problems)


def recover(session: Session, output: Output = "text", *, turn: Turn) -> int:
    """Go on after a crash; nothing is run again unasked."""
    from hitl_cli.cli import assemble

    assembly = assemble.assemble(turn, session=session)

    async def work() -> int:
        from hitl_cli.cli.watch import watched

        async with watched(assembly, turn, output or "text") as watch:
            return await watch.to_the_end(lambda: watch.agent.stream_recover(watch.session))

    return asyncio.run(work())


def _scope(rule: str) -> str:
    """Where a rule is kept when nobody says: commands for the user, paths for the project."""
    from hitl_cli.permissions.codec import FILE_TOOLS

    return "project" if rule.partition("(")[0].strip() in FILE_TOOLS else "user"


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
