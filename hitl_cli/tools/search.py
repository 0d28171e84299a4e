"""The search engine of `Grep` where ripgrep is not installed: a program of its own, so that it can be stopped.

A pattern can keep Python's matcher busy for very long, and nothing else in the same process runs meanwhile. Started as
`python -I search.py`; standard library only. Reads one JSON object from standard input, `{"pattern", "ignore_case",
"per_file", "files"}`, and writes a JSON line `[index of file, line number, line]` for each line that matches, files in
order. A pattern it cannot use is told on standard error with exit code 2.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator

_LONGEST = 1 << 20  # bytes; a longer line is searched in pieces
POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": "\\t ",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9A-Fa-f",
}


def compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """The pattern, with what other engines write differently put as Python writes it. Raises re.error."""
    pattern = re.sub(r"\[:(\w+):\]", lambda found: POSIX.get(found[1], found[0]), pattern)
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    pattern = re.sub(r"(?<!\\)((?:\\\\)*)\\z", r"\1\\Z", pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(pattern, re.IGNORECASE if ignore_case else 0)


def lines(path: str) -> Iterator[str]:
    """The lines of a file without their endings; bytes that are no text survive as surrogates."""
    try:
        with open(path, "rb") as file:
            start = file.read(3)
            file.seek(0)
            if start.startswith((b"\xff\xfe", b"\xfe\xff")):
                yield from file.read().decode("utf-16", "replace").replace("\r\n", "\n").split("\n")
                return
            if start == b"\xef\xbb\xbf":
                file.read(3)
            for line in iter(lambda: file.readline(_LONGEST), b""):
                yield line.rstrip(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
    except OSError:
        return  # gone or closed to us since it was listed


def main() -> int:
    asked = json.load(sys.stdin)
    try:
        search = compiled(asked["pattern"], asked["ignore_case"]).search
    except re.error as error:
        print(error, file=sys.stderr)
        return 2
    for index, path in enumerate(asked["files"]):
        left = asked["per_file"] or -1
        for number, line in enumerate(lines(path), 1):
            if search(line):
                print(json.dumps([index, number, line]))
                left -= 1
                if not left:
                    break
    return 0


if __name__ == "__main__":
    sys.exit(main())
