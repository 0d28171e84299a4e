"""The person's own commands for what happens: told by the environment, never waited for, never for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

from hitl_cli import config
from hitl_cli.notify import notify


def until(fits: object) -> object:
    end = time.monotonic() + 20
    while not (value := fits()):  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)
    return value


def test_what_happened_is_in_the_environment(tmp_path: Path):
    out = tmp_path / "out"
    printed = 'printf "%s|%s|%s|%s" "$HITL_EVENT" "$HITL_SESSION" "$HITL_TITLE" "$HITL_CWD"'
    command = f"{printed} > {out}.part; mv {out}.part {out}"
    notify({"done": command}, "done", session="2f9c", title="$(touch bad); x", cwd=str(tmp_path))
    until(out.exists)
    assert out.read_text() == f"done|2f9c|$(touch bad); x|{tmp_path}"
    assert not (tmp_path / "bad").exists()


def test_an_event_without_a_command_does_nothing(tmp_path: Path):
    notify({"done": "touch made"}, "failed", session="2f9c", title="", cwd=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_it_is_not_waited_for_reads_nothing_and_is_ended_at_its_limit_with_all_it_started(tmp_path: Path):
    out = tmp_path / "out"
    began = time.monotonic()
    command = f"cat; sleep 60 & echo $! $$ > {out}.part; mv {out}.part {out}; sleep 60"
    notify({"waiting": command}, "waiting", session="2f9c", title="", cwd=str(tmp_path), limit=1)
    assert time.monotonic() - began < 5
    until(out.exists)
    pids = [int(pid) for pid in out.read_text().split()]
    until(lambda: not any(running(pid) for pid in pids))


def test_the_watch_ends_with_the_command(tmp_path: Path):
    out = tmp_path / "out"
    notify(
        {"done": f"ps -o pgid= -p $$ > {out}.part; mv {out}.part {out}"},
        "done",
        session="",
        title="",
        cwd=str(tmp_path),
    )
    until(out.exists)
    group = int(out.read_text())
    until(lambda: not group_lives(group))


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_commands_of_a_repository_count_only_when_it_is_trusted(tmp_path: Path):
    user, repository = tmp_path / "user.toml", tmp_path / "repository.toml"
    user.write_text('[notify]\ndone = "mine"\n')
    repository.write_text('[notify]\ndone = "theirs"\n')
    files = {"user": user, "repository": repository}
    assert config.resolve({}, {}, files, trusted=False).notify == {"done": "mine"}
    assert config.resolve({}, {}, files, trusted=True).notify == {"done": "theirs"}
