"""Which lines of which files match: by ripgrep where it is installed, else by `search.py`. Both are processes that end
when nobody wants more of their answer."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from hitl_cli.tools.declare import Failed

_BATCH = 200_000  # bytes of file names in one command line; systems allow a megabyte or more
_ROOM = 64 * 2**20  # bytes of one line of an engine's answer
Match = tuple[int, int, str]  # index of the file, line number from 1, line without its ending


async def matches(
    pattern: str, files: Sequence[str], *, ignore_case: bool, per_file: int, rg: str | None
) -> AsyncGenerator[Match, None]:
    """In order of `files`, then lines; `per_file` 0 for all. Raises Failed for a pattern that cannot be used."""
    if "\n" in pattern or r"\n" in pattern.replace("\\\\", ""):
        raise Failed("lines are searched one at a time: a pattern cannot hold a line break")
    if rg and await _accepts(rg, pattern):
        flags = ["--ignore-case"] if ignore_case else ["--case-sensitive"]
        most = ["--max-count", str(per_file)] if per_file else []
        argv = [rg, *_PLAIN, *flags, *most, "--regexp", pattern, "--"]
        at = 0
        for batch in _batches(files):
            async with contextlib.aclosing(_lines(_RgAnswer(batch), [*argv, *batch], b"")) as found:
                async for index, number, line in found:
                    yield at + index, number, line
            at += len(batch)
        return
    asked = {"pattern": pattern, "ignore_case": ignore_case, "per_file": per_file, "files": list(files)}
    argv = [sys.executable, "-I", str(Path(__file__).with_name("search.py"))]
    async with contextlib.aclosing(_lines(json.loads, argv, json.dumps(asked).encode())) as found:
        async for index, number, line in found:
            yield index, number, line


_PLAIN = ["--no-config", "--json", "--crlf", "--text", "--no-ignore", "--no-messages", "--threads", "1"]


async def _accepts(rg: str, pattern: str) -> bool:
    """Whether ripgrep can read the pattern; what it cannot (a look-ahead) Python's engine may."""
    argv = (rg, "--no-config", "--quiet", "--regexp", pattern, "--", os.devnull)
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return await process.wait() < 2


class _RgAnswer:
    """Reads the lines of `rg --json`: of every file a begin, its matches, an end."""

    def __init__(self, batch: Sequence[str]) -> None:
        self.index = {os.fsencode(path): number for number, path in enumerate(batch)}

    def __call__(self, line: bytes) -> Match | None:
        record = json.loads(line)
        if record["type"] != "match":
            return None
        data = record["data"]
        text = _bytes(data["lines"]).rstrip(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
        return self.index[_bytes(data["path"])], data["line_number"], text


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


async def _lines(read: Callable[[bytes], Any], argv: Sequence[str], given: bytes) -> AsyncGenerator[Any, None]:
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, limit=_ROOM
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feeding = asyncio.ensure_future(_feed(process.stdin, given))
    try:
        while line := await process.stdout.readline():
            if (match := read(line)) is not None:
                yield match
        problem = (await process.stderr.read()).decode("utf-8", "replace").strip()
        if await process.wait() == 2 and problem:
            raise Failed(f"the pattern cannot be used: {problem}")
    finally:
        feeding.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _feed(stdin: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()


def _batches(files: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    size = 0
    for path in files:
        size += len(os.fsencode(path)) + 9  # a pointer and a NUL each
        if size > _BATCH and batches[-1]:
            batches.append([])
            size = 0
        batches[-1].append(path)
    return batches if files else []
