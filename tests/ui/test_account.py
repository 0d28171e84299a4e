"""What the screen keeps in mind of a session: what was spent on which model, how full the window is, what was given."""

from __future__ import annotations

from hitl_cli.journal import Began, Changed, Entry, ModelReply, Recorded, Replied, Result, Settings, Settled, Usage
from hitl_cli.ui.account import Account

SETTINGS = Settings("claude-a", "default", "/w")


def account(*entries: Entry) -> Account:
    made = Account("default")
    for number, entry in enumerate(entries, 1):
        made.adopt(Recorded(number, 0.0, entry))
    return made


def replied(used: Usage, model: str = "") -> Replied:
    return Replied(1, 1, ModelReply(({"type": "text", "text": "x" * 40},), "end", used, model))


def test_what_was_spent_is_kept_by_the_model_that_answered() -> None:
    made = account(
        Began(1, "hi", SETTINGS),
        replied(Usage(10, 5, 100, 7, 0.25), "claude-a"),
        Changed("model", "claude-b"),
        replied(Usage(20, 5), "claude-b"),
        Changed("summary", "short", usage=Usage(30, 1)),
    )
    assert made.usages == {"claude-a": Usage(10, 5, 100, 7, 0.25), "claude-b": Usage(50, 6)}
    assert made.usage == Usage(60, 11, 100, 7, 0.25)


def test_the_gauge_counts_from_the_last_reply_and_estimates_what_came_after() -> None:
    made = account(Began(1, "hi", SETTINGS), replied(Usage(10, 5, 100, 7)), Settled("1.1.0", Result("y" * 80)))
    assert (made.gauge.measured, made.gauge.since) == (122, 20)
    made.adopt(Recorded(4, 0.0, Changed("summary", "z" * 40)))
    assert (made.gauge.measured, made.gauge.since) == (0, 10)
    made.adopt(Recorded(5, 0.0, replied(Usage())))  # a stopped stream of which nothing was counted
    assert (made.gauge.measured, made.gauge.since) == (0, 10 + 10)


def test_instructions_that_came_with_results_are_kept_once() -> None:
    result = Result("x", data={"instructions": ["/w/a/AGENTS.md"]})
    made = account(Began(1, "hi", SETTINGS), Settled("1.1.0", result), Settled("1.1.1", result))
    assert made.instructions == ["/w/a/AGENTS.md"]
