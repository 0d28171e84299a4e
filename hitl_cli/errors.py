"""Every way hitl fails on purpose, each with the exit code it ends the program with.

Raise the narrowest one. The command line catches the root once and prints `str(error)` as it stands, so a message says
what happened, where, and what to do next. A tool that fails is not here: that is a result the model sees.

    HitlError                     1   something failed
    |-- UsageError                2   wrong words on the command line
    |   |-- SettingsError         2   a settings file cannot be used (file, line, remedy)
    |   |   `-- RuleError         2   a rule cannot be used (file, line, remedy)
    |   |-- UnknownSession        2   no such session, or the prefix fits several
    |   `-- Refusal               2   the session is not in a state for this; nothing was changed
    |       |-- SessionPending        it waits for answers
    |       |-- Unfinished            a run was cut off; `recover` first
    |       |-- NotSuspended          nothing waits
    |       |-- NothingToRecover      nothing was cut off
    |       |-- InvalidAnswers        every problem of the answer set, listed
    |       |-- UnknownStep           a breakpoint names a step that does not exist
    |       |-- StateTooNew           written by a newer hitl
    |       `-- Incompatible          what the session waits for is gone from the agent
    |-- ModelError                1   the model's service said no, or said nothing usable
    |   `-- ModelUnavailable     75   it may say yes later
    |-- SessionBusy              75   another process runs this session
    |-- StoreError                1   the store cannot be read or written
    |   |-- StoreBusy            75   another program holds the store
    |   `-- StaleLease            1   another process took this session over; nothing of ours was written
    `-- AskSwallowed              1   code caught the pause of `ctx.ask` and went on
"""

from __future__ import annotations

from collections.abc import Sequence


class HitlError(Exception):
    """Root of the tree; `exit_code` is what the process ends with."""

    exit_code = 1


class UsageError(HitlError):
    exit_code = 2


class SettingsError(UsageError):
    """A settings file that cannot be used.

    `file` and `line` (1-based, None when the whole file is meant) say where; `remedy` says what to write instead.
    """

    def __init__(self, problem: str, *, file: str = "", line: int | None = None, remedy: str = "") -> None:
        self.problem, self.file, self.line, self.remedy = problem, file, line, remedy
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(where + problem + (f"\n  {remedy}" if remedy else ""))


class RuleError(SettingsError):
    pass


class UnknownSession(UsageError):
    pass


class Refusal(UsageError):
    """The session is left exactly as it was. `ids` are the interrupts concerned, if any."""

    def __init__(self, message: str, ids: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.ids = tuple(ids)


class SessionPending(Refusal):
    pass


class Unfinished(Refusal):
    pass


class NotSuspended(Refusal):
    pass


class NothingToRecover(Refusal):
    pass


class InvalidAnswers(Refusal):
    """`problems` maps an interrupt id (or "" for the set as a whole) to what is wrong with its answer."""

    def __init__(self, problems: dict[str, str]) -> None:
        lines = [f"{id}: {text}" if id else text for id, text in problems.items()]
        super().__init__("; ".join(lines), [id for id in problems if id])
        self.problems = problems


class UnknownStep(Refusal):
    pass


class StateTooNew(Refusal):
    pass


class Incompatible(Refusal):
    pass


class ModelError(HitlError):
    pass


class ModelUnavailable(ModelError):
    exit_code = 75


class SessionBusy(HitlError):
    exit_code = 75


class StoreError(HitlError):
    pass


class StoreBusy(StoreError):
    exit_code = 75


class StaleLease(StoreError):
    pass


class AskSwallowed(HitlError):
    pass
