"""Where the program's own folders lie."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from hitl_cli.accesses import accesses_of
from hitl_cli.cli.complete import install
from hitl_cli.errors import UsageError
from hitl_cli.loop.verdicts import home_place
from hitl_cli.paths import Paths, locate, place_for
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision

XDG = [
    {},
    {"XDG_CONFIG_HOME": "/x"},
    {"XDG_STATE_HOME": "/x/y"},
    {"XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""},
    {"XDG_CONFIG_HOME": "x", "XDG_STATE_HOME": "./y"},
]


@pytest.mark.parametrize("said", XDG, ids=str)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_what_nobody_named_lies_where_platformdirs_has_it(
    platform: str, said: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Linux by the program's own reading of the specification."""
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/u"} | said).items():
        monkeypatch.setenv(name, value)
    dirs = platformdirs.PlatformDirs("hitl", appauthor=False)
    assert locate() == Paths(Path(dirs.user_config_dir), Path(dirs.user_state_dir))


@pytest.mark.parametrize(
    ("environ", "config", "state"),
    [
        ({"HITL_CONFIG_DIR": "/c", "XDG_CONFIG_HOME": "/x"}, "/c", "/home/u/.local/state/hitl"),
        ({"HITL_CONFIG_DIR": "/c", "HITL_STATE_DIR": "/s"}, "/c", "/s"),
        ({"HITL_CONFIG_DIR": "", "HITL_STATE_DIR": "s"}, "/home/u/.config/hitl", str(Path.cwd() / "s")),
        ({"HITL_CONFIG_DIR": "../c", "HITL_STATE_DIR": "//s/./t/"}, str(Path.cwd().parent / "c"), "/s/t"),
        ({"XDG_CONFIG_HOME": "/x/../y", "HOME": "/home/u/../v/."}, "/y/hitl", "/home/v/.local/state/hitl"),
    ],
)
def test_a_folder_that_is_named_comes_first(
    environ: dict[str, str], config: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert locate({"HOME": "/home/u"} | environ) == Paths(Path(config), Path(state))


def test_without_a_home_in_the_environment_it_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/v")
    monkeypatch.setattr(sys, "platform", "linux")
    assert locate({}).config == Path("/home/v/.config/hitl")


@pytest.mark.parametrize("home", ["", "x", "./x", "../x", "~"])
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_home_folder_that_is_no_absolute_path_is_refused(
    home: str, platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be another one in each folder, with other rules in it."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", home)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    named = Paths(tmp_path / "config", tmp_path / "state")
    for look in (locate, home_place, lambda: place_for(tmp_path, (), named), lambda: install(["bash"])):
        with pytest.raises(UsageError) as caught:
            look()
        assert str(caught.value) == (
            f"The home folder {home!r} is no absolute path.\n  Set HOME to yours, such as HOME=/home/me."
        )


def test_a_user_without_a_home_folder_is_told_to_set_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(
        os.path, "expanduser", lambda path: path
    )  # what it does for a user that the system does not know
    with pytest.raises(UsageError, match="The home folder '~' is no absolute path"):
        locate({})


def linked_folder(paths: Paths, workspace: Path, real: Path) -> Path:
    (real / "config").mkdir(parents=True)
    paths.config.symlink_to(real / "config")
    return real / "config" / "rules.toml"


def linked_file(paths: Paths, workspace: Path, real: Path) -> Path:
    paths.config.mkdir()
    real.mkdir()
    (real / "mine.toml").write_text("format = 1\n")
    paths.user_rules.symlink_to(real / "mine.toml")
    return real / "mine.toml"


def linked_projects(paths: Paths, workspace: Path, real: Path) -> Path:
    paths.config.mkdir()
    real.mkdir()
    (paths.config / "projects").symlink_to(real)
    return real / paths.project_rules(str(workspace)).name


def linked_repository(paths: Paths, workspace: Path, real: Path) -> Path:
    real.mkdir()
    (workspace / ".hitl").symlink_to(real)
    return real / "config.toml"


def linked_store(paths: Paths, workspace: Path, real: Path) -> Path:
    paths.state.mkdir()
    real.mkdir()
    paths.store.symlink_to(real / "s.db")
    return real / "s.db"


def no_link(paths: Paths, workspace: Path, real: Path) -> Path:
    return paths.project_rules(str(workspace))


@pytest.mark.parametrize("lay", [linked_folder, linked_file, linked_projects, linked_repository, linked_store, no_link])
def test_the_programs_own_files_are_guarded_under_their_real_names_too(
    lay: Callable[[Paths, Path, Path], Path], tmp_path: Path
) -> None:
    workspace = tmp_path / "ws"
    (workspace / ".git").mkdir(parents=True)
    paths = Paths(tmp_path / "config", tmp_path / "state")
    file = lay(paths, workspace, workspace / "kept")
    place = place_for(workspace, (), paths)
    verdict = Policy([], place).judge(accesses_of("Write", {"file_path": str(file)}, place), mode="bypass", now=0)
    assert verdict.decision is Decision.ASK
    assert "hitl's own settings" in verdict.reason
    other = accesses_of("Write", {"file_path": f"{workspace}/other/file"}, place)
    assert Policy([], place).judge(other, mode="bypass", now=0).decision is Decision.ALLOW


def test_the_folders_of_a_run_without_variables_are_guarded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HITL_CONFIG_DIR", "HITL_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    usual = locate()
    monkeypatch.setenv("HITL_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HITL_STATE_DIR", str(tmp_path / "state"))
    place = place_for(tmp_path, (), locate())
    for file in (usual.user_rules, usual.store, locate().user_rules, locate().store):
        verdict = Policy([], place).judge(accesses_of("Write", {"file_path": str(file)}, place), mode="bypass", now=0)
        assert verdict.decision is Decision.ASK
        assert "hitl's own settings" in verdict.reason
