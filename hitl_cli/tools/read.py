"""`Read`: a text file with line numbers, or an image as a picture."""

from __future__ import annotations

import os
from collections.abc import Callable

from hitl_cli.journal import Result
from hitl_cli.records import Struct, field
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools import disk, images, text
from hitl_cli.tools.declare import Failed, plain_body, schema, shown, states, target, words
from hitl_cli.tools.seen import seen

LINES, WIDTH, CHARACTERS = 2000, 2000, 100_000  # of one answer: lines unless a limit is given, a line, all of it
_WHOLE = disk.EDITABLE  # larger files are read line by line and cannot be changed


def read_tool(readable: Callable[[str], bool]) -> Tool:
    @plain_body
    def run(input: Input, ctx: Context) -> Result:
        offset, limit = int(input.get("offset") or 1), int(input.get("limit") or LINES)
        return look(target("Read", input, ctx.place), readable, offset, limit)

    return Tool(
        name="Read",
        description=words("read"),
        schema=schema(
            ("file_path",),
            file_path={"type": "string", "description": "The file, absolute or from the working folder."},
            offset={"type": "integer", "minimum": 1, "description": "First line, counted from 1."},
            limit={"type": "integer", "minimum": 1, "description": f"Number of lines; {LINES} unless given."},
        ),
        run=run,
        accesses=states("Read"),
        idempotent=True,
    )


def look(path: str, readable: Callable[[str], bool], offset: int = 1, limit: int = LINES) -> Result:
    """What a model is shown of the file at `path`, links resolved. Raises Failed and OSError."""
    with open(disk.open_regular(path, readable), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8192) or b""  # None: a file of the system that has nothing to say now
        if kind := images.kind_of(start):
            return _picture(path, start + file.read(images.MOST + 1 - len(start)), kind)
        if text.is_binary(start):
            raise Failed(f"{shown(path)} is binary ({size:,} bytes): look at it with a command such as `file` or `xxd`")
        data = start if size > _WHOLE else start + (file.read(_WHOLE + 1 - len(start)) or b"")
        if size > _WHOLE or len(data) > _WHOLE:  # the system's own files have no size, and some no end
            file.seek(0)
            page = _Page(offset, limit)
            for raw in iter(lambda: file.readline(1 << 20), b""):
                page.add(raw.decode("utf-8", "backslashreplace"))
                if page.full:
                    break
            return Result(page.text(f"{size:,} bytes, too large to change with Edit"))
    encoding = text.encoding_of(data)
    page = _Page(offset, limit)
    lines = encoding.decode(data).split("\n")
    for number, line in enumerate(lines):
        if line or number < len(lines) - 1:
            page.add(line)
    note = "" if encoding.name.startswith("utf") else "not UTF-8, read as Latin-1"
    return Result(page.text(note), data=seen(path, data) | {"lines": page.seen})


class _Page(Struct):
    """The lines that are shown out of those that go by."""

    offset: int
    limit: int
    seen: int = 0
    width: int = 0
    cut: bool = False
    full: bool = False
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.seen += 1
        if self.seen < self.offset or self.full:
            return
        if len(self.lines) >= self.limit or self.width > CHARACTERS:
            self.full = True
            return
        line = line.rstrip("\r\n")
        if len(line) > WIDTH:
            line, self.cut = f"{line[:WIDTH]} [... {len(line) - WIDTH:,} characters more]", True
        self.lines.append(f"{self.seen:6}\t{line}")
        self.width += len(line)

    def text(self, note: str) -> str:
        if not self.seen:
            return "(the file is empty)"
        if not self.lines:
            return f"(the file has {self.seen:,} lines, none from line {self.offset:,})"
        notes = [note] if note else []
        if self.full:
            notes.append(f"there is more: go on with offset {self.offset + len(self.lines)}")
        if self.cut:
            notes.append("long lines are cut")
        return "\n".join(self.lines) + (f"\n({'; '.join(notes)})" if notes else "")


def _picture(path: str, data: bytes, kind: str) -> Result:
    if len(data) > images.MOST:
        raise Failed(f"{shown(path)} is an image of more than {images.MOST:,} bytes: make it smaller first")
    name = {"type": "text", "text": f"{shown(path)} ({kind}, {len(data):,} bytes)"}
    return Result((name, images.block(data, kind)), data=seen(path, data))
