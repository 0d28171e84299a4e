"""What kind of program a name is, as far as a rule on offer is concerned. Data; what options do is the reader's table."""

from __future__ import annotations

from collections.abc import Sequence


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Run whatever text they are given.
INTERPRETERS = _names(
    """python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua luajit Rscript R julia tclsh expect
    osascript ghc runghc scala groovy clojure elixir erl swift java kotlin ed ex vi vim nvim emacs
    sqlite3 psql mysql mongo mongosh redis-cli gdb lldb jshell irb ipython jupyter m4 bc dc"""
)
# Run another program that is named in their arguments.
LAUNCHERS = _names(
    """npx bunx pnpx uvx pipx env xargs parallel timeout nohup nice ionice setsid stdbuf time watch entr strace ltrace
    script flock chroot unshare nsenter taskset caffeinate command builtin exec eval source . find fd ssh docker podman
    nerdctl kubectl oc direnv nix nix-shell poetry pipenv rye hatch pdm uv bundle rbenv pyenv nvm asdf mise volta make gmake
    just task ninja cmake rake invoke tox nox npm pnpm yarn cargo go dotnet mvn gradle ./gradlew ./mvnw composer turbo nx
    lerna wsl tmux screen at batch crontab systemd-run gh"""
)
# No rule at all is offered for these.
NEVER = _names(
    """sudo doas su pkexec runuser sh bash zsh dash ksh fish csh tcsh pwsh powershell busybox toybox eval exec source .
    dd mkfs shred wipefs fdisk parted mount umount insmod modprobe reboot shutdown halt poweroff kill killall pkill
    crontab at batch visudo passwd chsh usermod useradd userdel iptables nft trap alias hash export chown chgrp"""
)
# Only the very command: any other operand is another matter.
EXACT_ONLY = _names("rm rmdir curl wget scp sftp rsync nc ncat socat telnet chmod truncate unlink")
# More than one business, some of which nobody would grant at once.
MANY_SIDED = _names(
    """aws gcloud az doctl heroku vercel netlify flyctl fly terraform tofu pulumi helm ansible ansible-playbook vagrant
    brew apt apt-get dnf yum pacman apk snap systemctl service launchctl pip pip3 conda mamba gem twine"""
)
# How many words name a sub-command. `2` means program and one word.
_DEPTH = {
    **dict.fromkeys(
        _names(
            """git hg svn jj cargo go rustup docker podman kubectl oc helm terraform tofu pulumi pip pip3 uv poetry pipenv
            pdm hatch rye conda mamba brew apt apt-get dnf yum pacman apk snap systemctl launchctl dotnet mix rebar3 stack
            cabal gem composer artisan npm pnpm yarn bun deno make gmake just task mise rake tox nox turbo nx flutter dart
            swift xcodebuild fly flyctl heroku vercel netlify doctl ollama zig sbt mvn gradle ./gradlew ./mvnw"""
        ),
        2,
    ),
    **dict.fromkeys(_names("gh aws gcloud az"), 3),
}
# Sub-commands that run what they are given, or that need one more word to say what is meant.
_DEEPER = {
    ("npm", "run"): 3,
    ("pnpm", "run"): 3,
    ("yarn", "run"): 3,
    ("bun", "run"): 3,
    ("mise", "run"): 3,
    ("uv", "pip"): 3,
    ("docker", "compose"): 3,
    ("docker", "container"): 3,
    ("docker", "image"): 3,
    ("docker", "volume"): 3,
    ("docker", "network"): 3,
    ("git", "stash"): 3,
    ("git", "remote"): 3,
    ("git", "worktree"): 3,
    ("git", "submodule"): 3,
    ("git", "bisect"): 3,
    ("go", "mod"): 3,
    ("cargo", "nextest"): 3,
}
_RUNS = {
    *((p, s) for p in ("npm", "pnpm", "yarn", "bun") for s in ("exec", "x", "dlx", "create", "init")),
    *(
        (p, "run")
        for p in ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "go", "cargo", "docker", "podman", "deno", "conda")
    ),
    *((p, "exec") for p in ("docker", "podman", "kubectl", "oc", "bundle", "mise")),
    ("docker", "build"),
    ("kubectl", "run"),
    ("uv", "tool"),
    ("go", "generate"),
    ("deno", "eval"),
    ("bun", "--eval"),
    ("gh", "alias"),
    ("gh", "extension"),
    ("git", "config"),
    ("git", "rebase"),
    ("git", "filter-branch"),
}
# Modules that are programs of their own when started with `python -m`.
_MODULES = _names(
    "pytest unittest mypy ruff black isort flake8 pylint coverage build pyright bandit doctest compileall"
)


def depth(words: Sequence[str]) -> int:
    """How many leading words name one business of the program; 0 when a prefix would grant arbitrary code or nothing says."""
    program = words[0]
    if program in ("python", "python3") and len(words) > 2 and words[1] == "-m" and words[2] in _MODULES:
        return 3
    if program == "git" and words[1:2] == ["-C"] and len(words) > 3 and words[3][:1].isalpha():
        return 4
    if program not in _DEPTH or len(words) < 2 or not words[1][:1].isalpha() or tuple(words[:2]) in _RUNS:
        return 0
    if "/" in words[1] and program in INTERPRETERS:
        return 0
    wanted = _DEEPER.get((program, words[1]), _DEPTH[program])
    plain = 1
    while plain < min(wanted, len(words)) and not words[plain].startswith("-") and "=" not in words[plain]:
        plain += 1
    return plain if plain == wanted or (plain > 1 and wanted == 3 and (program, words[1]) not in _DEEPER) else 0


# What a prefix rule of one word would let run anything at all, and the same for two words.
RUNS_ANYTHING = INTERPRETERS | _names(
    """sudo doas su sh bash zsh dash ksh fish eval exec source . xargs env parallel timeout nohup nice npx bunx uvx pipx ssh
    docker podman kubectl npm pnpm yarn bun uv poetry cargo go make just nix gh"""
)
RUNS_ANYTHING_AFTER = frozenset(_RUNS) | {
    ("python", "-c"),
    ("python3", "-c"),
    ("node", "-e"),
    ("bash", "-c"),
    ("sh", "-c"),
}
