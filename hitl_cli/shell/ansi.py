"""ANSI-C quotes, `$'…'`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hitl_cli.regex import later
from hitl_cli.shell.tree import Unreadable

if TYPE_CHECKING:
    from hitl_cli.shell.lexer import Lexer

_ANSI = later(
    r"\\(?:(?P<hex>x[0-9a-fA-F]{1,2})|(?P<oct>[0-7]{1,3})|(?P<uni>u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8})|(?P<one>[abeEfnrtv\\'\"?]))|[^\\']+"
)
_ANSI_ONE = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def ansi_c(lex: Lexer) -> str:
    """The text of a quote `$'…'`, from after its opening mark to after its end."""
    out: list[bytes] = []
    while True:
        if lex.peek("'"):
            lex.i += 1
            break
        found = _ANSI.match(lex.s, lex.i)
        if found is None:
            raise Unreadable("it holds a quote `$'…'` that is not read")
        out.append(_piece(found))
        lex.i = found.end()
    try:
        text = b"".join(out).decode()
    except UnicodeDecodeError:
        raise Unreadable("a quote `$'…'` holds bytes that are no text") from None
    if "\0" in text:
        raise Unreadable("a quote `$'…'` holds a zero byte")
    return text


def _piece(found: re.Match[str]) -> bytes:
    kind = found.lastgroup
    if kind == "hex":
        return bytes([int(found.group()[2:], 16)])
    if kind == "oct":
        return bytes([int(found.group()[1:], 8) & 0xFF])
    if kind == "uni":
        number = int(found.group()[2:], 16)
        if number > 0x7F:
            raise Unreadable("a quote `$'…'` names a character that depends on the locale")
        return bytes([number])
    if kind == "one":
        return _ANSI_ONE[found.group()[1]].encode()
    return found.group().encode()
