"""The places that no wide rule opens: the floor, which always asks, and the guarded ones, which a rule must name.

Data with reasons, in the words a person reads. A path is judged as written and with links followed; names compare
without regard to case, because on some disks they are the same file.

* **The floor** asks whatever is allowed, in every mode, and no rule is offered for it: what it protects decides what
  this program, the shell or the machine will do later, or holds the keys to other machines.
* **Guarded** places are ordinary files that start programs or hold secrets. A person who writes a rule that names one
  (`Write(.vscode/tasks.json)`) has thought of it; a person who wrote `Write(**)` has not.

A removal is on the floor where it would take a root, a home or the workspace with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from hitl_cli.access import Place, ReadPath, WritePath, inside, lexical
from hitl_cli.permissions.globs import WILD, agree, meet
from hitl_cli.regex import later

# Names below the home folder, with what they do. A name that ends in a slash means all below it.
_START = "a start-up file runs in every shell"
_GIT = "git configuration can name programs to run"
_SESSION = "it runs at the next login or on a schedule"
_WRITES = {
    **dict.fromkeys(
        (".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv"),
        _START,
    ),
    **dict.fromkeys((".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login"), _START),
    **dict.fromkeys((".inputrc", ".config/fish/", ".config/bash/", ".config/zsh/", ".pam_environment"), _START),
    **dict.fromkeys((".gitconfig", ".config/git/"), _GIT),
    **dict.fromkeys((".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".config/autostart/"), _SESSION),
    **dict.fromkeys(
        (".config/systemd/", ".local/share/systemd/", "library/launchagents/", ".config/environment.d/"), _SESSION
    ),
}
_KEYS = "ssh keys open other machines"
_SECRET = "it holds credentials"
_SECRETS = {
    ".ssh/": _KEYS,
    **dict.fromkeys(
        (".gnupg/", ".password-store/", ".aws/", ".azure/", ".kube/", ".config/gcloud/", ".config/gh/"), _SECRET
    ),
    **dict.fromkeys((".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".pgpass", ".my.cnf"), _SECRET),
    **dict.fromkeys((".docker/config.json", ".cargo/credentials", ".cargo/credentials.toml", ".pypirc"), _SECRET),
    **dict.fromkeys(
        (".local/share/keyrings/", "library/keychains/", ".config/op/", ".terraform.d/credentials.tfrc.json"), _SECRET
    ),
    **dict.fromkeys(
        (".vault-token", ".config/hub", ".config/glab-cli/", ".gem/credentials", ".config/containers/auth.json"),
        _SECRET,
    ),
}
_FIRST = frozenset(name.partition("/")[0] for name in (*_WRITES, *_SECRETS))
_DEEPEST = max(name.rstrip("/").count("/") for name in (*_WRITES, *_SECRETS)) + 1
# Below the home folder and `.git` of the workspace: names whose files are looked for under another name (hard links).
NAMES_IN_HOME = tuple(n for n in (*_WRITES, *_SECRETS) if not n.endswith("/")) + tuple(
    f".ssh/{n}" for n in ("authorized_keys", "config", "id_rsa", "id_ed25519", "id_ecdsa")
)
NAMES_IN_GIT = ("config", "config.worktree")

_SYSTEM_WRITES = (
    (later(r"/etc/(profile(\.d/.*)?|bash\.bashrc|bashrc|environment|zsh(/.*|rc|env)?|fish/.*)"), _START),
    (later(r"/etc/(cron.*|systemd/.*|init.*|ld\.so.*|sudoers.*|pam\.d/.*)|/var/spool/cron(/.*)?"), _SESSION),
    (later(r"/etc/(passwd|shadow|group|gshadow|ssh/.*|gitconfig)"), "it decides who may do what on this machine"),
)
_SYSTEM_SECRETS = (
    (later(r"/etc/(g?shadow-?|sudoers(\.d/.*)?|ssh/ssh_host_.*key)"), _SECRET),
    (later(r"/proc/[^/]+/(task/[^/]+/)?(environ|mem)"), "the environment of a process holds credentials"),
)
_SYSTEM = ("/dev/", "/etc/", "/proc/", "/var/spool/cron")
FREE_DEVICES = frozenset(
    f"/dev/{n}" for n in ("null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr")
)
_HOOKS = later(r"(?:.*/)?\.git/(?:(?:worktrees|modules)/.+/)?(hooks|config)(?:$|/|[^/]*$)")

# Guarded names: a component of the path (a folder with all below it, or a file), why, and only for writes.
_GUARDED = {
    ".git": "the data of a repository",
    ".vscode": "editor settings can start programs",
    ".idea": "editor settings can start programs",
    ".husky": "the scripts of a hook folder run at commit",
    ".npmrc": "it can replace the shell and the registry of npm",
    ".yarnrc*": "it can replace the program that yarn is",
    ".mcp.json": "it names programs that assistants start",
    ".envrc": "it runs when a shell enters the folder",
    ".env*": "it holds settings and secrets of the program",
}


def spellings(access: ReadPath | WritePath) -> tuple[str, ...]:
    """The path as written and, where that differs, with links followed."""
    written, real = lexical(access.path, "/"), access.real
    return (written,) if real is None or real == written else (written, real)


def floor(access: ReadPath | WritePath, paths: Sequence[str], place: Place) -> str | None:
    """Why this access, of which `paths` are the spellings, always asks, or None. For a pattern: whether it may name such a
    place."""
    writes = type(access) is WritePath
    if type(access) is ReadPath:
        if access.listing:
            return None
    elif access.removes and (why := _removal(access, paths, place)):
        return why
    if access.glob:
        return _may_name(paths[0], place, writes)
    for path in paths:
        folded = path.lower()
        if folded.startswith(_SYSTEM):
            if path in FREE_DEVICES or path.startswith("/dev/fd/"):
                continue
            if why := _device(path) or _in_system(folded, writes):
                return why
        if writes and (why := _written(folded, place)):
            return why
        if _may_be_named(folded) and (why := _in_home(_from_home(folded, place) or "", writes)):
            return why
    return None


def _may_name(pattern: str, place: Place, writes: bool) -> str | None:
    """Why a shell pattern asks. `**` at its end is a folder with all below it: what is read or written there is not named."""
    shell = _components(pattern.lower())  # as plain paths are: where case is folded, every spelling is the name
    if shell[-2:] == ["**", "*"] or (shell[-1:] == ["**"] and shell[-2:-1] and not shell[-2].endswith("*")):
        return None
    if shell[-1:] == ["**"]:  # a name that begins so, or anything below it
        shell.pop()
    if _in_some_home(shell, place, writes) or (writes and any(meet(each, shell) for each in _elsewhere(place))):
        return "the pattern may name a file that is always asked about"
    return None


def _in_some_home(shell: Sequence[str], place: Place, writes: bool) -> bool:
    """Whether a shell pattern may name what is named in a home folder. It is held against the homes first: most patterns
    lead past them, or to a folder of them that holds nothing named."""
    for home in _homes(place):
        same = agree(home, shell)
        if same == len(home):
            inner = shell[same:]
            if not inner or (inner[0] not in _FIRST and not WILD.search(inner[0])):
                continue
            found = any(meet(end, inner) for end in _ends(writes))
        else:  # no, or a `**` may lead through it
            found = 0 <= same < len(shell) and any(meet((*home, *end), shell) for end in _ends(writes))
        if found:
            return True
    return False


@lru_cache(maxsize=64)
def _homes(place: Place) -> Sequence[Sequence[str]]:
    """The folders, in segments, that may be somebody's home."""
    return (_components(place.home.lower()), ["root"], ["home", "*"], ["users", "*"], *_beside(place))


@cache
def _ends(writes: bool) -> Sequence[Sequence[str]]:
    """What a shell pattern must not name in a home folder, as patterns in segments."""
    names = (*_SECRETS, *_WRITES) if writes else tuple(_SECRETS)
    return [(*name.rstrip("/").split("/"), *(["**"] if name.endswith("/") else [])) for name in names]


@lru_cache(maxsize=64)
def _elsewhere(place: Place) -> Sequence[Sequence[str]]:
    """What a shell pattern that is written must not name elsewhere."""
    protected = [_components(path.lower()) for path in place.protected]
    own = [parts for path in protected for parts in (path, [*path, "**"])]
    return [*own, ("**", ".git", "hooks", "**"), ("**", ".git", "config*")]


def _beside(place: Place) -> Sequence[Sequence[str]]:
    """The folders beside the home folder, unless the workspace is one of them."""
    above = _components(place.home.lower())[:-1]
    return [[*above, "*"]] if above and all(_components(root.lower())[:-1] != above for root in place.roots) else []


def _from_home(folded: str, place: Place) -> str | None:
    """The path as seen from the home folder, of the user or of another, that it lies in."""
    home = place.home.lower().rstrip("/") + "/"
    if folded.startswith(home):
        return folded[len(home) :]
    above = [f"/{'/'.join(parts[:-1])}/" for parts in _beside(place)]
    for homes in ("/home/", "/users/", *above):
        if folded.startswith(homes):
            return folded[len(homes) :].partition("/")[2]
    return folded.removeprefix("/root/") if folded.startswith("/root/") else None


def _may_be_named(folded: str) -> bool:
    """False when the path holds nothing that a name in a home folder begins with."""
    return "/." in folded or "/_netrc" in folded or "/library/" in folded


def _components(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def guarded(access: WritePath, paths: Sequence[str], place: Place) -> Iterator[tuple[str, str]]:
    """The guarded names on the way of a write, (name as it is in the path, why), in any of its spellings."""
    for path in paths:
        if "/." not in path:
            continue  # all that is guarded begins with a dot
        for root in place.roots:
            if inside(path, root):
                path = path[len(root) :]
                break
        for part in path.split("/"):
            if part[:1] == ".":
                for name, why in _GUARDED.items():
                    if fnmatchcase(part.lower(), name) or (access.glob and meet((name,), (part.lower(),))):
                        yield part, why
                        break


def _device(path: str) -> str | None:
    if path.startswith("/dev/") and not path.startswith("/dev/shm/"):
        return "a raw device"
    return None


def _written(folded: str, place: Place) -> str | None:
    if any(inside(folded, path.lower()) for path in place.protected):
        return "these are hitl's own settings: they decide what is allowed"
    if "/.git/" in folded and _HOOKS.match(folded):
        return "git runs what stands there"
    return None


def _in_system(folded: str, writes: bool) -> str | None:
    for pattern, why in (_SYSTEM_SECRETS + _SYSTEM_WRITES) if writes else _SYSTEM_SECRETS:
        if pattern.fullmatch(folded):
            return why
    return None


def _in_home(folded: str, writes: bool) -> str | None:
    """`folded`: as seen from the home folder."""
    parts = folded.split("/")
    if parts[0] not in _FIRST or (parts[0] == ".ssh" and parts[-1].endswith(".pub") and not writes):
        return None
    for depth in range(1, min(len(parts), _DEEPEST) + 1):
        name = "/".join(parts[:depth])
        for known in (name + "/", name) if depth == len(parts) else (name + "/",):
            if why := _SECRETS.get(known) or (_WRITES.get(known) if writes else None):
                return why
    return None


def _removal(access: WritePath, paths: Sequence[str], place: Place) -> str | None:
    """Why the path is not removed unasked: what lies there, or below it, is kept."""
    for path in paths:
        parent, _, last = path.rpartition("/")
        if access.glob:
            if path != "/**" and last in ("*", "**", ".*"):
                return "everything in that folder would be gone"
            if path != "/**" and any(meet(kept, _components(path)) for kept in _kept(place)):
                return "the pattern may name a folder that is always asked about"
        elif parent == "" or any(inside(kept, path) for kept in (*place.roots, place.home)):
            return "that would remove a root, home or workspace folder"
        elif any(inside(kept, path) for kept in place.protected):
            return "hitl's own settings would be gone with it"
        elif last.lower() == ".git":
            return "the hooks and the configuration of the repository would be gone with it"
        elif parent.lower() in ("/home", "/users"):
            return "that would remove the home folder of another user"
        elif _may_be_named(path.lower() + "/") and (name := _held(f"{_from_home(path.lower(), place)}/")):
            return f"`~/{name}` would be gone with it"
    return None


@lru_cache(maxsize=200)
def _held(folder: str) -> str | None:
    """What is named in a folder of the home folder."""
    return next((name for name in (*_SECRETS, *_WRITES) if name.startswith(folder) and name != folder), None)


@lru_cache(maxsize=64)
def _kept(place: Place) -> Sequence[Sequence[str]]:
    """The folders, in segments, whose removal takes with it what is kept."""
    whole = [_components(path) for path in (*place.roots, place.home, *place.protected)]
    named = [[*_components(place.home), *name.rstrip("/").split("/")] for name in (*_SECRETS, *_WRITES)]
    return [("**", ".git"), *{tuple(path[:n]) for path in (*whole, *named) for n in range(1, len(path) + 1)}]
