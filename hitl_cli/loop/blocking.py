"""`agent.sync`: the agent's methods for code that has no event loop.

They run in one private loop in one thread, so that a client of the model is only ever used by one loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from hitl_cli.agent import Agent, Session
    from hitl_cli.journal import Changed
    from hitl_cli.loop.context import Context
    from hitl_cli.loop.opening import Answers
    from hitl_cli.outcome import Run, Snapshot


async def _next(events: AsyncGenerator[Any, None]) -> Any:
    return await anext(events)


class Blocking:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hitl agent", daemon=True)
        self._thread.start()

    def run(self, text: str, session: Session | None = None, **options: Any) -> Run:
        return self._wait(self._agent.run(text, session, **options))

    def resume(self, session: Session, answers: Answers, **options: Any) -> Run:
        return self._wait(self._agent.resume(session, answers, **options))

    def answer(self, session: Session, answers: Answers, **options: Any) -> Snapshot:
        return self._wait(self._agent.answer(session, answers, **options))

    def recover(self, session: Session, **options: Any) -> Run:
        return self._wait(self._agent.recover(session, **options))

    def stream(self, text: str, session: Session | None = None, **options: Any) -> Iterator[Any]:
        return self._each(self._agent.stream(text, session, **options))

    def stream_resume(self, session: Session, answers: Answers, **options: Any) -> Iterator[Any]:
        return self._each(self._agent.stream_resume(session, answers, **options))

    def stream_recover(self, session: Session, **options: Any) -> Iterator[Any]:
        return self._each(self._agent.stream_recover(session, **options))

    def stop(self, session: Session) -> Run | None:
        return self._wait(self._agent.stop(session))

    def change(self, session: Session, changed: Changed) -> None:
        self._wait(self._agent.change(session, changed))

    def compact(self, session: Session, focus: str = "", **options: Any) -> None:
        self._wait(self._agent.compact(session, focus, **options))

    def context(self, session: Session | None = None) -> Context:
        return self._wait(self._agent.context(session))

    def load(self, session: Session) -> Snapshot:
        return self._wait(self._agent.load(session))

    def close(self) -> None:
        """Close the agent and end the thread."""
        if self._loop.is_closed():
            return
        self._wait(self._agent.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result; Ctrl-C here cancels the work there, which closes what was open."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            self._idle()
            raise

    def _idle(self) -> None:
        """Wait until everything that was cancelled has come to its end."""

        async def rest() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            if others:
                await asyncio.wait(others, timeout=10)

        asyncio.run_coroutine_threadsafe(rest(), self._loop).result()

    def _each(self, events: AsyncGenerator[Any, None]) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._wait(_next(events))
                except StopAsyncIteration:
                    return
        finally:
            self._wait(events.aclose())
