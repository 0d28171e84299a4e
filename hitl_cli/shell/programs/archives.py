"""Programs that pack and unpack. They are made to write, inside the workspace; members may be anywhere below a folder.

Sources: GNU tar manual, bsdtar(1), zip(1), unzip(1), gzip(1) and its kin, 7z(1), cpio(1).
"""

from __future__ import annotations

import posixpath
import re

from hitl_cli.access import Unknown, Word
from hitl_cli.shell.programs.builds import options_in_files
from hitl_cli.shell.programs.outputs import is_one_plain_word
from hitl_cli.shell.programs.reading import NAMED, Reading
from hitl_cli.shell.programs.sorting import MAY_BE_OPTION
from hitl_cli.shell.programs.table import Row, rows

_TAR = """
    -I --use-compress-program = runs another program
    --to-command = runs another program
    --checkpoint-action = can run another program
    -F --info-script --new-volume-script = runs another program
    -M --multi-volume asks for the next volume, and an answer can start a shell
    -L --tape-length = asks for the next volume, and an answer can start a shell
    --rsh-command --rmt-command = runs another program
    -P --absolute-names writes or reads outside the folder
    --one-top-level ? make
    -C --directory = folder
    -f --file =
    -T --files-from = names
    -X --exclude-from = read
    --index-file --volno-file = write
    -g --listed-incremental = make
    -b --blocking-factor -H --format -K --starting-file -N --newer --after-date -V --label --mode =
    --owner --group --mtime --exclude --transform --xform --strip-components --exclude-tag --record-size --sort =
    --suffix --newer-mtime --hole-detection --pax-option --quoting-style --warning --level --add-file =
    --sparse-version --exclude-ignore --exclude-ignore-recursive --exclude-tag-all --exclude-tag-under --group-map =
    --owner-map --xattrs-exclude --xattrs-include --no-quote-chars --quote-chars =
    --checkpoint --totals --backup --occurrence --show-transformed-names ?
    -x --extract --get
    -c --create
    -t --list
    -r --append
    -u --update
    -A --catenate --concatenate
    -d --diff --compare
    -O --to-stdout
    -h --dereference follows
    --remove-files removes what it packs
    --delete
    -z --gzip -j --bzip2 -J --xz --zstd --lzma --lzip --lzop -Z --compress -a --auto-compress
"""


def _tar(reading: Reading) -> None:
    """The first word may be a bundle without its dash (`tar xzf a.tgz`): its letters take values in order."""
    operands = reading.placed()
    letters = _old_style(reading, operands)
    creates = reading.has("-c", "-r", "-u", "-A") or any(letter in letters for letter in "cruA")
    extracts = reading.has("-x") or "x" in letters
    deletes = reading.has("--delete")
    files = [value for _, value in reading.values("-f")]
    if "f" in letters and operands:
        at, archive = operands.pop(0)
        files.append(archive)
        if isinstance(archive, Unknown) and archive.single:  # a value, whatever it looks like
            reading.acts = tuple([act for act in reading.acts if act.at != at])
    for name in files:
        if name == "-" or _remote(reading, name):
            continue
        if creates or deletes:
            reading.write(name)
        else:
            reading.reads.append(name)
    if creates:
        packed = [word for _, word in operands]
        reading.follows |= reading.has("-L")  # bsdtar
        reading.reads += packed
        if reading.has("--remove-files"):
            reading.removes += packed
    elif extracts and not reading.has("-O") and "O" not in letters:
        if operands and not reading.has("--strip-components", "--transform", "--xform", "-s"):
            reading.fill()
        else:
            reading.unpack()
        for _, word in operands:
            reading.write(word)
            reading.brings(word)


def _remote(reading: Reading, name: Word) -> bool:
    """`host:file` is fetched over rsh unless --force-local is given."""
    known = name.prefix if isinstance(name, Unknown) else name
    colon = known.find(":")
    far = colon > 0 and "/" not in known[:colon]
    if isinstance(name, Unknown) and "/" not in known:
        far = not (name.glob or is_one_plain_word(name))
    if far and not reading.has("--force-local"):
        reading.act(len(reading.words) - 1, "reads an archive of another host through a remote shell")
    return far and isinstance(name, str)


def _old_style(reading: Reading, operands: list[tuple[int, Word]]) -> str:
    """The letters of a first word without a dash; their values but that of `f` are taken out of the operands."""
    if not operands or operands[0][0] != 1:
        return ""
    _, letters = operands.pop(0)
    if isinstance(letters, Unknown):
        reading.act(1, MAY_BE_OPTION)
        return ""
    known = reading.row.known
    for letter in letters:
        option = known.get("-" + letter)
        if option is None:
            continue
        if letter != "f" and option.takes == "=" and operands:
            at = 1 if letters.index("f" if "f" in letters else letter) < letters.index(letter) else 0
            if at < len(operands):
                reading.touch(option.does, operands.pop(at)[1], 1)
        elif option.does and not option.takes:
            reading.touch(option.does, "", 1)
    return letters


def _zip(reading: Reading) -> None:
    if any(isinstance(word, str) and re.match(r"-[^-]*@", word) for word in reading.words):
        reading.reads.append(NAMED)
    for at, given in enumerate(reading.words[1:], 1):  # `-TT` has two letters, in a bundle and before its value too
        if isinstance(given, str) and given[:1] == "-" and given[:2] != "--" and "TT" in given[1:] and given != "-TT":
            reading.act(at, "runs another program")
    reading.follows = not reading.has("-y")
    for number, word in enumerate(reading.operands):
        if number:
            reading.reads.append(word)
            if reading.has("-m"):
                reading.removes.append(word)
        elif word != "-":
            reading.write(word)


def _unzip(reading: Reading) -> None:
    """`--l` takes `-l` back, in a word with others or alone."""
    for at, word in enumerate(reading.words):
        if isinstance(word, str) and word[:1] == "-" and "-" in word[1:] and word[:2] != "-d":
            reading.act(at, "takes back an option")
    if reading.operands:
        reading.reads.append(reading.operands[0])
    if not reading.has("-l", "-t", "-p", "-v", "-Z", "-z"):
        folder = next((value for _, value in reading.values("-d")), "")
        reading.unpack(folder)
        for word in reading.operands[1:]:
            reading.write(posixpath.join(folder, word) if isinstance(word, str) and isinstance(folder, str) else word)


def _gzip(reading: Reading) -> None:
    """Each file is replaced by its packed or unpacked form unless only shown."""
    shows = reading.has("-c", "-l", "-t")
    for word in reading.operands:
        reading.reads.append(word)
        if not shows:
            reading.write(word)


def _seven(reading: Reading) -> None:
    words = reading.operands
    if not words:
        return
    verb, rest = words[0], words[1:]
    if verb in ("l", "t", "h", "i"):
        reading.reads.extend(rest)
        return
    for word in rest[:1]:
        reading.reads.append(word)
        if verb not in ("x", "e"):
            reading.write(word)
            reading.follows = True
            reading.reads += rest[1:]
    folders = [given.value for given in reading.given if given.name == "-o" and given.value is not None]
    for folder in folders:
        reading.write(folder)
    if verb in ("x", "e"):
        reading.brings(folders[0] if folders else "")


def _ar(reading: Reading) -> None:
    options_in_files(reading)
    if any(isinstance(word, str) and "x" in word for word in reading.words[1:2]):
        reading.brings("")


def _cpio(reading: Reading) -> None:
    """Files named by the input are packed or copied; an archive from the input is unpacked."""
    packs = reading.has("-o", "-p")
    if packs:
        reading.reads.append(NAMED)
    for _, archive in reading.values("-F"):
        if packs:
            reading.write(archive)
        else:
            reading.reads.append(archive)
    if reading.has("-i", "-p"):
        reading.unpack(reading.operands[0] if reading.has("-p") and reading.operands else "")


_GZIP = """
    -S --suffix -T --threads -M --memlimit -b ?
    -c --stdout --to-stdout
    -l --list
    -t --test
"""
PROGRAMS: dict[str, Row] = {
    "tar": Row("GNU tar manual, bsdtar(1)", _TAR, wary=True, then=_tar),
    "zip": Row(
        "zip(1)",
        """
        -TT --unzip-command = runs another program
        -m --move removes what it packs
        -b --temp-path -O --output-file --out -lf --logfile-path -t -tt -n -P --password -s --split-size =
        -i --include -x --exclude ?
        --from-date --before-date --suffixes -Z --compression-method =
        -r -R -q -9 -0 -j -u -f -d -T -y -v -@
        """,
        wary=True,
        then=_zip,
    ),
    "unzip": Row(
        "unzip(1)",
        "-d =\n-P -O -I =\n-x ?\n-: writes outside the folder\n-T changes the time of the archive\n-l -t -p -v -Z -z",
        then=_unzip,
    ),
    **rows("zipinfo(1)", "zipinfo", operands="read"),
    **rows(
        "gzip(1), bzip2(1), xz(1), zstd(1), lz4(1)",
        "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma lz4 unlz4 pigz unpigz compress uncompress brotli "
        "pbzip2 lzip lzop rzip",
        _GZIP + "-o --output = make\n--files --files0 ?\n-D = read",
        then=_gzip,
    ),
    **rows(
        "zstd(1)",
        "zstd unzstd",
        """
        -o --output-dir-flat --output-dir-mirror --trace = make
        -D --patch-from --filelist = read
        -c --stdout
        -l --list
        -t --test
        -T -M -b -S ?
        """,
        then=_gzip,
    ),
    **rows(
        "7z(1)",
        "7z 7za 7zr 7zz",
        "-o ? \n-sfx ? runs or writes a module\n-si ?\n-so ?\n-p ?\n-x ?\n-i ?",
        abbreviates=False,
        then=_seven,
    ),
    "cpio": Row(
        "GNU cpio manual",
        """
        --rsh-command = runs another program
        -i --extract -o --create -p --pass-through
        -O = make
        -I -E --pattern-file = read
        -D --directory = folder
        -F --file -H --format -R --owner -M --message -C --io-size =
        """,
        then=_cpio,
    ),
    "ar": Row("GNU binutils ar(1)", "--plugin = loads a library", operands="make", then=_ar),
}
