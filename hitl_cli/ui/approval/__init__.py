"""The approval panel: a pure machine that reads keys and draws lines, and the terms it keeps with its app."""

from hitl_cli.ui.approval.panel import Panel
from hitl_cli.ui.approval.terms import Answered, AnsweredRest, Editor, Judge, Outcome, Parked, Stopped

__all__ = ["Answered", "AnsweredRest", "Editor", "Judge", "Outcome", "Panel", "Parked", "Stopped"]
