"""Programs that run another in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Says = Callable[[str], Any]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("timeout 5 p x", ["p x"]),
        ("timeout -k 1 -s TERM 5 p", ["p"]),
        ("timeout --signal=KILL 5 p", ["p"]),
        ("nice -n 5 p", ["p"]),
        ("nice -5 p", ["p"]),
        ("nohup p", ["p"]),
        ("ionice -c 3 chrt 1 taskset 1 p", ["p"]),
        ("stdbuf -oL setsid -w p", ["p"]),
        ("command -p p", ["p"]),
        ("exec -a q p", ["p"]),
        ("builtin command p", ["p"]),
        ("env -u X A=1 -- p".replace("A=1", "CI=1"), ["p"]),
        ("/usr/bin/env p", ["p"]),
        ("env -S 'p x' y", ["p x y"]),
        ("time timeout 60 nice p", ["p"]),
        ("sudo -n -u root p x", ["sudo -n -u root p x", "p x"]),
        ("doas p", ["doas p", "p"]),
        ("xargs -n 1 -P 4 p x", ["xargs -n 1 -P 4 p x", "p x ‹…›"]),
        ("xargs -I% p a% b", ["xargs -I% p a% b", "p ‹a%› b"]),
        ("xargs", ["xargs", "echo ‹…›"]),
        ("find . -exec p {} \\; -exec q {} +", ["find . -exec p {} ; -exec q {} +", "p ‹{}›", "q ‹{}›"]),
        ("busybox p x", ["busybox p x", "p x"]),
        ("strace -f -o f p", ["strace -f -o f p", "p"]),
        ("flock f p x", ["flock f p x", "p x"]),
        ("flock f -c 'p x'", ["flock f -c p x", "p x"]),
        ("watch -n 5 p x", ["watch -n 5 p x", "p x"]),
        ("bash -c 'p; q'", ["p", "q"]),
        ("bash -euo pipefail -c 'p'", ["p"]),
        ("sh -lc 'p && q'", ["p", "q"]),
        ("bash -c \"bash -c 'p x'\"", ["p x"]),
        ("eval 'p x;' q", ["p x", "q"]),
        ("trap 'p x' EXIT", ["trap p x EXIT", "p x"]),
        ("bash <<'E'\np\nE", ["p"]),
        ("bash <<E\np\nE", ["p"]),
        ("sh <<< 'p x'", ["p x"]),
        ("bash -s <<'E'\np\nE", ["p"]),
        ("find . -exec sh -c 'p \"$1\"' _ {} \\;", ['find . -exec sh -c p "$1" _ {} ;', 'p ‹"$1"›']),
        ("bash script.sh x", ["bash script.sh x"]),
        ("command -v p", ["command -v p"]),
    ],
)
def test_what_runs_in_turn_is_a_command_of_its_own(said: Says, text: str, runs: list[str]) -> None:
    found = said(text)
    assert (found.runs, found.opaque) == (runs, [])


@pytest.mark.parametrize(
    "text",
    [
        "timeout --frob 5 p",
        "timeout $x p",
        "env -Z p",
        "env -S 'p \"x\"'",
        "sudo -s",
        "sudo -e f",
        "xargs --frob p",
        "xargs --process-slot-var=PATH p",
        "xargs --process-slot-var PATH p",
        "xargs -I{} sh -c '{}'",
        "find . -exec p",
        "bash --rcfile f -c p",
        "bash -i -c p",
        "bash -c '$0 x' p",
        "p | bash",
        "bash",
        "bash -s",
        "bash <(p)",
        "sh -c '{a,b}'",
        "sh -c \"$'rm' x\"",
        "zsh -c 'print -l *(e:p:)'",
        "env HOME=x bash -c p",
        "strace -o '|p' q",
        "nice $x",
        "BASH_ENV=x bash -c p",
        'flock f -c "$x"',
        "sh -c 'x+=1'",
    ],
)
def test_wrappers_that_are_not_followed_are_opaque(said: Says, text: str) -> None:
    assert said(text).opaque


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("parallel rm ::: a", ["rm", ":::", "a"]),
        ("su -c 'rm x'", ["rm x"]),
        ("unshare -r rm x", ["rm", "x"]),
        ("script -qc 'rm x' f", ["rm x", "f"]),
        ("screen -ls", []),
    ],
)
def test_a_rule_has_to_spell_what_is_not_followed(said: Says, text: str, acts: list[str]) -> None:
    found = said(text)
    assert [word for word, _ in found.acts] == acts
    assert not acts or any(spelling[0] == "rm" for spelling in found.commands[0].also)


def test_rules_may_spell_the_wrapper_as_far_as_the_program(said: Says) -> None:
    command = said("CI=1 timeout 5 npm test").commands[0]
    assert dict(zip(command.forms, command.spells, strict=True)) == {
        ("CI=1", "timeout", "5", "npm", "test"): 4,
        ("timeout", "5", "npm", "test"): 3,
    }
    assert command.within == ("timeout 5",)


def test_only_an_exact_rule_names_a_text_that_is_run(said: Says) -> None:
    command = said("bash -c 'git status'").commands[0]
    assert (command.words, command.forms, command.spells) == (("git", "status"), (("bash", "-c", "git status"),), (4,))


def test_home_is_not_known_in_an_environment_that_may_be_another(said: Says) -> None:
    assert said("env -i bash -c 'cat ~/x $HOME/y'").reads == ["/**", "/~/x", "/**", "/y"]
    assert said("bash -c 'cat ~/x'").reads == ["/home/u/x"]
