"""Real commands in real shells: what comes back, what is left running, what nothing can wait for."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import stat
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from hitl_cli.journal import Result
from hitl_cli.tools import Jobs, processes
from hitl_cli.tools.bash import environment
from hitl_cli.tools.processes import members


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def test_both_streams_come_back_in_order(session):
    assert session.run("Bash", command="echo out; echo err >&2; echo out again") == Result(
        "out\nerr\nout again", data={"exit": 0, "bytes": 18}
    )
    assert not session.outputs.exists() or not list(session.outputs.rglob("*.txt"))  # nothing was left out


def test_no_output_is_said(session):
    assert session.text("Bash", command="true") == "(no output)"


def test_a_failing_command_is_an_error_result_with_its_output(session):
    assert session.run("Bash", command="echo out; echo err >&2; exit 3") == Result(
        "out\nerr\n(exit code 3)", ok=False, kind="error", data={"exit": 3, "bytes": 8}
    )
    assert session.text("Bash", command="kill -9 $$") == "(ended by signal SIGKILL)"


def test_a_time_out_is_an_error_result_with_what_was_written_and_ends_everything(session, work):
    command = "echo $$ > pid; timeout 1000 sleep 1000 & echo started; sleep 1000"
    result = session.run("Bash", command=command, timeout=1500)
    assert result == Result(
        "started\n(timed out after 1.5 s and was ended)", ok=False, kind="error", data={"exit": -15, "bytes": 8}
    )
    assert members(int((work / "pid").read_text())) == []


def test_what_comes_next_in_a_command_does_not_begin_when_it_is_ended(session, work, monkeypatch):
    tell = os.kill
    monkeypatch.setattr(os, "kill", lambda pid, what: (tell(pid, what), time.sleep(0.1)))
    session.run("Bash", command="(((sleep 1000; touch a); touch b); touch c); touch d", timeout=1000)
    assert list(work.iterdir()) == []


def test_what_ignores_being_asked_to_end_is_ended(session, work):
    result = session.run("Bash", command="trap '' TERM; echo $$ > pid; while :; do sleep 1000; done", timeout=1500)
    assert result.data["exit"] == -9
    assert members(int((work / "pid").read_text())) == []


def test_the_time_limit_is_clamped_to_ten_minutes(session):
    assert session.run("Bash", command="echo fine", timeout=99_999_999).ok


@pytest.mark.skipif(shutil.which("ps") is None, reason="ps is not installed")
def test_processes_are_found_with_ps_where_there_is_no_proc(session, work, monkeypatch):
    monkeypatch.setattr(processes, "_table", processes._from_ps)
    command = "echo $$ > pid; timeout 900 sleep 1000 & bash -c 'sleep 1000; :'"
    assert "(timed out after 1.5 s and was ended)" in str(session.run("Bash", command=command, timeout=1500).content)
    monkeypatch.undo()
    assert members(int((work / "pid").read_text())) == []


def test_a_cancelled_call_ends_grandchildren_in_groups_of_their_own(session, work):
    async def story() -> list[int]:
        command = "timeout 900 bash -c 'sleep 1000 & echo $! > pid; wait' & bash -c 'echo $$ > other; sleep 1000; :'"
        call = asyncio.ensure_future(session.arun("Bash", command=command))
        await until(lambda: all((work / n).exists() and (work / n).read_text() for n in ("pid", "other")))
        pids = [int((work / n).read_text()) for n in ("pid", "other")]
        assert all(map(alive, pids))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return pids

    assert not any(map(alive, asyncio.run(story())))


def test_standard_input_is_closed_and_there_is_no_terminal(session):
    text = session.text("Bash", command="read line; echo $?; cat; (exec < /dev/tty) 2>/dev/null || echo no terminal")
    assert text == "1\nno terminal"


def test_git_fails_rather_than_ask_for_a_password(session):
    class Closed(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Closed) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        result = session.run("Bash", command=f"git clone http://127.0.0.1:{server.server_port}/x.git")
        server.shutdown()
    assert not result.ok
    assert "terminal prompts disabled" in result.content


def test_a_shell_starts_from_nothing_but_its_text(session, work, monkeypatch):
    hook = work / "hook.sh"
    hook.write_text("echo hooked\n")
    (work / "elsewhere" / "sub").mkdir(parents=True)
    (work / "sub").mkdir()
    for name, value in {
        "BASH_ENV": str(hook),
        "ENV": str(hook),
        "CDPATH": str(work / "elsewhere"),
        "SHELLOPTS": "xtrace",
        "BASHOPTS": "nullglob",
        "POSIXLY_CORRECT": "1",
        "PS4": "$(echo hooked)",
        "BASH_FUNC_ls%%": "() { echo hooked; }",
    }.items():
        monkeypatch.setenv(name, value)
    assert session.text("Bash", command="ls; cd sub; pwd; echo *.none; set -x; true") == (
        f"elsewhere\nhook.sh\nsub\n{work}/sub\n*.none\n+ true"
    )


def test_nothing_carries_over(session, work):
    session.run("Bash", command="cd /; export A=1; f() { :; }")
    assert session.text("Bash", command='pwd; echo "[$A]"; type f 2>/dev/null || echo none') == f"{work}\n[]\nnone"


def test_the_environment_keeps_everything_else():
    assert (
        environment({"PATH": "/bin", "FOO": "() { :; }", "HOME": "/h", "ENV": "x", "BASH_FUNC_a%%": "()"}).items()
        >= {
            "PATH": "/bin",
            "HOME": "/h",
        }.items()
    )


def test_what_holds_a_command_back_leaves_every_variable_as_it_is(session, monkeypatch):
    names = {"REPLY", "go", *re.findall(r"[A-Za-z]\w*", processes._GATE)}
    for name in names:
        monkeypatch.setenv(name, "mine")
    assert set(session.text("Bash", command="env | grep =mine$").split()) == {f"{name}=mine" for name in names}


def test_long_output_keeps_head_and_tail_and_the_whole_on_disk(session):
    result = session.run("Bash", command="seq 1 20000")
    whole = session.outputs / "2f9c" / "1.1.1.txt"
    text = "".join(f"{n}\n" for n in range(1, 20001))
    assert result.data == {"exit": 0, "bytes": len(text), "output": str(whole)}
    hidden = f"[... {len(text) - 30000:,} characters left out; the whole is in {whole} ...]"
    assert result.content == f"{text[:15000]}\n\n{hidden}\n\n{text[-15000:]}".rstrip()
    assert whole.read_text() == text
    assert stat.S_IMODE(whole.stat().st_mode) == 0o600
    assert stat.S_IMODE(whole.parent.stat().st_mode) == 0o700


def test_fifty_megabytes_do_not_grow_the_memory(session):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = session.run("Bash", command="head -c 50000000 /dev/zero | tr '\\0' 'é'")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.data["bytes"] == 50_000_000
    assert len(result.content) < 61_000
    assert Path(result.data["output"]).stat().st_size == 50_000_000
    assert grown < 20_000  # kilobytes
    assert sum(map(len, session.shown)) < 1_000_000


def test_bytes_that_are_no_text_are_shown_as_escapes(session):
    assert session.text("Bash", command=r"printf 'a\377\000\033[1mb\007\303\251'") == "a\\xff\\x00\x1b[1mb\\x07é"


def test_output_is_shown_while_the_command_runs(session, work):
    """The command goes on only after its first output was shown."""
    os.mkfifo(work / "go")

    def release(text: str) -> None:
        if "first" in text:
            (work / "go").write_text("go\n")

    session.on_progress = release
    assert session.text("Bash", command="echo first; read line < go; echo $line") == "first\ngo"


def test_what_a_command_leaves_running_becomes_a_job_and_does_not_hang(session, work):
    async def story() -> tuple[Result, str, str, int]:
        result = await session.arun("Bash", command="echo here; sleep 1000 & echo $! > pid")
        pid = int((work / "pid").read_text())
        listed = await session.arun("BashOutput")
        ended = await session.arun("BashKill", job="1.1.1")
        return result, listed.content, ended.content, pid

    result, listed, ended, pid = asyncio.run(story())
    assert result.content == "here\n(still running in the background as job 1.1.1: 1 process)"
    assert result.ok
    assert listed == "1.1.1  running  echo here; sleep 1000 & echo $! > pid"
    assert ended == "(ended)"
    assert not alive(pid)


def test_a_background_job_is_read_bit_by_bit_waited_for_and_ended(new_session, work):
    os.mkfifo(work / "go")
    jobs = Jobs()
    session = new_session(jobs=jobs)

    async def story() -> list[str]:
        told = [
            (await session.arun("Bash", command="echo one; read x < go; echo two; exit 4", background=True)).content
        ]
        await until(lambda: jobs.of("2f9c")[0].command.spool.size == 4)
        told.append((await session.arun("BashOutput", job="1.1.1")).content)
        (work / "go").write_text("\n")
        told.append((await session.arun("BashOutput", job="1.1.1", wait=20_000)).content)
        told.append((await session.arun("BashOutput", job="1.1.1")).content)
        return told

    assert asyncio.run(story()) == [
        "started in the background as job 1.1.1",
        "one\n(running)",
        "two\n(finished, exit code 4)",
        "(finished, exit code 4)",
    ]
    assert session.shown == []  # live output is for calls that still run


def test_jobs_end_with_the_session(new_session, work):
    jobs = Jobs()
    session = new_session(jobs=jobs)

    async def story() -> list[int]:
        for name in ("a", "b"):
            await session.arun("Bash", command=f"sleep 1000 & echo $! > {name}; wait", background=True)
        await until(lambda: all((work / n).exists() and (work / n).read_text() for n in ("a", "b")))
        await jobs.close()
        return [int((work / n).read_text()) for n in ("a", "b")]

    assert not any(map(alive, asyncio.run(story())))


def test_jobs_belong_to_their_session(new_session, work):
    jobs = Jobs()
    one, other = new_session(jobs=jobs), new_session(jobs=jobs)
    other.session = "77aa"

    async def story() -> tuple[str, bool]:
        await one.arun("Bash", command="sleep 1000", background=True)
        told = (await other.arun("BashOutput")).content, (await other.arun("BashKill", job="1.1.1")).ok
        await jobs.close()
        return told

    assert asyncio.run(story()) == ("no jobs", False)


def test_an_unknown_job_is_an_error_that_lists_the_known(session):
    assert session.text("BashOutput", job="9.9.9") == (
        "there is no job 9.9.9 (jobs: none); jobs end with the session that started them"
    )
    assert session.text("BashOutput") == "no jobs"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo a\0b", "a command cannot hold a NUL character"),
        ("x" * 3_000_000, "bash could not be started: Argument list too long"),
    ],
)
def test_a_command_that_cannot_be_started_is_an_error_result(session, command, problem):
    assert session.run("Bash", command=command) == Result(problem, ok=False, kind="error")


def test_a_missing_folder_is_an_error_result(session, work):
    work.rmdir()
    assert session.text("Bash", command="true") == f"the working folder {work} is gone"


def test_the_preview_is_the_whole_command_with_its_purpose_apart(session):
    preview = session.tools["Bash"].shows({"command": "make\nmake install", "description": "install it"}, session.place)
    assert (preview.kind, preview.body, preview.purpose) == ("command", "make\nmake install", "install it")
