"""What a command starts by its words or by a text among them: deny and ask rules for it are met."""

from __future__ import annotations

import pkgutil
import shlex
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest

from hitl_cli.shell import programs
from hitl_cli.shell.programs.table import STARTS, Option, Row
from hitl_cli.shell.wrapper_rows import UNFOLLOWED
from tests.shell.conftest import Said

Says = Callable[[str], Said]


def removes(said: Said) -> bool:
    """Whether a rule for `rm` is met."""
    spellings = [form for command in said.commands for form in (command.words, *command.also)]
    return "rm" in said.opaque_words or any(form[0] == "rm" for form in spellings)


def _options() -> Iterator[tuple[str, Option]]:
    """Every option that starts what its value says, behind its program and sub-command."""
    for module in pkgutil.iter_modules(programs.__path__, "hitl_cli.shell.programs."):
        for name, row in getattr(import_module(module.name), "PROGRAMS", {}).items():
            pending: list[tuple[str, Row]] = [(name, row.compile())]
            while pending:
                front, row = pending.pop()
                yield from ((f"{front} {option}", what) for option, what in row.known.items())
                if front.count(" ") < 2:
                    shared = row.known if row.shared else None
                    pending += [(f"{front} {sub}", below.compile(shared)) for sub, below in (row.subs or {}).items()]


def test_what_an_option_starts_is_seen(said: Says) -> None:
    missed = []
    for front, option in _options():
        if not option.takes or not STARTS.search(option.does) or front.endswith(("-sfx", "-J")):
            continue
        glue = {"?": "" if len(front.split()[-1]) == 2 else "=", "==": " a "}.get(option.takes, " ")
        for value in ("rm", "sudo rm x") if option.takes == ";" else (shlex.quote("cd a && rm x"), "rm"):
            if not removes(said(f"{front}{glue}{value}")):
                missed.append(f"{front}{glue}{value}")
    assert not missed, missed


@pytest.mark.parametrize("program", sorted(UNFOLLOWED))
def test_what_is_not_followed_is_searched(said: Says, program: str) -> None:
    assert removes(said(f"{program} -x a rm b"))
    assert removes(said(f"{program} -x a 'cd a && rm b'"))


@pytest.mark.parametrize(
    "text",
    """ssh h rm x
    ssh -p 22 u@h 'cd x && rm x'
    ssh h sudo rm x
    docker exec c sudo sh -c 'cd x && rm x'
    docker run --rm -v a:b i rm x
    docker run -it i sh -c 'rm x'
    docker run --entrypoint rm i x
    docker create i rm x
    docker compose exec web rm x
    docker compose run web sh -c 'rm x'
    kubectl exec p -- sh -c 'rm x'
    kubectl run p --image=i -- rm x
    conda run rm x
    conda run -n e --no-capture-output sh -c 'rm x'
    micromamba run -n e rm x
    nix-shell --run 'rm x'
    nix-shell -p a --command 'rm x'
    nix develop -c rm x
    nix shell nixpkgs#a --command sudo rm x
    mise x node -- rm x
    direnv exec . rm x
    asdf exec rm x
    pixi run rm x
    vagrant ssh -c 'rm x'
    flatpak run --command=rm x
    choom -n 1 -- rm x
    systemd-inhibit --what=idle rm x
    systemd-run --user -p A=b sh -c 'rm x'
    /lib64/ld-linux-x86-64.so.2 --argv0 a /bin/rm x
    fd . -x sh -c 'rm {}'
    fd -X rm
    git rebase --exec='cd a && rm x' main
    git -c alias.x='!rm x' x
    git -c core.pager='rm x' log
    git config alias.x '!rm x'
    git bisect run timeout 5 rm x
    git submodule foreach --recursive 'rm x'
    git filter-branch --tree-filter 'rm x'
    hyperfine --prepare 'rm x' ls
    hyperfine ls 'rm x'
    gdb --args rm x
    tmux new-session -d 'rm x'
    npx -c 'rm x'
    npm exec --call='rm x'
    uv run sh -c 'rm x'
    bundle exec sh -c 'rm x'
    awk 'BEGIN{system("rm x")}'
    awk '{print | "rm x"}' f
    sed '1e rm x' f
    sed -n 's/a/rm x/ep' f
    tar --checkpoint-action=exec='rm x' -cf a b
    ssh -o 'ProxyCommand rm x' h
    sqlite3 db '.shell rm x'
    ssh h <<< 'rm x'
    echo 'rm x' | ssh h
    docker exec -i c sh <<< 'rm x'
    uv run bash -s <<< 'rm x'
    bash /dev/stdin <<< 'rm x'
    . /dev/stdin <<< 'rm x'
    at now <<< 'rm x'
    GIT_PAGER='rm x' git log
    GIT_SSH_COMMAND='rm x' git fetch
    su -c 'cd a && rm x'
    script -qc 'cd a && rm x' f""".splitlines(),
)
def test_what_is_started_by_words_or_by_a_text_is_seen(said: Says, text: str) -> None:
    assert removes(said(text))


@pytest.mark.parametrize(
    "text",
    """ssh h 'echo rm x'
    docker exec c echo rm x
    docker exec c sh -c 'echo rm x'
    docker run --name rm i ls
    uv run pytest rm
    git commit -m 'rm x'
    gh pr create --title 'rm x'
    curl -o rm https://h/x
    git rebase -x 'echo rm' main
    fd rm""".splitlines(),
)
def test_what_is_only_said_is_not_started(said: Says, text: str) -> None:
    assert not removes(said(text))


@pytest.mark.parametrize(
    "start",
    ["docker exec c " * 30 + "rm x", "gdb " * 300 + "rm x", "hyperfine " * 12 + "'hyperfine \"hyperfine rm\"'" * 20],
    ids=["inner", "acts", "texts"],
)
def test_starts_within_starts_are_bounded(said: Says, start: str) -> None:
    found = said(start)
    assert len(found.accesses) < 10
    assert all(len(command.also) < 1_000 for command in found.commands)
