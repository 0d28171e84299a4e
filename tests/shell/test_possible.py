"""What the text itself says of a word that only the shell knows: each of it is judged as well."""

from __future__ import annotations

import pytest

from hitl_cli import rulebook
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision
from tests.shell.conftest import PLACE, Said

SPELLED = [
    # given to a variable
    'f=/etc/passwd; cat "$f"',
    "f=/etc/passwd && head -1 < $f",
    'f="/etc/passwd"; g=$f; cat "${g}"',
    "a=/et; b=c/passwd; cat $a$b",
    "d=/etc; cat $d/passwd",
    'x=/etc; x+=/passwd; cat "$x"',
    'a=(x /etc/passwd); cat "${a[1]}"',
    'x="a /etc/passwd"; cat $x',
    "for f in a /etc/passwd; do cat $f; done",
    'for d in src /etc; do for f in "$d"/*; do cat "$f"; done; done',
    'for i in 1 2; do cat "$f"; f=/etc/passwd; done',  # used before it is given
    "if true; then f=a; else f=/etc/passwd; fi; cat $f",
    "export f=/etc/passwd; cat $f",
    "declare -r f=/etc/passwd; cat $f",
    "printf -v f %s /etc/passwd; cat $f",
    "f=/etc/passwd bash -c 'cat $f'",
    "env f=/etc/passwd bash -c 'cat \"$f\"'",
    "cat ${x:-/etc/passwd}",
    ": ${x:=/etc/passwd}; cat $x",
    'set -- /etc/passwd; cat "$1"',
    'set -- a /etc/passwd; cat "$@"',
    "bash -c 'cat \"$1\"' _ /etc/passwd",
    # handed on
    "echo /etc/passwd | xargs cat",
    "find /etc -name passwd | xargs cat",
    "ls /etc/passwd | xargs -n1 cat",
    "cat $(echo /etc/passwd)",
    "cat `printf %s /etc/passwd`",
    'f=/etc/passwd; cat $(echo "$f")',
    "find /etc -type f | while read -r f; do head -1 $f; done",
    "while read -r f; do cat $f; done <<< /etc/passwd",
    "xargs cat <<< /etc/passwd",
    "cat <<E | xargs cat\n/etc/passwd\nE",
    "find / -name passwd -exec cat {} +",
    "find / -name passwd -exec sh -c 'cat \"$1\"' _ {} \\;",
    # the beginning is known
    'cat "/etc/$x"',
    "cat ../$x",
    "cat /$x",
    "cat /proc/$$/environ",
    'cat ~/.ssh/"$x"',
    "for f in ~/.ssh/*; do cat $f; done",
    # nobody says that it is set
    "cat $x/etc/passwd",
    'cat "${x}/etc/passwd"',
    # anywhere
    "cat ~root/x",
    "cat ~+/../x",
    "cat src/*/../../../etc/passwd",
    "cat /**",
]
UNSPELLED = [
    'cat "$f"',
    "f=src/a.py; cat $f",
    "d=src; cat $d/a.py",
    "for f in src/*.py README.md; do wc -l $f; done",
    "for f in a b c; do head -3 src/$f.py; done",
    "cat $(ls)",
    "cat src/$x",
    "git ls-files | while read -r f; do wc -l $f; done",
    'wc -l "$(git rev-parse --show-toplevel)/README.md"',
    "find src -name '*.py' | xargs wc -l",
    'x=$(git rev-parse HEAD); echo "$x" && cat README.md',
]


@pytest.fixture(scope="module")
def packed() -> Policy:
    return Policy(rulebook.pack("read-only"), PLACE)


@pytest.mark.parametrize("text", SPELLED)
def test_what_the_text_spells_of_an_unknown_word_asks_as_if_it_stood_there(packed: Policy, text: str) -> None:
    verdict = packed.judge(accesses_of("Bash", {"command": text}, PLACE), mode="default", now=0, tool="Bash")
    assert verdict.decision is Decision.ASK, verdict


@pytest.mark.parametrize("text", UNSPELLED)
def test_a_file_that_only_the_shell_knows_is_covered_by_the_rule_for_its_reader(packed: Policy, text: str) -> None:
    verdict = packed.judge(accesses_of("Bash", {"command": text}, PLACE), mode="default", now=0, tool="Bash")
    assert verdict.decision is Decision.ALLOW, verdict.reason


def test_each_value_is_a_read_of_its_own() -> None:
    found = Said("for f in a ../b; do g=src/$f.txt; cat $g; done")
    assert found.reads == ["/**", "/ws/src/a.txt", "/ws/src/../b.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "x=$x$x; x=a; cat $x",
        "a=$b; b=$a; cat $a",
        f"for f in {' '.join(f'f{n}' for n in range(300))}; do cat $f; done",
        "".join(f"x{n}=$x{n + 1}$x{n + 1}; " for n in range(30)) + "x30=a; cat $x0",
        "x=a; x=$x.b; cat $x",
        f"for f in {' '.join(f'/f{n}' for n in range(190))}; do {'cat $f; ' * 900}done",
        f"for f in {' '.join(f'/f{n}' for n in range(190))}; do cat {'$f ' * 900}; done",
        "".join(f"echo /a{n}; " for n in range(190)) + "cat $x; " * 900,
        "x=/etc; " + "cat $x; " * 1500,
    ],
)
def test_what_is_too_much_to_work_out_is_opaque_or_done(text: str) -> None:
    found = Said(text)
    assert found.opaque or len(found.reads) <= 201
    assert len(found.accesses) <= 1_000


def test_a_literal_here_document_in_quotes_is_a_literal_word() -> None:
    commit = "git commit -m \"$(cat <<'E'\nfix: a $b `c`\n\nd\nE\n)\""
    assert Said(commit).runs == ["git commit -m fix: a $b `c`\n\nd", "cat"]
    assert Said(commit.replace("'E'", "E").replace("`c`", "")).runs[0] != "git commit -m fix: a $b \n\nd"
    assert Said("bash -c \"$(cat <<'E'\nrm x\nE\n)\"").runs == ["rm x", "cat"]
    assert "‹" in Said("git commit -m $(cat <<'E'\na b\nE\n)").runs[0]
    assert "‹" in Said("git commit -m \"$(cat - <<'E'\na b\nE\n)\"").runs[0]
