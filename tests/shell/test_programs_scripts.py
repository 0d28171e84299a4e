"""The readers of sed scripts and awk programs: by examples, and against the real programs.

A script that a reader clears is run; whatever it is, it must not write, run or make anything.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from hitl_cli.shell.programs.awk import acts_of
from hitl_cli.shell.programs.sed import findings


@pytest.mark.parametrize(
    "script",
    [
        "1,20p",
        "s/a|b/c/g",
        "/^$/d",
        "s/we/us/;s/e/w/",
        "$!N;P;D",
        ":a;N;$!ba;s/\\n/ /g",
        "/foo/,/bar/{s/x/y/;p}",
        "1~2p",
        "0,/x/s//y/",
        "/a/I,+3d",
        "s#^[[:space:]]*##",
        's/"[^"]*"/x/',
        "\\%x%p",
        "5a e touch x",
        "i\\\nw out",
        "y/ew/we/",
        "s/[\\/]/x/",
        "s,a,b,2gp",
        "# e touch x",
    ],
)
def test_a_sed_script_that_only_prints(script: str) -> None:
    found = findings(script)
    assert (found.writes, found.reads, found.runs, found.unread) == ([], [], [], "")


@pytest.mark.parametrize(
    ("script", "writes", "reads", "runs"),
    [
        ("w out", ["out"], [], False),
        ("/x/W out\np", ["out"], [], False),
        ("s/a/b/gw out", ["out"], [], False),
        ("s/a/b/;w out;p", ["out;p"], [], False),
        ("r in", [], ["in"], False),
        ("1R in", [], ["in"], False),
        ("1e touch x", [], [], True),
        ("p;e", [], [], True),
        ("s/a/b/e", [], [], True),
        ("s/a/b/ge", [], [], True),
        ("/a/{e touch x\n}", [], [], True),
        ("b end;e x", [], [], True),
        ("s/a\\/b/c/;e x", [], [], True),
        ("a\\\ntext\ne x", [], [], True),
    ],
)
def test_a_sed_script_that_does_more(script: str, writes: list[str], reads: list[str], runs: bool) -> None:
    found = findings(script)
    assert (found.writes, found.reads, bool(found.runs), found.unread) == (writes, reads, runs, "")


@pytest.mark.parametrize(
    "script", ["s|[|]|x|w", "s/[/]/x/w y", "/[/]/e", "k", "s/a", "pp", "s/a/b/k", "1,", "s\na\nb\n"]
)
def test_a_sed_script_that_is_not_understood_says_so(script: str) -> None:
    assert findings(script).unread


@pytest.mark.parametrize(
    "program",
    [
        "{print $1}",
        "/x/{a=1} ; /y/{print a}",
        "$3 > 100",
        "{ if ($1 > 5 && $2 < 3) print $0 }",
        "{print (a > b)}",
        "a || b",
        "/a|b/ && !/c>d/ {print}",
        '{ print "a > b | system(" }',
        "{getline; print}",
        "{ n = $1 / 2; if (n > 3) print n / 4 }",
        'BEGIN{FS="|"} {print $2}',
        '{print $NF > "/dev/stderr"}',
        "# system(x)\n{print}",
        "!seen[$0]++",
        "length($0) > 120 {print FILENAME}",
    ],
)
def test_an_awk_program_that_only_prints(program: str) -> None:
    assert acts_of(program) == ""


@pytest.mark.parametrize(
    "program",
    [
        '{print a > "f"}',
        '{printf "%s", $1 >> "o"}',
        'BEGIN{system("x")}',
        'BEGIN{print "x" | "sh"}',
        '{print |& "sh"}',
        '"date" | getline d',
        '{getline x < "f"}',
        '@load "x"',
        'BEGIN{ARGV[1]="x"}',
        '{ if (1) /"/ ; system("x") #"\n}',
        "{x = a / b; print x > 3}",
        'BEGIN{length /#/system("x")/+/x/}',
        'BEGIN{x++/"/"/system("x")}',
        '{print > ("f")}',
        '{print "a" > "/dev/stderr" "x"}',
    ],
)
def test_an_awk_program_that_does_more(program: str) -> None:
    assert acts_of(program) != ""


def pieces(text: str) -> list[str]:
    return text.split()


SED = pieces(
    "1 $ 2,3 /a/ /[/]/ /[^/]/ \\,b, ! ; { } p d D n N g G h x = l z F q #c :a ba b ta t a\\ i\\ s/a/b/ s,a,b, s/[/]/x/ "
    "s/a/b/wOUT s/a/b/e y/ab/cd/ \\ / [ ] w s a b & I M 0~2 +1 , [[:alpha:]] []] [^]/] {p; }p W W"
)
SED += [
    " ",
    "\n",
    "w OUT",
    "W OUT",
    "e touch OUT",
    "1e touch OUT",
    "s/a/touch OUT/e",
    "s/[]/]/e touch OUT/",
    "e",
    "a text",
]
AWK = pieces(
    'a (a) ( ) / / / " " " "x" ; # { } x++ ++x if(1) if(a) while(0) for(;0;) 1 [ ] b[1] ~ ! = + - /= \\ \\" \\/ [/] /x/ /"/ '
    "$1 $ && || ? : ,"
)
AWK += ["\n", "print ", "in ", "else ", "do ", "return ", "getline ", "length ", "printf ", " "]
DANGER = ['system("touch OUT")', 'print 1 > "OUT"', 'print 1 | "touch OUT"']


def sed_script(chance: random.Random) -> str:
    return chance.choice(["", ";", "\n", " "]).join(chance.choice(SED) for _ in range(chance.randint(1, 7)))


def awk_program(chance: random.Random) -> str:
    before = "".join(chance.choice(AWK) for _ in range(chance.randint(1, 5)))
    after = "".join(chance.choice(AWK) for _ in range(chance.randint(0, 4)))
    danger = chance.choice([";", " ", ""]) + chance.choice(DANGER) + chance.choice([";", " ", "#", "/"])
    return f"BEGIN{{{before}{danger}{after}}}"


def sed_is_clear(script: str) -> bool:
    found = findings(script)
    return not (found.writes or found.runs or found.unread)


def awk_is_clear(program: str) -> bool:
    return acts_of(program) == ""


@pytest.mark.parametrize("most", [100, pytest.param(600, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("program", "make", "clear"), [("sed", sed_script, sed_is_clear), ("awk", awk_program, awk_is_clear)]
)
def test_what_a_reader_clears_does_nothing_when_it_runs(
    program: str, make: Callable[[random.Random], str], clear: Callable[[str], bool], most: int, tmp_path: Path
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    chance = random.Random(7)
    cleared = [*islice((text for text in (make(chance) for _ in range(4000)) if clear(text)), most)]
    assert len(cleared) >= 100
    for text in cleared:
        (tmp_path / "f").write_text("a b\nab/c\n]\n")
        words = [program, "-n", text, "f"] if program == "sed" else [program, text]
        subprocess.run(
            ["timeout", "2", *words], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert [path.name for path in tmp_path.iterdir()] == ["f"], text
