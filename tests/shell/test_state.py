"""Built-ins and variables: what has no effect, and what changes the meaning of later words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Says = Callable[[str], Any]

FREE = [
    "true",
    ":",
    "false",
    "echo a *",
    "echo $x",
    "printf '%s\\n' \"$x\"",
    "pwd",
    "exit 1",
    "cd sub",
    "test -f a",
    '[ -n "$x" ]',
    '[ "$x" = y -a -f "$z" ]',
    "[ $? -eq 0 ]",
    "[ ! -d a ]",
    "x=1; [ $x -le 3 ]",
    "set -euo pipefail",
    "set -x",
    "set -- a b",
    "read -r x",
    "read -p 'a b' x",
    "IFS=, read -r x y",
    "export FOO=1",
    "export LC_ALL=C",
    "x=1",
    "x=$((1+2))",
    "local x=1",
    "declare -r x=1",
    "unset x",
    "shopt -s nullglob globstar",
    "trap - EXIT",
    "trap '' INT",
    "type p",
    "command -v p",
    "wait",
    "wait $!",
    "jobs",
    "mapfile -t x",
    "printf -v x %s y",
    "hash -r",
    "umask",
    "exec 2>&1",
    "shift 2",
    "readonly x=1",
]


@pytest.mark.parametrize("text", FREE)
def test_built_ins_without_effect_need_no_rule(said: Says, text: str) -> None:
    found = said(text)
    assert (found.needs, found.opaque, found.acts) == ([], [], [])


@pytest.mark.parametrize("text", ["kill -9 1", "umask 000", "export TOKEN=x", "source a", ". a", "ulimit -n 1", "fg"])
def test_other_built_ins_need_a_rule(said: Says, text: str) -> None:
    assert len(said(text).needs) == 1


@pytest.mark.parametrize(
    "text",
    [
        "PATH=x p",
        "PATH=x; p",
        "export PATH=x; p",
        "declare -x PAGER=x",
        "typeset LD_PRELOAD=x",
        "readonly GIT_DIR=x",
        "read PATH",
        "mapfile IFS",
        "unset PATH",
        "printf -v PATH x",
        "PYTHONPATH=. p",
        "GIT_PAGER=less p",
        "FROB=1 p",
        "IFS=x p",
        "env FROB=1 p",
        "sudo LD_PRELOAD=x p",
        "PS4='$(x)'; p",
        "npm_config_x=1 p",
        "source a",
        ". a",
    ],
)
def test_what_reaches_programs_is_an_act_that_a_rule_has_to_spell(said: Says, text: str) -> None:
    assert said(text).acts


@pytest.mark.parametrize(
    "text", ["CI=1 p", "NODE_ENV=test p", "FOO=bar p", "GIT_PAGER=cat p", "LC_ALL=C p", "env CI=1 p", "RUST_LOG=$x p"]
)
def test_harmless_assignments_are_set_aside(said: Says, text: str) -> None:
    found = said(text)
    assert (found.runs, found.acts) == (["p"], [])


def test_after_set_a_every_variable_reaches_programs(said: Says) -> None:
    assert said("set -a; FROB=1; CI=1; p").acts == [("FROB=1", "sets FROB, which the program may read")]
    assert said("set -a; read FROB; p").opaque
    assert said("set -ea; for FROB in x; do p; done").opaque
    assert said("set -e; FROB=1; p").acts == []


def test_an_assignment_that_is_not_harmless_stays_for_rules_that_spell_it(said: Says) -> None:
    command = said("PYTHONPATH=. CI=1 pytest -q").commands[0]
    assert command.words == ("PYTHONPATH=.", "pytest", "-q")
    assert command.also == (("pytest", "-q"),)


@pytest.mark.parametrize(
    "text",
    [
        "x='a[$(p)]'; echo $((x))",
        "read x; echo $((x+1))",
        "for x in $(p); do echo $((x)); done",
        "echo $((_))",
        "echo $((1))$((REPLY))",
        "while echo $((x)); do read x; done",
        "x=$y; ((x++))",
        "[[ $x -eq 1 ]]; x=$(p)",
        "printf -v x %s a; (( x ))",
        ": ${x:=$y}; echo $((x))",
        "declare x=$y; ((x))",
        "((PATH=1)); p",
        "y=${x:-$(date +%s)}; echo $((y))",
        "echo $((${x:-$(date +%s)}))",
        "[[ ${x:-$(date +%s)} -eq 1 ]]",
        ": ${PATH:=x}; p",
    ],
)
def test_computing_with_a_text_is_opaque(said: Says, text: str) -> None:
    assert said(text).opaque


@pytest.mark.parametrize(
    "text",
    [
        "x=1; echo $((x+1))",
        "for x in 1 2 {3..5}; do ((x)); done",
        "x=$(date +%s); echo $((x))",
        "x=$(p | wc -l); echo $((x/2))",
        "[[ $# -eq 0 ]]",
        "i=0; while ((i<3)); do ((i++)); done",
    ],
)
def test_computing_with_numbers_is_not(said: Says, text: str) -> None:
    assert said(text).opaque == []


@pytest.mark.parametrize(
    "text",
    [
        "test -v 'a[$(p)]'",
        "[ -v 'a[$(p)]' ]",
        "[ $x ]",
        '[ "$a" "$b" ]',
        "read 'a[$(p)]'",
        "printf -v 'a[$(p)]' x",
        "unset 'a[$(p)]'",
        "export 'a[$(p)]=1'",
        "declare -n r=x",
        "printf %n x",
        "mapfile -C p x",
        "jobs -x p",
        "wait -p x",
        "trap p NOSIG$x",
        "set -k",
        "shopt -s expand_aliases",
        "source <(p)",
        "exec {fd}<x",
    ],
)
def test_built_ins_that_would_run_their_operands_are_opaque(said: Says, text: str) -> None:
    assert said(text).opaque


SHOWS = """declare -p
    declare -p HOME PATH
    declare -px
    declare -f
    declare -F f
    declare -A
    typeset -p
    typeset -f f
    export -p
    export -f
    readonly -p
    readonly -a
    alias
    alias -p
    alias ll
    trap -p
    trap -p EXIT
    set -o
    set +o
    shopt
    shopt -p
    shopt -o
    shopt -po pipefail
    shopt -q extglob
    shopt expand_aliases
    hash
    hash -l
    hash -t ls
    enable
    enable -a
    bind -p
    complete
    complete -p
    compgen -c
    fc -l
    history
    history 10
    kill -l
    kill -l TERM
    ulimit
    ulimit -a
    ulimit -Sn
    umask
    umask -S
    help
    help cd
    caller""".splitlines()
CHANGES = """alias a=b
    alias ll='ls -l' a
    declare -n r=x
    declare -f x=1
    declare -p 'a[$(x)]'
    declare -p "$x"
    hash ls
    hash -p ./x ls
    hash -d ls
    enable -n test
    enable -f ./x y
    enable test
    bind -x a:b
    bind -f x
    complete -C x y
    complete y
    compgen -W x
    compgen -C x
    compgen -F x
    shopt -s extglob
    shopt -u expand_aliases
    shopt -so noexec
    fc -e x
    fc -s
    fc
    history -c
    history -r x
    history -w .bashrc
    ulimit -n 10
    umask 0
    kill 1
    kill -9 1""".splitlines()


@pytest.mark.parametrize("text", [text.strip() for text in SHOWS])
def test_what_only_shows_the_state_of_the_shell_is_free(said: Says, text: str) -> None:
    found = said(text)
    assert not found.opaque
    assert not found.needs


@pytest.mark.parametrize("text", [text.strip() for text in CHANGES])
def test_what_changes_the_state_of_the_shell_is_not_taken_for_showing_it(said: Says, text: str) -> None:
    found = said(text)
    assert found.opaque or found.needs
