"""Node, its package managers, and the tools people run with them.

Runners run the project's scripts and configuration by design. Acts are options that bring code, configuration or
packages from elsewhere, move to another package, or run a program. Sources: node(1), the documentation of each.
"""

from __future__ import annotations

from hitl_cli.access import Place, Word
from hitl_cli.regex import later
from hitl_cli.shell.programs.python import installs_hooks, run_inner
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows, word_set

_CODE = "loads code from elsewhere"
_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"
_SETS = "changes configuration, which can name programs"


def _config(reading: Reading) -> None:
    """npm config get|list shows; set, delete, edit change."""
    if reading.operands and reading.operands[0] not in ("get", "list", "ls", "keys"):
        reading.act(reading.places[0], _SETS)


def _packages(reading: Reading) -> None:
    """A package by path is code from there."""
    for word in reading.operands:
        if not isinstance(word, str) or word.startswith(("/", "~", "../", "file:")):
            reading.reads.append(word.removeprefix("file:") if isinstance(word, str) else word)


def _fixes(reading: Reading) -> None:
    """A linter or formatter rewrites its operands when told to."""
    changes = reading.has("--fix", "--write", "-w", "--apply", "--fix-type")
    for word in reading.operands:
        reading.reads.append(word)
        if changes and word != ".":
            reading.write(word)


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
    **rows("npm documentation", "install i add ci update up uninstall rm link dedupe", dashes=False, then=_packages),
    **rows("npm documentation", "docs home bugs repo", act="opens a browser", dashes=False),
    **rows("npm documentation", "login adduser logout token", act="handles stored passwords", dashes=False),
}
_NPM_SUBS["x"] = _NPM_SUBS["exec"]

# In front of the command: options that choose packages of the workspace, or how much is said.
_CHOOSES = word_set("--filter -F --workspace")
_LONG = later(r"\A-(?:--+)?([a-z][a-z-]{2,}(?:=[\s\S]*)?)\Z")
_SAYS = word_set("-r --recursive -s --silent --workspace-root --workspaces --stream")


def _peel(words: tuple[Word, ...], place: Place, cwd: str | None) -> tuple[tuple[Word, ...], str | None]:
    """`pnpm --filter web build` is `pnpm build`: which packages of the workspace it is about makes no difference. A long
    name may have one dash, or three, for two (nopt)."""
    end = words.index("--") if "--" in words else len(words)
    words = (*[_LONG.sub(r"--\1", word) if isinstance(word, str) else word for word in words[:end]], *words[end:])
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
_NODE = f"""
    -r --require --import --loader --experimental-loader = {_CODE}
    --env-file --env-file-if-exists --experimental-config-file --openssl-config --icu-data-dir = {_CONFIG}
    --snapshot-blob --experimental-sea-config --build-snapshot-config = {_CODE}
    --inspect --inspect-brk --inspect-wait ? opens a port for a debugger
    -e --eval -p --print -C --conditions --input-type --max-old-space-size --stack-trace-limit --title --run =
    --test-name-pattern --test-concurrency --test-timeout --watch-path --disable-warning --unhandled-rejections =
    --test-reporter = module
    --test-reporter-destination --report-dir --report-filename --cpu-prof-dir --heap-prof-dir --diagnostic-dir = write
    --trace-event-file-pattern --redirect-warnings = write
    -c --check -i --interactive -v --version
"""
_TESTS = f"""
    -c --config = {_CONFIG}
    -r --root --rootDir --dir = folder
    --setupFiles --setupFilesAfterEnv --globalSetup --globalTeardown --transform --resolver --runner = {_CODE}
    --testEnvironment --env --environment --testRunner --preset --snapshotResolver --filter --haste = module
    --reporter --reporters = module
    --outputFile --output-file = write
    --coverageDirectory --cacheDirectory --coverage.reportsDirectory = make
    -t --testNamePattern --testPathPattern -w --maxWorkers --testTimeout --shard --project --projects --maxConcurrency =
    --coverageReporters --changedSince --selectProjects --bail --retry --pool --mode =
"""

PROGRAMS: dict[str, Row] = {
    "node": Row("node(1)", _NODE, stops=1, abbreviates=False, dashes=False),
    **rows(
        "tsx, ts-node documentation",
        "tsx ts-node",
        _NODE + "-P --project --tsconfig = read\n",
        stops=1,
        abbreviates=False,
        dashes=False,
    ),
    "npm": Row("npm documentation", _NPM, subs=_NPM_SUBS, shared=True, dashes=False, peel=_peel),
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
            **rows("pnpm documentation", "install i add update remove link", dashes=False, then=_packages),
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
            **rows("Yarn documentation", "install add up upgrade remove link", dashes=False, then=_packages),
        },
        shared=True,
        abbreviates=False,
        dashes=False,
    ),
    "bun": Row(
        "Bun documentation",
        f"""
        --cwd = folder
        -r --preload --require --import = {_CODE}
        -c --config ? {_CONFIG}
        --env-file = {_CONFIG}
        --shell = {_RUNS}
        --registry = takes packages from another place
        --outfile --outdir = make
        --inspect --inspect-brk --inspect-wait ? opens a port for a debugger
        -e --eval -p --print --filter -t --test-name-pattern --timeout --target --format --define -d --external =
        --coverage-dir --rerun-each --bail --conditions --loader -l --tsconfig-override --jobs --backend =
        """,
        subs={
            "x": Row("Bun documentation", stops=1, act=_RUNS, dashes=False, then=run_inner),
            **rows("Bun documentation", "install add update remove link", dashes=False, then=_packages),
        },
        shared=True,
        abbreviates=False,
        dashes=False,
    ),
    "bunx": Row("Bun documentation", "-p --package =", stops=1, abbreviates=False, dashes=False, then=run_inner),
    "deno": Row(
        "Deno documentation",
        f"""
        -c --config = {_CONFIG}
        --import-map --preload --require = {_CODE}
        --env-file ? {_CONFIG}
        --inspect --inspect-brk --inspect-wait ? opens a port for a debugger
        -o --output --junit-path = make
        --cert --lock = read
        """,
        shared=True,
        subs=rows(
            "Deno documentation",
            "run test lint fmt check task compile info doc cache install eval repl bench",
            dashes=False,
        ),
        abbreviates=False,
        dashes=False,
    ),
    **rows(
        "TypeScript documentation",
        "tsc tsgo vue-tsc",
        """
        --outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile = make
        -p --project = read
        --rootDir --baseUrl --target -t --module -m --lib --jsx --moduleResolution --types --typeRoots =
        """,
        abbreviates=False,
        dashes=False,
        operands="read",
    ),
    "eslint": Row(
        "ESLint documentation",
        f"""
        --plugin --parser --resolve-plugins-relative-to --rulesdir = {_CODE}
        -c --config = {_CONFIG}
        --init {_RUNS}
        -f --format = module
        -o --output-file = write
        --fix --fix-dry-run
        --cache-location --cache-file --suppressions-location = make
        --ignore-path = read
        --rule --env --ext --global --parser-options --ignore-pattern --max-warnings --cache-strategy --fix-type =
        --stdin-filename --report-unused-disable-directives-severity --flag --concurrency =
        """,
        abbreviates=False,
        dashes=False,
        then=_fixes,
    ),
    "prettier": Row(
        "Prettier documentation",
        f"""
        --plugin --plugin-search-dir = {_CODE}
        --config = {_CONFIG}
        -w --write -c --check -l --list-different
        --cache-location = make
        --ignore-path = read
        --parser = module
        --print-width --tab-width --trailing-comma --stdin-filepath --config-precedence --log-level --end-of-line =
        --prose-wrap --arrow-parens --quote-props --html-whitespace-sensitivity --object-wrap --cache-strategy =
        """,
        abbreviates=False,
        dashes=False,
        then=_fixes,
    ),
    **rows("Jest, Vitest documentation", "jest vitest", _TESTS, abbreviates=False, dashes=False, operands="list"),
    **rows(
        "Mocha, AVA, Playwright, Cypress documentation",
        "mocha ava playwright cypress c8 nyc karma",
        f"""
        -r --require --import --loader --file --ui -u = {_CODE}
        -c --config --package --node-arguments -C = {_CONFIG}
        -R --reporter = module
        -o --output --output-dir -O --reporter-options = write
        -g --grep -f --fgrep -t --timeout -j --jobs --workers --project --spec --browser --shard --retries =
        """,
        abbreviates=False,
        dashes=False,
        operands="list",
    ),
    **rows(
        "Vite, webpack, Rollup, esbuild, Next, Turbo, Nx documentation",
        "vite webpack rollup esbuild tsup next nuxt turbo nx lerna parcel swc",
        f"""
        -c --config --config-file --configPlugin -p --plugin --require = {_CONFIG}
        --cwd --root = folder
        --outDir --outdir --outfile --output-path -o --dir -d --file = make
        --mode -m --filter --target --port --host --base --log-level --logLevel -l --scope --concurrency =
        """,
        subs={"exec": Row("Lerna, Nx documentation", act=_RUNS, abbreviates=False)},
        shared=True,
        abbreviates=False,
        dashes=False,
    ),
    **rows("Husky, Lefthook manuals", "husky lefthook", operands="installs hooks", then=installs_hooks),
    **rows(
        "Biome, stylelint, oxlint documentation",
        "biome stylelint oxlint dprint",
        f"""
        --config-path --config --config-basedir --custom-syntax --custom-formatter = {_CONFIG}
        -o --output-file = write
        --max-diagnostics --formatter -f --reporter --diagnostic-level --stdin-file-path =
        """,
        abbreviates=False,
        dashes=False,
    ),
}
