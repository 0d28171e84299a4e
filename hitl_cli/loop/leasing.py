"""A claimed session, its lease renewed by a thread that no tool body can block, released at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from hitl_cli.errors import HitlError, StaleLease
from hitl_cli.store import Lease, Store

TTL = 30.0
RENEW = 10.0


class Leasing:
    """`with Leasing(store, session) as held:` - SessionBusy at once when somebody else runs the session."""

    def __init__(self, store: Store, session: str) -> None:
        self.store, self.session = store, session
        self.lost: Callable[[StaleLease], None] = lambda why: None  # called from another thread
        self._done = threading.Event()

    def __enter__(self) -> Leasing:
        self.lease: Lease = self.store.claim(self.session, TTL)
        threading.Thread(target=self._renew, name=f"lease of {self.session}", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        with suppress(HitlError):  # a store that fails now has told so already, and the lease ends by itself
            self.store.release(self.lease)

    def _renew(self) -> None:
        while not self._done.wait(RENEW):
            try:
                self.store.renew(self.lease, TTL)
            except StaleLease as why:  # taken over: every append is refused from now on
                self.lost(why)
                return
            except HitlError:
                continue  # the store may be back before the lease ends
