"""What a command starts by its words or by a text among them: other spellings that deny and ask rules search.

It is read as the shell would read it, apart from the text around it: nothing of it becomes an access. What cannot be
read is known by its rough words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hitl_cli.access import Access, Command, Opaque, Word
from hitl_cli.shell.scan import DEEPEST, rough_words
from hitl_cli.shell.tree import Unreadable

if TYPE_CHECKING:
    from hitl_cli.shell.reader import Walk

_TRIED = 64  # rough words a command is looked for at
_SPELLED = 16  # words of it that are kept
_SIGNS = "!:+\\. "  # with which editors and configuration begin what they give to a shell


def forms(
    walk: Walk, starts: Iterable[tuple[Word, ...] | str], run: Callable[[Walk, tuple[Word, ...]], object]
) -> tuple[tuple[Word, ...], ...]:
    """The words of the simple commands in `starts`; `run` states the accesses of one that is given as words."""
    found: list[tuple[Word, ...]] = []
    for start in filter(None, starts):
        apart = walk.apart()
        text = start if isinstance(start, str) else _one_text(start)
        if text is None:
            try:
                if apart.depth > DEEPEST:
                    raise Unreadable("one starts another too many times")
                run(apart, start)  # type: ignore[arg-type] # a text is one
            except Unreadable:
                found += _rough([word if isinstance(word, str) else word.text for word in start])
        else:
            apart.script(text.lstrip(_SIGNS), (None,))
        walk.steps, walk.characters = apart.steps, apart.characters
        for access in apart.out:
            found += _said(access)
    return tuple(dict.fromkeys(found))


def _one_text(words: Sequence[Word]) -> str | None:
    """Words of which the first is no name of a program are joined by those who take a text (`foreach 'rm x'`)."""
    if not (isinstance(words[0], str) and " " in words[0]):
        return None
    return " ".join(word if isinstance(word, str) else word.text for word in words)


def _said(access: Access) -> Iterator[tuple[Word, ...]]:
    if isinstance(access, Command):
        yield access.words
        yield from access.also
        yield from ((name, *access.words[1:]) for name in access.names if name != access.words[0])
    elif isinstance(access, Opaque):
        yield from _rough(access.words)


def _rough(words: Iterable[str]) -> Iterator[tuple[Word, ...]]:
    """What may be a command among words of which more is not known: from each of them on."""
    found = [*words]
    for at in range(min(len(found), _TRIED)):
        yield tuple(found[at : at + _SPELLED])


def unfollowed(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """What a program may run whose options are not known: from each word on, and in each text."""
    inside = [words[at:] for at in range(1, min(len(words), _SPELLED))]
    return inside + [rough_words(word) for word in words[1:_SPELLED] if isinstance(word, str) and " " in word]
