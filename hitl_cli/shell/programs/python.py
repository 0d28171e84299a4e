"""Python, its packagers and test runners.

The interpreter and the runners run code by design. Acts are the options that take code, plugins or configuration from
somewhere else than the project, and reports written to a named file.
Sources: python(1), pytest reference, pip, uv and Poetry manuals, coverage documentation.
"""

from __future__ import annotations

from hitl_cli.access import Unknown
from hitl_cli.shell.programs.families import row_of
from hitl_cli.shell.programs.launchers import shell
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.sorting import delegate
from hitl_cli.shell.programs.table import Row, rows

_CODE = "loads code from elsewhere"
_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"


def _module(reading: Reading) -> None:
    """`python -m tool …` is the tool: its own options count."""
    for at, name in reading.values("-m"):
        if isinstance(name, str):
            glued = str(reading.words[at]).endswith(f"m{name}")
            delegate(reading, row_of(name.removesuffix(".__main__")), at if glued else at + 1)
            return
    if not reading.has("-c"):
        script(reading)


def script(reading: Reading) -> None:
    """The script an interpreter runs is read; outside the workspace that is the interpreter's own business."""
    for word in reading.operands[:1]:
        if isinstance(word, str) and reading.within(word):
            reading.reads.append(word)
    named_behind(reading)


def named_behind(reading: Reading) -> None:
    """`x.py a --from=b`: what the words behind a script would be as names."""
    words = [word.rpartition("=")[2] for word in reading.operands[1:] if isinstance(word, str)]
    reading.lists += [word for word in words if word and word[0] != "-"]


def _pytest(reading: Reading) -> None:
    """Operands are files, folders and test ids (`file.py::test`); tests outside the workspace are code from elsewhere."""
    for at, value in reading.values("-p"):
        if not (isinstance(value, str) and value.startswith("no:")):
            reading.act(at, _CODE)
    for at, value in reading.values("--cov-report"):
        if isinstance(value, Unknown) or ":" in value:
            reading.act(at, "writes a file")
            reading.write(value.partition(":")[2] if isinstance(value, str) else value, at)
    for word in reading.operands:
        reading.reads.append(word.partition("::")[0] if isinstance(word, str) else word)


def _installs(reading: Reading) -> None:
    """Requirements by path are packages whose build runs."""
    for word in [*reading.operands, *(value for _, value in reading.values("-e"))]:
        if not isinstance(word, str) or word.startswith(("/", "~", "../", "./")):
            reading.reads.append(word)
        elif "://" in word:
            reading.urls.append(word[word.rfind(" ") + 1 :])


def run_inner(reading: Reading) -> None:
    """`uv run tool …`: the options of the tool count."""
    if reading.operands:
        at, name = reading.places[0], reading.operands[0]
        if isinstance(name, str):
            delegate(reading, row_of(name.rpartition("/")[2]), at)


def installs_hooks(reading: Reading) -> None:
    """What installs hooks of git, unless it is told to run one."""
    if reading.operands[:1] != ["run"]:
        reading.write(".git/hooks")


_PIP = """
    --python = runs another program
    -i --index-url = takes packages from another place
    --extra-index-url = takes packages from another place
    -f --find-links = takes packages from another place
    --trusted-host = trusts a host
    --log --cache-dir = write
    --cert --client-cert = read
    --proxy --retries --timeout --exists-action --format --path --keyring-provider --use-feature --use-deprecated =
"""
_INSTALL = (
    _PIP
    + """
    --config-settings --global-option --build-option -C = passes options to the build
    -t --target = make
    --prefix --root --src --report -d --dest -w --wheel-dir = make
    -r --requirement = read
    -c --constraint = read
    -e --editable =
    --platform --python-version --implementation --abi --progress-bar --only-binary --no-binary --upgrade-strategy =
    --group --root-user-action =
"""
)
_PIP_SUBS = {
    **rows("pip documentation", "install download wheel", _INSTALL, then=_installs),
    **rows(
        "pip documentation",
        "list show freeze check search index cache uninstall hash inspect debug help",
        _PIP + "-r --requirement = read",
    ),
    "config": Row("pip documentation", "--editor = runs an editor", act="changes configuration"),
    "tree": Row("uv reference", _PIP),
    **rows("uv reference", "sync compile", _INSTALL + "-o --output-file = make", operands="read"),
}
_PYTEST = f"""
    -c --config-file = {_CONFIG}
    --rootdir = {_CONFIG}
    --confcutdir = {_CONFIG}
    -o --override-ini = {_CONFIG}
    --pyargs {_CODE}
    --tx --px --pdbcls = {_CODE}
    --import-mode =
    -p =
    --basetemp = removes and fills a folder
    --junitxml --junit-xml = write
    --resultlog --log-file --html --json-report-file --report-log --md = write
    --debug ? writes a file
    --cov-config = {_CONFIG}
    --cov-report =
    --cov ?
    --pastebin = sends the results to a server
    -k -m -n --maxfail --tb --durations --durations-min --ignore --ignore-glob --deselect -W --pythonwarnings =
    --log-level --log-cli-level --log-format --log-date-format --color --code-highlight --capture -r --verbosity =
    --timeout --dist --maxprocesses --reruns --randomly-seed --count --junit-prefix --show-capture --last-failed-no-failures =
    -x --exitfirst -q -v -s -l -h
"""
_UV = f"""
    --directory = folder
    --project = folder
    --config-file = {_CONFIG}
    --index-url --default-index --index -i --extra-index-url -f --find-links = takes packages from another place
    --env-file = {_CONFIG}
    --cache-dir = make
    --python -p --with --with-editable --with-requirements --group --extra --color --allow-insecure-host =
    --package --exclude-newer --resolution --prerelease --no-group --only-group -P --upgrade-package --from =
"""


def _json_tool(reading: Reading) -> None:
    """python -m json.tool [INPUT [OUTPUT]]."""
    for number, (at, word) in enumerate(reading.placed()):
        if number:
            reading.write(word, at)
        elif word != "-":
            reading.reads.append(word)


def _unpacks(reading: Reading) -> None:
    if reading.has("-e"):
        reading.brings(reading.operands[0] if reading.operands else "")


PROGRAMS: dict[str, Row] = {
    "json.tool": Row("Python library reference", "--indent =", wary=True, then=_json_tool),
    "venv": Row("Python library reference", "--prompt =", operands="make"),
    **rows(
        "Python library reference",
        "zipfile tarfile",
        "-l -t --list --test = read\n-c --create -e --extract = make",
        operands="make",
        then=_unpacks,
    ),
    **rows(
        "python(1)",
        "python python3 python2 pypy pypy3",
        """
        -c =
        -m =
        -W -X -Q --check-hash-based-pycs =
        -i -E -I -s -S -u -B -v -q -O -x -V --version
        """,
        stops=1,
        abbreviates=False,
        then=_module,
    ),
    **rows("pytest reference", "pytest py.test", _PYTEST, wary=True, at_files=True, then=_pytest),
    **rows("pip documentation", "pip pip3", _PIP, subs=_PIP_SUBS, shared=True, abbreviates=True),
    "uv": Row(
        "uv reference",
        _UV,
        subs={
            "run": Row(
                "uv reference",
                _UV + "-m --module = \n-s --script =\n-w = ",
                stops=1,
                act=_RUNS,
                then=run_inner,
                abbreviates=False,
            ),
            "pip": Row("uv reference", _PIP, subs=_PIP_SUBS, shared=True),
            "tool": Row(
                "uv reference",
                subs={
                    "run": Row("uv reference", _UV, stops=1, act=_RUNS, then=run_inner),
                    **rows("uv reference", "install list upgrade uninstall dir update-shell", _UV),
                },
            ),
            "export": Row("uv reference", _UV + "-o --output-file = make"),
            **rows("uv reference", "venv init", _UV + "--prompt --name --description =", operands="make"),
            "build": Row("uv reference", _UV + "-o --out-dir = make", operands="read"),
            **rows("uv reference", "sync lock add remove tree python cache self version publish format help", _UV),
        },
        abbreviates=False,
    ),
    "uvx": Row("uv reference", _UV, stops=1, abbreviates=False, then=run_inner),
    "pipx": Row("pipx documentation", subs={"run": Row("pipx", "--spec =", stops=1, act=_RUNS, then=run_inner)}),
    **rows(
        "Poetry, PDM, Hatch, Pipenv manuals",
        "poetry pdm hatch pipenv rye",
        "-C --directory -P --project -p = folder",
        subs={
            **rows("Poetry manual", "run exec", stops=1, act=_RUNS, then=run_inner),
            "shell": Row("Poetry manual, Pipenv manual", then=shell),
            "config": Row("Poetry manual", act="changes configuration"),
            "new": Row("Poetry manual", "--name --readme --python --description =", operands="make"),
            "self": Row("Poetry manual", act="changes the program itself"),
        },
        abbreviates=False,
    ),
    **rows(
        "tox, nox",
        "tox nox",
        f"-c --conf -f --noxfile = {_CONFIG}\n-e --env -s -k -p --posargs =",
        subs=rows("tox", "exec e", act=_RUNS),
        shared=True,
    ),
    "coverage": Row(
        "coverage documentation",
        f"--rcfile = {_CONFIG}",
        subs={
            "run": Row(
                "coverage documentation",
                "-m =\n--data-file = make\n--source --omit --include =",
                stops=1,
                then=_module,
            ),
            "html": Row("coverage documentation", "-d --directory = make"),
            **rows("coverage documentation", "xml json lcov", "-o = make"),
        },
        shared=True,
    ),
    **rows(
        "Jupyter, IPython documentation",
        "ipython jupyter",
        f"--config --profile-dir --ipython-dir = {_CONFIG}\n--ext = {_CODE}",
        stops=1,
    ),
    "pre-commit": Row(
        "pre-commit documentation",
        f"-c --config = {_CONFIG}",
        shared=True,
        subs={
            **rows("pre-commit documentation", "install init-templatedir", act="installs a hook", then=installs_hooks),
            **rows("pre-commit documentation", "run", "--hook-stage --files =\n--all-files"),
        },
    ),
    "django-admin": Row("django-admin", f"--settings --pythonpath = {_CODE}"),
}
