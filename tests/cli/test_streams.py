"""Standard input, standard output and signals, in every state a script can leave them in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.program import DONE, Home, Said, end_of, stop, until

# A model that says what it was asked is not at hand; the message that counts is the one on record.
SLEEPS = ("Bash", {"command": "sh sleeper"})
STALLS = (
    '[[turn]]\n[[turn.reply]]\ntext = "I think"\nerror = { stall = 300 }\n[[turn]]\n[[turn.reply]]\ntext = "Two."\n'
)


def message_of(home: Home) -> str:
    [row] = home.hitl("sessions", "list", "--json").json
    entries = home.hitl("show", row["session"], "--json").json["entries"]
    return str(next(e["text"] for e in entries if e["type"] == "began"))


@pytest.mark.parametrize(
    ("argument", "piped", "message"),
    [
        (None, "from the pipe\n", "from the pipe\n"),
        ("do this", "with that\n", "do this\n\nwith that\n"),
        ("do this", "", "do this"),
        ("do this", " \n", "do this"),
    ],
)
def test_standard_input_is_the_message_or_added_to_it(
    home: Home, argument: str | None, piped: str, message: str
) -> None:
    assert home.script(DONE).run(*([argument] if argument else []), input=piped).code == 0
    assert message_of(home) == message


def test_piped_input_without_a_command_means_run(home: Home) -> None:
    said = home.script(DONE).hitl(*home.model, "--output", "json", input="hello")
    assert (said.code, said.json["answer"]) == (0, "Done.")
    assert home.hitl("do it", *home.model, input="hello").out == "Done.\n"
    assert home.hitl("-p", "pending", *home.model, input="").out == "Done.\n"


@pytest.mark.parametrize("how", ["", "</dev/null", "<&-", "<empty"])
def test_no_message_at_all_is_wrong_usage(home: Home, how: str) -> None:
    (home.work / "empty").touch()
    said = shell(home, f"hitl run MODEL {how}")
    assert said.code == 2
    assert said.err.startswith("hitl: There is no message.\n  Give one: hitl run")


@pytest.mark.slow
def test_with_a_message_standard_input_may_be_missing(home: Home) -> None:
    for how in ("</dev/null", "<&-", "<&- 2>&-"):
        assert shell(home, f"hitl run go MODEL {how}").__dict__ == {"code": 0, "out": "Done.\n", "err": ""}
    assert shell(home, "hitl run go MODEL >&-").__dict__ == {"code": 0, "out": "", "err": ""}
    assert shell(home, "hitl <&-").code == 2


def test_a_pipe_that_never_ends_and_says_nothing_is_waited_for_a_second(home: Home) -> None:
    read, write = os.pipe()
    try:
        began = time.monotonic()
        said = home.script(DONE).run("go", stdin=read)
        assert (said.code, said.out) == (0, "Done.\n")
        assert time.monotonic() - began >= 1
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.slow
def test_a_flood_and_bytes_that_are_no_text_are_refused(home: Home) -> None:
    home.script(DONE)
    for flood in ("run MODEL", "run go MODEL"):
        said = shell(home, f"head -c 50000000 /dev/zero | hitl {flood}")
        assert (said.code, said.err) == (
            2,
            "hitl: Standard input holds more than 10 MB.\n  Save it to a file and name the file in the message.\n",
        )
    said = shell(home, "yes | hitl run go MODEL")
    assert said.code == 2
    assert home.run(input=b"caf\xe9").err == (
        "hitl: Standard input is not UTF-8 (byte 3).\n  Convert it first (iconv), or name the file instead.\n"
    )
    assert home.hitl("sessions", "list").out == "There is no session yet.\n"


@pytest.mark.slow
def test_ten_megabytes_are_read(home: Home) -> None:
    text = "x" * (10 * 1024 * 1024)
    assert home.script(DONE).run(input=text).code == 0


def test_a_terminal_is_never_read(home: Home) -> None:
    import pexpect

    env = {**home.env, "TERM": "xterm"}
    home.script(DONE)
    child = pexpect.spawn(sys.executable, ["-m", "hitl_cli", "run", *home.model], cwd=str(home.work), env=env)
    child.expect("There is no message")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2


# --- standard output ---------------------------------------------------------------------------------------------------


def test_a_reader_that_went_away_ends_listings_quietly(home: Home) -> None:
    assert shell(home, "hitl rules list | head -c0; echo ${PIPESTATUS[0]}").__dict__ == {
        "code": 0,
        "out": "0\n",
        "err": "",
    }
    said = shell(home, "hitl run go MODEL | head -c0; echo ${PIPESTATUS[0]}")
    assert said.__dict__ == {"code": 0, "out": "0\n", "err": ""}


def test_a_reader_of_lines_that_went_away_stops_the_turn_and_the_session_can_go_on(home: Home) -> None:
    (home.work / "sleeper").write_text("sleep 300")
    home.allow("Bash").calls(SLEEPS)
    said = shell(home, "hitl run go MODEL --output stream-json | head -n1; echo ${PIPESTATUS[0]}", script=None)
    assert said.out.splitlines()[-1] == "130"
    assert said.err == ""
    [row] = home.hitl("sessions", "list", "--json").json
    assert row["status"] == "idle"


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
@pytest.mark.slow
def test_a_full_disk_is_a_failure(home: Home, output: str) -> None:
    said = shell(home, f"hitl run go MODEL --output {output} >/dev/full")
    assert said.__dict__ == {"code": 1, "out": "", "err": "hitl: No space left on device\n"}
    said = shell(home, "hitl sessions list --json >/dev/full")
    assert said.__dict__ == {"code": 1, "out": "", "err": "hitl: No space left on device\n"}
    [row] = home.hitl("sessions", "list", "--json").json
    assert row["status"] == "idle"


@pytest.mark.parametrize(
    ("where", "code", "told"),
    [
        (">/dev/full", 1, "hitl: No space left on device\n"),
        ("| true", 0, ""),
        (">&-", 0, ""),
        ("| cat >&2", 0, None),
    ],
)
@pytest.mark.parametrize("option", ["--version", "--show-completion bash", "--help"])
def test_what_is_told_without_a_command_ends_as_commands_do(
    home: Home, option: str, where: str, code: int, told: str | None
) -> None:
    said = shell(home, f"{{ sleep 0.2; hitl {option}; }} {where}; echo ${{PIPESTATUS[0]}} >&2")
    assert said.err == f"{told}{code}\n" if told is not None else said.err.endswith(f"\n{code}\n")


def test_a_slow_reader_gets_every_byte(home: Home) -> None:
    text = "".join(f"word{n} " for n in range(30_000))
    home.script(f'chunk = 20\n[[turn]]\n[[turn.reply]]\ntext = "{text}"\n')
    process = home.start("run", "go", *home.model, "--output", "stream-json")
    assert process.stdout
    time.sleep(0.5)  # the pipe is long full
    said = end_of(process)
    assert "".join(line["delta"] for line in said.lines if line["type"] == "text") == text
    assert (said.code, said.lines[-1]["type"]) == (0, "end")


@pytest.mark.slow
def test_a_signal_is_heard_while_a_reader_that_never_reads_is_waited_for(home: Home) -> None:
    text = "x" * 300_000
    home.script(f'[[turn]]\n[[turn.reply]]\ntext = "{text}"\n')
    for output in ("stream-json", "text"):
        process = home.start("run", "go", *home.model, "--output", output)
        assert process.stdout
        first = process.stdout.read(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 130
        process.stdout.close()
        assert first


# --- signals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_model_speaks_leaves_a_session_that_can_go_on(home: Home, number: int) -> None:
    process = home.script(STALLS).start("run", "go", *home.model, "--output", "stream-json")
    assert process.stdout
    first = [process.stdout.readline() for _ in range(2)]
    said = stop(process, number)
    assert said.code == 130
    end = said.lines[-1]
    assert (end["type"], end["status"], end["exit"], end["reason"]) == ("end", "stopped", 130, "interrupted")
    assert home.run("go on", "-c").out == "Two.\n"
    assert b"I think" in first[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_running_command_with_all_it_started(home: Home, number: int) -> None:
    (home.work / "sleeper").write_text("sleep 300 & echo $! > pid; wait")
    process = home.allow("Bash").calls(SLEEPS).start("run", "go", *home.model)
    pid = int(until(lambda: (home.work / "pid").exists() and (home.work / "pid").read_text().strip()))
    said = stop(process, number)
    assert (said.code, said.out) == (130, "")
    assert "interrupted" in said.err
    until(lambda: not Path(f"/proc/{pid}").exists(), "the end of the command")
    [row] = home.hitl("sessions", "list", "--json").json
    assert row["status"] == "idle"
    assert home.run("go on", "-c").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_there_is_a_message_ends_with_130(home: Home, number: int) -> None:
    read, write = os.pipe()
    process = home.script(DONE).start("run", *home.model, stdin=read)
    os.close(read)
    try:
        until(lambda: listens(process))
        said = stop(process, number)
        assert (said.code, said.out, said.err.strip()) == (130, "", "")
    finally:
        os.close(write)


def listens(process: subprocess.Popen[bytes]) -> bool:
    """True once the program has said what SIGTERM means to it."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


@pytest.mark.slow
def test_nohup_is_respected(home: Home) -> None:
    process = home.script(STALLS).start(
        "run",
        "go",
        *home.model,
        "--output",
        "stream-json",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert process.stdout
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    assert b"I think" in process.stdout.readline()
    assert process.poll() is None
    assert stop(process).code == 130


def shell(home: Home, text: str, script: str | None = DONE) -> Said:
    """A line of bash, `hitl` being the program and MODEL the option that names the script."""
    if script is not None:
        home.script(script)
    function = f'hitl() {{ {sys.executable} -m hitl_cli "$@"; }}\n'
    process = subprocess.Popen(
        ["bash", "-c", function + text.replace("MODEL", " ".join(home.model))],
        cwd=home.work, env=home.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    return end_of(process)
