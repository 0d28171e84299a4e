"""Programs that look for files and text: find, fd, grep, ripgrep and their kin."""

from __future__ import annotations

from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_RUNS = "runs another program for what it finds"


def _find(reading: Reading) -> None:
    """The operands before the expression are where the search starts; in it, `(`, `!` and `,` are no files."""
    first = min((given.at for given in reading.given if given.name not in _BEFORE), default=len(reading.words))
    for at, word in reading.operands:
        if word in ("(", "!", ")", ","):
            first = min(first, at)
        elif at < first:
            reading.lists.append(word)


_BEFORE = ("-H", "-L", "-P", "-D", "-O", "-E", "-X", "-d", "-s", "-x")


def _pattern_and_files(reading: Reading) -> None:
    """The first operand is the pattern, unless an option gave one or only names are listed."""
    given = reading.has("-e", "-f", "--files", "--type-list")
    files = reading.operands if given else reading.operands[1:]
    for _, word in files:
        reading.reads.append(word)
    if (
        not files
        and reading.has("-r", "-R", "--recursive", "--dereference-recursive")
        and "rg" not in reading.words[:1]
    ):
        reading.reads.append(".")  # GNU grep searches the working folder then


def _fd(reading: Reading) -> None:
    for _, word in reading.operands[1:]:
        reading.lists.append(word)


PROGRAMS: dict[str, Row] = {
    "find": Row(
        "GNU find(1), BSD find(1)",
        """
        -exec -execdir -ok -okdir ;
        -delete removes what it finds
        -fprint = write
        -fprint0 = write
        -fls = write
        -fprintf = write
        -files0-from = read
        -f = list
        -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -perm -user =
        -group -uid -gid -maxdepth -mindepth -mtime -atime -ctime -mmin -amin -cmin -links -inum -samefile -fstype =
        -newer -anewer -cnewer -used -printf -regextype -context -depthn -flags -newerXY -D =
        -newermt -newerat -newerct -neweraa -neweram -newerac -newerca -newercm -newercc -newerma -newermm -newermc =
        """,
        single=True,
        abbreviates=False,
        then=_find,
    ),
    **rows(
        "fd(1)",
        "fd",
        f"""
        -x --exec -X --exec-batch {_RUNS}
        -C --base-directory = folder
        --search-path = list
        --ignore-file = read
        -d --max-depth --min-depth --exact-depth -E --exclude -t --type -e --extension -S --size --changed-within =
        --changed-before --newer --older --changed-after -o --owner -c --color -j --threads --max-buffer-time =
        --batch-size --path-separator --max-results --format --and --gen-completions =
        --strip-cwd-prefix --hyperlink ?
        """,
        abbreviates=False,
        then=_fd,
    ),
    "grep": Row(
        "GNU grep(1)",
        """
        -e --regexp -A --after-context -B --before-context -C --context -m --max-count --include --exclude =
        --exclude-dir -d --directories -D --devices --binary-files --label --group-separator =
        -f --file = read
        --exclude-from = read
        --color --colour ?
        """,
        then=_pattern_and_files,
    ),
    **rows("zgrep(1)", "zgrep xzgrep bzgrep", "-e -A -B -C -m =\n-f = read", then=_pattern_and_files),
    **rows(
        "rg(1)",
        "rg ripgrep",
        """
        --pre = runs a program for each file
        --hostname-bin = runs another program
        -f --file = read
        --ignore-file = read
        -e --regexp -A --after-context -B --before-context -C --context -m --max-count -g --glob --iglob =
        -t --type -T --type-not --type-add --type-clear -M --max-columns -d --max-depth --max-filesize -j --threads =
        --pre-glob -r --replace --sort --sortr --color --colors -E --encoding --engine --dfa-size-limit =
        --regex-size-limit --path-separator --field-context-separator --field-match-separator --context-separator =
        --hyperlink-format --generate --stop-on-nonmatch --maxdepth =
        --files --type-list
        """,
        abbreviates=False,
        then=_pattern_and_files,
    ),
    **rows(
        "ag(1), ack(1)",
        "ag ack",
        """
        --pager = runs a pager
        --ackrc --env = loads configuration from a file
        -p --path-to-ignore = read
        --files-from = read
        --after --before --context ?
        -A -B -C -m --max-count -G --file-search-regex --ignore --ignore-dir -W --width =
        --depth --workers --type --output -g =
        --match =
        """,
        then=_pattern_and_files,
    ),
    "locate": Row("plocate(1)", "-d --database = read\n-l -n --limit ="),
    **rows("which(1)", "which whereis type hash", ""),
}
