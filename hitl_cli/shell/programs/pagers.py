"""Pagers and editors: they show files, and with a few words start shells."""

from __future__ import annotations

from hitl_cli.access import Unknown
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_RUNS = "runs another program"
_COMMANDS = "gives the editor commands, which can start programs"


def _pager(reading: Reading) -> None:
    """`+command` is carried out first; `+123`, `+/text` and `+G` only move."""
    for given in reading.given:
        if given.name.startswith("+"):
            text = given.name[1:] + (f"={given.value}" if given.value is not None else "")
            text = text.removeprefix("+")
            if text and text[0] not in "/?" and not text.rstrip("gGF").isdigit() and text not in ("G", "F", "g"):
                reading.act(given.at, "gives the pager commands, which can start programs")
    reading.reads.extend(reading.operands)


def _man(reading: Reading) -> None:
    """With -l, or with a slash in its name, a page is a file."""
    for word in reading.operands:
        if isinstance(word, Unknown):
            continue
        if reading.has("-l") or "/" in word:
            reading.reads.append(word)


def _vim(reading: Reading) -> None:
    for given in reading.given:
        if given.name.startswith("+") and not given.name[1:].isdigit() and given.name != "+":
            reading.act(given.at, _COMMANDS)
    _edit(reading)


def _ed(reading: Reading) -> None:
    reading.opaque = "an editor that takes commands, also such as start a shell, from its input"
    reading.reads.extend(reading.operands)


def _edit(reading: Reading) -> None:
    for word in reading.operands:
        reading.reads.append(word)
        reading.write(word)


PROGRAMS: dict[str, Row] = {
    **rows(
        "less(1), more(1)",
        "less more most pg",
        """
        -o --log-file -O --LOG-FILE = write
        -k --lesskey-file --lesskey-src --lesskey-content = loads key bindings, which can run programs
        -T --tag-file = read
        -t --tag -p --pattern -b --buffers -h --max-back-scroll -j --jump-target -x --tabs -y --max-forw-scroll =
        -z --window -P --prompt -D --color -" --quotes -# --shift --rscroll =
        """,
        plus=True,
        wary=True,
        then=_pager,
    ),
    **rows(
        "bat(1)",
        "bat batcat",
        f"""
        --pager = {_RUNS}
        --paging -l --language -H --highlight-line --file-name --tabs --wrap --terminal-width --color --theme =
        --italic-text --decorations --style -r --line-range -m --map-syntax --ignored-suffix --diff-context =
        """,
        abbreviates=False,
        operands="read",
    ),
    **rows(
        "man-db man(1), GTFOBins man",
        "man apropos whatis",
        f"""
        -P --pager = {_RUNS}
        -H --html ? {_RUNS}
        -X --gxditview ? {_RUNS}
        -B = {_RUNS}
        -C --config-file = loads configuration from a file
        -M --manpath -m --systems -L --locale -S -s --sections -e --extension -r --prompt -R --recode -E --encoding =
        -p --preprocessor = chooses programs that are run first
        -l --local-file
        -T --troff-device ?
        """,
        then=_man,
    ),
    "info": Row("info(1)", "-o --output = write\n--restore = gives commands\n-f --file -d --directory -n --node ="),
    **rows(
        "vim(1)",
        "vim ex vimdiff gvim rvim",
        f"""
        -c --cmd = {_COMMANDS}
        -S -s -u -U -i = {_COMMANDS}
        -l = {_COMMANDS}
        -W -w = write
        --startuptime = write
        --remote-expr --remote-send --servername --listen --server -t -q -T =
        -V ?
        -es reads commands from its input
        -Es reads commands from its input
        -e reads commands from its input
        """,
        plus=True,
        wary=True,
        abbreviates=False,
        then=_vim,
    ),
    **rows(
        "emacs(1)",
        "emacs emacsclient",
        f"""
        --eval --execute -eval = {_COMMANDS}
        -l --load --script -f --funcall -x = {_COMMANDS}
        -Q -q --batch -batch
        """,
        then=_edit,
    ),
    **rows(
        "nano(1)",
        "nano pico",
        f"""
        -s --speller = {_RUNS}
        -f --rcfile = loads configuration from a file
        -C --backupdir -o --operatingdir -T --tabsize -r --fill -Q --quotestr -Y --syntax -X --wordchars -J =
        -y --afterends
        """,
        then=_edit,
    ),
    **rows("ed(1)", "ed red", then=_ed),
}
