"""The whole judgement of the agent loop: a session as it stands -> what to do next. Pure; the driver does it.

The calls of a reply form batches: a `serial` call is alone, neighbours that are not are together. A batch is gone through
in call order, each call through its gates in theirs: arguments fit, a person's input, verdict and approval, then the
middleware around the body or the hand-over to somebody else. What one call waits for holds up neither its siblings nor
their results, only the batches after it; the model is asked again when every call has its one result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from hitl_cli import schema
from hitl_cli.interrupts import Breakpoint, Interrupt, Question, dump, load
from hitl_cli.journal import Began, Ended, Result
from hitl_cli.records import Struct, field
from hitl_cli.state import CallState, State
from hitl_cli.tooldef import Tool

HOLDS = ("model", "tool", "finish")
REFUSALS = 3  # the same call refused this often ends the turn


class Options(Struct, frozen=True):
    """What the agent that runs the session brings along; none of it is stored."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    before: Collection[str] = ()
    after: Collection[str] = ()
    concurrency: int = 1


class Begin(Struct, frozen=True):
    """The message passes the before-agent hooks (again)."""

    began: Began


class AskModel(Struct, frozen=True):
    pass


class Raise(Struct, frozen=True):
    interrupt: Interrupt


class Expire(Struct, frozen=True):
    """Nobody answered these in time."""

    ids: tuple[str, ...]


class Settle(Struct, frozen=True):
    call: str
    result: Result


class Refuse(Struct, frozen=True):
    """A person, or what stands for one, said no."""

    call: CallState


class Judge(Struct, frozen=True):
    call: CallState


class AskWhetherItRan(Struct, frozen=True):
    """The body was cut off: only a person can know whether it did its work."""

    call: CallState


class Perform(Struct, frozen=True):
    call: CallState


class Finish(Struct, frozen=True):
    """The answer passes the after-agent hooks."""


class End(Struct, frozen=True):
    ended: Ended


class Wait(Struct, frozen=True):
    """Nothing can be done until a body returns or somebody answers."""


class Rest(Struct, frozen=True):
    """No turn is open."""


Step = (
    Begin | AskModel | Raise | Expire | Settle | Refuse | Judge | AskWhetherItRan | Perform | Finish | End | Wait | Rest
)


def next_step(
    state: State, options: Options, now: float, busy: Collection[str] = (), held: Collection[str] = ()
) -> Step:
    """What comes next. `busy`: calls being performed; `held`: calls that a rule on offer in their batch would cover."""
    late = tuple(i.id for i in state.pending.values() if i.expires is not None and i.expires <= now)
    if late:
        return Expire(late)
    if state.carried is not None:
        return Wait() if state.pending else Begin(state.carried)
    if not state.open:
        return Rest()
    if any(id.partition(":")[0] not in state.calls for id in state.pending):
        return Wait()
    if state.reply is None:
        return _model(state, options, now)
    return (
        _hold(state, options, "model", "after")
        or _calls(state, options, busy, held)
        or (_end_of_calls(state, options, now) if state.calls else _end_of_reply(state, options, now))
    )


def _calls(state: State, options: Options, busy: Collection[str], held: Collection[str]) -> Step | None:
    for batch in batches(state, options.tools):
        if any(call.settled is None for call in batch):
            return _batch(state, batch, options, busy, held)
    return None


def batches(state: State, tools: Mapping[str, Tool]) -> Iterator[list[CallState]]:
    """The calls of the reply in call order: each serial one alone, runs of the others together."""

    batch: list[CallState] = []
    for call in state.calls.values():
        if call.call.name in tools and tools[call.call.name].serial:
            if batch:
                yield batch
            yield [call]
            batch = []
        else:
            batch.append(call)
    if batch:
        yield batch


def _batch(
    state: State, batch: list[CallState], options: Options, busy: Collection[str], held: Collection[str]
) -> Step:
    """Every call of a batch comes as far as it can before the first body runs."""
    waiting = {id.partition(":")[0] for id in state.pending}
    ready: list[CallState] = []
    for call in batch:
        id = call.call.id
        if call.settled is not None or id in waiting or id in busy or id in held:
            continue
        step = _gates(state, call, options)
        if not isinstance(step, Perform):
            return step
        ready.append(call)
    return Perform(ready[0]) if ready and len(busy) < options.concurrency else Wait()


def _gates(state: State, call: CallState, options: Options) -> Step:
    tool = options.tools.get(call.call.name)
    if call.refused:
        return Refuse(call)
    if call.returned is not None and tool is None:
        return Settle(call.call.id, call.returned)
    wrong = _problem(call, tool)
    if tool is None or wrong:
        return Settle(call.call.id, Result(wrong, False, "error"))
    if call.running and not (tool.idempotent or tool.read_only):
        return AskWhetherItRan(call)
    if "tool" in options.before and call.call.id not in state.touched:
        return Raise(Breakpoint(id=f"{call.call.id}:before_tool", step="tool", phase="before", call=call.call))
    if not call.filled:
        try:
            form = _form(state, call, tool)
        except Exception as error:  # a tool that fails is a result
            return Settle(call.call.id, Result(f"{tool.name} made no form of this: {error}", False, "error"))
        if form:
            return Raise(form)
    if not call.decided or (call.decided != "allow" and not call.approved and call.returned is None):
        return Judge(call)
    return Perform(call)


def _problem(call: CallState, tool: Tool | None) -> str:
    """Why a call cannot be run at all, for the model to repair; "" when it can."""
    if tool is None:
        return f"There is no tool {call.call.name!r}. Nothing was run."
    if call.call.input is None:
        return f"The arguments of {tool.name} are not a JSON object. Nothing was run. They were: {call.call.raw[:500]}"
    if call.decided or call.returned is not None or (call.filled and tool.form):
        return ""  # it passed before; a person's edit was checked when it was accepted
    filled_in = call.filled and not tool.form
    wrong = schema.problem(dict(call.call.input), tool.schema if filled_in else tool.offered)
    return f"The arguments of {tool.name} do not fit: {wrong}. Nothing was run." if wrong else ""


def _form(state: State, call: CallState, tool: Tool) -> Interrupt | None:
    """What a person is to fill in, as it will be read back; None when there is nothing."""
    fields = tool.fields(call.call.input or {})
    if not fields:
        return None
    id = state.next_id(f"{call.call.id}:input")
    return load(dump(Question(id=id, call=call.call, fields=fields, under="answers" if tool.form else "")))


def _end_of_calls(state: State, options: Options, now: float) -> Step:
    worst = max(state.refusals.values(), default=0)
    if worst >= REFUSALS:
        return End(Ended(state.turn, "stopped", f"The same call was refused {worst} times.", state.spent, "refusals"))
    return _hold(state, options, "tool", "after") or _model(state, options, now)


def _end_of_reply(state: State, options: Options, now: float) -> Step:
    assert state.reply is not None
    if state.reply.stop in ("pause", "interrupted"):
        return _model(state, options, now)
    held = _hold(state, options, "finish", "before")
    if held:
        return held
    if state.answer is None:
        return Finish()
    return End(Ended(state.turn, "completed", usage=state.spent, text=state.answer))


def _model(state: State, options: Options, now: float) -> Step:
    return _limit(state) or _hold(state, options, "model", "before") or AskModel()


def _limit(state: State) -> Step | None:
    limits = state.settings
    assert limits is not None
    tokens = state.spent.input + state.spent.output
    if state.step >= limits.max_steps:
        why, what = "steps", f"{limits.max_steps} request{'s' if limits.max_steps > 1 else ''} to the model"
    elif limits.max_tokens is not None and tokens >= limits.max_tokens:
        why, what = "tokens", f"{limits.max_tokens} tokens"
    elif limits.max_cost is not None and (state.spent.cost or 0.0) >= limits.max_cost:
        why, what = "cost", f"${limits.max_cost:g}"
    else:
        return None
    return End(Ended(state.turn, "stopped", f"The turn reached its limit of {what}.", state.spent, why))


def _hold(state: State, options: Options, step: str, phase: str) -> Step | None:
    """A breakpoint not yet raised: before a step only if nothing of the step was asked about yet."""
    if step not in (options.before if phase == "before" else options.after):
        return None
    number = state.step + (step == "model" and phase == "before")
    target = f"{state.turn}.{number}"
    id = f"{target}:{phase}_{step}"
    if id in state.raised or (phase == "before" and _was_asked(state, step, target)):
        return None
    return Raise(Breakpoint(id=id, step=step, phase=phase))  # type: ignore[arg-type]


def _was_asked(state: State, step: str, target: str) -> bool:
    """The step had begun: something of it was asked about."""
    if step == "model":
        return target in state.touched
    return any(id.startswith(f"{target}:after_agent") for id in state.raised)
