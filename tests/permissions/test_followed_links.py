"""Programs told to follow links below a folder read what these lead to: it is stated, or the folder is too large to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_cli import below
from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Mode

FOLLOWING = (
    "grep -R x {}",
    "grep --dereference-recursive x {}",
    "grep -nR x {} src",
    "rg -L x {}",
    "rg --follow --hidden x {}",
    "ag -f x {}",
    "cp -rL {} b",
    "cp -r --dereference {} b",
    "tar chf x.tar {}",
    "tar -c --dereference -f x.tar {}",
    "zip -r x.zip {}",
    "7z a x.7z {}",
    "rsync -aL {} b",
    "rsync -a --copy-unsafe-links {} h:b",
    "scp -r {} h:",
    "diff -r {} src",
    "find -L {} -type f -exec cat {{}} +",
    "find {} -follow -exec cat {{}} \\;",
    "find -L {} -delete",
    "chown -R -L me {}",
    "aws s3 sync {} s3://b",
)
STAYING = (
    "grep -r x {}",
    "rg x {}",
    "cp -r {} b",
    "cp -a {} b",
    "tar cf x.tar {}",
    "zip -ry x.zip {}",
    "rsync -a {} b",
    "find {} -type f -exec cat {{}} +",
    "ls -RL {}",
)


@pytest.fixture
def place(disk: Place) -> Place:
    for folder in (f"{disk.workspace}/d/sub", f"{disk.workspace}/secrets", f"{disk.home}/.ssh", f"{disk.home}/out"):
        Path(folder).mkdir(parents=True)
    Path(disk.workspace, "secrets", "a").touch()
    return disk


def link(place: Place, target: str, name: str = "d/sub/l") -> None:
    Path(place.workspace, name).symlink_to(target)


def judge(command: str, place: Place, *deny: str, mode: Mode = "default") -> Decision:
    rules = [parse(f"Bash({command})"), *(parse(rule, Decision.DENY) for rule in deny)]
    return Policy(rules, place).judge(accesses_of("Bash", {"command": command}, place), mode=mode, now=0.0).decision


@pytest.mark.parametrize("command", [command.format("d") for command in FOLLOWING])
class TestFollowing:
    def test_without_a_link_that_leads_out_its_rule_covers_it(self, command: str, place: Place) -> None:
        link(place, "../../src")
        link(place, "..", "d/sub/up")
        assert judge(command, place, "Read(secrets/**)", "Edit(secrets/**)") is Decision.ALLOW

    def test_a_link_out_of_the_workspace_asks(self, command: str, place: Place) -> None:
        link(place, f"{place.home}/out")
        assert judge(command, place) is Decision.ASK

    def test_a_link_to_keys_asks_in_every_mode(self, command: str, place: Place) -> None:
        link(place, f"{place.home}/.ssh")
        assert judge(command, place, mode="bypass") is Decision.ASK

    def test_a_link_behind_a_link_is_found(self, command: str, place: Place) -> None:
        link(place, "../../src")
        link(place, f"{place.home}/.ssh", "src/keys")
        assert judge(command, place, mode="bypass") is Decision.ASK

    def test_so_is_one_in_a_workspace_that_is_reached_through_a_link(self, command: str, place: Place) -> None:
        Path(place.home, "l").symlink_to(place.workspace)
        through = Place(f"{place.home}/l", (f"{place.home}/l",), place.home)
        assert judge(command, through) is Decision.ALLOW
        link(place, "../../src")
        assert judge(command, through, mode="bypass") is Decision.ALLOW
        link(place, f"{place.home}/.ssh", "src/keys")
        assert judge(command, through, mode="bypass") is Decision.ASK

    def test_a_link_to_what_a_rule_denies_is_denied(self, command: str, place: Place) -> None:
        link(place, "../../secrets")
        assert judge(command, place, "Read(secrets/**)", "Edit(secrets/**)", mode="bypass") is not Decision.ALLOW

    def test_a_link_to_a_file_that_a_rule_denies_is_denied(self, command: str, place: Place) -> None:
        link(place, "../../secrets/a")
        assert judge(command, place, "Read(secrets/a)", "Edit(secrets/a)", mode="bypass") is Decision.DENY

    def test_a_folder_too_large_to_look_through_asks(
        self, command: str, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(below, "_MOST", 3)
        for n in range(4):
            Path(place.workspace, "d", f"f{n}").touch()
        assert judge(command, place) is Decision.ASK


@pytest.mark.parametrize("command", [command.format("d") for command in STAYING])
def test_links_that_are_not_followed_do_not_matter(command: str, place: Place) -> None:
    link(place, f"{place.home}/.ssh")
    assert judge(command, place) is Decision.ALLOW


def test_links_in_the_folders_that_a_pattern_names_are_found(place: Place) -> None:
    link(place, f"{place.home}/.ssh")
    assert judge("grep -R x d*", place, mode="bypass") is Decision.ASK
    assert judge("grep -R x", place, mode="bypass") is Decision.ASK


def test_hidden_links_are_passed_over_where_hidden_files_are(place: Place) -> None:
    link(place, f"{place.home}/.ssh", "d/.hidden")
    assert judge("rg -L x d", place) is Decision.ALLOW
    assert judge("rg -L --hidden x d", place) is Decision.ASK
