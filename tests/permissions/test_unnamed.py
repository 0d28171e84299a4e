"""Files that only an archive, a patch, a branch or another machine names: a rule that could close one of them asks, and no
other rule or mode takes notice of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Mode

ASK, DENY, ALLOW = Decision.ASK, Decision.DENY, Decision.ALLOW

HERE = """tar xf a.tar
    tar xzf a.tgz --strip-components=1 a
    unzip a.zip
    7z x a.7z
    unrar x a.rar
    ar x a.a
    jar xf a.jar
    cpio -i < a
    python -m zipfile -e a.zip .
    python -m tarfile --extract a.tar
    patch < p
    patch -p1 -i p
    git apply p
    git am p
    git merge x
    git merge --abort
    git pull
    git pull --rebase
    git checkout main
    git checkout -
    git checkout -b new origin/main
    git checkout -f
    git switch main
    git switch --orphan x
    git rebase main
    git cherry-pick x
    git revert x
    git reset --hard HEAD~1
    git reset --merge x
    git stash
    git stash push
    git stash -u
    git stash pop
    git stash apply
    git stash branch x
    git bisect good
    git bisect reset
    git read-tree -mu HEAD
    git checkout-index -a
    git submodule update --init
    git sparse-checkout set a
    git lfs pull
    cd src && git checkout main
    git -C src pull
    gh run download 1
    gh release download v1
    wget -r https://h/
    rsync -a h:a/ .
    scp -r h:a .
    unar a.zip
    cabextract a.cab
    unsquashfs a.img
    aunpack a.zip
    docker cp c:/a .""".splitlines()
BELOW = """tar xf a.tar -C src
    unzip a.zip -d src
    7z x a.7z -osrc
    git checkout main -- src
    git restore -s main src
    git worktree add src
    git clone u src
    gh repo clone o/r src
    gh run download 1 -D src
    docker cp c:/a src
    rclone copy r:a src
    gsutil cp gs://b/a src
    unar -o src a.zip
    unrar x a.rar src/
    rsync -a h:a/ src/""".splitlines()
COPIES = """cp -r {} src
    cp -a {} src/
    cp -R {} -t src
    cp --recursive -T {} src
    mv {} src
    mv {} src/new
    git mv {} src
    rsync -a {}/ src/
    rsync -a {} src/
    scp -r {} src
    aws s3 sync {} src""".splitlines()
NOTHING = """tar tf a.tar
    tar cf a.tar src
    tar xf a.tar f.txt
    tar xOf a.tar
    unzip -l a.zip
    unzip -p a.zip
    git apply --check p
    git apply --stat p
    git checkout
    git checkout -b new
    git checkout -- f.txt
    git checkout main -- f.txt
    git switch -c new
    git restore f.txt
    git reset
    git reset --soft HEAD~1
    git stash list
    git stash show -p
    git stash drop
    git read-tree HEAD
    git sparse-checkout list
    git submodule status
    git bisect log
    git fetch
    git commit -m x
    git push
    git worktree list
    git clone --bare u
    patch f.txt p
    cp f.txt src
    mv *.txt src
    cp -r plain/* src
    mv f.txt src/b
    gh run view 1""".splitlines()
RULES = ("Write(.env)", "Edit(src/secret/**)", "Edit(*.lock)", "Write")


@pytest.fixture
def place(disk: Place) -> Place:
    for name in ("plain/f", "holds/.env", "holds/secret/k", "holds/x.lock", "src/f"):
        path = Path(disk.workspace, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return disk


def decision(place: Place, command: str, *rules: str, mode: Mode = "default") -> Decision:
    policy = Policy([parse(rule.partition(" ")[2], Decision[rule.split()[0].upper()]) for rule in rules], place)
    return policy.judge(
        accesses_of("Bash", {"command": command.strip()}, place), mode=mode, now=0, tool="Bash"
    ).decision


@pytest.mark.parametrize("command", HERE)
def test_a_rule_for_a_file_anywhere_below_asks(place: Place, command: str) -> None:
    for rule in RULES[:3]:
        assert decision(place, command, "allow Bash", f"deny {rule}") >= ASK, rule
        assert decision(place, command, "allow Bash", f"ask {rule}") is ASK, rule
        assert decision(place, command, f"deny {rule}", mode="bypass") >= ASK, rule
        assert decision(place, command, "allow Bash", f"deny {rule}", mode="dont-ask") is DENY, rule


@pytest.mark.parametrize("command", BELOW)
def test_a_rule_elsewhere_says_nothing(place: Place, command: str) -> None:
    assert decision(place, command, "allow Bash", "deny Edit(src/secret/**)") >= ASK
    assert decision(place, command, "allow Bash", "deny Edit(lib/**)") is decision(place, command, "allow Bash")


@pytest.mark.parametrize("command", COPIES)
def test_what_is_copied_has_the_names_of_its_source(place: Place, command: str) -> None:
    for rule in ("Write(.env)", "Edit(src/**/*.lock)", "Edit(k)"):
        assert decision(place, command.format("plain"), "allow Bash", f"deny {rule}") is ALLOW, rule
        assert decision(place, command.format("holds"), "allow Bash", f"deny {rule}") >= ASK, rule
        assert decision(place, command.format("missing"), "allow Bash", f"deny {rule}") >= ASK, rule


@pytest.mark.parametrize("command", NOTHING)
def test_where_all_files_are_named_nobody_is_asked(place: Place, command: str) -> None:
    for rule in RULES[:3]:
        assert decision(place, command, "allow Bash", f"deny {rule}") is ALLOW, rule


@pytest.mark.parametrize("command", [*HERE, *BELOW, *NOTHING])
def test_rules_for_reading_and_for_commands_say_nothing(place: Place, command: str) -> None:
    before = decision(place, command, "allow Bash")
    assert decision(place, command, "allow Bash", "deny Read(.env)", "deny Bash(rm:*)", "allow Write(x)") is before


def test_what_a_pattern_meets_may_be_folders(place: Place) -> None:
    Path(place.workspace, "a.lock").touch()
    assert decision(place, "mv *.lock src", "allow Bash", "deny Edit(src/*.lock)") >= ASK
    assert decision(place, "mv *.lock src", "allow Bash", "deny Edit(src/b.lock)") is ALLOW
    for command in ("mv s*/* lib", "mv */* src", "mv holds* src", "cp -r h*s src", "mv missing* src", 'cp -r "$D" src'):
        assert decision(place, command, "allow Bash", "deny Write(.env)") >= ASK, command


def test_a_named_file_is_denied(place: Place) -> None:
    for command in (
        "docker cp c:/x .env",
        "tar xf a.tar .env",
        "git checkout -- .env",
        "unzip a.zip .env",
        "git checkout-index .env",
    ):
        assert decision(place, command, "allow Bash", "deny Write(.env)") is DENY, command


def test_a_folder_reached_by_a_link_is_that_folder(place: Place) -> None:
    Path(place.workspace, "l").symlink_to("src")
    assert decision(place, "unzip a.zip -d l", "allow Bash", "deny Edit(src/**/k)") is ASK
