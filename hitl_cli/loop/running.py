"""The runs that go on in this process: each in a task of its own, watched by whoever asked for it, stopped from anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from hitl_cli.loop.drive import Drive
from hitl_cli.loop.opening import First
from hitl_cli.outcome import Run, RunEnded


class Running:
    def __init__(self) -> None:
        self._runs: dict[str, tuple[Drive, asyncio.Task[Run]]] = {}

    def __contains__(self, session: str) -> bool:
        return session in self._runs

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._runs))

    def of(self, session: str) -> Drive:
        return self._runs[session][0]

    async def events(self, drive: Drive, first: First) -> AsyncGenerator[Any, None]:
        """Run `first`, then the loop, and yield what it shows.

        Cancelling the watcher stops the turn and closes its open calls; a watcher that merely goes away leaves the
        session as it is on record.
        """
        queue: asyncio.Queue[Any] = asyncio.Queue()
        drive.emit = queue.put_nowait

        task = asyncio.create_task(drive.go(first))
        self._runs[drive.session] = drive, task
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            yield RunEnded(task.result())
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            drive.abandoned = not task.done() and not task.cancelling()
            if drive.abandoned:
                task.cancel()
            await asyncio.wait([task])
            self._runs.pop(drive.session, None)
            if drive.abandoned:
                drive.agent.folds.forget(drive.session)

    async def stop(self, session: str) -> Run | None:
        """End its turn; None when that was cancelled by its watcher."""
        drive, task = self._runs[session]
        drive.stopping = True
        task.cancel()
        await asyncio.wait([task])
        return None if task.cancelled() else task.result()
