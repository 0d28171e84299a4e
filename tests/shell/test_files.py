"""Redirections and operands as paths; the folder they are seen from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Says = Callable[[str], Any]


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("p > a", ["/ws/a"]),
        ("p >>a 2>b", ["/ws/a", "/ws/b"]),
        ("p >| a", ["/ws/a"]),
        ("p &> a", ["/ws/a"]),
        ("p &>> a", ["/ws/a"]),
        ("p >& a", ["/ws/a"]),
        ("p <> a", ["/ws/a"]),
        ("p > '&1'", ["/ws/&1"]),
        ("> a", ["/ws/a"]),
        ("p 2>&1 >/dev/null 3>&- >&2", []),
        ("p 2>/dev/nullx", ["/dev/nullx"]),
        ("p 2>&1x", ["/ws/1x"]),
        ("p > $x", ["/**"]),
        ("p > a$x", ["/**", "/ws/a*/**", "/ws/a"]),
        ("p > *.log", ["/ws/*.log"]),
        ("p > ~/x", ["/home/u/x"]),
        ("p > ../x", ["/ws/../x"]),
        ("{ p; q; } > a", ["/ws/a"]),
        ("for x in 1; do p; done > a", ["/ws/a"]),
        ("p > a b", ["/ws/a"]),
        ("exec 3> a", ["/ws/a"]),
        ("cd sub && p > a", ["/ws/sub/a"]),
        ("cd sub; p > a", ["/ws/sub/a", "/ws/a"]),
        ("cd sub || p > a", ["/ws/a"]),
        ("(cd sub && p) > a", ["/ws/a"]),
        ("(cd sub); p > a", ["/ws/a"]),
        ("cd sub | p > a", ["/ws/a"]),
        ("cd sub & p > a", ["/ws/a"]),
        ("! cd sub && p > a", ["/ws/a"]),
        ("if cd sub; then p > a; else q > b; fi; r > c", ["/ws/sub/a", "/ws/b", "/ws/sub/c", "/ws/c"]),
        ("while p; do cd sub; q > a; done", ["/**"]),
        ("cd sub/../sub && p > a", ["/ws/sub/a"]),
        ("eval 'cd sub' && p > a", ["/ws/sub/a"]),
        ("bash -c 'cd sub' && p > a", ["/ws/a"]),
        ("bash -c 'cd sub && p > a'", ["/ws/sub/a"]),
        ("command cd sub && p > a", ["/ws/sub/a"]),
        ("/usr/bin/time -o a p", ["/ws/a"]),
    ],
)
def test_each_file_written_by_the_shell_is_named(said: Says, text: str, writes: list[str]) -> None:
    found = said(text)
    assert (found.writes, found.opaque) == (writes, [])


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("p < a", ["/ws/a"]),
        ("p $(< a)", ["/ws/a"]),
        ("while read x; do p; done < a", ["/ws/a"]),
        ("cat a 'b c'", ["/ws/a", "/ws/b c"]),
        ("cat *.md", ["/ws/*.md"]),
        ("cat .e*", ["/ws/.e*"]),
        ("cat src/*/../../../x", ["/*/**"]),
        ('cat "$x"', ["/**"]),
        ("cat <(p)", []),
        ("cat /dev/stdin", []),
        ("xargs -a a wc", ["/ws/a", "/**"]),
        ("find src -name x -exec cat {} +", ["/ws/src**"]),
        ("find . -exec cat {} \\;", ["/ws/**"]),
        ("find .. -exec cat {} \\;", ["/*/**"]),
        ("find . -execdir cat {} \\;", ["/**"]),
    ],
)
def test_each_file_read_is_named(said: Says, text: str, reads: list[str]) -> None:
    found = said(text)
    assert (found.reads, found.opaque) == (reads, [])


@pytest.mark.parametrize(
    "text", ["cat ~bob/x", "cat ~bob/*", "cat ~+/../x", "cat ~-/x", "cat ~bob/{x,y}", "cat < ~bob/x"]
)
def test_a_file_in_the_home_folder_of_another_is_none_of_the_workspace(said: Says, text: str) -> None:
    found = said(text)
    assert "/**" in found.reads
    assert [path for path in found.reads if path.startswith("/~")]


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("cd sub", []),
        ("cd /ws/sub", []),
        ('cd "$PWD/sub"', []),
        ("cd ..", [("..", "leaves the workspace")]),
        ("cd sub && cd ../..", [("../..", "leaves the workspace")]),
        ("cd sub && cd ..", []),
        ("cd sub; cd ..", [("..", "leaves the workspace")]),
        ("cd /tmp", [("/tmp", "leaves the workspace")]),
        ("cd ~/x", [("/home/u/x", "leaves the workspace")]),
        ("cd", [("cd", "leaves the workspace")]),
        ("cd $x", [("‹$x›", "goes to a folder that is not known")]),
        ("cd -", [("-", "goes to a folder that is not known")]),
        ("popd", [("popd", "goes to a folder that is not known")]),
        ("env -C /tmp p", [("/tmp", "leaves the workspace")]),
    ],
)
def test_leaving_the_workspace_is_an_act(said: Says, text: str, acts: list[tuple[str, str]]) -> None:
    assert said(text).acts == acts


def test_commands_know_the_folder_they_run_in(said: Says) -> None:
    assert said("cd sub && p; (cd x && q); r; env -C y s").folders == {
        "cd sub": "/ws",
        "p": "/ws/sub",
        "cd x": None,
        "q": None,
        "r": None,
        "s": None,
    }


@pytest.mark.parametrize("text", ["p < /dev/tcp/h/80", "p > /dev/udp/h/1", "exec 3<>/dev/tcp/h/80"])
def test_the_shells_own_connections_are_opaque(said: Says, text: str) -> None:
    assert said(text).opaque[0] == "it opens a connection to the network"
