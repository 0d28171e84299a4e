"""Command text -> what it would touch.

`read` is the one question: every simple command that could run anywhere in the text, every file it would open, and an
`Opaque` with the reason in words for what cannot be proved.

    scan      a linear look before anything is parsed
    lexer     words as bash reads them          \\
    grammar   statements as bash groups them     > text -> tree
    conditions  the inside of `[[ … ]]`         /
    words     words cooked: literal or unknown
    variables, builtins, wrappers   what names, the shell's own commands, and programs that run others do
    programs/ the table of what the options and operands of programs do
    reader    the tree walked into accesses
"""

from __future__ import annotations

from dataclasses import dataclass

from hitl_cli.access import Access, Place
from hitl_cli.shell.reader import Node, Walk
from hitl_cli.shell.variables import computable

__all__ = ["Node", "Reading", "read"]


@dataclass(frozen=True, slots=True)
class Reading:
    """`accesses` in the order of the text; `tree` for explanations: its nodes say which accesses are theirs."""

    accesses: tuple[Access, ...]
    tree: Node


def read(text: str, place: Place, cwd: str | None = None) -> Reading:
    """What `text` would touch when bash runs it in `cwd` (absolute; the place's own folder when None). Never raises."""
    walk = Walk(place)
    try:
        walk.script(text, (cwd or place.cwd,))
    except RecursionError:
        walk.out.clear()
        walk.opaque("it is nested too deeply", text)
    evaluated = sorted(n for n in walk.computed if n in walk.assigned or not computable(n))
    if evaluated:
        walk.opaque(f"{evaluated[0]} is computed with, and its value may itself hold a command", text)
    tree = walk.node.kids[0] if walk.node.kids else walk.node
    return Reading(tuple(walk.out), tree)
