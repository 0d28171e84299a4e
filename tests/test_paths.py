"""Where the program's own folders lie."""

from __future__ import annotations

import sys
from pathlib import Path

import platformdirs
import pytest

from hitl_cli.paths import Paths, locate

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
