"""Key, address and loading; the local server as a program."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hitl_cli.errors import ModelError, ModelUnavailable
from hitl_cli.journal import Usage
from hitl_cli.models import Request, Retrying, open_model, preload
from hitl_cli.models.claude import Claude
from tests.models.server import Server, say
from tests.models.talking import HELLO, shown, talk


def test_without_a_key_three_lines_say_what_to_do(at, monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Server([say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert shown(items)[0] == "ModelError"
    lines = str(items[-1]).split("\n")
    assert len(lines) == 3
    assert "hitl demo" in lines[1]
    assert "ANTHROPIC_API_KEY" in lines[2]
    assert server.requests == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ANTHROPIC_BASE_URL", "nonsense", "The model's service has the address nonsense/, which is none."),
        (
            "ANTHROPIC_BASE_URL",
            "ftp://127.0.0.1",
            "The model's service has the address ftp://127.0.0.1, which is none.",
        ),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:abc", "The model's service cannot be set up: Invalid port: 'abc'."),
        ("ANTHROPIC_API_KEY", "a\nsecret", "The key for the model's service holds a blank, a line break"),
        ("ANTHROPIC_API_KEY", "ключ", "The key for the model's service holds a blank, a line break"),
    ],
)
def test_a_wrong_environment_is_told_at_once_and_never_with_the_key(at, monkeypatch, name, value, told) -> None:
    with Server([say("Fine.")]) as server:
        at(server)
        monkeypatch.setenv(name, value)
        [items] = talk(HELLO)
    assert len(items) == 1
    assert shown(items)[0] == "ModelError"
    assert shown(items)[1].startswith(told)
    assert "secret" not in shown(items)[1]
    assert server.requests == []


def test_a_token_serves_as_well_as_a_key(at, monkeypatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a-token")
    with Server([say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO)
    assert items[-1].text == "Fine."
    assert server.headers[0]["authorization"] == "Bearer a-token"


def test_a_model_of_another_server_has_no_price_and_a_modest_window(at) -> None:
    with Server([say("Fine.")]) as server:
        at(server)
        [items] = talk(HELLO, model="local-model:7b")
    assert items[-1].usage == Usage(10, 1)
    assert (Claude("local-model:7b").priced, Claude("claude-opus-4-8").priced) == (False, True)
    assert (Claude("local-model:7b").window, server.requests[0]["max_tokens"]) == (200_000, 8_192)


def test_a_preloaded_model_answers(at) -> None:
    async def run() -> str:
        model = open_model("claude-opus-4-8")
        preload(model)
        items = [item async for item in model.stream(HELLO)]
        await model.close()
        return items[-1].text

    with Server([say("Fine.")]) as server:
        at(server)
        assert asyncio.run(run()) == "Fine."
    for thread in threading.enumerate():
        if thread.name == "preload":
            thread.join()
    assert gc.get_freeze_count()  # the collector goes through none of what was loaded
    gc.unfreeze()


def test_naming_a_model_loads_no_sdk() -> None:
    code = (
        "import sys; from hitl_cli.models import open_model; open_model('claude-x'); print('anthropic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_server_runs_as_a_program_and_plays_a_script(at, monkeypatch, tmp_path: Path) -> None:
    script = tmp_path / "story.toml"
    script.write_text(
        "format = 1\n[[turn]]\n[[turn.reply]]\nerror = { status = 529, retry_after = 0, times = 1 }\n"
        'calls = [{ name = "a", tool = "Bash", input = { command = "ls" } }]\n'
        '[[turn.reply]]\nwhen = "a ok"\ntext = "Seen."\n'
    )
    port, log = tmp_path / "port", tmp_path / "log"
    command = [sys.executable, str(Path(__file__).with_name("server.py")), "--script", str(script)]
    program = subprocess.Popen([*command, "--port-file", str(port), "--log", str(log)])
    try:
        while not port.exists():
            assert program.poll() is None
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port.read_text()}")
        [first] = talk(HELLO)
        reply = {"role": "assistant", "content": list(first[-1].blocks)}
        id = first[-1].blocks[0]["id"]
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "a"}]}
        [second] = talk(Request("", [*HELLO.messages, reply, result]))
    finally:
        program.terminate()
        program.wait()
    assert isinstance(first[0], Retrying)
    assert second[-1].text == "Seen."
    assert len([json.loads(line) for line in log.read_text().splitlines()]) == 3


def test_unavailable_is_a_kind_of_model_error_with_its_own_code() -> None:
    assert (ModelError.exit_code, ModelUnavailable.exit_code) == (1, 75)
