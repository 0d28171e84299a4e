"""`Grep`: the lines of files that match a pattern."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from itertools import groupby, islice

from hitl_cli.access import Place
from hitl_cli.journal import Json, Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools import engines, search, text
from hitl_cli.tools.clip import clip
from hitl_cli.tools.declare import Failed, body, schema, shown, states, target, words
from hitl_cli.tools.glob import from_here
from hitl_cli.tools.globs import matcher
from hitl_cli.tools.names import walk

_MOST, _TIME, _WIDTH = 250, 60.0, 500  # entries unless asked otherwise, seconds, characters of a line
_AROUND: dict[str, Json] = {"type": "integer", "minimum": 0, "maximum": 50}


def grep_tool(readable: Callable[[str], bool], rg: str | None) -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        files = await asyncio.to_thread(_files, input, ctx.place, readable)
        return await _grep(input, ctx.place, files, rg)

    return Tool(
        name="Grep",
        description=words("grep"),
        schema=schema(
            ("pattern",),
            pattern={"type": "string", "minLength": 1, "description": "A regular expression for one line."},
            path={"type": "string", "description": "A folder or file; the working folder unless given."},
            glob={"type": "string", "description": "Only files that fit, for example *.py or src/**/*.{ts,tsx}."},
            output_mode={
                "enum": ["files_with_matches", "content", "count"],
                "description": "Names of files (default), matching lines, or the number of them in each file.",
            },
            head_limit={"type": "integer", "minimum": 1, "maximum": 5000, "description": f"At most so many; {_MOST}."},
            **{
                "-i": {"type": "boolean", "description": "Ignore case."},
                "-n": {"type": "boolean", "description": "Line numbers in content (default true)."},
                "-A": _AROUND | {"description": "Lines shown after each match, in content."},
                "-B": _AROUND | {"description": "Lines shown before each match, in content."},
                "-C": _AROUND | {"description": "Lines shown before and after each match, in content."},
            },
        ),
        run=run,
        accesses=states("Grep"),
        idempotent=True,
    )


def _files(input: Input, place: Place, readable: Callable[[str], bool]) -> list[str]:
    start = target("Grep", input, place)
    if os.path.isfile(start):
        return [start] if readable(start) else []
    if not os.path.isdir(start):
        raise Failed(f"{shown(start)} does not exist or is no plain file or folder")
    fits = matcher(str(input["glob"])).match if input.get("glob") else None
    return [
        path
        for path, link in walk(start, place, readable)
        if not link and (not fits or fits(os.path.relpath(path, start)))
    ]


async def _grep(input: Input, place: Place, files: list[str], rg: str | None) -> Result:
    mode, most = input.get("output_mode") or "files_with_matches", int(input.get("head_limit") or _MOST)
    per_file = {"files_with_matches": 1, "content": most + 1, "count": 0}[mode]
    found = engines.matches(str(input["pattern"]), files, ignore_case=bool(input.get("-i")), per_file=per_file, rg=rg)
    hits: list[engines.Match] = []  # in `count` one a file, with the number of matches in place of the line's
    late = False
    try:
        async with asyncio.timeout(_TIME), aclosing(_of_text(found, files)) as matches:
            async for index, number, line in matches:
                if mode != "count":
                    hits.append((index, number, line))
                elif hits and hits[-1][0] == index:
                    hits[-1] = (index, hits[-1][1] + 1, "")
                else:
                    hits.append((index, 1, ""))
                if len(hits) > most:
                    break
    except TimeoutError:
        late = True
    shown_hits = hits[:most]
    lines = await asyncio.to_thread(lambda: [shown(line) for line in _written(shown_hits, mode, files, input, place)])
    if len(hits) > most:
        lines.append(f"(there is more than these {most}: narrow the search or raise head_limit)")
    if late:
        lines.append(f"(stopped after {_TIME:g} s: narrow the search)")
    told = clip("\n".join(lines)) or "no matches (what .gitignore names and binary files are not searched)"
    return Result(told, data={"files": len({hit[0] for hit in shown_hits}), "entries": len(shown_hits)})


async def _of_text(found: AsyncGenerator[engines.Match, None], files: list[str]) -> AsyncGenerator[engines.Match, None]:
    """Without the matches in binary files, whatever the engine makes of those."""
    last, binary = -1, False
    async with aclosing(found) as matches:
        async for match in matches:
            if match[0] != last:
                last, binary = match[0], _is_binary(files[match[0]])
            if not binary:
                yield match


def _is_binary(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return text.is_binary(file.read(8192))
    except OSError:
        return True


def _written(hits: list[engines.Match], mode: str, files: list[str], input: Input, place: Place) -> Iterator[str]:
    if mode == "files_with_matches":
        yield from (from_here(files[index], place) for index, _, _ in hits)
        return
    if mode == "count":
        yield from (f"{from_here(files[index], place)}:{number}" for index, number, _ in hits)
        return
    before = int(input.get("-B") or input.get("-C") or 0)
    after = int(input.get("-A") or input.get("-C") or 0)
    last: tuple[int, int] | None = None
    for index, group in groupby(hits, key=lambda hit: hit[0]):
        matched = {number: line for _, number, line in group}
        wanted = {n: False for m in matched for n in range(max(m - before, 1), m + after + 1)} | dict.fromkeys(
            matched, True
        )
        around = _lines(files[index], wanted) if before or after else {}
        for number in sorted(wanted):
            line = matched.get(number, around.get(number))
            if line is None:
                continue  # beyond the end of the file
            if (before or after) and last and last != (index, number - 1):
                yield "--"
            last = (index, number)
            yield _line(from_here(files[index], place), number, line, wanted[number], input.get("-n", True))


def _line(name: str, number: int, line: str, matched: bool, numbered: bool) -> str:
    mark = ":" if matched else "-"
    if len(line) > _WIDTH:
        line = f"{line[:_WIDTH]} [... {len(line) - _WIDTH:,} characters more]"
    return f"{name}{mark}{number}{mark}{line}" if numbered else f"{name}{mark}{line}"


def _lines(path: str, wanted: Iterable[int]) -> dict[int, str]:
    numbers = set(wanted)
    return {n: line for n, line in enumerate(islice(search.lines(path), max(numbers)), 1) if n in numbers}
