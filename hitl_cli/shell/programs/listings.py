"""Programs that list files and tell about them: of their operands only names are seen."""

from __future__ import annotations

import re

from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

GNU = "GNU coreutils manual"


def _file(reading: Reading) -> None:
    """The names of magic files are joined by colons; lines that are none are shown."""
    for _, value in reading.values("-m"):
        reading.reads += value.split(":") if isinstance(value, str) else [value]


def _tree(reading: Reading) -> None:
    """With --fromfile the operands are lists of names, which are shown. `-Po` takes the values of both from what follows."""
    for at, word in enumerate(reading.words):
        if isinstance(word, str) and re.match(r"-[^-]*[oR]", word) and word != "-o":
            reading.act(at, "writes a file")
    words = reading.operands
    (reading.reads if reading.has("--fromfile", "--fromtabfile") else reading.lists).extend(words)


PROGRAMS: dict[str, Row] = {
    **rows(
        GNU,
        "ls dir vdir",
        """
        -I --ignore --hide -w --width -T --tabsize --block-size --format --indicator-style --quoting-style =
        --sort --time --time-style =
        --color ?
        """,
        operands="list",
    ),
    **rows("eza(1)", "eza exa lsd", "-I --ignore-glob -L --level -s --sort --time --time-style =", operands="list"),
    "tree": Row(
        "tree(1)",
        """
        -o --output = write
        -L -P -I -H -T --filelimit --charset --timefmt --sort =
        --gitfile --infofile = read
        --fromfile --fromtabfile
        """,
        then=_tree,
    ),
    "stat": Row(GNU, "-c --format --printf --cached =\n-t -f", operands="list"),
    **rows(GNU, "basename dirname", "-s --suffix ="),
    **rows(GNU, "realpath readlink", "--relative-to --relative-base = list", operands="list"),
    "file": Row(
        "file(1)",
        """
        -C --compile writes a compiled magic file
        -m --magic-file =
        -f --files-from = read
        -F --separator -P --parameter -e --exclude --exclude-quiet =
        """,
        operands="list",
        then=_file,
    ),
    "du": Row(
        GNU,
        """
        --files0-from -X --exclude-from = read
        --time-style -B --block-size -d --max-depth --exclude -t --threshold =
        --time ?
        """,
        operands="list",
    ),
    "df": Row(GNU, "-B --block-size -t --type -x --exclude-type =\n--output ?", operands="list"),
}
