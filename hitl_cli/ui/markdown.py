"""One finished piece of Markdown as text for the terminal, in the terminal's own sixteen colours.

Everything that was written is shown: raw HTML as it stands, an image by its words and address, a link with its address behind
it, since a link that can be clicked could lead elsewhere than it says. Text nodes are cleaned after parsing, because
an entity such as `&#x202e;` becomes its character there. No line is padded to the full width: such lines would wrap when
the window gets narrower.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich import box
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from hitl_cli.ui.clean import cells, clean

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
_MARKS = {"strong": "bold", "em": "italic", "s": "strike"}


def markdown(text: str, width: int, colour: bool) -> str:
    """Lines that end in a newline, with no blank line around them."""
    blocks = [_block(node) for node in SyntaxTreeNode(_PARSER.parse(text)).children]
    return _lines(_spaced(blocks), width, colour)


def code(text: str, language: str, width: int, colour: bool) -> str:
    """Highlighted code, indented by two."""
    return _lines(_code(text, language), width, colour)


def _lines(body: RenderableType, width: int, colour: bool) -> str:
    console = Console(file=io.StringIO(), width=max(width, 10), force_terminal=True, color_system="standard",
                      no_color=not colour, legacy_windows=False)  # fmt: skip
    rows = (_trimmed(line) for line in console.render_lines(body, pad=False))
    return "".join("".join(_drawn(segment, colour) for segment in row) + "\n" for row in rows)


def _trimmed(line: list[Segment]) -> list[Segment]:
    line = [segment for segment in line if not segment.control]
    while line and not line[-1].text.strip():
        line.pop()
    if line:
        line[-1] = line[-1]._replace(text=line[-1].text.rstrip())
    return line


def _drawn(segment: Segment, colour: bool) -> str:
    style, text = segment.style, segment.text
    if not style or not text.strip():
        return text
    return (style if colour else style.without_color).render(text, color_system=ColorSystem.STANDARD)


def _spaced(blocks: list[RenderableType]) -> Group:
    parts: list[RenderableType] = []
    for block in blocks:
        parts += [block] if not parts else [Text(""), block]
    return Group(*parts)


class _Prefixed:
    """A body behind a mark: `first` before its first row, as many blanks (or `rest`) before the others."""

    def __init__(self, body: RenderableType, first: str, rest: str = "", style: str = "none") -> None:
        self.body, self.first, self.rest, self.style = body, first, rest or " " * cells(first), Style.parse(style)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update(width=max(options.max_width - cells(self.first), 8))
        for number, line in enumerate(console.render_lines(self.body, inner, pad=False)):
            yield Segment(self.rest if number else self.first, self.style)
            yield from line
            yield Segment.line()


def _block(node: SyntaxTreeNode) -> RenderableType:
    match node.type:
        case "heading":
            return _inline(node, "bold underline" if node.tag == "h1" else "bold")
        case "paragraph":
            return _inline(node)
        case "bullet_list" | "ordered_list":
            return Group(*(_item(child, node.type == "ordered_list") for child in node.children))
        case "blockquote":
            return _Prefixed(_spaced([_block(child) for child in node.children]), "│ ", "│ ", "dim")
        case "fence" | "code_block":
            return _code(clean(node.content), node.info)
        case "hr":
            return Rule(style="dim")
        case "table":
            return _table(node)
    return Text(clean(node.content))


def _item(node: SyntaxTreeNode, ordered: bool) -> RenderableType:
    parts: list[RenderableType] = []
    for child in node.children:
        if parts and child.type == "paragraph":
            parts.append(Text(""))
        parts.append(_block(child))
    return _Prefixed(Group(*parts), f"{node.info}{node.markup} " if ordered else "• ")


def _code(text: str, language: str) -> RenderableType:
    name = language.strip().split(" ")[0] or "text"
    body = Syntax(text.rstrip("\n"), name, theme="ansi_dark", background_color="default", word_wrap=True)
    return _Prefixed(body, "  ")


def _table(node: SyntaxTreeNode) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, border_style="dim", header_style="bold")
    head, *bodies = node.children
    for cell in head.children[0].children:
        sides = str(cell.attrs.get("style", ""))
        justify = "right" if "right" in sides else "center" if "center" in sides else "left"
        table.add_column(_inline(cell), justify=justify, overflow="fold")  # type: ignore[arg-type]  # one of the three
    for row in (row for body in bodies for row in body.children):
        table.add_row(*(_inline(cell) for cell in row.children))
    return table


def _inline(node: SyntaxTreeNode, style: str = "none") -> Text:
    text = Text(style=style, overflow="fold")
    for child in node.children:
        for part, look in _spans(child, "none"):
            text.append(part, look)
    return text


def _spans(node: SyntaxTreeNode, look: str) -> Iterator[tuple[str, str]]:
    match node.type:
        case "softbreak":
            yield " ", look
        case "hardbreak":
            yield "\n", look
        case "code_inline":
            yield clean(node.content), "cyan"
        case "image":
            yield f"[{clean(node.content) or 'image'}] ({clean(str(node.attrs.get('src', '')))})", look
        case "link":
            words = "".join(part for child in node.children for part, _ in _spans(child, look))
            for child in node.children:
                yield from _spans(child, look)
            address = clean(str(node.attrs.get("href", "")))
            if address.removeprefix("mailto:") != words:
                yield " (", look
                yield address, "underline"
                yield ")", look
        case "inline" | "strong" | "em" | "s":
            inner = f"{look} {_MARKS.get(node.type, '')}".replace("none ", "").strip()
            for child in node.children:
                yield from _spans(child, inner or "none")
        case _:
            yield clean(node.content), look
