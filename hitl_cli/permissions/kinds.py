"""What kind of program a name is, as far as a rule on offer is concerned. Data; what options do is the reader's table."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.regex import later
from hitl_cli.shell.programs import interpreters


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


INTERPRETERS = interpreters.INTERPRETERS


def interprets(names: Sequence[str]) -> bool:
    """Whether the program of these names, the plainest last, is one of them."""
    return bool(names) and names[-1] in INTERPRETERS


# Run another program that is named in their arguments.
LAUNCHERS = names(
    """npx bunx pnpx uvx pipx env xargs parallel timeout nohup nice ionice setsid stdbuf time watch entr strace ltrace
    script flock chroot unshare nsenter taskset caffeinate command builtin exec eval source . find fd ssh docker podman
    nerdctl kubectl oc direnv nix nix-shell poetry pipenv rye hatch pdm uv bundle rbenv pyenv nvm asdf mise volta make gmake
    just task ninja cmake rake invoke tox nox npm pnpm yarn cargo go dotnet mvn gradle ./gradlew ./mvnw composer turbo nx
    lerna wsl tmux screen at batch crontab systemd-run gh gradlew mvnw tsx ts-node hyperfine sshpass autossh mosh rtk chronic
    sem firejail perf valgrind conda mamba pixi pkgx devbox distrobox toolbox lima minikube vagrant heroku fly flyctl mix
    artisan rails hitl code cursor"""
)
# No rule at all is offered for these.
NEVER = names(
    """sudo doas su pkexec runuser sh bash zsh dash ksh fish csh tcsh pwsh powershell busybox toybox eval exec source .
    dd mkfs shred wipefs fdisk parted mount umount insmod modprobe reboot shutdown halt poweroff kill killall pkill
    crontab at batch visudo passwd chsh usermod useradd userdel iptables nft trap alias hash export chown chgrp taskkill wmic
    schtasks reg diskutil osascript cmd cmd.exe powershell.exe hitl claude codex gemini opencode aider"""
)
SHELLS = names("sh bash zsh dash ksh mksh ash fish csh tcsh pwsh powershell busybox toybox")
# Only the very command: any other operand is another matter.
EXACT_ONLY = names("rm rmdir curl wget scp sftp rsync nc ncat socat telnet chmod truncate unlink del rd erase")
# More than one business, some of which nobody would grant at once.
MANY_SIDED = names(
    """aws gcloud az doctl heroku vercel netlify flyctl fly terraform tofu pulumi helm ansible ansible-playbook vagrant
    brew apt apt-get dnf yum pacman apk snap systemctl service launchctl pip pip3 conda mamba gem twine dpkg rpm
    qemu-system-x86_64 qemu-system-aarch64 openssl gpg security net netsh"""
)
# How many words name a sub-command. `2` means program and one word.
_DEPTH = {
    **dict.fromkeys(
        names(
            """git hg svn jj cargo go rustup docker podman kubectl oc helm terraform tofu pulumi pip pip3 uv poetry pipenv
            pdm hatch rye conda mamba brew apt apt-get dnf yum pacman apk snap systemctl launchctl dotnet mix rebar3 stack
            cabal gem composer artisan npm pnpm yarn bun deno make gmake just task mise rake tox nox turbo nx flutter dart
            swift xcodebuild fly flyctl heroku vercel netlify doctl ollama zig sbt mvn gradle ./gradlew ./mvnw"""
        ),
        2,
    ),
    **dict.fromkeys(names("gh aws gcloud az"), 3),
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
    ("gh", "api"): 2,  # what it is given to send is an act
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
    ("git", "bisect", "run"),
    ("git", "submodule", "foreach"),
    ("git", "for-each-repo"),
    ("git", "difftool"),
    ("git", "mergetool"),
    ("git", "hook"),
    *((p, c, s) for p in ("docker", "podman") for c in ("compose", "container") for s in ("exec", "run")),
    ("kubectl", "debug"),
    ("kubectl", "attach"),
    ("rustup", "run"),
    ("go", "tool"),
    ("dotnet", "exec"),
    ("dotnet", "run"),
    ("poetry", "shell"),
    ("pipx", "run"),
    ("npm", "explore"),
    ("gh", "codespace"),
    ("gh", "copilot"),
    ("heroku", "run"),
    ("fly", "ssh"),
    ("flyctl", "ssh"),
    ("mix", "run"),
    ("mix", "eval"),
    ("rails", "runner"),
}
# One of these at a time: what is sent out, thrown away or changed for all is another matter each time.
_SINGLE = {
    *(("git", s) for s in ("push", "reset", "clean", "restore", "checkout")),
    *(("git", *s) for s in (("stash", "drop"), ("stash", "clear"), ("remote", "set-url"), ("remote", "add"))),
    *((p, "publish") for p in ("npm", "pnpm", "yarn", "bun", "cargo", "uv", "poetry")),
    *((p, s) for p in ("npm", "pnpm", "yarn", "bun") for s in ("unpublish", "login", "token")),
    ("yarn", "npm", "publish"),
    ("brew", "tap"),
    *(
        (p, s)
        for p in ("apt", "apt-get", "dnf", "yum", "apk", "snap")
        for s in ("install", "remove", "purge", "add", "del")
    ),
    ("helm", "install"),
    ("pip", "uninstall"),
    *((p, s) for p in ("npm", "pip", "poetry", "gh") for s in ("config", "set")),
    ("aws", "configure"),
    ("docker", "buildx"),
    *((p, "env") for p in ("conda", "mamba")),
    *(("uv", "pip", s) for s in ("uninstall", "sync")),
    ("gem", "push"),
    ("twine", "upload"),
    *((p, s) for p in ("docker", "podman") for s in ("push", "rm", "rmi", "login", "kill", "cp")),
    *(("docker", *s) for s in (("system", "prune"), ("volume", "rm"), ("volume", "prune"), ("image", "rm"))),
    *(("docker", "compose", s) for s in ("down", "rm")),
    *(
        (p, s)
        for p in ("kubectl", "oc")
        for s in ("delete", "apply", "patch", "replace", "edit", "cp", "drain", "scale")
    ),
    *(("helm", s) for s in ("upgrade", "uninstall", "rollback")),
    *((p, s) for p in ("terraform", "tofu") for s in ("apply", "destroy", "import", "state")),
    *(("pulumi", s) for s in ("up", "destroy")),
    *(("gh", *s) for s in (("pr", "merge"), ("pr", "close"), ("repo", "delete"), ("secret", "set"), ("auth", "login"))),
    *(("gh", "release", s) for s in ("create", "delete", "upload", "edit")),
    ("gh", "auth", "token"),
    ("gh", "workflow", "run"),
}
# Modules that are programs of their own when started with `python -m` or by a runner.
_MODULES = names("pytest unittest mypy ruff black isort flake8 pylint coverage build pyright bandit doctest compileall")
_RUNNERS = names("uv poetry pipenv pdm hatch rye")
# What launchers of JavaScript start most, and what is no other program when it is brought in first.
_CHECKERS = names("tsc eslint prettier vitest jest biome stylelint")
# Written behind a program that is known, they most likely start it.
_KNOWN = INTERPRETERS | LAUNCHERS | SHELLS | MANY_SIDED | EXACT_ONLY | frozenset(_DEPTH)

_VERSION = later(r"(?<=[a-z])-?\d[\d.]*\Z")


def plain(word: str) -> str:
    """The program without its folder and version: `.venv/bin/python3.12` is python."""
    return _VERSION.sub("", word.rpartition("/")[2])


def single(words: Sequence[str]) -> bool:
    """True when the sub-command, and so its program, is granted word by word alone: it runs what it is given, or what it
    does is another matter each time."""
    program = plain(words[0])
    if tool(words):
        return False
    bare = [program, *(w for w in words[1:6] if w[:1] != "-")]
    heads = [bare[:2], bare[:3]]
    if words[1:2] and words[1][:1] == "-":  # what follows may be its value
        heads += [[program, *bare[2:3]], [program, *bare[2:4]]]
    if any(tuple(head) in _RUNS or tuple(head) in _SINGLE for head in heads):
        return True
    return program in EXACT_ONLY or _names_program(words)


def launches(words: Sequence[str]) -> bool:
    """True when the words most likely name another program that is started."""
    if plain(words[0]) in LAUNCHERS:
        return not depth(words)
    return _names_program(words)


def _names_program(words: Sequence[str]) -> bool:
    """True for a program that is not known, with the name of a known one behind it: most likely it starts that."""
    return plain(words[0]) not in _KNOWN and any(w[:1].isalpha() and plain(w) in _KNOWN for w in words[1:2])


def tool(words: Sequence[str]) -> int:
    """How many words start a well-known tool by an interpreter or a runner, or one harmless use of a sub-command that is
    otherwise granted word by word; 0 where they do not."""
    program = plain(words[0])
    if program == "python" and words[1:2] == ["-m"] and words[2:3] and words[2] in _MODULES:
        return 3
    if program in _RUNNERS and words[1:2] == ["run"] and words[2:3] and words[2] in _MODULES:
        return 3
    if program == "git" and words[1:3] == ["checkout", "-b"]:
        return 3
    if program in ("npx", "bunx") and words[1:2] and words[1] in _CHECKERS:
        return 2
    if program == "pnpm" and words[1:2] == ["exec"] and words[2:3] and words[2] in _CHECKERS:
        return 3
    return 0


def depth(words: Sequence[str]) -> int:
    """How many leading words name one business of the program; 0 when a prefix would grant arbitrary code or nothing says."""
    if known := tool(words):
        return known
    program = plain(words[0])
    if single(words):
        return 0
    if program == "git" and words[1:2] == ["-C"] and len(words) > 3 and words[3][:1].isalpha():
        return 4
    if program not in _DEPTH or len(words) < 2 or not words[1][:1].isalpha():
        return 0
    if "/" in words[1] and program in INTERPRETERS:
        return 0
    wanted = _DEEPER.get((program, words[1]), _DEPTH[program])
    count = 1
    while count < min(wanted, len(words)) and not words[count].startswith("-") and "=" not in words[count]:
        count += 1
    return count if count == wanted or (count > 1 and wanted == 3 and (program, words[1]) not in _DEEPER) else 0


# What a prefix rule of one word would let run anything at all, and the same for two words.
RUNS_ANYTHING = INTERPRETERS | names(
    """sudo doas su sh bash zsh dash ksh fish eval exec source . xargs env parallel timeout nohup nice npx bunx uvx pipx ssh
    docker podman kubectl npm pnpm yarn bun uv poetry cargo go make just nix gh"""
)
RUNS_ANYTHING_AFTER = frozenset(_RUNS)
