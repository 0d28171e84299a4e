"""The bytes of a text file as text, and back to exactly the same bytes.

A file is UTF-8, or UTF-16 when its mark says so, or else Latin-1, in which every byte is some character; so an edit never
loses what it did not touch. Line endings stay in the text as they are.
"""

from __future__ import annotations

import codecs

from hitl_cli.records import Struct

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LOOKED_AT = 8192  # bytes in which a NUL makes a file binary


class Encoding(Struct, frozen=True):
    name: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Raises UnicodeEncodeError for characters the file's encoding does not have."""
        return self.mark + text.encode(self.name)

    def decode(self, data: bytes) -> str:
        return data[len(self.mark) :].decode(self.name)


def is_binary(start: bytes) -> bool:
    """Judged by the first bytes of a file, as search programs do: a NUL that no UTF-16 mark explains."""
    return b"\0" in start[:_LOOKED_AT] and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def encoding_of(data: bytes) -> Encoding:
    for mark, name in _MARKS:
        if data.startswith(mark) and _decodes(data[len(mark) :], name):
            return Encoding(name, mark)
    return Encoding() if _decodes(data, "utf-8") else Encoding("latin-1")


def _decodes(data: bytes, name: str) -> bool:
    try:
        data.decode(name)
    except UnicodeDecodeError:
        return False
    return True


def ending(text: str) -> str:
    """The line ending most lines of the text have."""
    windows = text.count("\r\n")
    return "\r\n" if windows > text.count("\n") - windows else "\n"


def with_ending(text: str, ending: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", ending)
