"""What the model thought goes back to it as it came: over an approval in another process, a stop, and a summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitl_cli import Agent, approve, tool
from hitl_cli.journal import ModelReply, Usage
from hitl_cli.models.wire import body
from hitl_cli.outcome import Suspended
from hitl_cli.store.sqlite import SqliteStore
from tests.agent.told import Told

THOUGHT = {"type": "thinking", "thinking": "Which file? äöü\n", "signature": "EqQBCg+/=="}
HIDDEN = {"type": "redacted_thinking", "data": "EmwKAhgB=="}
STRANGE = {"type": "server_note", "id": "n1", "deep": {"a": [1, None, 2.5]}}


@tool(approve=True)
def act(on: str) -> str:
    "Act on something."
    return f"acted on {on}"


def thinks(number: int, used: int = 15) -> ModelReply:
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "act", "input": {"on": "x"}}
    blocks = (THOUGHT, HIDDEN, {"type": "text", "text": "I act."}, STRANGE, call)
    return ModelReply(blocks, "tool_use", Usage(used - 5, 5))


def sent(model: Told, role: str = "assistant") -> list[Any]:
    """The blocks of the model's messages in the last request, as the service would get them."""
    messages = body("claude-opus-4-8", model.requests[-1])["messages"]
    return [message["content"] for message in messages if message["role"] == role]


def test_over_an_approval_that_another_process_continues(tmp_path: Path) -> None:
    first = Agent(Told(thinks(1)), [act], store=SqliteStore(tmp_path / "s.db"))
    run = first.sync.run("Go")
    assert isinstance(run, Suspended)
    first.sync.close()
    model = Told("Done.")
    second = Agent(model, [act], store=SqliteStore(tmp_path / "s.db"))
    second.sync.resume(run.session, {run.pending[0].id: approve()}).unwrap()
    assert sent(model) == [list(thinks(1).blocks)]
    second.sync.close()


def test_over_a_stop_and_the_message_after_it(tmp_path: Path) -> None:
    model = Told(thinks(1), "Fine.")
    agent = Agent(model, [act], store=SqliteStore(tmp_path / "s.db"))
    run = agent.sync.run("Go")
    agent.sync.stop(run.session)
    agent.sync.run("Something else", run.session).unwrap()
    assert sent(model) == [list(thinks(1).blocks)]
    agent.sync.close()


def test_of_the_step_that_a_summary_in_mid_turn_leaves_standing(tmp_path: Path) -> None:
    model = Told(thinks(1), thinks(2, 95_000), "Acted once.", "Done.")
    agent = Agent(model, [act], mode="bypass")
    run = agent.sync.run("Go twice")
    assert run.unwrap().text == "Done."
    assert sent(model) == [list(thinks(2).blocks)]
    agent.sync.close()
