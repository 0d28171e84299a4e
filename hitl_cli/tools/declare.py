"""What every built-in tool shares: its words for the model, the file it means, and failure as a result.

A body raises `Failed` (or the system an `OSError`) with a text that helps the model go on; `body` turns that into the
result the model sees. The path a body opens is the one `accesses_of` stated and the policy judged, links resolved:
there is no second reading of an argument that could differ from the judged one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from pathlib import Path

from hitl_cli.access import Access, Opaque, Place, ReadPath, WritePath
from hitl_cli.accesses import accesses_of
from hitl_cli.journal import Json, Result
from hitl_cli.tooldef import Context, Input


class Failed(Exception):
    """The call did not work; the text says why and what to do instead. `data` is for screens."""

    def __init__(self, text: str, data: Mapping[str, Json] | None = None) -> None:
        super().__init__(text)
        self.data = dict(data or {})


def body(run: Callable[[Input, Context], Awaitable[Result]]) -> Callable[[Input, Context], Awaitable[Result]]:
    """`run` with its failures as results: nothing the world does to a body becomes a traceback."""

    @wraps(run)
    async def guarded(input: Input, ctx: Context) -> Result:
        try:
            return await run(input, ctx)
        except (Failed, OSError, UnicodeError) as error:
            return _failure(error)

    return guarded


def plain_body(run: Callable[[Input, Context], Result]) -> Callable[[Input, Context], Result]:
    """As `body`, for work on files: the loop runs it in a thread."""

    @wraps(run)
    def guarded(input: Input, ctx: Context) -> Result:
        try:
            return run(input, ctx)
        except (Failed, OSError, UnicodeError) as error:
            return _failure(error)

    return guarded


def _failure(error: Exception) -> Result:
    data = error.data if isinstance(error, Failed) else {}
    return Result(explained(error), ok=False, kind="error", data=data)


def explained(error: Exception) -> str:
    """An error in words; one of the system as `path: No such file or directory`."""
    if isinstance(error, Failed):
        return str(error)
    if not isinstance(error, OSError):
        return f"the text cannot be written in this encoding: {error}"
    name = error.filename if isinstance(error.filename, str) else ""
    return f"{shown(name)}: {error.strerror}" if name and error.strerror else error.strerror or str(error)


def words(tool: str) -> str:
    """What the model is told about a tool: the text file beside its module."""
    return Path(__file__).with_name(f"{tool}.md").read_text(encoding="utf-8").strip()


def states(tool: str) -> Callable[[Input, Place], tuple[Access, ...]]:
    return lambda input, place: accesses_of(tool, input, place)


def target(tool: str, input: Input, place: Place) -> str:
    """The absolute path, links resolved, that a file tool's call means."""
    access = accesses_of(tool, input, place)[0]  # what follows it are other names of the same file
    if isinstance(access, Opaque):
        raise Failed(f"{access.reason}: {access.text}")
    assert isinstance(access, (ReadPath, WritePath))
    return access.real or access.path


def schema(required: tuple[str, ...], **properties: Mapping[str, Json]) -> dict[str, Json]:
    """A JSON schema of an object that takes these properties and no others."""
    return {
        "type": "object",
        "properties": {name: dict(value) for name, value in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }


def shown(path: str) -> str:
    """A file name as text that can be encoded: bytes that are not UTF-8 become `\\xNN`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
