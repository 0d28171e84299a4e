"""The built wheel, installed alone into an empty environment, does the main job."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "PYTHON", "ANTHROPIC_"))} | variables
    return subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, text=True, capture_output=True, stdin=subprocess.DEVNULL
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and what it requires, nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", folder, cwd=folder).returncode == 0
    done = run(folder / "bin" / "pip", "install", "-q", wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def test_the_wheel_carries_packs_completions_help_and_the_demo(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, kind in (("rules", "toml"), ("completions", ""), ("help", "md"), ("demo", "toml"), ("tools", "md")):
        source = ROOT / folder if (ROOT / folder).is_dir() else ROOT / "hitl_cli" / folder
        wanted = {f"hitl_cli/{folder}/{p.name}" for p in source.glob(f"*.{kind}" if kind else "hitl*")}
        assert wanted <= names
        assert wanted or folder == "completions"
    assert any(name.startswith("hitl_cli/store/migrations/") for name in names)
    assert not any(name.startswith("tests/") for name in names)


def test_the_demo_plays_and_rules_are_judged_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    own = {"HITL_CONFIG_DIR": str(tmp_path / "config"), "HITL_STATE_DIR": str(tmp_path / "state")}
    told = run(installed / "hitl", "demo", cwd=tmp_path, **own)
    assert (told.returncode, told.stderr) == (0, "")
    assert "Bash(python3 -m unittest)" in told.stdout
    assert not (tmp_path / "config").exists()
    allowed = run(installed / "hitl", "rules", "check", "git log | head", cwd=tmp_path, **own)
    assert allowed.returncode == 0, allowed.stdout + allowed.stderr
    asked = run(installed / "hitl", "rules", "check", "git push", cwd=tmp_path, **own)
    assert asked.returncode == 4
    version = run(installed / "hitl", "--version", cwd=tmp_path, **own)
    assert version.stdout.startswith("hitl ")
