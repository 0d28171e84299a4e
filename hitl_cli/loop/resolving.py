"""Answers, through their one door: fitted or refused whole, committed once, their rules kept before anything runs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hitl_cli import records
from hitl_cli.answers import fit
from hitl_cli.errors import InvalidAnswers
from hitl_cli.interrupts import Answer, Approval, Approve, Edit, Interrupt, Reject, dump_answer, load_answer
from hitl_cli.journal import Answered, Call, Changed, Grant, Json, Who
from hitl_cli.loop.verdicts import rule_of, rule_problem
from hitl_cli.permissions.rule import Decision, Source
from hitl_cli.records import Struct, replace

if TYPE_CHECKING:
    from hitl_cli.loop.drive import Drive


class Fitted(Struct, frozen=True):
    """A set of answers that fits what waits, dumped, with the digests of what edited calls have become."""

    answers: Mapping[str, Mapping[str, Json]]
    digests: Mapping[str, str]


class Resolving:
    def __init__(self, drive: Drive) -> None:
        self.drive, self.agent, self.state = drive, drive.agent, drive.state

    async def fit(self, answers: Mapping[str, Answer | Mapping[str, Json]]) -> Fitted:
        """The whole set, each answer as it will be recorded; InvalidAnswers lists every problem."""
        problems: dict[str, str] = {} if answers else {"": "there is no answer in it"}
        fitted, digests = dict[str, Answer](), dict[str, str]()
        for id, given in answers.items():
            try:
                fitted[id] = await self._fit(id, given, digests)
            except ValueError as error:
                problems[id] = str(error)
        if problems:
            raise InvalidAnswers(problems)
        return Fitted({id: dump_answer(fitted[id]) for id in self.state.pending if id in fitted}, digests)

    async def accept(self, fitted: Fitted, who: Who) -> None:
        """Record the set in one entry, in call order, and write its rules before anything runs."""
        self.drive.record(Answered(fitted.answers, who, fitted.digests))
        self.save()
        if any(answer.get("rules") for said in fitted.answers.values() for answer in said.values()):
            await self.release()

    async def _fit(self, id: str, given: Answer | Mapping[str, Json], digests: dict[str, str]) -> Answer:
        answer = _plain(given)
        interrupt = self.state.pending.get(id)
        if interrupt is None:
            raise ValueError(self._not_waiting(id))
        if interrupt.expires is not None and interrupt.expires <= time.time():
            raise ValueError("it expired before this answer; `recover` goes on without one")
        tool = self.agent.tools.get(interrupt.call.name) if interrupt.call else None
        if tool is None and isinstance(answer, Approve | Edit) and interrupt.call:
            self._refuse_absent(interrupt.call.name)
        answer = fit(interrupt, answer, tool.schema if tool else None)
        if isinstance(answer, Approve | Edit | Reject):
            wrong = [problem for problem in map(rule_problem, answer.rules) if problem]
            if wrong:
                raise ValueError("; ".join(wrong))
        if isinstance(answer, Edit) and tool and interrupt.call:
            await self._check_edit(interrupt, answer)
            try:
                digests[id] = self.agent.bench.digest(tool, answer.input)
            except Exception as error:
                raise ValueError(f"the new input cannot be bound to what it would change: {error}") from error
        return answer

    def _not_waiting(self, id: str) -> str:
        if id in self.state.answered:
            return f"already answered: {self.state.answered[id]}"
        return f"nothing with this id waits; waiting: {', '.join(self.state.pending) or 'nothing'}"

    def _refuse_absent(self, tool: str) -> None:
        """A tool that the program has no more is an error for the model; a server's may be back, and its call waits."""
        if tool.startswith("mcp__"):
            server = tool.split("__")[1]
            raise ValueError(f"the server {server!r}, whose tool this is, is not there; what waits is kept until it is")

    async def _check_edit(self, interrupt: Interrupt, answer: Edit) -> None:
        assert interrupt.call is not None
        call = replace(interrupt.call, input=answer.input)
        tool = self.agent.tools[call.name]
        verdict = await self.agent.bench.verdict(self.state, tool, call, self.drive.context)
        if verdict.decision is Decision.DENY:
            raise ValueError(f"the new input is denied: {verdict.reason}")

    def save(self) -> None:
        """Write the rules that are to outlive the session; one that cannot be written holds for the session.

        What was accepted is on record before it is written, and that it was written is on record after: whoever goes on
        with a session that was cut off in between writes it, and writing twice is harmless.
        """
        notes: list[Changed] = []
        for _, group in groupby(list(self.state.unwritten), key=lambda pair: pair[1].id):
            pairs = list(group)
            grants, call = [grant for grant, _ in pairs], pairs[0][1]
            why = self._write(grants, call)
            if why is None:
                notes.append(Changed("saved", [records.dump(g) for g in grants], Who("program")))
            else:
                notes += [Changed("unsaved", {"grant": records.dump(g), "why": why}, Who("program")) for g in grants]
        if notes:
            self.drive.record(*notes)

    def _write(self, grants: list[Grant], call: Call) -> str | None:
        """None when the rules are in their files and hold here, else why they are not."""
        if self.agent.save_rules is None:
            return "no rule file is in use"
        try:
            self.agent.save_rules(grants, call)
            self.agent.bench.add(rule_of(grant, Source(grant.scope)) for grant in grants)
        except Exception as error:
            return str(error)
        return None

    async def release(self) -> None:
        """Rules were added: what waits for an approval that they settle waits no longer."""
        for waiting in list(self.state.pending.values()):
            if (
                not isinstance(waiting, Approval)
                or waiting.source != "rules"
                or waiting.call.name not in self.agent.tools
            ):
                continue
            tool = self.agent.tools[waiting.call.name]
            call = self.state.calls[waiting.call.id].call
            verdict = await self.agent.bench.verdict(self.state, tool, call, self.drive.context)
            said: dict[Decision, Any] = {Decision.ALLOW: Approve(), Decision.DENY: Reject(verdict.reason)}
            if verdict.decision in said:
                rule = verdict.rule.text if verdict.rule else ""
                self.drive.record(Answered({waiting.id: dump_answer(said[verdict.decision])}, Who("rule", rule)))


def _plain(given: Answer | Mapping[str, Json]) -> Answer:
    """The answer as it will be read back: a program's objects are held to what a file of answers is."""
    data = dump_answer(given) if isinstance(given, Answer) else given
    try:
        return load_answer(json.loads(json.dumps(data)))
    except TypeError as error:
        raise ValueError(f"an answer is plain data: {error}") from None
