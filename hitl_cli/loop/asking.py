"""Asking a person from inside code, by replay.

`ctx.ask` records the question and raises `Pause`, a BaseException that code has no business catching. When the answer is
there the code runs again from its top and the same `ask` returns it. Which question is which is known by asker, hook,
call, key and how often that key was used before; code that caught the pause and went on fails the run with `AskSwallowed`.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from hitl_cli import schema
from hitl_cli.access import Place
from hitl_cli.errors import AskSwallowed
from hitl_cli.interrupts import Approval, Interrupt, Question, Review
from hitl_cli.journal import Json, Recorded
from hitl_cli.records import Struct, field
from hitl_cli.state import CallState, State


class Pause(BaseException):
    """The run stops here until somebody answers `interrupt`."""

    def __init__(self, interrupt: Interrupt) -> None:
        super().__init__(interrupt.id)
        self.interrupt = interrupt


class CallError(Exception):
    """This call cannot go on; the text is its error result, wherever it was raised."""


class Asking(Struct):
    """The questions of one run through a body or a stack of hooks.

    target    the call, step or turn that the questions are about
    approval  makes the approval that `needs_approval` asks for: (reason, who wants it)
    """

    state: State
    hook: str
    target: str
    call: CallState | None = None
    approval: Callable[[str, str], Approval] | None = None
    open: Interrupt | None = None
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)

    def ask(self, asker: str, question: Json, type: Any, key: str | None) -> Any:
        key = key if key is not None else json.dumps(question, sort_keys=True, ensure_ascii=False)
        self.uses[asker, key] += 1
        memo, shape, name = self._memo(asker, key, self.uses[asker, key]), schema.of_type(type), schema.name_of(type)
        if memo not in self.state.memo:
            raise self.pause(self._question(asker, question, name, shape, memo))
        try:
            value = schema.from_text(self.state.memo[memo], name)
            wrong = schema.problem(value, shape)
        except ValueError as error:
            wrong = str(error)
        if wrong:
            raise CallError(f"Invalid answer for {asker!r}: {wrong}")
        return schema.as_type(value, type)

    def recall(self, asker: str, key: str) -> Json:
        """The answer to the question with this key, None when it was not asked yet."""
        return self.state.memo.get(self._memo(asker, key, 1))

    def needs_approval(self, asker: str, reason: str, by_body: bool) -> None:
        if self.call is None or self.approval is None:
            raise RuntimeError(f"{asker!r}: an approval is asked for around a tool call, not in {self.hook}")
        if self.call.approved or (by_body and self.call.asked):
            raise CallError(f"{asker!r} asked for an approval that was given already or came too late: {reason}")
        raise self.pause(self.approval(reason, "tool" if by_body else asker))

    def pause(self, interrupt: Interrupt) -> Pause:
        self.open = interrupt
        return Pause(interrupt)

    def settled(self, error: BaseException | None) -> None:
        """Called when the code has ended: AskSwallowed when it asked and ended in any way but by the pause alone.

        The same holds for a pause that is not this code's own: a question put through a context kept from elsewhere.
        """
        if isinstance(error, Pause) and error.interrupt is not self.open:
            raise AskSwallowed(
                f"Code in {self.hook} asked through a context that is not its own ({error.interrupt.id})."
            )
        if self.open is not None and not (error and _only_pauses(error)):
            raise AskSwallowed(
                f"Code in {self.hook} asked a question and caught the pause ({self.open.id}).\n"
                "  Let BaseException pass through `ctx.ask`; use `except Exception` around it."
            ) from error

    def _memo(self, asker: str, key: str, use: int) -> str:
        return json.dumps([asker, self.hook, self.target, key, use], ensure_ascii=False)

    def _question(self, asker: str, question: Json, type: str, shape: Any, memo: str) -> Interrupt:
        call = self.call.call if self.call else None
        if self.hook == "ask":
            assert call is not None
            id = self.state.next_id(f"{self.target}:ask")
            return Question(id=id, call=call, payload=question, type=type, schema=shape, memo=memo)
        id = self.state.next_id(f"{self.target}:{self.hook}.{asker}")
        return Review(
            id=id, middleware=asker, hook=self.hook, payload=question, type=type, schema=shape, memo=memo, call=call
        )


def _only_pauses(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_only_pauses(inner) for inner in error.exceptions)
    return isinstance(error, Pause)


class CodeContext(Struct):
    """What a body (`tool.Context`) or a hook of a middleware finds in `ctx`."""

    asking: Asking
    asker: str
    session: str
    call: str
    place: Place
    context: Any
    history: Sequence[Recorded]
    show: Callable[[str], None]
    state: dict[str, Json] = field(default_factory=dict)
    before: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = copy.deepcopy(self.asking.state.values)
        self.before = copy.deepcopy(self.state)

    @property
    def key(self) -> str:
        """The idempotency key of the call: the same over approval, question, retry and recover."""
        return f"{self.session}:{self.call}"

    @property
    def approved(self) -> bool:
        return self.asking.call is not None and bool(self.asking.call.approved)

    def ask(self, question: Json, type: Any = str, key: str | None = None) -> Any:
        return self.asking.ask(self.asker, question, type, key)

    def recall(self, key: str) -> Json:
        return self.asking.recall(self.asker, key)

    def needs_approval(self, reason: str) -> None:
        self.asking.needs_approval(self.asker, reason, self.asking.hook == "ask")

    def progress(self, text: str) -> None:
        self.show(text)

    def changes(self, now: dict[str, Json]) -> dict[str, Json] | None:
        """The session state `now` with what this code changed in its copy, None when it changed nothing."""
        if self.state == self.before:
            return None
        kept = {k: v for k, v in now.items() if k in self.state or k not in self.before}
        changed = {k: v for k, v in self.state.items() if k not in self.before or v != self.before[k]}
        try:
            return dict(json.loads(json.dumps(kept | changed)))
        except (TypeError, ValueError) as error:
            raise CallError(f"The session state must be JSON: {error}") from error
