"""Programs that look for files and text: find, fd, grep, ripgrep and their kin."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatch

from hitl_cli.access import Unknown, Word
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows, word_set

_RUNS = "runs another program for what it finds"


def _find(reading: Reading) -> None:
    """The operands before the expression are where the search starts; in it, `(`, `!` and `,` are no files."""
    first = len(reading.words)
    for given in reading.given:
        if given.name not in _BEFORE:
            first = given.at
            break
    starts: list[Word] = []
    for at, word in reading.placed():
        if word in ("(", "!", ")", ","):
            first = min(first, at)
        elif at < first:
            starts.append(word)
    reading.lists += starts
    if reading.follows and reading.has(*_RUNNING):
        reading.reads += starts or ["."]
    if end := _remover(reading):
        _removed(reading, starts or ["."], end)


def _remover(reading: Reading) -> int:
    """Where find or fd is told to remove what it finds, 0 when it is not."""
    for given in reading.given:
        if given.name == "-delete":
            return given.at
        for word in reading.words[given.at + 1 : given.at + 2] if given.name in _RUNNING else ():
            if isinstance(word, str) and posixpath.basename(word) in _REMOVERS:
                return given.at
    return 0


def _removed(reading: Reading, starts: Sequence[Word], end: int) -> None:
    """By the word at `end`: the starting points with all in them, unless a test before it selects. Then it is something
    below them, a file of the name that is asked for; what -exec removes is stated with the command that it runs."""
    tests = [given for given in reading.given if given.at < end and given.name in _SELECTS]
    names = [given.value for given in tests if isinstance(given.value, str) and _LETTER.search(given.value)]
    if not (names or any(given.name == "-empty" for given in tests)) or _TURNED.intersection(reading.words[1:end]):
        reading.removes += starts
    elif reading.words[end] == "-delete":
        reading.only = "some"
        for start in starts:
            if isinstance(start, str):
                reading.removes += [posixpath.join(start, found) for name in names for found in _named(name)]
                start = Unknown(f"{start}/**", True, f"{start}/", True)
            reading.write(start)


def _named(name: str) -> Sequence[str]:
    """What of a name matters wherever it lies."""
    if fnmatch("config", name.lower()):
        return (".git/config",)
    return (name,) if _PLAIN.fullmatch(name) else ()


_LETTER = re.compile(r"\w")
_PLAIN = re.compile(r"[\w.-]+")
_REMOVERS = word_set("rm rmdir unlink shred trash trash-put")
_RUNNING = word_set("-exec -execdir -ok -okdir -x -X")
_SELECTS = word_set("-name -iname -empty")
_TURNED = word_set("! -not -o -or , (")  # a test among these need not hold of what is removed
_ONLY_GREP = word_set("grep ggrep egrep fgrep zgrep xzgrep bzgrep")  # without -r they read their input
_NO_PATTERN = word_set("-e -f --files --type-list")  # the operands hold none
_SHOWN = re.compile(
    r"!|(?!(?:.*/)?\.)(?:.*/)?(?:\w[^/]*|\*+\.(?!.*env)[\w{,}.]+)\Z"
)  # globs that bring in no hidden file
_LENGTHS = ("-A", "-B", "-C")
_RECURSIVE = ("-r", "-R")
_BEFORE = ("--", "-H", "-L", "-P", "-D", "-O", "-E", "-X", "-d", "-s", "-x")


def _pattern_and_files(reading: Reading) -> None:
    """The first operand is the pattern, unless an option gave one or only names are listed."""
    first, everywhere = 1, _searches(reading)
    for given in reading.given:
        name, value = given.name, given.value
        if name in _NO_PATTERN or (  # behind what other greps give a length BSD grep and ag may have the pattern
            name in _LENGTHS and isinstance(value, str) and not value.isdigit()
        ):
            first = 0
        elif name in _RECURSIVE or (name == "-d" and value == "recurse"):
            everywhere = True
    files = reading.operands[first:]
    if not files and everywhere and not reading.has("--type-list"):
        files = ["."]
    if files:
        (reading.lists if reading.has("--files") else reading.reads).extend(files)


def _searches(reading: Reading) -> bool:
    """ripgrep and its kin search the working folder when no path is given and nothing is piped into them."""
    return reading.words[0] not in _ONLY_GREP and not reading.fed


def _ripgrep(reading: Reading) -> None:
    """Hidden files are passed over unless asked for by name, pattern or option; -u given twice asks."""
    unrestricted = sum(given.name in ("-u", "--unrestricted") for given in reading.given)
    asked = any(not (isinstance(glob, str) and _SHOWN.match(glob)) for _, glob in reading.values("-g"))
    if not (asked or reading.has("-.", "--hidden")) and unrestricted < 2:
        reading.only = "shown"
    _pattern_and_files(reading)


def _fd(reading: Reading) -> None:
    end = _remover(reading)
    words = [word for at, word in reading.placed() if not end or at < end]
    reading.lists += words[1:]
    selects = reading.has("-e") or (words and (isinstance(words[0], Unknown) or _LETTER.search(words[0])))
    if end and not selects:
        reading.removes += [posixpath.join(w, "") if isinstance(w, str) else w for w in words[1:] or ["."]]


PROGRAMS: dict[str, Row] = {
    "find": Row(
        "GNU find(1), BSD find(1)",
        """
        -exec -execdir -ok -okdir ;
        -delete removes what it finds
        -L -follow follows
        -fprint = write
        -fprint0 = write
        -fls = write
        -fprintf = write
        -files0-from = names
        -f = list
        -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -perm -user =
        -group -uid -gid -maxdepth -mindepth -mtime -atime -ctime -mmin -amin -cmin -links -inum -samefile -fstype =
        -newer -anewer -cnewer -used -printf -regextype -context -depthn -flags -newerXY -D =
        -newermt -newerat -newerct -neweraa -neweram -newerac -newerca -newercm -newercc -newerma -newermm -newermc =
        --
        """,  # `--` ends the options before the paths only: the expression acts behind it
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
        -L --follow follows
        """,
        abbreviates=False,
        then=_fd,
    ),
    "grep": Row(
        "GNU grep(1)",
        """
        -e --regexp -A --after-context -B --before-context -C --context -m --max-count --include --exclude =
        --exclude-dir -D --devices --binary-files --label --group-separator =
        -d --directories =
        -r --recursive
        -R --dereference-recursive follows
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
        --hyperlink-format --generate --maxdepth =
        --files --type-list
        -L --follow follows
        -. --hidden
        -u --unrestricted
        """,
        abbreviates=False,
        then=_ripgrep,
    ),
    **rows(
        "ag(1), ack(1)",
        "ag ack",
        """
        --pager = runs a pager
        --ackrc --env = loads configuration from a file
        -p --path-to-ignore = read
        --files-from = names
        --after --before --context ?
        -A -B -C -m --max-count -G --file-search-regex --ignore --ignore-dir -W --width =
        --depth --workers --type --output -g =
        --match =
        -f --follow follows
        """,
        dashes=False,
        then=_pattern_and_files,
    ),
    "locate": Row("plocate(1)", "-d --database = read\n-l -n --limit ="),
    **rows("which(1)", "which whereis type hash", ""),
}
