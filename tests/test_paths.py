"""Where the program's own folders lie, on each platform."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hitl_cli.paths import Paths, locate

LINUX, MAC = "linux", "darwin"


@pytest.mark.parametrize(
    ("platform", "environ", "config", "state"),
    [
        (LINUX, {}, "/home/u/.config/hitl", "/home/u/.local/state/hitl"),
        (MAC, {}, *["/home/u/Library/Application Support/hitl"] * 2),
        (LINUX, {"XDG_CONFIG_HOME": "/x"}, "/x/hitl", "/home/u/.local/state/hitl"),
        (MAC, {"XDG_STATE_HOME": "/x"}, "/home/u/Library/Application Support/hitl", "/x/hitl"),
        (LINUX, {"XDG_CONFIG_HOME": "x", "XDG_STATE_HOME": ""}, "/home/u/.config/hitl", "/home/u/.local/state/hitl"),
        (LINUX, {"HITL_CONFIG_DIR": "/c", "XDG_CONFIG_HOME": "/x"}, "/c", "/home/u/.local/state/hitl"),
        (MAC, {"HITL_CONFIG_DIR": "/c", "HITL_STATE_DIR": "/s"}, "/c", "/s"),
        (LINUX, {"HITL_CONFIG_DIR": "", "HITL_STATE_DIR": "s"}, "/home/u/.config/hitl", str(Path.cwd() / "s")),
    ],
)
def test_the_folders_are_those_named_else_the_platforms_own(
    platform: str, environ: dict[str, str], config: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert locate({"HOME": "/home/u"} | environ) == Paths(Path(config), Path(state))


def test_without_a_home_in_the_environment_it_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/v")
    monkeypatch.setattr(sys, "platform", LINUX)
    assert locate({}).config == Path("/home/v/.config/hitl")
