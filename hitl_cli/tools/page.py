"""A web page as plain text in the manner of Markdown: headings, lists, links, tables, code.

A program of its own (`python -I page.py ADDRESS`, page in, text out; standard library only), because a hostile page can
keep a parser busy for very long and a process can be ended.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "nav"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "form", "figure", "blockquote", "address"}
    | {"ul", "ol", "dl", "table", "thead", "tbody", "hr", "details", "summary", "fieldset", "body", "figcaption"}
)
_LINES = frozenset({"br", "tr", "li", "dt", "dd", "option"})
_HEADINGS = {f"h{n}": "#" * n + " " for n in range(1, 7)}


class _Text(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.address = address
        self.out: list[str] = []
        self.title: list[str] = []
        self.silent: list[str] = []  # the open elements whose content is not text
        self.links: list[tuple[str, int]] = []  # where each open link leads, and where in `out` its text begins
        self.pre = 0
        self.in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self.silent.append(tag)
        elif self.silent:
            return
        elif tag == "title":
            self.in_title = True
        elif tag == "pre":
            self.pre += 1
            self.out.append("\n\n```\n")
        elif tag == "code" and not self.pre:
            self.out.append("`")
        elif tag == "a":
            self.links.append((dict(attrs).get("href") or "", len(self.out)))
        elif tag == "img":
            if alt := (dict(attrs).get("alt") or "").strip():
                self.out.append(f"[image: {alt}]")
        else:
            self.out.append(self._before(tag))

    def _before(self, tag: str) -> str:
        if tag in _HEADINGS:
            return "\n\n" + _HEADINGS[tag]
        if tag == "li":
            return "\n- "
        if tag in ("td", "th"):
            return " | "
        return "\n\n" if tag in _BLOCKS else "\n" if tag in _LINES else ""

    def handle_endtag(self, tag: str) -> None:
        if self.silent:
            if tag in self.silent:
                del self.silent[self.silent.index(tag) :]
            return
        if tag == "title":
            self.in_title = False
        elif tag == "pre" and self.pre:
            self.pre -= 1
            self.out.append("\n```\n\n")
        elif tag == "code" and not self.pre:
            self.out.append("`")
        elif tag == "a" and self.links:
            self._close_link(*self.links.pop())
        elif tag in _HEADINGS or tag in _BLOCKS:
            self.out.append("\n\n")

    def _close_link(self, href: str, at: int) -> None:
        text = "".join(self.out[at:]).strip()
        try:
            target = urljoin(self.address, href)
        except ValueError:
            return
        if text and "\n" not in text and target.startswith(("https://", "http://")) and not href.startswith("#"):
            self.out[at:] = [f"[{text}]({target})"]

    def handle_data(self, data: str) -> None:
        if self.in_title:
            self.title.append(data)
        elif not self.silent:
            self.out.append(data if self.pre else re.sub(r"\s+", " ", data))


def text_of(page: str, address: str) -> str:
    parser = _Text(address)
    parser.feed(page)
    parser.close()
    text = "".join(parser.out)
    parts = re.split(r"(\n```\n.*?\n```\n)", text, flags=re.DOTALL)
    parts[::2] = [re.sub(r" ?\n ?", "\n", re.sub(r"[ \t]+", " ", part)) for part in parts[::2]]
    text = re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()
    title = " ".join("".join(parser.title).split())
    return f"{title}\n\n{text}" if title and not text.startswith(f"# {title}\n") else text


if __name__ == "__main__":
    sys.stdout.buffer.write(text_of(sys.stdin.buffer.read().decode("utf-8", "replace"), sys.argv[1]).encode())
