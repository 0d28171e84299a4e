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
    GIT_SSH=rm git fetch
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='rm x' git log
    GIT_CONFIG_PARAMETERS="'core.pager'='rm x'" git log
    GIT_CONFIG_PARAMETERS="'alias.x=!rm x'" git x
    P='rm x' git --config-env=core.pager=P log
    P='rm x' git --config-env core.pager=P log
    git -c core.sshCommand='rm x' fetch
    git -c core.fsmonitor='rm x' status
    git -c diff.a.textconv='rm x' diff
    git -c credential.helper='!rm x' fetch
    git -c core.editor='rm x' -c core.pager=cat commit
    git fetch "ext::sh -c 'rm x'"
    git clone ext::'rm x'
    git remote add o 'ext::rm x'
    export GIT_PAGER='rm x'; git log
    declare -x GIT_SSH_COMMAND='rm x'; git fetch
    GIT_PAGER='rm x'; export GIT_PAGER; git log
    env GIT_EDITOR='rm x' git commit
    sudo GIT_PAGER='rm x' git log
    RSYNC_RSH='rm x' rsync a b:c
    CC='rm x' make
    RUSTC_WRAPPER=rm cargo build
    TAR_OPTIONS='--checkpoint-action=exec=rm' tar cf a b
    npm_config_script_shell=rm npm test
    su -c 'cd a && rm x'
    su <<< 'rm x'
    su - u <<< 'cd a && rm x'
    echo 'rm x' | su
    echo 'rm x' | sudo su - u
    sudo -s <<< 'rm x'
    sudo -i <<< 'rm x'
    echo 'rm x' | sudo -s
    doas -s <<< 'rm x'
    pkexec <<< 'rm x'
    runuser -u u sh <<< 'rm x'
    runuser -l u <<< 'rm x'
    chroot /r <<< 'rm x'
    chroot /r bash -s <<< 'rm x'
    echo 'rm x' | unshare -r
    unshare -r sh <<< 'rm x'
    nsenter -t 1 -m <<< 'rm x'
    setpriv --reuid 1 sh <<< 'rm x'
    newgrp g <<< 'rm x'
    script -q /dev/null sh <<< 'rm x'
    script <<< 'rm x'
    firejail bash <<< 'rm x'
    parallel <<< 'rm x'
    echo 'rm x' | parallel -j 4
    nix-shell <<< 'rm x'
    nix develop <<< 'rm x'
    poetry shell <<< 'rm x'
    distrobox enter b <<< 'rm x'
    lxc exec c sh <<< 'rm x'
    gosu u sh <<< 'rm x'
    systemd-run --pty sh <<< 'rm x'
    docker exec -i c bash -s a <<< 'rm x'
    docker run -i alpine <<< 'rm x'
    kubectl exec -i p -- sh <<< 'rm x'
    bash -s <<< 'rm x'
    sh -s -- a <<< 'rm x'
    busybox ash -s <<< 'rm x'
    ssh h bash -s <<< 'rm x'
    ssh h 'cd a && bash -s' <<< 'rm x'
    echo 'rm x' | ssh h bash
    rsh h rm x
    . /dev/fd/0 <<< 'rm x'
    fish -c 'rm x'
    fish <<< 'rm x'
    tcsh -fc 'rm x'
    pwsh -NoProfile -Command rm x
    nu --commands 'rm x'
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
    ssh h cat <<< 'rm x'
    ssh h 'cat > f' <<< 'rm x'
    docker exec -i c cat <<< 'rm x'
    nix-shell --run cat <<< 'rm x'
    nice cat <<< 'rm x'
    echo 'rm x' | sudo tee f
    fish s.fish rm
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


@pytest.mark.parametrize(
    "text",
    """su <<< ls
    echo ls | su
    chroot /r <<< ls
    unshare -r <<< ls
    script <<< ls
    firejail <<< ls
    nix-shell <<< ls
    nix develop <<< ls
    poetry shell <<< ls
    pkexec <<< ls
    parallel <<< ls""".splitlines(),
)
def test_what_a_shell_of_this_machine_is_given_is_covered_by_no_rule_for_what_starts_it(said: Says, text: str) -> None:
    assert said(text).opaque


@pytest.mark.parametrize(
    "text",
    """su -c ls <<< x
    chroot /r cat <<< x
    unshare -r cat <<< x
    script -qc ls f <<< x
    nix-shell --run cat <<< x
    nix develop -c cat <<< x
    parallel gzip <<< x
    su""".splitlines(),
)
def test_what_another_program_is_given_is_no_command(said: Says, text: str) -> None:
    assert not said(text).opaque


@pytest.mark.parametrize(
    "text",
    """GIT_TRACE=/f git log
    GIT_TRACE2_EVENT=/f git log
    env SSLKEYLOGFILE=/f curl h
    LESSHISTFILE=/f less a
    COVERAGE_FILE=/f pytest""".splitlines(),
)
def test_a_file_that_a_variable_names_is_written(said: Says, text: str) -> None:
    assert "/f" in said(text).writes
    assert "/1" not in said(text.replace("/f", "1")).writes


LAUNCHES = """ctr run i c {}
    ctr tasks exec t {}
    ts {}
    apply {}
    pee '{}'
    mispipe '{}' cat
    daemon -- {}
    start-stop-daemon --start --exec /bin/rm -- x
    gpg-agent --daemon {}
    corepack {}
    env-cmd {}
    cross-env-shell '{}'
    start-server-and-test '{}' u
    onchange a -- {}
    chokidar a -c '{}'
    setuidgid u {}
    envdir d {}
    setlock f {}
    uftrace {}
    libtool --mode=execute {}
    runcon a {}
    sandbox-exec -f p {}
    arch -x86_64 {}
    launchctl submit -l a -- {}
    dzdo {}
    please {}
    run0 {}
    systemd-cat {}
    podman unshare {}
    buildah unshare {}
    lxc-attach -n c -- {}
    flatpak-spawn --host {}
    snap run {}
    apptainer exec i {}
    singularity run i {}
    udocker run i {}
    railway run {}
    netlify dev:exec {}
    infisical run -- {}
    teller run -- {}
    summon {}
    envchain a {}
    envconsul {}
    consul lock a {}
    etcdctl watch a -- {}
    telepresence intercept a -- {}
    pssh -h f '{}'
    pdsh -w h {}
    et h -c '{}'
    zellij run -- {}
    zellij action new-pane -- {}
    xterm -e {}
    gnome-terminal -- {}
    wezterm start {}
    task-spooler {}
    lckdo f {}
    with-lock-ex -w f {}
    solo -port=1 {}
    cronic {}
    tcpserver 0 1 {}
    websocketd {}
    asciinema rec -c '{}' f
    ttyrec -e '{}' f
    autoexpect {}
    wine {}
    mono {}
    rtk {}
    noti {}
    gum spin --title a -- {}
    watchman-make -p a --run '{}'
    reflex -- {}
    when-changed f -c {}
    wait-for-it h:1 -- {}
    dockerize -wait a {}
    bear -- {}
    scan-build {}
    ccache {}
    sccache {}
    dtrace -c '{}'
    truss {}
    memusage {}
    nix run {}
    socat - EXEC:'{}'
    logsave f {}
    capsh -- -c '{}'
    systemd-nspawn -D /r {}""".splitlines()


@pytest.mark.parametrize("text", [text.strip() for text in LAUNCHES])
def test_a_rule_for_what_starts_another_program_never_covers_that(said: Says, text: str) -> None:
    found = said(text.format("rm x"))
    assert removes(found) or text.startswith("nix run")
    assert any(command.acts for command in found.commands)


@pytest.mark.parametrize("text", ["ts", "ts %H:%M:%.S", "ts -s '[%H]'", "rtk", "ccache -s", "snap list", "nix build"])
def test_what_starts_nothing_needs_no_more_than_its_rule(said: Says, text: str) -> None:
    assert not said(text).acts
