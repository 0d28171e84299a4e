"""What a command starts by its words or by a text among them: other spellings that deny and ask rules search.

It is read as the shell would read it, apart from the text around it: nothing of it becomes an access. What cannot be
read is known by its rough words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hitl_cli.access import Access, Act, Command, Opaque, Word
from hitl_cli.records import replace
from hitl_cli.regex import later
from hitl_cli.shell import variables
from hitl_cli.shell.call import Call, given, piped
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.scan import DEEPEST, rough_words
from hitl_cli.shell.shells import SHELLS
from hitl_cli.shell.tree import Unreadable
from hitl_cli.shell.wrapper_rows import UNFOLLOWED

if TYPE_CHECKING:
    from hitl_cli.shell.reader import Walk

_TRIED = 64  # rough words a command is looked for at
_SPELLED = 16  # words of it that are kept
_SIGNS = "!:+\\. "  # with which editors and configuration begin what they give to a shell


def forms(
    walk: Walk, call: Call, starts: list[tuple[Word, ...] | str], run: Callable[[Walk, tuple[Word, ...]], object]
) -> tuple[tuple[Word, ...], ...]:
    """The words of the simple commands in `starts` and of the shells among the words of the call, which run what that is
    given; `run` states the accesses of one that is given as words."""
    found: list[tuple[Word, ...]] = []
    around = "\n".join(filter(None, (*given(call), piped(walk.piped))))  # what it is given on its standard input
    if around:
        starts = [*starts, *[call.words[at:] for at, word in enumerate(call.words[:_TRIED]) if at and word in SHELLS]]
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
            if around and any(isinstance(access, Opaque) for access in apart.out):
                found += _rough(rough_words(around))
        walk.steps, walk.characters = apart.steps, apart.characters
        for access in apart.out:
            found += _said(access)
    return tuple(dict.fromkeys(found))


def _base(word: Word) -> Word:
    return word.rpartition("/")[2] or word if isinstance(word, str) else word


def assigned(call: Call, found: Reading) -> None:
    """What the variables in front of a command have it start and write."""
    given = [word for word, _ in call.marked]
    found.starts += variables.programs(given, found.words)
    for file in variables.files(given):
        found.write(file)


def chosen(walk: Walk, call: Call, assignments: Iterable[Word]) -> tuple[tuple[Word, ...], ...]:
    """The words of the commands that variables choose for what is started later."""
    texts: list[tuple[Word, ...] | str] = [*variables.programs(assignments)]
    return forms(walk, replace(call, words=(), redirs=()), texts, lambda walk, words: None) if texts else ()


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


# Programs that start a shell when they are given no more than so many words that are no options and no numbers.
_SHELLED = {
    **dict.fromkeys(("su", "newgrp"), _TRIED),
    **dict.fromkeys(("sg", "runuser", "chroot", "nsenter", "script", "proot", "systemd-nspawn"), 1),
    **dict.fromkeys(("unshare", "fakeroot", "firejail", "screen", "capsh", "pkexec", "parallel", "sem"), 0),
}
_COMMAND = later(r"-\w*c|--(?:session-)?command(?:=.*)?")


def unfollowed(walk: Walk, call: Call, found: Reading) -> None:
    """A program whose options are not known runs another one among its operands, and a rule has to spell every one of them:
    from each word on, and in each text. One that starts a shell has it run what it is given."""
    words = found.words
    fed = walk.piped is not None or any(redirect.op.startswith("<") for redirect in call.redirs)
    if words[0] in UNFOLLOWED:
        operands = [at for at, word in enumerate(words) if at and not (isinstance(word, str) and word[:1] == "-")]
        found.acts = tuple([Act(at, "may be a command that is run") for at in operands])
        inside = [(_base(words[at]), *words[at + 1 :]) for at in range(1, min(len(words), _SPELLED))]
        texts = [word for word in words[1:] if isinstance(word, str) and " " in word]
        found.also = (*found.also, *inside, *map(rough_words, texts[:_SPELLED]))
        found.starts += texts
        if fed:
            found.starts += inside
        named = [at for at in operands if not (isinstance(word := words[at], str) and word.isdigit())]
        ends = any(isinstance(word, str) and _COMMAND.fullmatch(word) for word in words)
        found.shell = len(named) <= _SHELLED.get(str(words[0]), -1) and not ends
    if fed and found.shell:
        found.starts.append(("sh",))
        found.opaque = found.opaque or f"{words[0]} starts a shell that runs what it is given on its standard input"
