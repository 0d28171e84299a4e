"""Node and its kin, and the tools people run with them.

Runners run the project's scripts and configuration by design. Acts are options that bring code, configuration or
packages from elsewhere, move to another package, or run a program. Sources: node(1), the documentation of each.
"""

from __future__ import annotations

from hitl_cli.shell.programs.packages import packages
from hitl_cli.shell.programs.python import installs_hooks, run_inner
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_CODE = "loads code from elsewhere"
_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"


def _fixes(reading: Reading) -> None:
    """A linter or formatter rewrites its operands when told to."""
    changes = reading.has("--fix", "--write", "-w", "--apply", "--fix-type")
    for word in reading.operands:
        reading.reads.append(word)
        if changes and word != ".":
            reading.write(word)


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
            **rows("Bun documentation", "install add update remove link", dashes=False, then=packages),
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
