"""Servers whose tools join the tool set, over the Model Context Protocol (home of the `mcp` package).

Each server lives in one task that opens the connection, keeps it and closes it. What the model was shown of a tool is
what runs: before every call the server is asked for its list again, and a tool that is gone or no longer what it was is
not called. A server that cannot be reached, dies, or never answers is a problem told to the person, or a failed result;
a call is never sent twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_cli.access import Place
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.declare import Failed, body
from hitl_cli.tools.foreign import cleaned, description_of, hints_of, name_of, result_of, schema_of
from hitl_cli.tools.servers import Server, servers_from_settings

if TYPE_CHECKING:
    from mcp import Client
    from pydantic import BaseModel

__all__ = ["Server", "Servers", "servers_from_settings"]

CONNECT, LIST = 30.0, 15.0  # seconds for the start of a server and for its list of tools
_PAGES = 100  # of a list of tools
Listed = Mapping[str, Any]  # a tool as the protocol has it


class Servers:
    """The servers of one session. `connect` before the first request to a model, `close` at the end."""

    def __init__(self, servers: Sequence[Server], place: Place, outputs: Path) -> None:
        """`outputs`: where results that are too long are kept whole, as `outputs/SESSION/CALL.txt`."""
        self._links = [_Link(server, place.cwd) for server in servers]
        self._outputs = outputs

    async def connect(self) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
        """The tools of all servers that can be reached, and what is wrong with the others, in words for a person.

        All at once, within `CONNECT` seconds. Called again it tries again what is not connected and lists anew.
        """
        problems: list[str] = []
        tools: dict[str, Tool] = {}
        for link, failure in zip(
            self._links, await asyncio.gather(*(_tried(link) for link in self._links)), strict=True
        ):
            if failure:
                problems.append(f"mcp server {link.server.name}: {failure}")
                continue
            for listed in link.tools.values():
                try:
                    tool = self._tool(link, listed)
                except Failed as left_out:
                    problems.append(f"mcp server {link.server.name}: {left_out}")
                    continue
                if tool.name in tools:
                    problems.append(f"mcp server {link.server.name}: two of its tools would be called {tool.name}")
                else:
                    tools[tool.name] = tool
        return tuple(tools.values()), tuple(problems)

    @property
    def connected(self) -> dict[str, bool]:
        """Whether each server, by name, is connected now."""
        return {link.server.name: link.client is not None for link in self._links}

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links))

    def _tool(self, link: _Link, listed: Listed) -> Tool:
        @body
        async def run(input: Input, ctx: Context) -> Result:
            reply = await link.call(listed, input, ctx)
            return result_of(reply, self._outputs / ctx.session / f"{ctx.call}.txt")

        def preview(input: Input, place: Place) -> Preview:
            arguments = json.dumps(input, indent=2, ensure_ascii=False)
            hints = hints_of(listed)
            said = f"\n\nThe server says of this tool, unproved: {hints}." if hints else ""
            return Preview("text", f"{link.server.name}: {cleaned(listed['name'], 80)}", arguments + said)

        return Tool(
            name=name_of(link.server.name, listed),
            description=description_of(listed),
            schema=schema_of(listed),
            run=run,
            preview=preview,
            approve=True,
        )


async def _tried(link: _Link) -> str:
    try:
        await link.open()
    except Failed as failure:
        return str(failure)
    return ""


class _Link:
    """One server and the connection to it, if there is one."""

    def __init__(self, server: Server, cwd: str) -> None:
        self.server, self.cwd = server, cwd
        self.client: Client | None = None
        self.tools: dict[str, Listed] = {}
        self._task: asyncio.Task[None] | None = None
        self._connecting = asyncio.Lock()
        self._end = asyncio.Event()
        self._said = b""  # the end of what the server wrote to standard error

    async def open(self) -> None:
        """Connected, with `tools` as the server lists them now; raises Failed."""
        await self._connect()
        self.tools = await self._listed()

    async def _connect(self) -> None:
        async with self._connecting:
            if self.client is None:
                await self._begin()

    async def _begin(self) -> None:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._end, self._said = asyncio.Event(), b""
        self._task = asyncio.ensure_future(self._live(ready))
        try:
            await asyncio.wait_for(asyncio.shield(ready), CONNECT)
        except TimeoutError:
            await self._stop()
            raise Failed(f"no answer within {CONNECT:g} s{self._last_words()}") from None
        except asyncio.CancelledError:
            await self._stop()
            raise
        except Exception as error:
            raise Failed(f"{_reason(error)}{self._last_words()}") from None

    async def _live(self, ready: asyncio.Future[None]) -> None:
        """Opens the connection, keeps it until `_end` is set, closes it; all in this one task, as the library needs."""
        try:
            async with self._opened() as client:
                self.client = client
                ready.set_result(None)
                await self._end.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error if isinstance(error, Exception) else ConnectionError(str(error)))
        finally:
            self.client = None
            if not ready.done():
                ready.cancel()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Client]:
        import httpx2  # what the mcp package itself speaks HTTP with
        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        logging.getLogger("mcp").addHandler(logging.NullHandler())  # its complaints are not for the terminal
        async with AsyncExitStack() as stack:
            if self.server.url:
                timeout = httpx2.Timeout(CONNECT, read=self.server.timeout)
                http = httpx2.AsyncClient(headers=dict(self.server.headers), timeout=timeout)
                await stack.enter_async_context(http)
                transport: Any = streamable_http_client(self.server.url, http_client=http)
            else:
                errors = stack.enter_context(os.fdopen(self._listen(stack), "w"))
                parameters = StdioServerParameters(
                    command=self.server.command, args=list(self.server.args), env=dict(self.server.env), cwd=self.cwd
                )
                transport = stdio_client(parameters, errlog=errors)
            yield await stack.enter_async_context(Client(transport))

    def _listen(self, stack: AsyncExitStack) -> int:
        """A descriptor for the server's standard error, of which the last lines are kept."""
        loop = asyncio.get_running_loop()
        reads, writes = os.pipe()
        os.set_blocking(reads, False)

        def heard() -> None:
            with suppress(BlockingIOError):
                data = os.read(reads, 65536)
                self._said = (self._said + data)[-2000:]
                if not data:
                    loop.remove_reader(reads)

        loop.add_reader(reads, heard)
        stack.callback(os.close, reads)
        stack.callback(loop.remove_reader, reads)
        return writes

    def _last_words(self) -> str:
        lines = cleaned(self._said.decode("utf-8", "replace")).splitlines()
        return f"; it wrote: {lines[-1][:200]}" if lines else ""

    async def _listed(self) -> dict[str, Listed]:
        """The server's list of tools, by name."""
        assert self.client is not None
        found: dict[str, Listed] = {}
        cursor: str | None = None
        try:
            async with asyncio.timeout(LIST):
                for _ in range(_PAGES):
                    page = await self.client.list_tools(cursor=cursor, cache_mode="refresh")
                    found |= {tool.name: _plain(tool) for tool in page.tools}
                    cursor = page.next_cursor
                    if cursor is None:
                        break
        except TimeoutError:
            raise Failed(f"it did not list its tools within {LIST:g} s{self._last_words()}") from None
        except Exception as error:
            await self._lost(error)
            raise Failed(f"it could not list its tools: {_reason(error)}{self._last_words()}") from None
        return found

    async def call(self, shown: Listed, input: Input, ctx: Context) -> Mapping[str, Any]:
        """One call of a tool that is still what the model was shown."""
        await self._connect()
        now = (await self._listed()).get(shown["name"])
        if now is None:
            raise Failed(f"the server {self.server.name} no longer has the tool {shown['name']}; it was not called")
        if now != shown:
            raise Failed(
                f"the server {self.server.name} has changed the tool {shown['name']} since it was offered; it was not "
                "called. A new session, or /mcp, shows it as it is now"
            )

        async def shown_live(progress: float, total: float | None, message: str | None) -> None:
            said = message or f"{progress:g}" + (f" of {total:g}" if total else "")
            ctx.progress(cleaned(said, 200) + "\n")

        client = self.client
        assert client is not None
        try:
            async with asyncio.timeout(self.server.timeout):
                reply = await client.call_tool(shown["name"], dict(input), progress_callback=shown_live)
        except TimeoutError:
            raise Failed(f"no answer within {self.server.timeout:g} s; the server may still be working on it") from None
        except Exception as error:
            await self._lost(error)
            raise Failed(f"{self.server.name}: {_reason(error)}{self._last_words()}") from None
        return _plain(reply)

    async def _lost(self, error: Exception) -> None:
        """After a connection that is gone the next call opens another."""
        from mcp_types import CONNECTION_CLOSED

        if getattr(error, "code", CONNECTION_CLOSED) == CONNECTION_CLOSED:
            await self.close()

    async def close(self) -> None:
        """Ends the connection in its own time, which the library bounds."""
        self._end.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _stop(self) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _reason(error: BaseException) -> str:
    from pydantic import ValidationError

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"{error.filename} was not found: install it, or correct its command in the settings"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"its answer breaks the protocol at {'.'.join(map(str, first['loc']))} ({first['msg']})"
    return cleaned(str(error), 300) or type(error).__name__
