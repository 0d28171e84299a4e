"""Commands that reach the floor ask in every mode, whatever is allowed: from the text of the command to the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Mode, Verdict
from hitl_cli.records import replace


@pytest.fixture
def place(disk: Place) -> Place:
    """The workspace as a repository, the home folder with hitl's own files."""
    for folder in (".git/hooks", ".hitl", "d"):
        Path(disk.workspace, folder).mkdir(parents=True)
    own = f"{disk.home}/.config/hitl"
    Path(own).mkdir(parents=True)
    return replace(disk, protected=(own, f"{disk.workspace}/.hitl"))


def judge(command: str, place: Place, *rules: str, mode: Mode = "default") -> Verdict:
    policy = Policy([parse(rule, Decision.ALLOW) for rule in rules], place)
    return policy.judge(accesses_of("Bash", {"command": command}, place), mode=mode, now=0.0, tool="Bash")


def on_the_floor(command: str, place: Place) -> bool:
    """Whether nothing allows it: no rule, however wide, and no mode."""
    program = command.split()[0]
    found = [
        judge(command, place, "Bash", f"Bash({program}:*)", "Write(//**)", "Read(//**)", mode=mode)
        for mode in ("default", "accept-edits", "bypass", "declared")
    ]
    return all(v.decision is Decision.ASK and "floor" in [part.by for part in v.parts] for v in found)


def free(command: str, place: Place) -> bool:
    return judge(command, place, mode="bypass").decision is Decision.ALLOW


OWN = ("hitl", "python -m hitl_cli", "python3 -mhitl_cli.__main__", "uv run hitl", ".venv/bin/hitl", "uvx hitl")
CHANGING = (
    "rules add Bash",
    "rules remove 'Bash(x)'",
    "rules import --write s.json",
    "rules import s.json --write",
    "rules packs git --off",
    "rules packs git $x",
    "trust",
    "untrust",
    "answer abc --approve",
    "answer abc --reply --help",
    "recover abc",
    "run 'do it' --mode bypass",
    "-p 'do it'",
    "-c",
    "sessions delete abc",
    "sessions fork abc",
    "--install-completion",
    "frobnicate",
    '"$x"',
    "rules $x",
    "",
)
SHOWING = (
    "--version",
    "--help",
    "trust --help",
    "rules add -h",
    "rules check 'rm -rf /'",
    "rules explain 'git log'",
    "rules list --json",
    "rules packs",
    "rules import s.json",
    "sessions list",
    "sessions export abc --to f.md",
    "pending --json",
    "show abc",
    "log",
    "config show",
    "doctor",
    "help rules",
)


class TestOwnProgram:
    @pytest.mark.parametrize("words", CHANGING)
    def test_what_changes_rules_or_answers_questions_is_on_the_floor(self, words: str, place: Place) -> None:
        for program in OWN:
            assert on_the_floor(f"{program} {words}", place), program

    @pytest.mark.parametrize("words", SHOWING)
    def test_what_only_shows_is_not(self, words: str, place: Place) -> None:
        for program in OWN:
            assert free(f"{program} {words}", place), program
        assert judge(f"hitl {words}", place, "Bash(hitl:*)").decision is Decision.ALLOW


class TestProgramsThatWriteIt:
    """The same write by `echo >>` asks as well."""

    @pytest.mark.parametrize(
        "command",
        [
            "git config core.hooksPath x",
            "git -C src config core.pager x",
            "git config --global core.editor x",
            "git config --glob core.editor x",
            "git config --system core.editor x",
            "git config set alias.x '!y'",
            "git config --unset core.pager",
            "git config --add include.path x",
            "git config --global --edit",
            "git config edit",
            "git config --get --no-get core.fsmonitor x",
            "git config -f .git/config core.pager x",
            "git config $x",
            "git init --template=x",
            "git init-db --template=x src",
            "git clone --template=x https://example.org/x",
            "git clone -c core.fsmonitor=x https://example.org/x",
            "git lfs install",
            "git credential fill",
            "pre-commit install",
            "npx husky init",
            "lefthook install",
            "gh config set editor x",
            "gh alias set x '!y'",
            "gh auth token",
            "glab auth login",
            "aws configure set credential_process x",
        ],
    )
    def test_asks_in_every_mode(self, command: str, place: Place) -> None:
        assert on_the_floor(command, place)

    @pytest.mark.parametrize(
        "command",
        [
            "git config user.name x",
            "git config core.pager",
            "git config --get core.pager",
            "git config --global --list",
            "git config -f f.txt a.b c",
            "git init",
            "git clone https://example.org/x",
            "pre-commit run --all-files",
            "lefthook run pre-commit",
            "gh config get editor",
            "gh alias list",
            "gh auth status",
            "aws configure list",
        ],
    )
    def test_what_writes_nothing_there_does_not(self, command: str, place: Place) -> None:
        assert free(command, place)


class TestRemoval:
    """Of a root, a home or the workspace, of `.git` and of folders that hold what is protected, by whatever program."""

    @pytest.mark.parametrize("folder", ["/", "~", ".", "..", '"$HOME"', "d/..", "./", "~/.."])
    @pytest.mark.parametrize(
        "command",
        [
            "rm -rf {}",
            "find {} -delete",
            "find {} -type f -delete",
            "find {} -mindepth 1 -delete",
            "find -L {} -delete -name x",
            "find {} -name '*' -delete",
            "find {} ! -name x -delete",
            "find {} -name x -o -delete",
            "find {} -exec rm -rf {{}} +",
            "find {} -depth -execdir rm -rf {{}} \\;",
            "fd . {} -x rm -rf",
            "rsync -a --delete empty/ {}",
            "rsync -a --del empty/ {}",
            "rsync -a --delete-excluded empty/ {}",
            "tar -c --remove-files -f x.tar {}",
            "zip -rm x.zip {}",
            "mv {} x",
            "shred -u {}",
            "trash {}",
        ],
    )
    def test_of_what_is_kept_asks_in_every_mode(self, command: str, folder: str, place: Place) -> None:
        assert on_the_floor(command.format(folder), place)

    @pytest.mark.parametrize(
        "command",
        [
            "rm -rf .git",
            "rm -rf d/.git",
            "rm -rf .[!.]*",
            "rm -rf .*",
            "rm -rf ./.*",
            "rm -rf ~/.*",
            "rm -rf .g*",
            "rm -rf ../w*",
            "rm -rf ../h*",
            'rm -rf "$HOME"/.c*',
            "rm -rf ~/.config",
            "rm -rf ~/.config/hitl",
            "rm -rf ~/.local/share",
            "rm -rf ~/.ssh",
            "rm -rf .hitl",
            "mv .git x",
            "find .git -delete",
            "find . -name config -delete",
            "find . -iname 'CONF*' -delete",
            "find ~ -name .bashrc -delete",
            "rsync -a --delete src/ .git/",
            "crontab x",
            "crontab -r",
            "crontab -u root -",
            "at now",
        ],
    )
    def test_of_what_holds_protected_files_asks_in_every_mode(self, command: str, place: Place) -> None:
        assert on_the_floor(command, place)

    @pytest.mark.parametrize(
        "command",
        [
            "rm -rf d",
            "rm -rf .venv .mypy_cache",
            "rm *.txt",
            "rm -f src/?.py",
            "rm ~/.cache/x",
            "rm -rf ~/Downloads/x*",
            "find d -delete",
            "find . -name '*.pyc' -delete",
            "find . -type d -empty -delete",
            "fd -e pyc -x rm",
            "rsync -a --delete src/ d/",
            "rsync -a src/ ./",
            "tar -c --remove-files -f x.tar d",
            "mv d src/",
            "crontab -l",
        ],
    )
    def test_of_a_folder_of_the_workspace_does_not(self, command: str, place: Place) -> None:
        assert free(command, place)


class TestOtherHomes:
    """The keys and start-up files of other users: below /root, /home, /Users and beside the home folder."""

    @pytest.mark.parametrize("home", ["/root", "/home/other", "/Users/other", "/srv/homes/other"])
    @pytest.mark.parametrize(
        "command",
        [
            "cat {}/.ssh/id_rsa",
            "cat {}/.ssh/id_*",
            "cat {}/.SSH/*",
            "cat {}/.aws/credentials",
            "cp f.txt {}/.bashrc",
            "cp f.txt {}/.config/fish/x",
            "echo x >> {}/.ssh/authorized_keys",
            "rm -rf {}/.config",
            "rm -rf {}/.ss*",
        ],
    )
    def test_ask_in_every_mode(self, home: str, command: str, disk: Place) -> None:
        place = replace(disk, home="/srv/homes/me")
        assert on_the_floor(command.format(home), place)
        assert on_the_floor(command.format(place.home), place)

    @pytest.mark.parametrize(
        "command", ["cat /home/*/.netrc", "cat /*/.ssh/id_rsa", "rm -rf /home/other", "rm -r /root"]
    )
    def test_of_whomever_ask_as_well(self, command: str, place: Place) -> None:
        assert on_the_floor(command, place)

    @pytest.mark.parametrize(
        "command",
        [
            "cat /home/other/f.txt",
            "cat /root/.profile",
            "cat /home/other/.ssh/id_rsa.pub",
            "cat src/*.py",
            "cp f.txt /home/other/x/.bashrc",
            "cp f.txt .profile",
            "rm -rf /home/other/x",
        ],
    )
    def test_other_files_there_do_not(self, command: str, place: Place) -> None:
        assert free(command, place)
