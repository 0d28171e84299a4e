"""Programs made to copy, move, remove and change files: their operands are writes, judged as paths."""

from __future__ import annotations

import posixpath

from hitl_cli.access import Unknown, Word
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

GNU = "GNU coreutils manual"


def _into(reading: Reading, folder: Word, sources: list[Word]) -> None:
    """Each source gets a file of its own name in `folder`."""
    if isinstance(folder, Unknown):
        reading.write(folder)
        return
    for source in sources:
        if isinstance(source, Unknown):
            reading.write(folder)
        else:
            reading.write(posixpath.join(folder, posixpath.basename(source.rstrip("/")) or "."))


def _split(reading: Reading) -> tuple[list[Word], Word | None, bool]:
    """Sources, target, and whether the target is surely a folder."""
    words = reading.operands
    for _, folder in reading.values("-t"):
        return words, folder, True
    if len(words) < 2:
        return words, None, False
    target = words[-1]
    sure = len(words) > 2 or (isinstance(target, str) and (target.endswith("/") or target in (".", "..")))
    return words[:-1], target, sure


def _target(reading: Reading, sources: list[Word], target: Word | None, sure: bool) -> None:
    """The target itself, or files in it: which of both only the disk knows."""
    if target is None:
        return
    if not sure or reading.has("-T"):
        reading.write(target)
    if not reading.has("-T"):
        _into(reading, target, sources)


def copy(reading: Reading, *, whole: bool = False) -> None:
    """`whole`: what is in a folder comes with it."""
    sources, target, sure = _split(reading)
    reading.reads.extend(sources)
    _target(reading, sources, target, sure)
    if whole and target is not None:
        _bring(reading, sources, target, sure)


def _bring(reading: Reading, sources: list[Word], target: Word, sure: bool) -> None:
    """What is in the sources comes with them."""
    for source in sources:
        if not sure or reading.has("-T"):
            reading.brings(target, source)
        if isinstance(source, Unknown) or isinstance(target, Unknown):
            reading.brings(target, source)
        elif not reading.has("-T"):
            reading.brings(posixpath.join(target, posixpath.basename(source.rstrip("/"))), source)


def _copy(reading: Reading) -> None:
    copy(reading, whole=reading.has("-R", "-r", "-a"))


def _move(reading: Reading) -> None:
    copy(reading, whole=True)
    reading.removes.extend(_split(reading)[0])


def _link(reading: Reading) -> None:
    """A link is a second name: what it points to may be read and written through it from now on."""
    sources, target, sure = _split(reading)
    if target is None:
        sources, target, sure = sources, ".", True
    symbolic = reading.has("-s") and not reading.has("-r")
    for source in sources:
        for seen in _seen_from(source, target, symbolic):
            reading.reads.append(seen)
            reading.write(seen)
    _target(reading, sources, target, sure)


def _seen_from(source: Word, target: Word, symbolic: bool) -> list[Word]:
    """A relative symbolic link is followed from its own folder, which is the target or the folder above it."""
    if not symbolic or isinstance(source, Unknown) or source.startswith(("/", "~")) or isinstance(target, Unknown):
        return [source]
    above = posixpath.join(posixpath.dirname(target.rstrip("/")), source)
    inside = posixpath.join(target, source)
    return [above] if above == inside else [above, inside]


def _mode_and_files(reading: Reading) -> None:
    """chmod MODE FILE…, chown OWNER FILE…: a mode may look like an option (`-x`)."""
    operands = reading.operands
    modes = [given for given in reading.given if given.name[1:2] in ("r", "w", "x", "X", "s", "t", "u", "g", "o")]
    if not reading.has("--reference") and not modes:
        operands = operands[1:]
    for word in operands:
        reading.write(word)


def _install(reading: Reading) -> None:
    if reading.has("-d"):
        for word in reading.operands:
            reading.write(word)
    else:
        copy(reading)


def _dd(reading: Reading) -> None:
    """Operands are key=value: `if` is read, `of` is written."""
    for word in reading.operands:
        key, equals, value = (word.prefix if isinstance(word, Unknown) else word).partition("=")
        name: Word = value
        if isinstance(word, Unknown):
            name = Unknown(word.text, word.glob, value, word.safe, word.single)
        if not equals:
            reading.write(name if isinstance(word, Unknown) else word)
        elif key == "if":
            reading.reads.append(name)
        elif key == "of":
            reading.write(name)


def _remove(reading: Reading) -> None:
    """`.*` is what is hidden: `.` and `..` are refused."""
    for word in reading.operands:
        if isinstance(word, Unknown) and posixpath.basename(word.prefix) == "." and word.text.endswith(".*"):
            word = Unknown(word.text[:-1] + "[!.]*", True, word.prefix, word.safe, word.single)
        reading.removes.append(word)


def _shred(reading: Reading) -> None:
    """What is overwritten is what a link leads to."""
    for word in reading.operands:
        reading.write(word)
        reading.removes.append(word)


def _rsync(reading: Reading) -> None:
    words = reading.operands
    for number, word in enumerate(words):
        if isinstance(word, str) and is_remote(word):
            reading.urls.append(word if "://" in word else f"ssh://{word.partition(':')[0]}")
            continue
        if number and number == len(words) - 1:
            sources = words[:-1]
            if any(isinstance(w, str) and (w.endswith("/") or is_remote(w)) for w in sources):
                reading.fill(word)  # what is in a folder, or what another machine sends
            for source in sources:
                far = isinstance(source, str) and is_remote(source)
                reading.brings(word, "" if far else source)
            _target(reading, sources, word, isinstance(word, str) and word.endswith("/"))
            if any(given.name.startswith("--del") for given in reading.given):
                # What the source does not have: in the folder, also where a link leads to it.
                reading.removes.append(posixpath.join(word, "") if isinstance(word, str) else word)
        else:
            reading.reads.append(word)
            if reading.has("--remove-source-files"):
                reading.removes.append(word)


def is_remote(word: str) -> bool:
    """host:path, as scp and rsync read it: a colon before any slash."""
    colon, slash = word.find(":"), word.find("/")
    return colon > 0 and (slash < 0 or colon < slash)


def _patch(reading: Reading) -> None:
    """patch [FILE [PATCH]]; without FILE the patch itself names what is changed."""
    words = reading.operands
    if not reading.keeps_to("-o", "--dry-run"):
        if words:
            reading.write(words[0])
        else:
            reading.unpack()
    reading.reads.extend(words[1:])


def _temporary(reading: Reading) -> None:
    """A new name in the folder for temporary files, unless a template or -p says where."""
    if reading.has("-u"):
        return
    folder = next((value for _, value in reading.values("-p", "--tmpdir")), "")
    if folder and not reading.operands:
        reading.fill(folder)
    for word in reading.operands:
        reading.write(posixpath.join(folder, word) if isinstance(folder, str) and isinstance(word, str) else folder)


_COPY = """
    -t --target-directory =
    -T --no-target-directory
    -S --suffix --sparse --no-preserve =
    --backup --preserve --reflink --update --context ?
    -L --dereference follows
"""
PROGRAMS: dict[str, Row] = {
    "cp": Row(GNU, _COPY + "-r -R --recursive\n-a --archive", then=_copy),
    "mv": Row(GNU, _COPY, then=_move),
    "ln": Row(
        GNU,
        """
        -t --target-directory =
        -T --no-target-directory
        -S --suffix =
        -s --symbolic
        -r --relative
        --backup ?
        """,
        then=_link,
    ),
    "link": Row(GNU, then=_link),
    "install": Row(
        GNU,
        """
        -t --target-directory =
        -T --no-target-directory
        --strip-program = runs another program
        -m --mode -o --owner -g --group -S --suffix =
        -d --directory
        """,
        then=_install,
    ),
    "rm": Row(GNU, "-r -R --recursive\n-f --force\n--interactive --preserve-root ?", then=_remove),
    **rows(GNU, "rmdir unlink", operands="remove"),
    "shred": Row(GNU, "-n --iterations -s --size =\n--random-source = read", then=_shred),
    **rows("trash-cli(1)", "trash trash-put gio-trash", operands="remove"),
    "tee": Row(GNU, "--output-error ?", operands="make"),
    "sponge": Row("moreutils sponge(1)", operands="make"),
    **rows(GNU, "mkdir mkfifo", "-m --mode =\n--context ?", operands="make"),
    "mknod": Row(GNU, operands="make"),
    "mktemp": Row(GNU, "-p =\n--tmpdir ?\n--suffix =\n-u --dry-run", then=_temporary),
    "touch": Row(GNU, "-d --date -t --time =\n-r --reference = list", operands="make"),
    "truncate": Row(GNU, "-s --size =\n-r --reference = list", operands="make"),
    "fallocate": Row("util-linux fallocate(1)", "-l -o --length --offset =", operands="make"),
    "chmod": Row(GNU, "--reference = list\n-R --recursive\n-L follows", abbreviates=False, then=_mode_and_files),
    **rows(GNU, "chown chgrp", "--reference = list\n--from =\n-R --recursive\n-L follows", then=_mode_and_files),
    **rows("attr(1), acl(5)", "chattr setfacl setfattr", "-m -x -n -v =\n-L --logical follows", then=_mode_and_files),
    "dd": Row(GNU, then=_dd),
    "patch": Row(
        "GNU patch(1)",
        """
        -o --output -r --reject-file = make
        -i --input = read
        -d --directory = folder
        -e --ed runs the commands of the patch with ed
        -B --prefix -Y --basename-prefix -z --suffix = make
        -p --strip -D --ifdef -F --fuzz -V --version-control =
        -g --get =
        --posix
        --dry-run
        """,
        then=_patch,
    ),
    "rsync": Row(
        "rsync(1)",
        """
        -e --rsh = runs another program
        --rsync-path = runs another program
        -M --remote-option = passes options to the other side
        --log-file --write-batch --only-write-batch = write
        --read-batch --exclude-from --include-from --password-file --early-input = read
        --files-from = names
        -T --temp-dir --partial-dir --backup-dir = make
        --compare-dest --copy-dest --link-dest = read
        -f --filter --exclude --include -B --block-size --suffix --chmod --chown --usermap --groupmap --timeout =
        --contimeout --max-size --min-size --max-delete --bwlimit --port --sockopts --address --out-format --modify-window =
        --config = loads configuration from a file
        --daemon serves files
        --del --delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded removes files
        --delete-missing-args --remove-source-files removes files
        -L --copy-links -k --copy-dirlinks --copy-unsafe-links follows
        """,
        then=_rsync,
    ),
}
