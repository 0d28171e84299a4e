"""Which setting wins, and that a repository only tightens until it is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitl_cli import config
from hitl_cli.errors import SettingsError, UsageError


class Files:
    def __init__(self, folder: Path) -> None:
        self.user, self.repository = folder / "user.toml", folder / "repository.toml"

    def resolve(self, trusted: bool = False, environ: dict[str, str] | None = None, **flags: Any) -> config.Settings:
        return config.resolve(flags, environ or {}, {"user": self.user, "repository": self.repository}, trusted)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_anything_the_defaults_hold(files: Files) -> None:
    assert files.resolve() == config.Settings()


def test_flag_environment_repository_and_user_file_count_in_this_order(files: Files) -> None:
    files.user.write_text('model = "a"\nmode = "accept-edits"\nmax_steps = 9\nbell = false\n')
    files.repository.write_text('model = "b"\nmode = "plan"\nmax_steps = 7\n')
    environ = {"HITL_MODEL": "c", "HITL_MODE": "dont-ask"}
    found = files.resolve(True, environ, mode="default")
    assert found == config.Settings(
        model="c",
        mode="default",
        max_steps=7,
        bell=False,
        origins={
            "model": "environment HITL_MODEL",
            "mode": "flag --mode",
            "max_steps": str(files.repository),
            "bell": str(files.user),
        },
    )


@pytest.mark.parametrize(
    ("user", "repository", "name", "value"),
    [
        ("max_steps = 9", "max_steps = 10", "max_steps", 9),
        ("max_steps = 9", "max_steps = 8", "max_steps", 8),
        ("", "max_steps = 51", "max_steps", 50),
        ("", "max_tokens = 10", "max_tokens", 10),
        ("max_cost = 1", "max_cost = 2.0", "max_cost", 1.0),
        ("expires = '1h'", "expires = '2h'", "expires", 3600.0),
        ("", "mode = 'plan'", "mode", "plan"),
        ("", "mode = 'dont-ask'", "mode", "dont-ask"),
        ("", "mode = 'accept-edits'", "mode", "default"),
        ("", "model = 'x'", "model", ""),
        ("", "add_dirs = ['/']", "add_dirs", ()),
        ("", "[mcp.x]\ncommand = ['x']", "mcp", {}),
        ("", "[tools.x]\nexternal = true", "tools", {}),
        ("", "[notify]\ndone = 'x'", "notify", {}),
    ],
)
def test_a_repository_only_tightens_until_it_is_trusted(
    files: Files, user: str, repository: str, name: str, value: object
) -> None:
    files.user.write_text(user)
    files.repository.write_text(repository)
    assert getattr(files.resolve(), name) == value


def test_bypass_comes_from_neither_file_nor_environment(files: Files) -> None:
    with pytest.raises(UsageError, match="HITL_MODE cannot be bypass here"):
        files.resolve(environ={"HITL_MODE": "bypass"})
    files.repository.write_text('mode = "bypass"')
    with pytest.raises(SettingsError, match=r"repository.toml:1: mode cannot be bypass here"):
        files.resolve(True)
    files.repository.unlink()
    assert files.resolve(mode="bypass").mode == "bypass"


def test_a_mistake_names_file_line_and_remedy(files: Files) -> None:
    files.user.write_text("# mine\nmax_step = 5\n")
    with pytest.raises(SettingsError) as caught:
        files.resolve()
    assert str(caught.value) == f"{files.user}:2: unknown setting 'max_step'\n  Did you mean max_steps?"


def test_the_line_of_a_key_is_found_in_every_way_of_writing_it() -> None:
    text = 'a = 1\n"b" = 2\nc.x = 3\n[d]\n[[e]]\n[f.g]\n'
    assert [config.line_of(text, key) for key in "abcdefx"] == [1, 2, 3, 4, 5, 6, None]
