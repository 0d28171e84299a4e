"""Programs that show, cut and join text: they read their operands and write to their output."""

from __future__ import annotations

from hitl_cli.access import Word
from hitl_cli.shell.programs.builds import options_in_files
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

GNU = "GNU coreutils manual"


def _uniq(reading: Reading) -> None:
    """uniq and xxd [INPUT [OUTPUT]]."""
    for number, (at, word) in enumerate(reading.placed()):
        if number == 0:
            reading.reads.append(word)
        else:
            reading.write(word, at)


def _split(reading: Reading) -> None:
    """split [INPUT [PREFIX]]: writes PREFIXaa, PREFIXab, …"""
    operands = reading.operands
    if operands:
        reading.reads.append(operands[0])
    prefix: Word = operands[1] if len(operands) > 1 else "x"
    if isinstance(prefix, str):
        prefix += "aa"
    reading.write(prefix)


def _csplit(reading: Reading) -> None:
    if reading.operands:
        reading.reads.append(reading.operands[0])
    prefix: Word = next((value for _, value in reading.values("-f")), "xx")
    reading.write(f"{prefix}00" if isinstance(prefix, str) else prefix)


PROGRAMS: dict[str, Row] = {
    **rows(
        GNU,
        "cat pr ptx sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum tsort zcat bzcat xzcat zstdcat lz4cat md5",
        operands="read",
    ),
    "comm": Row(GNU, "--output-delimiter =", operands="read"),
    **rows(GNU, "cksum b2sum", "-a --algorithm -l --length =", operands="read"),
    "shasum": Row("shasum(1)", "-a --algorithm =", operands="read"),
    "paste": Row(GNU, "-d --delimiters =", operands="read"),
    "join": Row(GNU, "-a -e -j -o -t -v -1 -2 =", operands="read"),
    "column": Row(
        "util-linux column(1), BSD column(1)",
        "-c -s -o -N -R -H -O -W -T --output-width --separator =",
        operands="read",
    ),
    **rows(GNU, "expand unexpand", "-t --tabs =", operands="read"),
    **rows(f"{GNU}; BSD fmt(1)", "fold fmt", "-w --width -g --goal =", operands="read"),
    "tac": Row(GNU, "-s --separator =", operands="read"),
    "rev": Row("util-linux rev(1)", operands="read"),
    "nl": Row(
        GNU,
        """
        -b --body-numbering -d --section-delimiter -f --footer-numbering -h --header-numbering -i --line-increment =
        -l --join-blank-lines -n --number-format -s --number-separator -v --starting-line-number -w --number-width =
        """,
        operands="read",
    ),
    "head": Row(GNU, "-c --bytes -n --lines =", operands="read"),
    "tail": Row(
        GNU,
        """
        -c --bytes -n --lines -s --sleep-interval --pid --max-unchanged-stats =
        --follow ?
        """,
        operands="read",
    ),
    "wc": Row(GNU, "--files0-from = names\n--total =", operands="read"),
    "cut": Row(GNU, "-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter =", operands="read"),
    "tr": Row(GNU),
    "uniq": Row(
        GNU,
        "-f --skip-fields -s --skip-chars -w --check-chars =\n--group --all-repeated -D ?",
        wary=True,
        then=_uniq,
    ),
    "sort": Row(
        GNU,
        """
        -k --key -t --field-separator -S --buffer-size --parallel --batch-size --sort =
        -o --output = write
        -T --temporary-directory = write
        --compress-program = runs another program
        --files0-from = names
        --random-source = read
        --check --debug ?
        """,
        operands="read",
    ),
    "shuf": Row(
        GNU,
        """
        -o --output = write
        --random-source = read
        -i --input-range -n --head-count =
        -e --echo
        """,
        operands="read",
    ),
    "split": Row(
        GNU,
        """
        --filter = runs another program
        -a --suffix-length -b --bytes -C --line-bytes -l --lines -n --number -t --separator --additional-suffix =
        --numeric-suffixes --hex-suffixes ?
        """,
        then=_split,
    ),
    "csplit": Row(GNU, "-f --prefix -b --suffix-format -n --digits =", then=_csplit),
    "xxd": Row(
        "xxd(1)", "-c -cols -g -groupsize -l -len -n -name -o -s -seek -R =", wary=True, single=True, then=_uniq
    ),
    "base64": Row(
        "GNU coreutils manual; macOS base64(1)",
        """
        -w --wrap -b --break =
        -o --output = write
        -i --input = read
        --ignore-garbage
        """,
        operands="read",
    ),
    "base32": Row(GNU, "-w --wrap =", operands="read"),
    "basenc": Row(GNU, "-w --wrap =", operands="read"),
    "od": Row(
        GNU,
        "-A --address-radix -j --skip-bytes -N --read-bytes -t --format --endian =\n-S --strings -w --width ?",
        operands="read",
    ),
    "hexdump": Row(
        "util-linux hexdump(1)", "-e -n -s --format --length --skip =\n-f --format-file = read", operands="read"
    ),
    "hd": Row("util-linux hexdump(1)", "-e -n -s =\n-f = read", operands="read"),
    "strings": Row(
        "GNU binutils strings(1)",
        "-n --bytes -t --radix -e --encoding -T --target -s =",
        operands="read",
        then=options_in_files,
    ),
    "iconv": Row("GNU libc iconv(1)", "-f --from-code -t --to-code =\n-o --output = write", operands="read"),
    "diff": Row(
        "GNU diffutils manual",
        """
        -C -U -x --exclude -I --ignore-matching-lines -W --width -F --show-function-line --label -L -S --starting-file =
        --line-format --old-line-format --new-line-format --unchanged-line-format --GTYPE-group-format -D --ifdef =
        --horizon-lines --tabsize =
        -X --exclude-from --from-file --to-file = read
        --context --unified --color --ignore-case ?
        -r --recursive follows
        """,
        operands="read",
    ),
    "cmp": Row("GNU diffutils manual", "-i --ignore-initial -n --bytes =", operands="read"),
    "diff3": Row("GNU diffutils manual", "--diff-program = runs another program\n-L --label =", operands="read"),
    "sdiff": Row(
        "GNU diffutils manual",
        """
        -o --output = write
        --diff-program = runs another program
        -w --width -I --ignore-matching-lines --tabsize =
        """,
        operands="read",
    ),
}
