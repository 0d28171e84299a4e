"""What the panel asks of its app, and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hitl_cli.interrupts import Answer, Preview, Reject
from hitl_cli.journal import Json
from hitl_cli.records import Struct

Input = Mapping[str, Json]


class Judge(Protocol):
    """What the panel may ask about rules. The app answers; the panel itself reads no file and no clock."""

    def problem(self, decision: str, rules: str, input: Input) -> str:
        """ "" when the rules on this line (`codec.several`) parse and, for allow, together cover this very call or, for
        deny, hit it; else why not."""

    def preview(self, input: Input) -> tuple[Preview, str]:
        """The edited call as it is shown, and its verdict in words. Words that begin with `deny` refuse the edit,
        as do words that begin with `error`: arguments that do not fit the tool. Never raises."""

    def explain(self, input: Input) -> list[str]:
        """The verdict on each part of the call, as a tree of lines."""

    def destinations(self) -> Mapping[str, str]:
        """Scopes that a rule can be kept in (session, project, user), each with its file in words."""


class Answered(Struct, frozen=True):
    answer: Answer


class AnsweredRest(Struct, frozen=True):
    """No to this call and to the calls of the message that come after it."""

    answer: Reject


class Parked(Struct, frozen=True):
    """The question stays open, in the store; the turn ends suspended."""


class Stopped(Struct, frozen=True):
    """The person stopped the turn; nothing was answered."""


class Editor(Struct, frozen=True):
    """Not an end: the app opens `$EDITOR` on `text` in a file named with `suffix`, then calls `panel.edited`."""

    text: str
    suffix: str


Outcome = Answered | AnsweredRest | Parked | Stopped | Editor
