"""The package managers of Node: npm, pnpm and Yarn.

They run the project's scripts by design; acts are options that bring code, configuration or packages from elsewhere, move
to another package, or run a program. Sources: the documentation of each; `lib/utils/cmd-list.js` of npm for its commands.
"""

from __future__ import annotations

from hitl_cli.access import Place, Word
from hitl_cli.regex import later
from hitl_cli.shell.programs.python import run_inner
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows, word_set

_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"
_SETS = "changes configuration, which can name programs"


def _config(reading: Reading) -> None:
    """npm config get|list shows; set, delete, edit change."""
    if reading.operands and reading.operands[0] not in ("get", "list", "ls", "keys"):
        reading.act(reading.places[0], _SETS)


def packages(reading: Reading) -> None:
    """A package by path is code from there."""
    for word in reading.operands:
        if not isinstance(word, str) or word.startswith(("/", "~", "../", "file:")):
            reading.reads.append(word.removeprefix("file:") if isinstance(word, str) else word)
        elif "://" in word:
            reading.urls.append(word.rpartition("@git")[2] if "@git" in word else word)


_NPM = f"""
    --script-shell --shell --editor --viewer = {_RUNS}
    --prefix -C = folder
    --userconfig --globalconfig --node-options --git --init-module --onload-script = {_CONFIG}
    --registry = takes packages from another place
    --cache --logs-dir --pack-destination = write
    -w --workspace --tag --access --otp --loglevel --omit --include --location --depth --fund --audit-level --before =
    --install-strategy --https-proxy --proxy --maxsockets --scope --user-agent --noproxy --message -m =
    --save
"""
_NPM_SUBS = {
    "exec": Row(
        "npm documentation", f"-c --call = {_RUNS}\n-p --package =", stops=1, act=_RUNS, dashes=False, then=run_inner
    ),
    "config": Row("npm documentation", wary=True, dashes=False, then=_config),
    **rows("npm documentation", "set", act=_SETS, dashes=False),
    **rows("npm documentation", "explore edit", act="starts a shell or an editor", dashes=False),
    **rows("npm documentation", "install ci update uninstall link dedupe", dashes=False, then=packages),
    **rows("npm documentation", "docs home bugs repo", act="opens a browser", dashes=False),
    **rows("npm documentation", "login adduser logout token", act="handles stored passwords", dashes=False),
}
_COMMANDS = word_set(
    """access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag docs
    doctor edit exec explain explore find-dupes fund get help help-search init install install-ci-test install-scripts
    install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild repo
    restart root run sbom search set shrinkwrap star stars start stop team test token trust undeprecate uninstall
    unpublish unstar update version view whoami hook bin birthday"""
)
_ALIASES = {
    alias: name
    for name, aliases in {
        "install": "add i in ins inst insta instal isnt isnta isntal isntall",
        "ci": "clean-install ic install-clean isntall-clean",
        "uninstall": "unlink remove rm r un",
        "update": "u up upgrade udpate",
        "run": "run-script rum urn",
        "exec": "x",
        "config": "c",
        "test": "t tst",
        "link": "ln",
        "ls": "list",
        "ll": "la",
        "rebuild": "rb",
        "init": "create innit",
        "install-test": "it",
        "install-ci-test": "cit clean-install-test sit",
        "view": "info show v",
        "search": "find s se",
        "docs": "home",
        "bugs": "issues",
        "owner": "author",
        "dedupe": "ddp",
        "adduser": "add-user",
        "explain": "why",
        "version": "verison",
        "dist-tag": "dist-tags",
        "help": "hlep",
        "org": "ogr",
    }.items()
    for alias in aliases.split()
}
_NPM_SUBS |= rows("npm documentation", " ".join(sorted(_COMMANDS - _NPM_SUBS.keys())), dashes=False)


def _whole(word: Word) -> Word:
    """A command of npm by its own name: it may be cut as long as no other begins so."""
    if not isinstance(word, str) or word in _COMMANDS:
        return word
    fits = [name for name in (*_COMMANDS, *_ALIASES) if name.startswith(word)]
    return _ALIASES.get(word) or (_ALIASES.get(fits[0], fits[0]) if len(fits) == 1 else word)


def _peel_npm(words: tuple[Word, ...], place: Place, cwd: str | None) -> tuple[tuple[Word, ...], str | None]:
    """`npm -d i x` is `npm -d install x`."""
    words = _two_dashes(words)
    known, at = PROGRAMS["npm"].compile().known, 1
    while at < len(words) and isinstance(word := words[at], str) and word[:1] == "-":
        at += 2 if word in known and known[word].takes == "=" else 1
    if at < len(words) and (whole := _whole(words[at])) != "ls":  # which rules call list
        words = (*words[:at], whole, *words[at + 1 :])
    return _peel(words, place, cwd)


def _two_dashes(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A long name may have one dash, or three, for two (nopt)."""
    end = words.index("--") if "--" in words else len(words)
    return (*[_LONG.sub(r"--\1", w) if isinstance(w, str) and w[:1] == "-" else w for w in words[:end]], *words[end:])


# In front of the command: options that choose packages of the workspace, or how much is said.
_CHOOSES = word_set("--filter -F --workspace")
_LONG = later(r"\A-(?:--+)?([a-z][a-z-]{2,}(?:=[\s\S]*)?)\Z")
_SAYS = word_set("-r --recursive -s --silent --workspace-root --workspaces --stream")


def _peel(words: tuple[Word, ...], place: Place, cwd: str | None) -> tuple[tuple[Word, ...], str | None]:
    """`pnpm --filter web build` is `pnpm build`: which packages of the workspace it is about makes no difference."""
    words = _two_dashes(words)
    at = 1
    while at + 1 < len(words):
        word, following = words[at], words[at + 1]
        if word in _SAYS or (isinstance(word, str) and word.startswith(("--filter=", "--workspace="))):
            at += 1
        elif word in _CHOOSES and (isinstance(following, str) or following.single):
            at += 2
        else:
            break
    return (words if at == 1 else (words[0], *words[at:])), None


_PNPM = f"""
    -C --dir --prefix = folder
    --config.script-shell --script-shell --shell ? {_RUNS}
    --registry = takes packages from another place
    --store-dir --virtual-store-dir --modules-dir = make
    --filter -F --filter-prod --reporter --loglevel --workspace-concurrency --depth --resume-from =
"""
_YARN = f"""
    --cwd = folder
    --use-yarnrc --global-folder --script-shell = {_CONFIG}
    --registry = takes packages from another place
    --cache-folder --modules-folder = make
    --mutex --network-timeout --network-concurrency --otp --preferred-cache-folder =
"""
PROGRAMS: dict[str, Row] = {
    "npm": Row(
        "npm documentation",
        _NPM,
        subs={**_NPM_SUBS, "list": _NPM_SUBS["ls"]},
        other=Row("npm documentation", act="is no whole name of a command of npm"),
        shared=True,
        dashes=False,
        peel=_peel_npm,
    ),
    "npx": Row(
        "npm documentation",
        _NPM + f"-c --call = {_RUNS}\n-p --package =",
        stops=1,
        abbreviates=False,
        dashes=False,
        then=run_inner,
    ),
    "pnpm": Row(
        "pnpm documentation",
        _PNPM,
        subs={
            **rows("pnpm documentation", "exec dlx", stops=1, act=_RUNS, dashes=False, then=run_inner),
            "config": Row("pnpm documentation", wary=True, dashes=False, then=_config),
            **rows("pnpm documentation", "install i add update remove link", dashes=False, then=packages),
        },
        shared=True,
        abbreviates=False,
        dashes=False,
        peel=_peel,
    ),
    "yarn": Row(
        "Yarn documentation",
        _YARN,
        subs={
            **rows("Yarn documentation", "exec dlx", stops=1, act=_RUNS, dashes=False, then=run_inner),
            "config": Row("Yarn documentation", wary=True, dashes=False, then=_config),
            **rows("Yarn documentation", "install add up upgrade remove link", dashes=False, then=packages),
        },
        shared=True,
        abbreviates=False,
        dashes=False,
    ),
}
