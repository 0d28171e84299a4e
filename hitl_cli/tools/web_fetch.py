"""`WebFetch`: a page as text."""

from __future__ import annotations

import asyncio
import codecs
import re
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from hitl_cli.journal import Result
from hitl_cli.regex import later
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.clip import clip, plain
from hitl_cli.tools.declare import Failed, body, schema, states, words
from hitl_cli.tools.disk import create_private

if TYPE_CHECKING:
    from hitl_cli.tools.fetching import Answer

TIME = 30.0  # seconds for all of it, redirects included
_REDIRECTS = 5
_TEXTUAL = later(r"text/|[\w.+-]+/(?:[\w.-]+\+)?(?:json|xml|javascript|yaml|toml|x-sh|x-www-form-urlencoded)\b")
_HEADERS = {"User-Agent": "hitl", "Accept": "text/html, text/*;q=0.9, */*;q=0.5", "Accept-Encoding": "identity"}


def web_fetch_tool(outputs: Path, private: Callable[[str], bool]) -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        try:
            async with asyncio.timeout(TIME):
                return await _fetched(str(input["url"]), private, outputs / ctx.session / f"{ctx.call}.txt")
        except TimeoutError:
            raise Failed(f"no whole answer within {TIME:g} s: {input['url']}") from None

    return Tool(
        name="WebFetch",
        approve=True,
        description=words("web_fetch"),
        schema=schema(("url",), url={"type": "string", "minLength": 1, "description": "An https address."}),
        run=run,
        accesses=states("WebFetch"),
        idempotent=True,
    )


async def _fetched(url: str, private: Callable[[str], bool], whole: Path) -> Result:
    from hitl_cli.tools.fetching import get, parse  # HTTP and TLS are loaded by the first fetch

    address = parse(url)
    for _ in range(_REDIRECTS + 1):
        answer = await get(address, _HEADERS, private=private(address.host) or private(address.bare))
        location = answer.headers.get("location")
        if answer.status not in (301, 302, 303, 307, 308) or not location:
            return await _told(address.url, answer, whole)
        there = parse(urljoin(address.url, location).partition("#")[0])
        if (there.scheme, there.host) != (address.scheme, address.host):
            told = f"{address.url} redirects to {there.url}, another host: fetch that address to go on"
            return Result(told, data={"status": answer.status, "redirect": there.url})
        address = there
    raise Failed(f"more than {_REDIRECTS} redirects: {url}")


async def _told(url: str, answer: Answer, whole: Path) -> Result:
    kind = answer.headers.get("content-type", "text/html").strip().lower()
    if not answer.body:
        text = "(empty)"
    elif _TEXTUAL.match(kind):
        text = _decoded(answer.body, kind)
        if "html" in kind:
            text = await _plain_page(text, url)
    else:
        text = f"({kind}, {len(answer.body):,} bytes: not text)"
    text = plain(text.encode("utf-8", "replace"))
    notes = [] if answer.whole else [f"only the first {len(answer.body):,} bytes were read"]
    failed = answer.status >= 400
    if failed:
        notes.insert(0, f"the server answered {answer.status} {answer.reason}".rstrip())
    shown = clip(text, whole=str(whole))
    if shown != text:
        with open(create_private(whole), "w", encoding="utf-8") as file:
            file.write(text)
    told = "\n".join([shown, *(f"({note})" for note in notes)])
    return Result(told, ok=not failed, kind="error" if failed else "ran", data={"status": answer.status, "url": url})


def _decoded(data: bytes, kind: str) -> str:
    """By byte order mark, header, or what a page says of itself; UTF-8 otherwise."""
    from email.message import Message

    header = Message()
    header["content-type"] = kind
    named = header.get_content_charset() or ""
    if not named and "html" in kind and (found := re.search(rb"<meta[^>]{0,200}charset=[\"']?([\w-]+)", data[:2048])):
        named = found[1].decode()
    if data.startswith(codecs.BOM_UTF8):
        named = "utf-8-sig"
    try:
        return data.decode(named or "utf-8", "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


async def _plain_page(page: str, url: str) -> str:
    """By a process of its own, which the time limit ends."""
    argv = [sys.executable, "-I", str(Path(__file__).with_name("page.py")), url]
    process = await asyncio.create_subprocess_exec(*argv, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    try:
        text, _ = await process.communicate(page.encode("utf-8", "replace"))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Failed(f"the page could not be read as text: {url}")
    return text.decode("utf-8", "replace").strip() or "(the page has no text)"
