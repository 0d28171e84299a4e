"""Rules that cannot be read, because something else stands where they or their folder should: every command that needs
them stops, and says what and where. Nothing there is no rules; something there that is no rules is a mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hitl_cli import config, rulebook
from hitl_cli.access import Place
from hitl_cli.errors import RuleError
from hitl_cli.paths import Paths, place_for, project_of
from tests.cli.program import DONE, Home, Said

NO_FOLDER = "\n  Name a folder with HITL_CONFIG_DIR or HITL_STATE_DIR, or put one in its place."
NO_LINK = "\n  Put back what it leads to, or take the link away."


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "deep" / "config", tmp_path / "state")


@pytest.fixture
def place(tmp_path: Path, paths: Paths) -> Place:
    (tmp_path / "ws" / ".git").mkdir(parents=True)
    return place_for(tmp_path / "ws", (), paths)


def rule_files(paths: Paths, place: Place) -> dict[str, Path]:
    return {
        "user": paths.user_config,
        "user rules": paths.user_rules,
        "project": paths.project_rules(project_of(place.workspace)),
        "repository": Path(place.workspace, ".hitl", "config.toml"),
    }


def a_file(at: Path) -> str:
    at.write_text("")
    return f"{at} is no folder{NO_FOLDER}"


def a_link_to_a_file(at: Path) -> str:
    at.symlink_to("/dev/null")
    return f"{at} is no folder{NO_FOLDER}"


def a_link_to_nothing(at: Path) -> str:
    at.symlink_to("nowhere")
    return f"{at} is a link to what is not there{NO_LINK}"


def a_link_to_itself(at: Path) -> str:
    at.symlink_to(at.name)
    return "Too many levels of symbolic links\n  Put that right; rules are never skipped."


# What stands in the place of a rule file (0), its folder (1) or the one above (2). An empty file is a rule file, and above
# the folder of a repository's settings is the workspace.
ABOVE = [(which, up) for which in ("user", "user rules", "project", "repository") for up in (1, 2)]
WAYS = [
    *((which, 0, spoil) for which, up in ABOVE if up == 1 for spoil in (a_link_to_nothing, a_link_to_itself)),
    *(
        (*where, spoil)
        for where in ABOVE
        if where != ("repository", 2)
        for spoil in (a_file, a_link_to_a_file, a_link_to_nothing, a_link_to_itself)
    ),
]


@pytest.mark.parametrize(("which", "up", "spoil"), WAYS)
def test_what_stands_in_the_way_of_a_rule_file_stops_the_program(
    which: str, up: int, spoil: Callable[[Path], str], paths: Paths, place: Place
) -> None:
    file = rule_files(paths, place)[which]
    at = (file, *file.parents)[up]
    at.parent.mkdir(parents=True, exist_ok=True)
    problem = spoil(at)
    with pytest.raises(RuleError) as caught:
        rulebook.load(place, paths)
    first = next(f for f in rule_files(paths, place).values() if f == file or f.is_relative_to(at))
    assert str(caught.value) == f"{first}: cannot be read: {problem}"
    with pytest.raises(RuleError):
        config.read(file)


def test_where_nothing_stands_there_are_no_rules(paths: Paths, place: Place, tmp_path: Path) -> None:
    assert rulebook.load(place, paths).files == ()
    (tmp_path / "kept").mkdir()
    paths.config.parent.mkdir()
    paths.config.symlink_to("../kept")
    assert rulebook.load(place, paths).files == ()
    (paths.config / "config.toml").symlink_to("mine.toml")
    (paths.config / "mine.toml").write_text("format = 1\n")
    assert rulebook.load(place, paths).files == (paths.user_config,)


def test_what_was_trusted_is_read_as_strictly(paths: Paths, place: Place) -> None:
    repository = rule_files(paths, place)["repository"]
    repository.parent.mkdir()
    repository.write_text("format = 1\n")
    problem = a_file(paths.state)
    with pytest.raises(RuleError) as caught:
        rulebook.load(place, paths)
    assert str(caught.value) == f"{paths.trust}: cannot be read: {problem}"


READING = (
    ["rules", "check", "ls"],
    ["rules", "explain", "ls"],
    ["rules", "list"],
    ["rules", "packs"],
    ["rules", "suggest"],
    ["rules", "lint"],
    ["config", "show"],
    ["run", "go"],
    ["-p", "go"],
)
WRITING = (
    ["rules", "add", "Bash(x)"],
    ["rules", "add", "--scope", "project", "Bash(x)"],
    ["rules", "remove", "Bash(x)"],
    ["rules", "packs", "git", "--on"],
)


@pytest.mark.parametrize("command", [*READING, *WRITING], ids=" ".join)
def test_every_command_stops_where_the_folder_of_settings_is_none(home: Home, command: list[str]) -> None:
    said = home.script(DONE).hitl(*command, *_model(home, command), env={"HITL_CONFIG_DIR": "/dev/null"})
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("hitl: /dev/null/")
    assert len(said.err.splitlines()) == 2


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_every_command_stops_where_the_folder_of_a_repositorys_settings_is_none(home: Home, command: list[str]) -> None:
    problem = a_file(home.work / ".hitl")
    said = home.script(DONE).hitl(*command, *_model(home, command))
    assert said == Said(2, "", f"hitl: {home.work}/.hitl/config.toml: cannot be read: {problem}\n")


@pytest.mark.parametrize(
    "command", [["pending"], ["log"], ["sessions", "list"], ["rules", "suggest"], ["run", "go"]], ids=" ".join
)
def test_every_command_stops_where_the_folder_of_sessions_is_none(home: Home, command: list[str]) -> None:
    said = home.script(DONE).hitl(*command, *_model(home, command), env={"HITL_STATE_DIR": "/dev/null"})
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("hitl: The store /dev/null/sessions.db")
    assert len(said.err.splitlines()) == 2


def _model(home: Home, command: list[str]) -> list[str]:
    return home.model if "go" in command else []
