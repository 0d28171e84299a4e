"""Entries as the texts that a store keeps, and back."""

from __future__ import annotations

import json
from functools import cache

from hitl_cli import journal
from hitl_cli.journal import Entry
from hitl_cli.records import DecodeError, Decoder

_HEAD = b'{"v":%d,' % journal.V  # how what this version wrote begins
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def text(entry: Entry) -> str:
    return _encode(journal.dump(entry))


def read(body: bytes) -> Entry:
    """The entry that was kept as `body`: straight to its record where this version wrote it; by way of `journal.load` where
    an older one did or anything is unusual, which says what does not fit. Raises what `journal.load` raises, and ValueError
    for what is no JSON in UTF-8."""
    try:
        if body.startswith(_HEAD):
            return _decoder().decode(b"{" + body[len(_HEAD) :])
    except DecodeError:
        pass  # damaged, or what JSON does not have and Python writes: NaN
    return journal.load(json.loads(body))


@cache
def _decoder() -> Decoder[Entry]:  # made with the first entry: a new session reads none
    return Decoder(Entry)


def storable(entry: Entry) -> Entry:
    """`entry` itself where it is JSON in UTF-8; else as near to it as can be stored.

    Half a surrogate pair (from an undecodable argument, or a model) becomes `?`, a value that is no JSON its text.
    """
    try:
        text(entry).encode()
    except (UnicodeEncodeError, TypeError):
        nearest = json.dumps(journal.dump(entry), ensure_ascii=False, default=str).encode("utf-8", "replace")
        return journal.load(json.loads(nearest))
    return entry
