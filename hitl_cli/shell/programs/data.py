"""Programs that ask and transform data: jq, yq, and the command lines of databases."""

from __future__ import annotations

import re
from collections.abc import Callable

from hitl_cli.access import Unknown, Word
from hitl_cli.regex import later
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_INPUT = "takes commands, also such as start a shell, from its input"
_PSQL = later(
    r"\\|\bcopy\b|\blo_(?:import|export)\b|(?:^|;)\s*load\b|\bpg_(?:read|write|ls|file)_|\bdblink|\bextension\b",
    re.IGNORECASE,
)
_PSQL_LISTS = later(r"\s*\\(?:d[a-zA-Z]*|l|z|x|timing|conninfo)\+?(?:\s+[\w.*\"]+)?\s*")
_MYSQL = later(r"\\!|\bsystem\b|\boutfile\b|\bdumpfile\b|\bload_file\b|\binfile\b|\\|\bsource\b|\btee\b", re.IGNORECASE)
_SQLITE = later(
    r"^\s*\.|\n\s*\.|\bload_extension\b|\bwritefile\b|\breadfile\b|\battach\b|\bedit\s*\(|\bvacuum\b", re.IGNORECASE
)


def _jq(reading: Reading) -> None:
    """The first operand is the filter, unless it comes from a file; --args makes the rest plain values."""
    operands = reading.placed()
    stop = min(
        (given.at for given in reading.given if given.name in ("--args", "--jsonargs")), default=len(reading.words)
    )
    if not reading.has("-f"):
        for at, word in operands[:1]:
            if isinstance(word, str) and re.search(r"\b(?:import|include)\b", word):
                reading.act(at, "may load modules")
        operands = operands[1:]
    reading.reads.extend(word for at, word in operands if at < stop)


def _yq(reading: Reading) -> None:
    """mikefarah's yq; the first operand is the expression."""
    in_place = next((given.at for given in reading.given if given.name == "-i"), None)
    operands = reading.placed()
    if operands and operands[0][1] in ("eval", "e", "eval-all", "ea"):
        operands = operands[1:]
    for at, word in operands[:1]:
        if isinstance(word, str) and re.search(r"\bload|\bsystem\b|\benv|\bstrenv", word):
            reading.act(at, "reads files or the environment")
    for _, word in operands[1:] or operands:
        reading.reads.append(word)
        if in_place is not None:
            reading.write(word, in_place)


# Commands of the sqlite3 shell that only show; the others can read, write, load or run.
_SQLITE_SHOWS = later(
    r"\s*\.(?:tables|schema|fullschema|indexes|indices|headers?|mode|databases|dbinfo|show|width|nullvalue|separator|stats"
    r"|timer|changes|explain|eqp|help)\b[^|`\n;]*"
)


def _sql(pattern: re.Pattern[str]) -> Callable[[Reading], None]:
    """A `then` for a database client: statements are looked at; without any they come from the input."""

    def judge(reading: Reading) -> None:
        statements: list[tuple[int, Word]] = [*reading.values("-c", "-e", "-cmd"), *reading.placed()]
        for at, statement in statements:
            if isinstance(statement, Unknown):
                reading.act(at, "is a statement that is known only at run time")
            elif pattern.search(statement) and not (pattern is _PSQL and _PSQL_LISTS.fullmatch(statement)):
                reading.act(at, "can start a program or reach a file")
        if not reading.has("-c", "-e", "-l", "-f", "-V", "-?", "--version", "--help"):
            reading.opaque = _INPUT

    return judge


def _sqlite(reading: Reading) -> None:
    """sqlite3 [DATABASE [SQL…]]."""
    operands = reading.placed()
    for _, database in operands[:1]:
        reading.write(database)
    statements: list[tuple[int, Word]] = [*operands[1:], *reading.values("-cmd")]
    for at, statement in statements:
        if isinstance(statement, Unknown) or (
            _SQLITE.search(statement) and not all(_SQLITE_SHOWS.fullmatch(line) for line in statement.splitlines())
        ):
            reading.act(at, "can start a program or reach a file")
    if len(operands) < 2 and not reading.has("-version", "-help"):
        reading.opaque = _INPUT


def _miller(reading: Reading) -> None:
    """The verbs put and filter take a program that can start others and write files."""
    for at, word in reading.placed():
        if isinstance(word, str) and _MILLER.match(word):
            reading.act(at, "starts a command or writes a file by its program")


_MILLER = later(r"(?:split|tee)\Z|.*?(?:\b(?:system|exec)\s*\(|\b(?:tee|emit\w*|print\w*|dump)\b[^;]*[>|])", re.DOTALL)

PROGRAMS: dict[str, Row] = {
    **rows(
        "jq(1); jaq documentation",
        "jq gojq jaq",
        """
        -f --from-file = takes its program from a file
        --run-tests takes programs from a file
        -i --in-place rewrites its files
        -L --library-path = loads modules from a folder
        --arg --argjson ==
        --slurpfile --rawfile --argfile == read
        --indent =
        --args
        --jsonargs
        --stream-errors
        """,
        abbreviates=False,
        then=_jq,
    ),
    "yq": Row(
        "yq(1) of mikefarah, yq of kislyuk",
        """
        --from-file = takes its program from a file
        -i --inplace --in-place
        -s --split-exp = writes files
        --split-exp-file = writes files
        -I --indent -o --output-format -p --input-format --front-matter --xml-attribute-prefix =
        --arg --argjson ==
        -r -y -Y -M -C -P -N -e -j -n
        """,
        wary=True,
        abbreviates=False,
        then=_yq,
    ),
    **rows(
        "xmllint(1)", "xmllint", "-o --output = write\n--xpath --encode --schema --dtdvalid --path =", operands="read"
    ),
    "mlr": Row(
        "Miller manual",
        "-I writes over its files\n-n\n--from = read",
        stops=1,
        wary=True,
        abbreviates=False,
        then=_miller,
    ),
    **rows("csvkit, xsv manuals", "csvcut csvgrep csvlook csvstat xsv", ""),
    "psql": Row(
        "psql(1), GTFOBins psql",
        """
        -f --file = takes commands from a file
        -o --output = write
        -L --log-file = write
        -v --set --variable = sets a variable, which can hold a command
        -c --command =
        -d --dbname -h --host -p --port -U --username -F --field-separator -P --pset -R --record-separator =
        -T --table-attr =
        -l --list
        -V --version
        -? --help
        """,
        wary=True,
        then=_sql(_PSQL),
    ),
    **rows(
        "mysql(1), GTFOBins mysql",
        "mysql mariadb",
        """
        --pager ? runs another program
        --tee = write
        --plugin-dir --default-auth = loads a library
        --defaults-file --defaults-extra-file = loads configuration from a file
        --init-command =
        -e --execute =
        -D --database -h --host -P --port -u --user -S --socket --prompt --delimiter =
        -p ?
        -V --version
        -? --help
        """,
        wary=True,
        then=_sql(_MYSQL),
    ),
    **rows(
        "sqlite3(1), GTFOBins sqlite3",
        "sqlite3 sqlite duckdb",
        """
        -init = takes commands from a file
        -A -archive = unpacks an archive
        -cmd =
        -separator -newline -nullvalue -mmap -maxsize -vfs -lookaside -pagecache =
        -version
        -help
        """,
        single=True,
        abbreviates=False,
        wary=True,
        then=_sqlite,
    ),
    **rows(
        "redis-cli, mongosh, GTFOBins",
        "mongosh mongo",
        "--eval -f --file = runs code",
        operands="runs code or takes it from its input",
    ),
    "redis-cli": Row(
        "redis-cli(1)", "--eval = runs a script\n--rdb = write\n-h -p -a -n -u -r -i -x -s --user --pass ="
    ),
    "pg_dump": Row("pg_dump(1)", "-f --file = make\n-d -h -p -U -t -n -N -T -F -Z -j -S -E ="),
}
