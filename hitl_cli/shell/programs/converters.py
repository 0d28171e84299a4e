"""Programs that write files over, or beside those that they are given: line ends, names, pictures and documents.

Sources: dos2unix(1), rename(1) of util-linux and of Perl, the manual of each other one.
"""

from __future__ import annotations

from hitl_cli.access import Unknown
from hitl_cli.regex import later
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_PLAIN = later(
    r"[\w.,@%+ -]*|(?:s|y|tr)/(?:[^/\\${(]|\\[^/]|\((?!\?\??\{)|\$[0-9])*/(?:[^/\\@${(]|\\[^/]|\$[0-9])*/[gi]*"
)


def _renames(reading: Reading) -> None:
    """rename EXPRESSION FILE… of Perl, rename FROM TO FILE… of util-linux; an expression is a program."""
    for at, word in reading.placed()[:1]:
        if isinstance(word, Unknown) or not _PLAIN.fullmatch(word):
            reading.act(at, "runs as a program of Perl")
    for word in reading.operands[1:]:
        reading.write(word)
        reading.removes.append(word)


def _last(reading: Reading) -> None:
    """PROGRAM FILE… TARGET."""
    reading.reads += reading.operands[:-1]
    for word in reading.operands[-1:] if len(reading.operands) > 1 else ():
        reading.write(word)


PROGRAMS: dict[str, Row] = {
    **rows("dos2unix(1)", "dos2unix unix2dos mac2unix unix2mac", "-c -D --display-enc =", operands="make"),
    **rows(
        "rename(1) of util-linux and of Perl",
        "rename prename file-rename perl-rename",
        "-e = runs as a program of Perl\n-f --force -n --nono -v --verbose -s --symlink -0 -d",
        wary=True,
        abbreviates=False,
        then=_renames,
    ),
    **rows(
        "Graphviz, xsltproc(1), gettext, bison(1), flex(1), protoc manuals: an option names what is written",
        "dot neato fdp xsltproc msgfmt msgmerge xgettext bison yacc flex lex wkhtmltopdf asciidoctor",
        "-o --output --output-file --out-file = make\n-T -K -G -N -E -I -l -L -d -D -b --stringparam --format =",
        abbreviates=False,
        operands="read",
    ),
    **rows(
        "poppler-utils, libwebp and qpdf manuals: the last operand is written",
        "pdftotext pdftoppm pdftocairo pdfunite pdfseparate qpdf cwebp dwebp rsvg-convert inkscape sox lame",
        "-o --output = make\n-f -l -r -q -W -H =",
        abbreviates=False,
        then=_last,
    ),
    **rows(
        "jpegoptim, optipng, pngquant and exiftool manuals: files are written over",
        "jpegoptim optipng pngquant exiftool",
        "-d --dest --dir -out --output = make\n-m --max -S --size --ext --quality =",
        abbreviates=False,
        operands="make",
    ),
}
