"""One simple command on its way through the wrappers, and what is known of one that is not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hitl_cli.access import Opaque, Word
from hitl_cli.records import Struct
from hitl_cli.shell.operands import Folders
from hitl_cli.shell.programs.table import word_set
from hitl_cli.shell.scan import rough_words
from hitl_cli.shell.tree import Redirect, Statement

if TYPE_CHECKING:
    from hitl_cli.shell.reader import Walk

Marked = tuple[tuple[Word, str], ...]  # assignments that are not harmless, as words, with the reason


_IN_WORDS = word_set("-c -e -E -m -r -ne -pe -lne -lane --eval --exec --command")  # options with code or the name of it


class Call(Struct, gc=False):
    """One simple command on its way through the wrappers."""

    words: tuple[Word, ...]
    typed: tuple[Word, ...]  # with its assignments and what was peeled off
    text: str
    folders: Folders
    within: tuple[str, ...]
    fed: bool  # its input is the output of another command
    marked: Marked = ()
    redirs: Sequence[Redirect] = ()
    offset: int = 0  # of the program in `typed`
    given: int = 0  # assignments at the start of `typed`


def unread(walk: Walk, call: Call, reason: str, more: tuple[str, ...] = ()) -> None:
    """A command of which only the words are known: for deny and ask rules, and opaque for the others."""
    found = tuple(w if isinstance(w, str) else w.text for w in call.typed)
    texts = [*(word for word in found if " " in word), *given(call)]
    walk.out.append(Opaque(reason, call.text, (*found, *(p for text in texts for p in rough_words(text)), *more)))


def given(call: Call, made: Statement | None = None) -> list[str]:
    """What its here-documents and here-strings hold, as it is written, and the text of the pipeline that feeds it, unless
    what it runs stands in its words."""
    texts = [redirect.target if redirect.op == "<<<" else redirect.body for redirect in call.redirs]
    found = [text if isinstance(text, str) else text.text for text in texts if text is not None]
    return found if made is None or not _IN_WORDS.isdisjoint(call.words) else [*found, piped(made)]


def piped(made: Statement | None) -> str:
    """The text of a pipeline with that of its here-documents."""
    if made is None:
        return ""
    return "\n".join((made.text, *(r.body.text for kid in made.kids for r in kid.redirs if r.body is not None)))
