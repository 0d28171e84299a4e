"""Instructions of folders below the session's own: given with the first result about a file there, and only then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hitl_cli import instructions
from hitl_cli.access import Place
from hitl_cli.journal import Changed, Recorded
from hitl_cli.paths import Paths


def lay(folder: Path, **files: str) -> None:
    for name, text in files.items():
        file = folder / name.replace("__", "/").replace("_md", ".md").replace("_py", ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def blocks(result: Any) -> list[str]:
    return [result.content] if isinstance(result.content, str) else [b["text"] for b in result.content]


def test_the_first_result_about_a_file_carries_the_instructions_of_its_folders_widest_first(session, work):
    lay(work, AGENTS_md="top", a__AGENTS_md="of a", a__b__AGENTS_md="of b", a__b__x_py="1\n", a__y_py="2\n")
    result = session.run("Read", file_path="a/b/x.py")
    text, of_a, of_b = blocks(result)
    assert text == "     1\t1"
    assert of_a.endswith("<project_instructions>\nof a\n</project_instructions>")
    assert of_b.endswith("<project_instructions>\nof b\n</project_instructions>")
    assert result.data["instructions"] == [str(work / "a/AGENTS.md"), str(work / "a/b/AGENTS.md")]
    assert blocks(session.run("Read", file_path="a/y.py")) == ["     1\t2"]


def test_they_are_given_once_more_after_a_summary(session, work):
    lay(work, a__AGENTS_md="of a", a__x_py="1\n")
    assert len(blocks(session.run("Read", file_path="a/x.py"))) == 2
    assert len(blocks(session.run("Read", file_path="a/x.py"))) == 1
    session.history.append(Recorded(len(session.history) + 1, 0.0, Changed("summary", "x was read")))
    assert len(blocks(session.run("Read", file_path="a/x.py"))) == 2


def test_writing_a_new_file_brings_them_too_and_an_edit_still_works(session, work):
    lay(work, a__AGENTS_md="of a")
    assert len(blocks(session.run("Write", file_path="a/new.py", content="1\n"))) == 2
    assert session.run("Edit", file_path="a/new.py", old_string="1", new_string="2").ok
    assert (work / "a/new.py").read_text() == "2\n"


def test_reading_the_instructions_themselves_gives_them_once(session, work):
    lay(work, a__AGENTS_md="of a")
    assert blocks(session.run("Read", file_path="a/AGENTS.md")) == ["     1\tof a"]


def test_what_a_deny_rule_closes_or_leads_elsewhere_or_is_no_file_is_not_given(new_session, tmp_path):
    work = tmp_path / "work"
    session = new_session(readable=lambda path: not path.endswith("a/AGENTS.md"))
    lay(work, a__AGENTS_md="of a", a__x_py="1\n", b__x_py="1\n", c__x_py="1\n")
    (tmp_path / "secret").write_text("key")
    (work / "b/AGENTS.md").symlink_to(tmp_path / "secret")
    os.mkfifo(work / "c/AGENTS.md")
    for folder in "abc":
        assert blocks(session.run("Read", file_path=f"{folder}/x.py")) == ["     1\t1"]


def test_files_outside_the_workspace_bring_none(session, tmp_path):
    lay(tmp_path, out__AGENTS_md="of out", out__x_py="1\n")
    assert blocks(session.run("Read", file_path=str(tmp_path / "out/x.py"))) == ["     1\t1"]


def test_a_long_file_is_cut_and_says_so(session, work):
    lay(work, a__AGENTS_md="x" * (instructions.LARGEST + 1), a__x_py="1\n")
    assert "[the rest of this file was left out]" in blocks(session.run("Read", file_path="a/x.py"))[1]


def test_at_the_start_the_persons_and_those_down_to_the_folder_are_read_and_named(tmp_path):
    lay(tmp_path, config__AGENTS_md="mine", work__AGENTS_md="top", work__a__AGENTS_md="of a", work__a__b__AGENTS_md="b")
    place = Place(cwd=str(tmp_path / "work/a"), roots=(str(tmp_path / "work"),), home=str(tmp_path))
    found = instructions.gather(place, Paths(tmp_path / "config", tmp_path / "state"))
    assert [Path(f).relative_to(tmp_path).as_posix() for f in found.files] == [
        "config/AGENTS.md",
        "work/AGENTS.md",
        "work/a/AGENTS.md",
    ]
    assert found.notices(place) == ["Instructions: ~/config/AGENTS.md, AGENTS.md, a/AGENTS.md"]
    assert found.text.index("mine") < found.text.index("top") < found.text.index("of a")


def test_a_start_file_that_leads_out_of_the_workspace_is_left_out_and_told(tmp_path):
    lay(tmp_path, work__x_py="", secret_md="key")
    (tmp_path / "work/AGENTS.md").symlink_to(tmp_path / "secret.md")
    place = Place(cwd=str(tmp_path / "work"), roots=(str(tmp_path / "work"),), home="/home/x")
    found = instructions.gather(place, Paths(tmp_path / "config", tmp_path / "state"))
    assert "key" not in found.text
    assert found.notices(place) == ["AGENTS.md leads out of the workspace and was not read."]
