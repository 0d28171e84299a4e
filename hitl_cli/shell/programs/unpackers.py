"""Programs that unpack archives of other kinds, or of all: what is in them may be written anywhere below a folder.

Sources: unrar(1), jar(1), unar(1), cabextract(1), unsquashfs(1), aunpack(1), the manuals of innoextract and patool.
"""

from __future__ import annotations

from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows, word_set


def _unrar(reading: Reading) -> None:
    """unrar VERB ARCHIVE [FILE…] [FOLDER/]; `lb` and its kin, `t` and `p` only show."""
    if reading.operands[:1] and reading.operands[0] not in _SHOWS_RAR:
        last = reading.operands[-1]
        reading.brings(last if isinstance(last, str) and last.endswith("/") else "")


_SHOWS_RAR = word_set("l lt lta lb v vt vta vb t p")


def _unpacks(reading: Reading) -> None:
    """An archive into the folder of an option."""
    reading.reads += reading.operands
    if not reading.has("-l", "-t"):
        reading.unpack(next((value for _, value in reading.values("-o", "-d", "-X")), ""))


def _jar(reading: Reading) -> None:
    """jar xf ARCHIVE [FILE…], jar cf ARCHIVE FILE…: the first word is a bundle as of tar."""
    letters = reading.words[1] if len(reading.words) > 1 and isinstance(reading.words[1], str) else ""
    if letters == "--extract" or (letters[:2] != "--" and "x" in letters):
        reading.brings("")
    elif letters[:1] in ("c", "u") and "f" in letters and "m" not in letters:
        for word in reading.operands[1:2]:
            reading.write(word)


PROGRAMS: dict[str, Row] = {
    "jar": Row("jar(1)", "-f --file -m --manifest -e --main-class =", at_files=True, abbreviates=False, then=_jar),
    **rows(
        "unar(1), cabextract(1), unsquashfs(1), aunpack(1), innoextract(1), patool manual",
        "unar cabextract unsquashfs aunpack innoextract patool",
        "-o -output-directory -d -dest --directory --output-dir --outdir -X --extract-to =\n-l --list -t --test -ls -ll -lls",
        abbreviates=False,
        then=_unpacks,
    ),
    "unrar": Row("unrar(1)", "-p ?", then=_unrar),
}
