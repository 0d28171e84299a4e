"""`hitl config`, `trust`, `doctor`, the first word, help, and what must not be loaded to say little."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from hitl_cli.models import DEFAULT
from tests.cli.program import DONE, Home, Said, steady
from tests.models.server import Server, say


def toml(home: Home, text: str) -> Path:
    file = home.config / "config.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "line", "problem", "remedy"),
    [
        ("modle = 'x'", 1, "unknown setting 'modle'", "Did you mean model?"),
        ("\n[permission]\nallow = []", 2, "unknown setting 'permission'", "Did you mean permissions?"),
        ("format = 1\nmodel = 5", 2, "model expects a text in quotes", ""),
        ("mode = 'bypass'", 1, "mode cannot be bypass here", ""),
        ("mode = 'fast'", 1, "mode expects one of default, accept-edits, plan, dont-ask", ""),
        ("max_steps = 0", 1, "max_steps expects a whole number, 1 or more", ""),
        ("max_tokens = 1.5", 1, "max_tokens expects a whole number, 1 or more", ""),
        ("max_cost = 'much'", 1, "max_cost expects an amount in US dollars, such as 2.5", ""),
        ("max_cost = inf", 1, "max_cost expects an amount in US dollars, such as 2.5", ""),
        ("expires = 'soon'", 1, "expires 'soon' is not a length of time", ""),
        ("add_dirs = 'x'", 1, "add_dirs expects a list of folders", ""),
        ("editing = 'nano'", 1, "editing expects \"emacs\" or \"vi\"", ""),
        ("bell = 'yes'", 1, "bell expects true or false", ""),
        ("[notify]\nnever = 'x'", 1, "notify expects a table of commands for waiting, done, failed", ""),
        ("[mcp]\nx = 5", 1, "mcp expects tables, one for each name", ""),
        ("model = x", 1, "not valid TOML: Invalid value", "Texts stand in quotes: model = 'x'"),
        ("format = 2", 1, "has format 2, and this hitl reads format 1", "Update hitl;"),
        ("format = 'x'", 1, "format is 'x'", "Write: format = 1"),
        ("[permissions]\nalow = []", 2, "unknown key 'alow' in [permissions]", "Did you mean allow?"),
        ("[permissions]\nallow = ['Bash(']", 2, "", ""),
        ("packs = 5", 1, "`packs` is not a table of true and false", "Write: packs = {git = true}"),
        ("[[rule]]\nallow = 'Bash'\nwhen = 1", 3, "a rule has no `when`", "A rule may have allow"),
        ("[tools.X]\ndescription = 'x'", None, "[tools.X]: external must be true", ""),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_every_mistake_in_a_settings_file_is_file_line_and_remedy(
    home: Home, text: str, line: int | None, problem: str, remedy: str
) -> None:
    file = toml(home, text)
    said = home.script(DONE).run("go")
    assert (said.code, said.out) == (2, "")
    place = f"{file}:{line}: " if line else f"{file}: "
    assert said.err.startswith(f"hitl: {place}"), said.err
    assert problem in said.err
    assert remedy in said.err


@pytest.mark.slow
def test_a_settings_file_that_cannot_be_read_stops_the_program(home: Home) -> None:
    file = toml(home, "")
    file.write_bytes(b"\xff")
    assert home.hitl("config", "show").code == 2
    file.unlink()
    file.mkdir()
    assert home.hitl("config", "show").err == f"hitl: {file}: is a folder, not a file\n  Move the folder away.\n"


def test_config_show_says_where_each_setting_comes_from(home: Home) -> None:
    file = toml(home, 'model = "claude-a"\nmax_steps = 9\nadd_dirs = ["../more"]\n')
    (home.work / ".hitl").mkdir()
    repository = home.work / ".hitl" / "config.toml"
    repository.write_text('max_steps = 5\nmax_cost = 1\nmodel = "claude-b"\nmode = "plan"\n')
    rows = home.hitl("config", "show", "--json", env={"HITL_MODEL": "claude-c"}).json
    assert rows["model"] == {"value": "claude-c", "origin": "environment HITL_MODEL"}
    assert rows["max_steps"] == {"value": 5, "origin": str(repository)}
    assert rows["max_cost"] == {"value": 1.0, "origin": str(repository)}
    assert rows["mode"] == {"value": "plan", "origin": str(repository)}
    assert rows["add_dirs"] == {"value": ["../more"], "origin": str(file)}
    assert rows["max_tokens"] == {"value": None, "origin": "default"}
    out = home.hitl("config", "show", env={"HITL_MODEL": "script:" + "long/" * 9}).out
    assert out.startswith(
        f'model       "script:{"long/" * 9}"\n'
        f"{'':<11} {'':<11}  environment HITL_MODEL\n"
        f'mode        "plan"       {repository}\n'
        f'store       ""           default\n'
    )
    assert f"{repository} is not trusted: only what tightens counts." in out


def test_config_show_names_the_model_that_is_used_when_nobody_names_one(home: Home) -> None:
    assert home.hitl("config", "show", "--json").json["model"] == {"value": DEFAULT, "origin": "default"}


def test_config_path_names_the_files(home: Home) -> None:
    toml(home, "")
    rows = home.hitl("config", "path", "--json").json
    assert rows["user"] == {"path": f"{home.config}/config.toml", "exists": True}
    assert rows["store"] == {"path": f"{home.state}/sessions.db", "exists": False}
    assert f"user           {home.config}/config.toml\n" in home.hitl("config", "path").out


def test_folders_of_the_settings_belong_to_the_workspace(home: Home) -> None:
    (home.root / "more").mkdir()
    toml(home, 'add_dirs = ["../more"]\n')
    home.calls(("Write", {"file_path": str(home.root / "more" / "w"), "content": "x"}))
    assert home.run("go", "--mode", "accept-edits").code == 0
    assert (home.root / "more" / "w").read_text() == "x"


@pytest.mark.slow
def test_trust_is_given_by_a_person_who_saw_what_it_grants_and_ends_with_a_change(home: Home) -> None:
    (home.work / ".hitl").mkdir()
    file = home.work / ".hitl" / "config.toml"
    file.write_text('[permissions]\nallow = ["Bash(touch made)"]\n')
    home.calls(("Bash", {"command": "touch made"}))
    said = home.run("go")
    assert (said.code, "is not trusted, so what it would allow does not count: hitl trust" in said.err) == (4, True)
    assert home.hitl("trust").__dict__ == {
        "code": 2,
        "out": "",
        "err": "hitl: Trust is given at a terminal, by a person who has seen what it grants.\n  Run it there.\n",
    }
    assert trust(home, "no", "Not trusted; nothing was changed.") == 1
    assert trust(home, "yes", "Trusted.", r"Bash\(touch made\)") == 0
    assert home.run("go").code == 0
    file.write_text('[permissions]\nallow = ["Bash(touch made)", "Bash(curl:*)"]\n')
    assert home.run("go").code == 4
    assert trust(home, "yes", "Trusted.", r"\+.*Bash\(curl:\*\)") == 0
    assert home.hitl("untrust").out == "No longer trusted.\n"
    assert home.hitl("untrust").out == "It was not trusted.\n"
    file.unlink()
    assert home.hitl("trust").code == 2


def test_trust_without_an_answer_is_none(home: Home) -> None:
    (home.work / ".hitl").mkdir()
    (home.work / ".hitl" / "config.toml").write_text('[permissions]\nallow = ["Bash"]\n')
    child = terminal(home, "trust")
    child.expect("Type yes: ")
    child.sendeof()
    child.expect("Not trusted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1


def trust(home: Home, answer: str, result: str, shown: str = "") -> int:
    child = terminal(home, "trust")
    if shown:
        child.expect(shown)
    child.expect("Type yes: ")
    child.sendline(answer)
    child.expect_exact(result)
    child.expect(pexpect.EOF)
    child.close()
    return int(child.exitstatus)


def terminal(home: Home, *arguments: str) -> pexpect.spawn[bytes]:
    return pexpect.spawn(
        sys.executable,
        ["-m", "hitl_cli", *arguments],
        cwd=str(home.work),
        env={**home.env, "TERM": "xterm"},
        timeout=30,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["plan", "bypass"])
def test_flags_of_a_reopened_session_are_kept_at_the_terminal_too(home: Home, mode: str) -> None:
    session = home.parked()
    child = terminal(home, "-c", "--plain", "--mode", mode, "--max-steps", "9")
    child.expect("stop: ")
    child.sendline("park")
    child.expect("/pending asks again")
    child.sendline("/exit")
    child.expect(pexpect.EOF)
    [changed] = [e for e in home.hitl("show", session, "--json").json["entries"] if e.get("what") == "settings"]
    assert (changed["value"]["mode"], changed["value"]["max_steps"]) == (mode, 9)
    assert changed["who"] == {"kind": "flag"}


# --- doctor ------------------------------------------------------------------------------------------------------------


def findings(home: Home, *arguments: str, **env: str) -> tuple[int, dict[str, str]]:
    said = home.hitl("doctor", "--json", *arguments, env=env)
    return said.code, {row["check"]: row["problem"] for row in said.json if not row["ok"]}


def test_the_doctor_finds_nothing_where_all_is_well(home: Home) -> None:
    assert findings(home, "--offline") == (0, {})
    with Server([say("hi")]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        assert findings(home, **env) == (0, {})
    names = [row["check"] for row in home.hitl("doctor", "--json", "--offline").json]
    assert names == ["python", "terminal", "shell", "git", "search", "settings", "rules", "packs", "store", "servers"]


@pytest.mark.slow
def test_the_doctor_names_each_trouble_with_what_to_do(home: Home) -> None:
    code, found = findings(home)
    assert (code, list(found)) == (1, ["model"])
    assert "ANTHROPIC_API_KEY" in found["model"]
    toml(home, "modle = 5\n")
    (home.config / "rules.toml").write_text("[[rule]]\nalow = 'x'\n")
    (home.state / "sessions.db").write_bytes(b"no database" * 100)
    code, found = findings(home, "--offline", PATH="/nowhere")
    assert (code, sorted(found)) == (1, ["git", "rules", "servers", "settings", "shell", "store"])
    assert all(len(problem.splitlines()) > 1 for problem in found.values()), found
    text = home.hitl("doctor", "--offline").out
    assert "FAIL  settings" in text
    assert "Did you mean model?" in text


@pytest.mark.slow
def test_the_doctor_starts_the_servers_and_says_which_cannot_be(home: Home) -> None:
    toml(home, '[mcp.gone]\ncommand = ["/nowhere/server"]\n')
    code, found = findings(home, "--offline")
    assert (code, list(found)) == (1, ["servers"])
    assert "gone" in found["servers"]


# --- the network --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"status": 401, "type": "authentication_error"}, 1),
        ({"status": 404, "type": "not_found_error"}, 1),
        ({"status": 529, "type": "overloaded_error", "headers": {"x-should-retry": "false"}}, 75),
        ({"status": 429, "type": "rate_limit_error", "headers": {"retry-after": "3600"}}, 75),
    ],
)
@pytest.mark.slow
def test_what_the_service_says_is_told_with_the_code_for_it(home: Home, answer: dict[str, object], code: int) -> None:
    with Server([answer, say("Better.")]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        said = home.hitl("run", "--model", "claude-x", "go", "--output", "json", env=env)
        assert (said.code, said.json["status"], said.json["exit"]) == (code, "failed", code)
        assert said.json["reason"] in said.err
        again = home.hitl("recover", said.json["session"], env=env)
        assert (again.code, again.out) == (0, "Better.\n")


@pytest.mark.slow
def test_a_retry_is_told_and_the_turn_goes_on(home: Home) -> None:
    with Server([{"status": 529, "headers": {"retry-after": "1"}}, say("Better.")]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        said = home.hitl("run", "--model", "claude-x", "go", "--output", "stream-json", env=env)
    assert (said.code, said.lines[-1]["answer"]) == (0, "Better.")
    [retry] = [line for line in said.lines if line["type"] == "retry"]
    assert (retry["after_s"], "overloaded" in retry["why"]) == (1.0, True)


# --- the first word -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["pendng"], "'pendng' is no command. Did you mean `hitl pending`?"),
        (["xyzzy"], "'xyzzy' is no command. Commands: demo, resume, "),
        (["fix", "the", "test"], "'fix' is no command."),
        (["fix it", "now"], "'fix it' is no command."),
        (["sessions", "lst"], "No such command 'lst'."),
        (["-x"], "hitl: No such option '-x'.\n  `hitl --help` shows what it takes.\n"),
        (["run", "-x"], "hitl: No such option '-x'.\n  `hitl run --help` shows what it takes.\n"),
        (["--verison"], "hitl: No such option '--verison'. Did you mean --version?\n  `hitl --help` shows what it"),
    ],
)
def test_a_word_that_is_no_command_is_refused_with_the_nearest(home: Home, arguments: list[str], problem: str) -> None:
    said = home.hitl(*arguments)
    assert (said.code, said.out) == (2, "")
    assert problem in said.err


def test_options_may_stand_before_the_command(home: Home) -> None:
    home.script(DONE)
    assert home.hitl(*home.model, "run", "go").out == "Done.\n"
    assert home.hitl("--store", str(home.root / "s.db"), "pending").out == "Nothing waits for an answer.\n"
    assert home.hitl("-p", "run", *home.model).out == "Done.\n"
    assert home.hitl("-c", "-p", "on", *home.model).out == "The script is over.\n"


@pytest.mark.parametrize(
    "words", [["-cp", "on"], ["-cpon"], ["-c", "-pon"], ["-pon", "-c"], ["-c", "--print=on"], ["run", "-cp", "on"]]
)
def test_short_options_may_stand_in_one_word(home: Home, words: list[str]) -> None:
    home.script(DONE).run("go")
    assert home.hitl(*words, *home.model) == Said(0, "The script is over.\n", "")


def test_an_option_is_not_taken_for_the_value_of_another(home: Home) -> None:
    home.script(DONE)
    assert "'-cp'" in home.hitl("--mode", "-cp", "on it").err
    assert home.hitl(*home.model, "--", "-cp on").out == "Done.\n"


@pytest.mark.parametrize(
    "command", [[], ["run"], ["answer"], ["sessions"], ["rules"], ["config"], ["log"], ["pending"]]
)
@pytest.mark.slow
def test_help_fits_80_columns(home: Home, command: list[str]) -> None:
    for flag in ("--help", "-h"):
        said = home.hitl(*command, flag, env={"COLUMNS": "80"})
        assert (said.code, said.err) == (0, "")
        assert max(map(len, said.out.splitlines())) <= 80
        assert said.out.startswith("Usage: hitl")
        assert not [line for line in said.out.splitlines()[1:] if line.endswith("...")], "what a command does is whole"


def test_the_version_is_told(home: Home) -> None:
    from hitl_cli.version import VERSION

    assert home.hitl("--version").out == f"hitl {VERSION}\n"
    for arguments in (["--version", "--plain"], ["--plain", "--version"], ["-c", "--version"]):
        said = home.hitl(*arguments)
        assert (said.code, said.out) == (0, f"hitl {VERSION}\n")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["pending"], ["rules", "check", "ls"], ["sessions", "list"], ["log"]]
)
def test_little_is_loaded_to_say_little(home: Home, arguments: list[str]) -> None:
    heavy = "anthropic", "prompt_toolkit", "mcp", "pydantic", "rich", "httpx2", "jsonschema"
    program = (
        "import sys; from hitl_cli.__main__ import main\n"
        f"sys.argv[1:] = {arguments!r}\nmain()\n"
        f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=home.work, env={**home.env, "PYTHONPATH": os.getcwd()},
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"


def test_an_unforeseen_error_is_one_line_and_its_trace_a_file(home: Home) -> None:
    program = (
        "import sys, hitl_cli.cli.opened as o\n"
        "def broken(*_): raise RuntimeError('no\\x1b[2Jwhere')\n"
        "o.SqliteStore = broken\n"
        "from hitl_cli.__main__ import main\nsys.argv[1:] = ['pending']\nsys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=home.work, env={**home.env, "PYTHONPATH": os.getcwd()},
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    file = home.state / "last-error.txt"
    assert (done.returncode, done.stdout) == (1, "")
    assert steady(done.stderr) == (
        "hitl: an error inside hitl itself: RuntimeError: nowhere\n"
        f"  The session is kept as it was last stored. Where it happened stands in {file}\n"
    )
    assert "RuntimeError" in file.read_text()
    assert oct(file.stat().st_mode)[-3:] == "600"
