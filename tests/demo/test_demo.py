"""The demo's folder, its story, and the answers it gives itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hitl_cli.demo import STORY, answers, closing, lay
from hitl_cli.errors import HitlError
from hitl_cli.interrupts import Approval, Approve, Breakpoint, Edit, Reject, Suggestion
from hitl_cli.journal import Call, Grant, ModelReply
from hitl_cli.models import Request, open_model
from hitl_cli.models.script import load, parse
from hitl_cli.outcome import Suspended


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_everything_lies_in_the_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "home"
    elsewhere.mkdir()
    (elsewhere / ".gitconfig").write_text("[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n")
    monkeypatch.setenv("HOME", str(elsewhere))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    folder = tmp_path / "demo"
    folder.mkdir()
    demo = lay(folder)
    monkeypatch.delenv("GIT_DIR")
    assert sorted(p.name for p in folder.iterdir()) == ["calc", "config", "server.git", "state"]
    assert [p.name for p in elsewhere.iterdir()] == [".gitconfig"]
    assert demo.environ == {"HITL_CONFIG_DIR": str(folder / "config"), "HITL_STATE_DIR": str(folder / "state")}
    assert (git(demo.repository, "status", "--porcelain"), git(demo.repository, "log", "--format=%s")) == (
        "",
        "Small sums",
    )
    assert git(folder / "server.git", "log", "--format=%s", "main") == "Small sums"
    assert (folder / "config").stat().st_mode & 0o777 == 0o700


def test_its_test_fails_before_the_edit_of_the_story_and_passes_after_it(tmp_path: Path) -> None:
    demo = lay(tmp_path)
    [edit] = [call.input for reply in demo.script.turns[0].replies for call in reply.calls if call.tool == "Edit"]
    assert edit is not None
    run = ["python3", "-B", "-m", "unittest"]
    assert subprocess.run(run, cwd=demo.repository, capture_output=True).returncode == 1
    file = demo.repository / edit["file_path"]
    assert file.read_text().count(edit["old_string"]) == 1
    file.write_text(file.read_text().replace(edit["old_string"], edit["new_string"]))
    assert subprocess.run(run, cwd=demo.repository, capture_output=True).returncode == 0


def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HitlError, match=r"^The demo needs git, which was not found\."):
        lay(tmp_path)


def play(*outcomes: dict[str, Any]) -> list[str]:
    """The texts of the story when its calls come out like this; a call without a word of its own succeeds."""

    async def run() -> list[str]:
        model, said = open_model(f"script:{STORY}"), []
        model.script = type(model.script)(model.script.title, 0, 0, model.script.turns, model.script.answers)
        messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Go"}]}]
        known = {name: result for outcome in outcomes for name, result in outcome.items()}
        while True:
            items = [item async for item in model.stream(Request("", messages))]
            reply = items[-1]
            assert isinstance(reply, ModelReply)
            said.append(reply.text)
            ids = [block["id"] for block in reply.blocks if block["type"] == "tool_use"]
            if not ids:
                return said
            results = [
                {"type": "tool_result", "tool_use_id": id, "content": "x", **known.get(id.rpartition("_")[2], {})}
                for id in ids
            ]
            messages += [{"role": "assistant", "content": reply.blocks}, {"role": "user", "content": results}]

    return asyncio.run(run())


REFUSED = {"is_error": True, "_kind": "refused"}


def test_the_story_goes_on_whatever_the_person_says() -> None:
    failed = {"test": {"is_error": True, "_kind": "ran"}}
    whole = play(failed, {"clean": REFUSED})
    assert len(whole) == 5
    assert whole[-1].startswith("Understood: the build folder and the server stay")
    assert play(failed, {"test": REFUSED})[-1].startswith("Then I only say what I see")
    assert play(failed, {"fix": REFUSED})[-1].startswith("Then I leave the file as it is.")
    assert play(failed)[-1].startswith("Done, because you said so.")
    assert play({"look": REFUSED})[-1] == "Then I leave it at this."
    assert play({"fix": {"is_error": True, "_kind": "error"}})[-1] == "Then I leave it at this."
    assert play({"clean": {"is_error": True, "_kind": "error"}})[-1].startswith("That did not work")


SAYINGS = """format = 1
[[turn]]
[[turn.reply]]
calls = [
  { name = "a", tool = "Bash", input = { command = "a" } },
  { name = "b.b", tool = "Bash", input = { command = "b" } },
  { name = "c", tool = "Bash", input = { command = "c" } },
  { name = "d", tool = "Bash", input = { command = "d" } },
  { name = "e", tool = "Bash", input = { command = "e" } },
  { name = "f", tool = "Bash", input = { command = "f" } },
]
[[answer]]
call = "a"
say = "approve"
[[answer]]
call = "b.b"
say = "always"
[[answer]]
call = "c"
say = "reject"
reason = "no c"
[[answer]]
call = "d"
say = "edit"
input = { command = "D" }
[[answer]]
call = "e"
say = "never"
reason = "no e"
"""


def test_each_saying_becomes_its_answer() -> None:
    def waiting(number: int, name: str) -> Approval:
        call = Call(f"1.1.{number}", "Bash", {"command": name}, provider_id=f"script_1_0_{number}_{name}")
        offered = (Suggestion(f"Bash({name})", also=("Bash(too)",)), Suggestion("Bash(*)"))
        return Approval(id=f"1.1.{number}:approval", call=call, reason="no rule", suggested=offered)

    pending = [waiting(number, name) for number, name in enumerate(["a", "b-b", "c", "d", "e", "f"])]
    held = Breakpoint(id="1.2:tool", step="tool", phase="before")
    run = Suspended(session="s", state={}, pending=(*pending, held))
    nobody = Reject("Nobody is there to answer, and the story has no answer to this.")
    assert answers(parse(SAYINGS, "a.toml"), run) == {
        "1.1.0:approval": Approve(),
        "1.1.1:approval": Approve((Grant("allow", "Bash(b-b)", "user"), Grant("allow", "Bash(too)", "user"))),
        "1.1.2:approval": Reject("no c"),
        "1.1.3:approval": Edit({"command": "D"}),
        "1.1.4:approval": Reject("no e", (Grant("deny", "Bash(e)", "user"),)),
        "1.1.5:approval": nobody,
    }


def test_three_lines_close_it(tmp_path: Path) -> None:
    demo = lay(tmp_path)
    own = {"HITL_CONFIG_DIR": "/home/me/config", "HITL_STATE_DIR": "/home/me/state"}
    third = "With a real model: export ANTHROPIC_API_KEY=… and run hitl in a folder of yours."
    assert closing(demo, kept=True, environ=own) == (
        f"Rules you saved: {tmp_path}/config/rules.toml - session and decisions: {tmp_path}/state/sessions.db",
        f"The folder is kept: {tmp_path} (remove it with rm -r). Nothing of yours was touched.",
        third,
    )
    assert closing(demo, kept=False, environ=own) == (
        "Rules you save go to /home/me/config/rules.toml, sessions and decisions to /home/me/state/sessions.db; "
        "the demo used its own.",
        f"Its folder {tmp_path} is removed; hitl demo --keep leaves it. Nothing of yours was touched.",
        third,
    )


def test_the_shipped_story_is_a_valid_script() -> None:
    assert os.path.basename(STORY) == "demo.toml"
    assert load(STORY).turns[0].user


def test_the_story_itself_takes_less_than_five_seconds() -> None:
    script = load(STORY)
    pieces = sum(len(reply.pieces) for turn in script.turns for reply in turn.replies)
    waits = sum(reply.wait for turn in script.turns for reply in turn.replies)
    assert pieces * script.delay + waits < 5
