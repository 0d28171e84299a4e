"""Where things lie: the program's own folders, the workspace of a start folder, and the packs that ship.

The environment is read here and in `config` only, and passed down. Nothing is created by looking: `private` makes a
folder at the moment something is written into it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from hitl_cli.access import Place, inside, lexical
from hitl_cli.errors import UsageError
from hitl_cli.records import Struct

MANAGED = Path("/etc/hitl/policy.toml")
APP = "hitl"


class Paths(Struct, frozen=True):
    """`config` holds what people and the program write down as rules and settings, `state` everything else."""

    config: Path
    state: Path

    @property
    def user_config(self) -> Path:
        return self.config / "config.toml"

    @property
    def user_rules(self) -> Path:
        return self.config / "rules.toml"

    def project_rules(self, project: str) -> Path:
        """The rule file of one project folder; the name is for people, the digest of the whole path tells them apart."""
        import hashlib  # loads a library of ciphers, and many commands need no rules

        digest = hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return self.config / "projects" / f"{Path(project).name or 'root'}-{digest}.toml"

    @property
    def trust(self) -> Path:
        return self.state / "trust.toml"

    @property
    def store(self) -> Path:
        return self.state / "sessions.db"

    @property
    def history(self) -> Path:
        return self.state / "history"

    @property
    def outputs(self) -> Path:
        return self.state / "outputs"


def locate(environ: Mapping[str, str] | None = None) -> Paths:
    """The folders that `HITL_CONFIG_DIR` and `HITL_STATE_DIR` name, else the platform's own for a user.

    On Linux the XDG specification is followed here, as platformdirs does it (a test holds the two together): every
    command needs these folders, and loading platformdirs takes a tenth of the time of a short one.
    """
    environ = os.environ if environ is None else environ
    return Paths(_own("CONFIG", ".config", environ), _own("STATE", ".local/state", environ))


def _own(kind: str, usual: str, environ: Mapping[str, str]) -> Path:
    """The folder of one kind; `usual`: where XDG has it in the home folder when nothing is said."""
    if named := environ.get(f"HITL_{kind}_DIR"):
        return Path(lexical(os.path.abspath(named), "/"))
    if sys.platform != "linux":
        from platformdirs import PlatformDirs

        home(environ)  # refused here rather than followed there
        dirs = PlatformDirs(APP, appauthor=False)
        return Path(dirs.user_config_dir if kind == "CONFIG" else dirs.user_state_dir)
    base = environ.get(f"XDG_{kind}_HOME", "")
    if not os.path.isabs(base):  # by the specification a relative path does not count
        base = f"{home(environ)}/{usual}"
    return Path(lexical(base, "/")) / APP


def home(environ: Mapping[str, str] | None = None) -> str:
    """The user's home folder, normalised. UsageError where `HOME` is no absolute path: with each current folder `~`, the
    rules of the user and what the floor guards would be others."""
    environ = os.environ if environ is None else environ
    folder = environ.get("HOME", os.path.expanduser("~"))
    if not os.path.isabs(folder):
        raise UsageError(
            f"The home folder {folder!r} is no absolute path.\n  Set HOME to yours, such as HOME=/home/me."
        )
    return lexical(folder, "/")


def work_tree(folder: Path) -> Path:
    """The top of the git work tree that `folder` lies in, else `folder`; found by looking, git is not started."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return folder


def project_of(workspace: str) -> str:
    """The main repository of a work tree (its linked work trees share it), else the work tree itself."""
    link = Path(workspace, ".git")
    try:
        text = link.read_text(encoding="utf-8", errors="surrogateescape") if link.is_file() else ""
    except OSError:
        text = ""
    if not text.startswith("gitdir:"):
        return workspace
    git_dir = Path(workspace, text.removeprefix("gitdir:").strip())
    if git_dir.parent.name != "worktrees":
        return workspace
    return os.path.normpath(git_dir.parent.parent.parent)


def place_for(cwd: str | os.PathLike[str], add_dirs: Iterable[str], paths: Paths) -> Place:
    """The place of a session that starts in `cwd`; raises UsageError when a folder is missing."""
    here = Path(os.path.abspath(cwd))
    workspace = work_tree(here)
    extra = [Path(os.path.abspath(os.path.expanduser(d))) for d in add_dirs]
    for folder in (here, *extra):
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.\n  Name one that exists, or make it first.")
    return Place(
        cwd=str(here),
        roots=tuple(dict.fromkeys(str(f) for f in (workspace, *extra))),
        home=home(),
        protected=_own_files(paths, workspace),
        folds_case=_folds_case(workspace),
    )


def _own_files(paths: Paths, workspace: Path) -> tuple[str, ...]:
    """What holds the program's own rules, settings and sessions, under its name and, behind links, under its real one."""
    hitl = workspace / ".hitl"
    project = paths.project_rules(project_of(str(workspace)))
    files = (paths.user_config, paths.user_rules, project, paths.trust, paths.store, MANAGED, hitl / "config.toml")
    # Those of a run without HITL_CONFIG_DIR and HITL_STATE_DIR as well: it would heed what this one wrote there.
    usual = locate({name: value for name, value in os.environ.items() if not name.startswith("HITL_")})
    folders = (paths.config, paths.state, usual.config, usual.state, MANAGED.parent, hitl)
    kept = list(dict.fromkeys(map(str, folders)))
    for path in (*kept, str(project.parent), *map(str, filter(os.path.islink, files))):
        real = os.path.realpath(path)
        if not any(inside(real, folder) for folder in kept):
            kept.append(real)
    return tuple(kept)


def _folds_case(folder: Path) -> bool:
    """True when the file system of `folder` takes `A` and `a` for one name."""
    swapped = folder.with_name(folder.name.swapcase())
    try:
        return swapped.name != folder.name and os.path.samefile(swapped, folder)
    except OSError:
        return False


def packs() -> Path:
    """The folder of the rule packs: inside the package in a wheel, beside it in a checkout."""
    inside = Path(__file__).parent / "rules"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "rules"


def private(folder: Path) -> Path:
    """`folder`, made when it is not there yet, and each missing folder above it, for the user alone (0700)."""
    for missing in [f for f in (*reversed(folder.parents), folder) if not f.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    return folder


def git_files(folder: str, timeout: float = 1.0) -> list[str]:
    """Tracked and untracked, not ignored, files below `folder` as git lists them; [] where git cannot say in time."""
    import subprocess

    try:
        done = subprocess.run(
            [
                "git",
                "-c",
                "core.fsmonitor=false",
                "-C",
                folder,
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return sorted({name for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name})
