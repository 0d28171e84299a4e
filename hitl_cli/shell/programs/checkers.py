"""Formatters, linters and type checkers of Python.

A formatter is made to write its operands. Configuration and plugins can name code.
Sources: ruff, black, isort, mypy, flake8, pylint and pyright documentation.
"""

from __future__ import annotations

from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_CODE = "loads code from elsewhere"
_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"


def _formats(reading: Reading) -> None:
    """A formatter rewrites its operands unless it only checks."""
    changes = not reading.keeps_to("--check", "--diff", "-c", "--check-only")
    for word in reading.operands:
        reading.reads.append(word)
        if changes and word not in (".", "-"):
            reading.write(word)


def _ruff_check(reading: Reading) -> None:
    for word in reading.operands:
        reading.reads.append(word)
        if reading.has("--fix") and word != ".":
            reading.write(word)


PROGRAMS: dict[str, Row] = {
    "ruff": Row(
        "ruff documentation",
        f"--config = {_CONFIG}\n--cache-dir = make",
        subs={
            "check": Row(
                "ruff documentation",
                """
                -o --output-file = write
                --fix
                --select --ignore --extend-select --extend-ignore --exclude --output-format --target-version =
                --per-file-ignores =
                --line-length --extension --stdin-filename --color --fixable --unfixable --extend-exclude =
                --add-noqa ? writes comments into the files
                """,
                then=_ruff_check,
            ),
            "format": Row(
                "ruff documentation",
                "--check\n--diff\n--exclude --target-version --line-length --extension --stdin-filename --range =",
                then=_formats,
            ),
        },
        shared=True,
        abbreviates=False,
    ),
    "black": Row(
        "black documentation",
        """
        --config = read
        --check
        --diff
        --code -l --line-length -t --target-version --include --exclude --extend-exclude --force-exclude -W --workers =
        --stdin-filename --required-version --enable-unstable-feature --line-ranges =
        """,
        then=_formats,
    ),
    "isort": Row(
        "isort documentation",
        f"""
        --sp --settings-path --settings-file --settings = {_CONFIG}
        --sort-order --formatter = {_CODE}
        -c --check-only --check
        --diff
        --profile -l --line-length --skip -s --skip-glob --src -p --project =
        """,
        then=_formats,
    ),
    **rows("autopep8, pyupgrade, docformatter", "autopep8 pyupgrade docformatter yapf", "--style =", then=_formats),
    "mypy": Row(
        "mypy documentation",
        f"""
        --config-file = {_CONFIG}
        --python-executable = {_RUNS}
        --custom-typeshed-dir --custom-typing-module = {_CODE}
        --install-types installs packages
        --junit-xml --any-exprs-report --cobertura-xml-report --html-report --linecount-report --txt-report = write
        --linecoverage-report --lineprecision-report --xml-report --xslt-html-report --xslt-txt-report = write
        --cache-dir = make
        -p --package -m --module -c --command --exclude --python-version --platform --follow-imports --always-true =
        --always-false --enable-error-code --disable-error-code --num-workers =
        """,
        at_files=True,
        operands="read",
    ),
    **rows(
        "flake8, pylint documentation",
        "flake8 pylint",
        f"""
        --config --append-config --rcfile = {_CONFIG}
        --load-plugins --init-hook --enable-extensions --bug-report = {_CODE}
        --output-file --output --tee = write
        --generate-rcfile --generate-toml-config
        -j --jobs --select --ignore --exclude --max-line-length --format -d --disable -e --enable -f --output-format =
        """,
        operands="read",
    ),
    **rows(
        "pyright, pyre documentation",
        "pyright basedpyright",
        f"""
        --pythonpath --venvpath -v --typeshedpath -t = {_RUNS}
        -p --project = read
        --pythonversion --pythonplatform --level --threads =
        """,
        abbreviates=False,
        operands="read",
    ),
}
