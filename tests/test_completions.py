"""What Tab offers: the table is what the program takes, the words are those that exist, and real shells show them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from hitl_cli.cli.complete import folder
from tests.cli.program import Home
from tests.completions.table import text

BIN = Path(sys.executable).parent


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.env["PATH"] = f"{BIN}:{os.environ['PATH']}"
    return made


def offered(home: Home, *words: str) -> list[str]:
    """The candidates for the last word, without their help."""
    said = home.hitl(*words, env={"_HITL_COMPLETE": "bash"})
    assert (said.code, said.err) == (0, "")
    return [line.partition("\t")[0] for line in said.out.splitlines() if line]


def test_the_table_is_what_the_program_takes() -> None:
    """When this fails: python tests/help/renew.py"""
    assert (folder() / "commands.json").read_text(encoding="utf-8") == text()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ru"], ["run", "rules"]),
        (["rules", "re"], ["remove"]),
        (["rules", "remove", "--sc"], ["--scope"]),
        (["rules", "remove", "--scope", ""], ["project", "user"]),
        (["run", "--mode", "d"], ["default", "dont-ask"]),
        (["run", "--mode=d"], ["--mode=default", "--mode=dont-ask"]),
        (["--model", "script"], ["script:"]),
        (["run", "--on-ask", ""], ["park", "deny"]),
        (["--mode", "plan", "ru"], ["run", "rules"]),
        (["run", "--allow", "x", "--allow", "y", "--all"], ["--allow"]),
        (["run", "--quiet", "--qu"], []),
        (["run", "--", "--mo"], []),
        (["help", "saf"], ["safety"]),
        (["rules", "packs", "py"], ["python"]),
        (["config", ""], ["path", "show"]),
        (["--show-completion", ""], ["bash", "zsh", "fish"]),
        (["trust", ""], [":dirs"]),
        (["rules", "lint", "a.toml", ""], [":files"]),
        (["rules", "add", ""], []),
        (["nonsense", "with", ""], []),
    ],
)
def test_each_place_of_the_line_has_its_words(words: list[str], found: list[str], home: Home) -> None:
    assert offered(home, *words) == found


def test_sessions_interrupts_and_rules_are_those_that_there_are(home: Home) -> None:
    assert offered(home, "show", "") == []
    assert not (home.state / "sessions.db").exists()  # looking makes nothing
    id = home.parked()
    other = home.script('[[turn]]\n[[turn.reply]]\ntext = "Done."\n').run("hello", "--output", "json").json["session"]
    home.hitl("rules", "add", "Bash(make ship:*)")
    assert offered(home, "show", "") == [other, id]
    assert offered(home, "run", "--session", id[:2]) == [i for i in (other, id) if i.startswith(id[:2])]
    assert offered(home, "answer", "") == [id]
    assert offered(home, "answer", id, "") == ["1.1.0:approval"]
    assert offered(home, "rules", "remove", "Bash(make s") == ["Bash(make ship:*)"]
    assert offered(home, "sessions", "delete", other, "") == [id]
    assert offered(home, "show", "--store", "nowhere.db", "") == []


def test_what_is_broken_puts_nothing_into_the_line(home: Home) -> None:
    (home.state / "sessions.db").write_text("no database")
    (home.config / "rules.toml").write_text("no toml")
    for words in (["show", ""], ["rules", "remove", ""]):
        said = home.hitl(*words, env={"_HITL_COMPLETE": "zsh"})
        assert (said.code, said.out, said.err) == (1, "", "")


@pytest.mark.parametrize(
    ("shell", "file", "start"),
    [
        ("bash", ".local/share/bash-completion/completions/hitl", ".bashrc"),
        ("zsh", ".zfunc/_hitl", ".zshrc"),
        ("fish", ".config/fish/completions/hitl.fish", ""),
    ],
)
def test_completion_is_installed_once(shell: str, file: str, start: str, home: Home) -> None:
    if start:
        (home.root / start).write_text("export A=1")
    shown = home.hitl("--show-completion", shell).out
    for _ in range(2):
        said = home.hitl("--install-completion", env={"SHELL": f"/bin/{shell}"})
        assert (said.code, said.err) == (0, "")
    assert (home.root / file).read_text() == shown
    if start:
        assert (home.root / start).read_text().startswith("export A=1\n")
        assert (home.root / start).read_text().count("# hitl") == 1


def test_a_shell_without_completion_is_a_mistake(home: Home) -> None:
    said = home.hitl("--install-completion", "tcsh")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("hitl: There is completion for bash, zsh, fish, not for 'tcsh'.\n")


# --- real shells ------------------------------------------------------------------------------------------------------

PROMPT = "READY> "
STARTS = {
    "bash": (["--noprofile", "--rcfile", "{home}/start"], "PS1='{prompt}'; source {folder}/hitl.bash\n"),
    "zsh": (["-d", "-i"], "PS1='{prompt}'; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D\n"),
    "fish": (
        ["--private", "--no-config", "-C", "source {home}/start"],
        "function fish_prompt; echo -n '{prompt}'; end; source {folder}/hitl.fish\n",
    ),
}


class Shell:
    """A person at a prompt of a real shell, who presses Tab."""

    def __init__(self, name: str, home: Home) -> None:
        options, start = STARTS[name]
        values = {"home": home.root, "folder": folder(), "prompt": PROMPT}
        (home.root / ("start" if name != "zsh" else ".zshrc")).write_text(start.format(**values))
        env = {**home.env, "TERM": "xterm", "ZDOTDIR": str(home.root), "XDG_CONFIG_HOME": str(home.root / ".config")}
        self.home = home
        self._child = pexpect.spawn(
            name, [o.format(**values) for o in options], cwd=str(home.work), env=env, dimensions=(40, 120), timeout=20
        )  # type: ignore[arg-type]
        self._child.delaybeforesend = None
        self._child.expect_exact(PROMPT)

    def run(self, line: str) -> list[str]:
        """The arguments that a program gets when `line` is typed, its tabs pressed, and sent."""
        took = self.home.root / "took"
        took.unlink(missing_ok=True)
        before, *rest = line.split("\t")
        self._child.send(before)
        for piece in rest:
            self._child.send("\t")
            self._settled()
            self._child.send(piece)
        self._child.send("\r")
        self._child.expect_exact(PROMPT)
        return took.read_text().splitlines()

    def shown(self, line: str, *words: str) -> None:
        """Type `line`, press Tab twice, and wait until the shell has shown `words`; the line is left."""
        self._child.send(line + "\t")
        text = self._settled()
        self._child.send("\t")
        while any(word not in text for word in words):
            self._child.expect(r".+")
            text += self._child.after.decode(errors="replace")
        self._child.send("\x03")
        self._child.expect_exact(PROMPT)

    def _settled(self) -> str:
        """All that the shell says to a key: until it says nothing more."""
        text = ""
        while True:
            try:
                self._child.expect(r".+", timeout=0.7)
                text += self._child.after.decode(errors="replace")
            except pexpect.TIMEOUT:
                return text

    def close(self) -> None:
        self._child.close(force=True)


@pytest.fixture(params=list(STARTS))
def shell(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Iterator[Shell]:
    """Its `hitl` writes down what it was given, except where the completion asks."""
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed here (Debian: apt-get install {request.param})")
    program = tmp_path / "bin/hitl"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ "$_HITL_COMPLETE" ] && exec {BIN}/hitl "$@"\nprintf \'%s\\n\' "$@" > {tmp_path}/took\n'
    )
    program.chmod(0o755)
    home.env["PATH"] = f"{program.parent}:{home.env['PATH']}"
    opened = Shell(request.param, home)
    yield opened
    opened.close()


@pytest.mark.slow
def test_tab_completes_commands_options_sessions_and_rules(shell: Shell, home: Home) -> None:
    id = home.parked()
    home.hitl("rules", "add", "Bash(make ship:*)")
    assert shell.run("hitl pend\t") == ["pending"]
    assert shell.run("hitl rules rem\t--sc\tpr\t") == ["rules", "remove", "--scope", "project"]
    assert shell.run(f"hitl answer {id[:3]}\t1\t--app\t") == ["answer", id, "1.1.0:approval", "--approve"]
    assert shell.run("hitl run --mode ac\t") == ["run", "--mode", "accept-edits"]
    assert shell.run("hitl rules remove 'Bash(make sh\t") == ["rules", "remove", "Bash(make ship:*)"]
    shell.shown("hitl rules ", "check", "explain", "packs")


def test_tab_completes_files_where_files_are_meant(shell: Shell, home: Home) -> None:
    (home.work / "some rules.toml").touch()
    assert shell.run("hitl rules lint some\t") == ["rules", "lint", "some rules.toml"]


def test_the_files_are_sound_to_their_shells(home: Home) -> None:
    for name, file in (("bash", "hitl.bash"), ("zsh", "_hitl"), ("fish", "hitl.fish")):
        if shutil.which(name):
            subprocess.run([name, "-n", str(folder() / file)], check=True)
