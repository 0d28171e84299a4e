"""The packs that ship, through the real reader and the real policy, and the proof that read-only only reads."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from hitl_cli.access import Command, Host, Place, WritePath
from hitl_cli.accesses import accesses_of
from hitl_cli.paths import locate, packs, place_for
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Rule
from hitl_cli.rulebook import available, pack
from hitl_cli.shell.programs import row_of
from hitl_cli.shell.programs.table import Row

NAMES = available()
EXAMPLES = Path(__file__).parent.parent / "shell" / "program_examples.txt"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace with the files that the examples name, for judging alone."""
    return laid(tmp_path_factory.mktemp("judged"))


@pytest.fixture
def own_place(tmp_path: Path) -> Place:
    """The same for a test alone that runs something there."""
    return laid(tmp_path)


def laid(root: Path) -> Place:
    folder = root / "ws"
    (folder / "src").mkdir(parents=True)
    (folder / "build").mkdir()
    for name in ("f.txt", "README.md", "src/a.py", "a.txt", "b.txt", "build.log"):
        (folder / name).write_text("one\ntwo\n")
    (folder / "f.json").write_text('{"items": [{"a": 2, "name": "x"}]}\n')
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    home = root / "home"
    home.mkdir()
    return place_for(folder, (), locate({"HOME": str(home)}))


def judged(rules: tuple[Rule, ...], command: str, place: Place) -> Decision:
    policy = Policy(rules, place)
    return policy.judge(accesses_of("Bash", {"command": command}, place), mode="default", now=0.0).decision


def test_the_packs_are_these() -> None:
    assert NAMES == ("git", "go", "guard", "node", "python", "read-only", "rust")


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_reason_and_an_example(name: str) -> None:
    tables = tomllib.loads((packs() / f"{name}.toml").read_text())["rule"]
    for table in tables:
        text = table.get("allow") or table.get("ask") or table.get("deny")
        assert table["reason"], text
        assert table.get("match") or not text.startswith("Bash("), text
    texts = [table.get("allow") or table.get("ask") or table.get("deny") for table in tables]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_come_out_as_they_say(name: str, place: Place) -> None:
    """Each rule alone, so that no other rule of the pack can help its examples."""
    for rule in pack(name):
        for command in rule.match:
            assert judged((rule,), command, place) is rule.decision, (rule.text, command)
        for command in rule.not_match:
            assert judged((rule,), command, place) is not _effect(rule), (rule.text, command)


def _effect(rule: Rule) -> Decision | None:
    """What a rule that matches would bring about; an ask rule cannot be told from no rule at all."""
    return None if rule.decision is Decision.ASK else rule.decision


@pytest.mark.parametrize("name", NAMES)
def test_what_an_ask_rule_is_not_for_is_allowed_beside_a_wide_rule(name: str, place: Place) -> None:
    from hitl_cli.permissions import codec

    wide = codec.parse("Bash")
    for rule in pack(name):
        if rule.decision is Decision.ASK and rule.tool == "Bash":
            for command in rule.match:
                assert judged((wide, rule), command, place) is Decision.ASK, (rule.text, command)
            for command in rule.not_match:
                assert judged((wide, rule), command, place) is Decision.ALLOW, (rule.text, command)


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline | head -5",
        "cd src && git status && git diff --stat",
        "git ls-files | xargs wc -l",
        "find . -name '*.py' -not -path '*/node_modules/*' | head -50 | xargs wc -l",
        "find src -name '*.py' -exec wc -l {} +",
        "diff -u <(sort a.txt) <(sort b.txt) | head",
        "sort f.txt | uniq -c | sort -rn | head -20",
        "ps aux | grep -v grep | awk '{print $2}'",
        "grep -rn foo src 2>/dev/null || echo none",
        'for f in src/*.py; do wc -l "$f"; done',
        "ls -la && pwd && which git",
        "[ -f README.md ] && cat README.md || echo none",
        'echo "$(git rev-parse --abbrev-ref HEAD)"',
        "timeout 5 git log -3 | cat",
        "if git diff --quiet; then git status; else git diff --stat; fi",
        "cat src/a.py | sed -n '1,20p' | tr a b",
        "git --no-pager -C src log -3 -- a.py",
        'for f in *.md; do git log -1 --format=%h -- "$f"; done',
        "jq -r .items f.json | sort -u | tail -3",
        "command -v npm && node --version",
    ],
)
def test_everyday_looking_needs_no_question(command: str, place: Place) -> None:
    assert judged(pack("read-only"), command, place) is Decision.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git log > log.txt",
        "git log --output=x",
        "git log | tee x",
        "find . -name x | xargs rm",
        "find . -exec rm {} ;",
        "sort -o f.txt f.txt",
        "cat f.txt > src/a.py",
        "sed -i s/a/b/ f.txt",
        "awk '{print > \"x\"}' f.txt",
        "ls | sh",
        "cat f.txt | python3",
        "xargs sh -c 'rm -rf {}'",
        "GIT_PAGER=./x git log",
        "PATH=.:$PATH ls",
        "./ls",
        "git branch -a -D main",
        "git branch new",
        "git tag v1",
        "git stash",
        "git stash drop",
        "git reflog expire --all",
        "git config user.name x",
        "git remote add x y",
        "git fetch",
        "git ls-remote origin",
        "git submodule foreach date",
        "git frob",
        "curl https://example.org/",
        "npm install",
        "npm view react",
        "pip list --outdated",
        "node --version -r ./x",
        "rg --pre ./x foo",
        "tree -o x",
        "xxd f.txt x",
        "uniq f.txt x",
        "date -s 2020-01-01",
        "hostname x",
        "tar xf a.tar",
        "cat /etc/passwd",
        "cat ~/.bashrc",
        "cat ~/.ssh/id_rsa",
        "grep -r password /etc",
        "sort *",
        'git show "$(cat f.txt)"',
        "env",
        "printenv",
    ],
)
def test_what_does_more_than_look_is_not_allowed(command: str, place: Place) -> None:
    assert judged(pack("read-only"), command, place) is not Decision.ALLOW


@pytest.mark.parametrize(
    "line", [line for line in EXAMPLES.read_text().splitlines() if line and not line.startswith("#")]
)
def test_nothing_of_the_table_of_programs_that_acts_writes_or_asks_an_address_is_allowed(
    line: str, place: Place
) -> None:
    command, *clauses = line.split(" ;")
    kinds = {clause.split()[0] for clause in clauses if clause.split()}
    if kinds & {"acts", "writes", "removes", "urls", "opaque"}:
        text = shlex.join(shlex.split(command))
        assert judged(pack("read-only"), text, place) is not Decision.ALLOW


def test_no_access_of_an_allowed_example_writes_or_asks_a_host(place: Place) -> None:
    for rule in pack("read-only"):
        for command in rule.match:
            for access in accesses_of("Bash", {"command": command}, place):
                assert not isinstance(access, WritePath | Host), command
                assert not (isinstance(access, Command) and access.acts), command


def test_no_program_of_read_only_has_an_option_that_makes_or_removes_files_unasked() -> None:
    for rule in pack("read-only"):
        assert rule.pattern is not None
        words = shlex.split(rule.pattern.removesuffix(":*"))
        row: Row | None = row_of(words[0])
        if row is None or (words[0], words[1:2]) in (("unzip", ["-l"]), ("tar", ["tf"]), ("tar", ["-tf"])):
            continue
        row.compile()
        for word in words[1:]:
            if row.subs and word in row.subs:
                row = row.subs[word].compile(row.known if row.shared else None)
        if not rule.pattern.endswith((":*", "*")):
            continue
        assert row.operands not in ("make", "remove"), rule.text
        if words[0] == "tar":
            continue
        assert [name for name, option in row.known.items() if option.does in ("make", "remove")] == [], rule.text


def _state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(folder / ".git"))
    found = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    for name in ("config", "HEAD"):
        found[f".git/{name}"] = (folder / ".git" / name).read_bytes()
    found["refs"] = b"\n".join(sorted(str(p).encode() for p in (folder / ".git" / "refs").rglob("*")))
    return found


# Those of pip start for a second each.
@pytest.mark.parametrize("pip", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_running_the_examples_of_read_only_changes_nothing(pip: bool, own_place: Place) -> None:
    folder = Path(own_place.workspace)
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*run, "add", "-A"], cwd=folder, check=True)
    subprocess.run([*run, "commit", "-qm", "one"], cwd=folder, check=True)
    before = _state(folder)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": own_place.home,
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_UPDATE_NOTIFIER": "1",
    }
    done = 0
    for rule in pack("read-only"):
        for command in rule.match:
            if shutil.which(command.split()[0]) is None or command.startswith(("tail -f", "sleep", "npm")):
                continue
            if command.startswith("pip") is not pip:
                continue
            subprocess.run(
                ["bash", "--noprofile", "--norc", "-c", command],
                cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
            )  # fmt: skip
            done += 1
            assert _state(folder) == before, command
    assert done > (0 if pip else 80)


@pytest.mark.parametrize(
    "command",
    [
        "git branch --list -D other",
        "git branch --list -m other third",
        "git branch --list -f other HEAD",
        "git branch --list new",
        "git branch --list --edit-description",
        "git branch --contains HEAD -D other",
        "git branch --contains HEAD new",
        "git tag -l -d v1",
        "git tag --list -f v1 HEAD",
        "git tag --points-at HEAD -d v1",
        "git tag --points-at HEAD new",
        "git tag --contains HEAD -d v1",
        "git worktree list add x",
        "git stash list drop",
        "git stash show drop",
        "git remote get-url --add origin x",
        "git config --get --add user.name z",
        "git config --get user.name --unset",
        "git config get user.name z",
        "git reflog show --expire=now --all",
        "tar tf a.tar -x",
        "tar -tf a.tar --delete one",
        "unzip -l a.zip -d out",
    ],
)
def test_what_a_rule_lets_through_beside_its_sub_command_changes_nothing(command: str, own_place: Place) -> None:
    """These rules rely on the program: it refuses to list and to change in one call, or takes the word for a pattern."""
    folder = Path(own_place.workspace)
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", "-A"], ["commit", "-qm", "one"], ["branch", "other"], ["tag", "v1"]):
        subprocess.run([*run, *words], cwd=folder, check=True)
    (folder / "one").write_text("one")
    subprocess.run(["tar", "cf", "a.tar", "one"], cwd=folder, check=True)
    (folder / "one").unlink()
    before = _state(folder)
    if judged(pack("read-only"), command, own_place) is not Decision.ALLOW:
        return
    environ = {"PATH": os.environ["PATH"], "HOME": own_place.home}
    subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert _state(folder) == before
