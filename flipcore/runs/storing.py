"""What a run hands to the writer, and what of it is not yet safe. Nothing counts as done before it is stored."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from flipcore.store.writer import Part, Writer

MOST_WAITING = 2_000  # hand-overs on their way to the disk, beyond which a run waits for it
_POLL_S = 0.02


class Storing:
    """The rows of one run on their way to the disk. `problem` is the first fault; nothing is handed over after it."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._lock = writer, threading.Lock()
        self._n_waiting = 0
        self.problem: BaseException | None = None

    def add(self, parts: Iterable[Part], then: Callable[[BaseException | None], None] | None = None) -> None:
        """Hands rows over; `then` is told, in the writer's thread, that they are safe (None) or why they are not."""
        with self._lock:
            self._n_waiting += 1
        self._writer.add_together(parts).add_done_callback(lambda future: self._ended(future, then))

    def _ended(self, future: Future, then: Callable[[BaseException | None], None] | None) -> None:
        error = future.exception()
        if then:
            then(error)
        with self._lock:
            self._n_waiting -= 1
            self.problem = self.problem or error

    async def room(self) -> None:
        """Waits while the disk is far behind."""
        while self._n_waiting > MOST_WAITING:
            await asyncio.sleep(_POLL_S)

    async def safe(self) -> None:
        """Waits until everything is stored; raises the first fault."""
        while self._n_waiting:
            await asyncio.sleep(_POLL_S)
        if self.problem:
            raise self.problem
