"""Programs that start another one in an environment, on another machine or under their eyes.

Sources: the manual of each. Launchers that `wrappers` takes off or refuses (env, timeout, xargs, sudo, strace, …) have no
row here: what they start is judged by itself.
"""

from __future__ import annotations

import re

from hitl_cli.regex import later
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_STARTS = "starts another program"


def starts(reading: Reading) -> None:
    """The first operand is a program."""
    for at in reading.places[:1]:
        reading.act(at, _STARTS)


def _behind_dashes(reading: Reading) -> None:
    """`mise exec TOOL… -- PROGRAM …`."""
    if "--" in reading.words:
        reading.inner = reading.words.index("--") + 1


def shell(reading: Reading) -> None:
    """A shell in an environment, on another machine or in a container, unless a command is given."""
    reading.shell = not reading.has("--run", "-c", "--command") and len(reading.operands) < 2


_GIVEN = later(r"-\w*c|-c\w*|--[\w-]*commands?(?:=(.*))?", re.IGNORECASE | re.DOTALL)


def _other_shell(reading: Reading) -> None:
    """A shell with a language of its own: its text is searched as if it were bash's."""
    options = [found for word in reading.words if isinstance(word, str) and (found := _GIVEN.fullmatch(word))]
    if options:
        reading.starts += [word for word in reading.operands if isinstance(word, str)]
        reading.starts += [option[1] for option in options if option[1]]
    elif not reading.operands:
        reading.starts.append(("sh",))


def _stamps(reading: Reading) -> None:
    """Of moreutils it takes a format of the time, and the other `ts` a program for its queue."""
    if reading.operands and not (isinstance(word := reading.operands[0], str) and word.startswith(("%", "["))):
        starts(reading)


PROGRAMS: dict[str, Row] = {
    **rows(
        "their manuals: shells that do not read as bash does",
        "fish csh tcsh yash xonsh nu elvish pwsh powershell",
        abbreviates=False,
        then=_other_shell,
    ),
    **rows(
        "conda, mamba documentation",
        "conda mamba micromamba",
        subs=rows(
            "conda documentation",
            "run",
            "-n --name -p --prefix --cwd -e --env -a --attach =",
            act=_STARTS,
            stops=1,
            inner=0,
            abbreviates=False,
        ),
        abbreviates=False,
    ),
    "nix-shell": Row(
        "nix-shell(1)",
        f"--run --command = {_STARTS}\n-p --packages -i -I -A --attr --keep --max-jobs -j =\n--arg --argstr --option ==",
        then=shell,
        abbreviates=False,
    ),
    "nix": Row(
        "Nix reference",
        subs={
            **rows("Nix reference", "develop shell", f"-c --command ; {_STARTS}", abbreviates=False, then=shell),
            "run": Row("Nix reference", act="runs a program of a package", abbreviates=False),
        },
        abbreviates=False,
    ),
    "mise": Row(
        "mise documentation",
        "-C --cd = folder",
        subs=rows("mise documentation", "exec x", act=_STARTS, then=_behind_dashes, abbreviates=False),
        abbreviates=False,
    ),
    "direnv": Row("direnv(1)", subs=rows("direnv(1)", "exec", act=_STARTS, stops=1, inner=1), abbreviates=False),
    **rows(
        "their manuals: environments of a language or a project, containers, machines, stores of secrets",
        """asdf pixi devbox devenv guix rbenv pyenv jenv goenv nodenv nvm fnm volta opam stack cabal dune foreman
        honcho flatpak distrobox toolbox lxc incus limactl colima multipass minikube crictl buildah vagrant adb op
        doppler dotenvx aws-vault chamber pueue heroku fly flyctl sops infisical teller berglas railway snap singularity
        apptainer udocker consul etcdctl zellij telepresence netlify cronitor ctr""",
        "-C --cd = folder",
        subs={
            **rows("their manuals", "shell enter ssh", "-c --command =", act=_STARTS, abbreviates=False, then=shell),
            **rows(
                "their manuals",
                "exec run x add exec-env exec-file unshare environment lock watch start intercept dev:exec local:run",
                act=_STARTS,
                abbreviates=False,
            ),
            **rows(
                "ctr documentation, zellij documentation",
                "t task tasks action",
                subs=rows("ctr documentation", "exec start new-pane", act=_STARTS, abbreviates=False),
            ),
        },
        abbreviates=False,
    ),
    **rows(
        "fzf(1), skim documentation",
        "fzf sk",
        f"--preview --bind -c --cmd = {_STARTS}\n-q --query -f --filter -d --delimiter -n --nth --header --prompt =",
        abbreviates=False,
    ),
    **rows(
        "ld.so(8)",
        "ld.so",
        "--preload --library-path --audit --inhibit-rpath --glibc-hwcaps-prepend = loads a library\n--argv0 =",
        stops=1,
        operands="runs another program",
        inner=0,
        abbreviates=False,
    ),
    **rows(
        "their manuals: programs that start their operand",
        "dbus-launch faketime eatmydata run-parts run-one multitime dtach abduco gdb lldb rr heaptrack rush winpty gosu "
        "su-exec tini dumb-init s6-setuidgid cpulimit trickle dotenv cross-env retry tsp nq wsl concurrently rtk ccache "
        "sccache distcc icecc bear intercept-build scan-build uftrace memusage sotruss xtrace dtruss truss ktrace wine "
        "box64 mono noti env-cmd cross-env-shell start-server-and-test graftcp setuidgid envdir envuidgid setlock lckdo "
        "with-lock-ex solo runcon sandbox-exec arch cronic summon envchain envconsul task-spooler corepack apply pee mispipe "
        "onchange chokidar reflex dockerize gum when-changed watchman-make inotify-hookable",
        "-ex -x -batch ?",
        stops=1,
        wary=True,
        abbreviates=False,
        then=starts,
    ),
    "ts": Row("moreutils ts(1), task spooler documentation", stops=1, wary=True, abbreviates=False, then=_stamps),
    **rows(
        "asciinema, ttyrec, DTrace, bpftrace, ctags and Eternal Terminal manuals: options that start what they are given",
        "asciinema ttyrec dtrace bpftrace et schedtool progress",
        f"-c --command -e = {_STARTS}\n-i -t -p --title =",
        abbreviates=False,
    ),
}
