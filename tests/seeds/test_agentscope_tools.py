"""AgentScope, AS-55 and AS-56: the built-in Bash and Write, as the model meets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Place
from hitl_cli.tools import Jobs, builtin
from tests.seeds.stage import Stage


class Workshop:
    """An agent with the real tools in a scratch workspace, and what it is told of its calls."""

    def __init__(self, stage: Stage, root: Path) -> None:
        self.stage, self.folder = stage, root / "ws"
        self.folder.mkdir()
        self.place = Place(str(self.folder), (str(self.folder),), str(root / "home"))
        self.outputs = root / "outputs"

    async def does(self, *calls: tuple[str, dict[str, Any]]) -> list[str]:
        """What the model is told of each call, made one after the other."""
        tools = builtin(self.place, self.outputs, jobs=Jobs())
        agent = self.stage.agent(*([call] for call in calls), "done", tools=tools, place=self.place, mode="bypass")
        run = await self.stage.run(agent)
        assert run.text == "done"
        blocks = [m["content"][0] for m in run.messages if m["content"][0]["type"] == "tool_result"]
        return ["! " * bool(b.get("is_error")) + b["content"] for b in blocks]

    async def bash(self, **input: Any) -> str:
        [told] = await self.does(("Bash", input))
        return told


@pytest.fixture
def workshop(stage: Stage, tmp_path: Path) -> Workshop:
    return Workshop(stage, tmp_path)


async def test_AS_55_a_command_that_fails_is_an_error_with_both_outputs(workshop: Workshop) -> None:
    told = await workshop.bash(command="echo out; echo err >&2; exit 3")
    assert told.startswith("! ")
    assert {"out", "err"} <= set(told.split())
    assert "3" in told


@pytest.mark.parametrize("path", ["streaming"])
@pytest.mark.parametrize("kept", ["memory"])
async def test_AS_55_a_command_that_takes_too_long_is_ended_and_is_an_error(workshop: Workshop) -> None:
    told = await workshop.bash(command="echo begun; sleep 60; echo never", timeout=4000)
    assert told.startswith("! begun")
    assert "timed out after 4 s" in told
    assert "never" not in told


async def test_AS_55_a_limit_above_the_highest_is_taken_as_the_highest(workshop: Workshop) -> None:
    assert await workshop.bash(command="echo ok", timeout=10**9) == "ok"
    [bash] = [t for t in builtin(workshop.place, workshop.outputs, jobs=Jobs()) if t.name == "Bash"]
    told = bash.schema["properties"]["timeout"]
    assert told["description"] == "Time limit in milliseconds: 120000 unless given, at most 600000."
    assert "maximum" not in told


async def test_AS_55_long_output_is_cut_for_the_model_and_kept_whole(workshop: Workshop) -> None:
    told = await workshop.bash(command="seq 1 20000")
    head, note, tail = told.split("\n\n")
    assert (head[:4], tail[-6:]) == ("1\n2\n", "\n20000")
    assert 29_998 <= len(head + tail) <= 30_000  # a line break at the cut is not seen apart from the note's own
    assert "left out" in note
    [kept] = workshop.outputs.glob("*/*.txt")
    assert kept.read_text() == "".join(f"{n}\n" for n in range(1, 20_001))


async def test_AS_56_a_file_that_was_not_read_is_not_overwritten(workshop: Workshop) -> None:
    (workshop.folder / "a.txt").write_text("one\ntwo\n")
    new = {"file_path": str(workshop.folder / "a.txt"), "content": "one\n2\nthree\n"}
    [told] = await workshop.does(("Write", new))
    assert told.startswith("! ")
    assert (workshop.folder / "a.txt").read_text() == "one\ntwo\n"
    _, told = await workshop.does(("Read", {"file_path": new["file_path"]}), ("Write", new))
    assert told.splitlines()[0] == "changed a.txt: 3 lines (+2 -1)"
    assert told.splitlines()[1:] == [
        "--- a/a.txt",
        "+++ b/a.txt",
        "@@ -1,2 +1,3 @@",
        " one",
        "-two",
        "+2",
        "+three",
    ]
    assert (workshop.folder / "a.txt").read_text() == new["content"]


async def test_AS_56_a_new_file_is_told_as_a_diff_from_nothing_and_its_path_may_be_relative(
    workshop: Workshop,
) -> None:
    """Looser: a relative path is taken from the session's folder, which is where every command starts."""
    [told] = await workshop.does(("Write", {"file_path": "sub/new.txt", "content": "one\ntwo\n"}))
    assert told.splitlines() == [
        "created sub/new.txt: 2 lines (+2 -0)",
        "--- /dev/null",
        "+++ b/sub/new.txt",
        "@@ -0,0 +1,2 @@",
        "+one",
        "+two",
    ]
    assert (workshop.folder / "sub" / "new.txt").read_text() == "one\ntwo\n"
