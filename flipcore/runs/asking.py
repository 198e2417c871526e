"""What asking models keeps between a call and the disk: calls that are stored, calls on their way, rows on theirs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future

import numpy as np

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Completion
from flipcore.store.connection import Store
from flipcore.store.queries import planning
from flipcore.store.writer import Part, Writer

MOST_WAITING = 2_000  # hand-overs on their way to the disk, beyond which a run waits for it
_POLL_S = 0.02


class StoredCalls:
    """The answered calls of some models, as a set of 20 bytes a call. What a run stores itself is not in it; it is read again when
    something was merged. A call in it may have been purged since, so its row is to be looked up."""

    def __init__(self, store: Store, models: Iterable[str]) -> None:
        self._store, self._models = store, list(models)
        self._revision = -1
        self._ids = np.array([], dtype="S20")

    def __contains__(self, call_id: str) -> bool:
        if (revision := self._store.revision("")) != self._revision:
            self._revision, self._ids = revision, np.sort(planning.answered_ids(self._store, self._models))
        name = call_id.encode()
        place = np.searchsorted(self._ids, name)
        return bool(place < len(self._ids) and self._ids[place] == name)


class NotAsked(FlipscopeError):
    """The run that had taken the call stopped before it sent it."""


class InFlight:
    """A call is here from the moment that a run takes it until its completion is stored."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, Future[Completion]] = {}
        self._safe_ids: set[str] = set()

    def begin(self, call_id: str) -> tuple[Future[Completion] | None, Future[Completion] | None]:
        """(mine, None) when the caller is to ask it, (None, another's) when it is on its way, (None, None) when it was stored
        since this process began."""
        with self._lock:
            if call_id in self._safe_ids:
                return None, None
            if call_id in self._calls:
                return None, self._calls[call_id]
            mine = self._calls[call_id] = Future()
            return mine, None

    def give_up(self, call_id: str, why: BaseException) -> None:
        """The call brought nothing; who waits for it asks it themselves."""
        with self._lock:
            self._calls.pop(call_id).set_exception(why)

    def end(self, call_id: str, completion: Completion, error: BaseException | None) -> None:
        """The completion is stored, or could not be (`error`)."""
        if error is not None:
            self.give_up(call_id, error)
            return
        with self._lock:
            if completion.status == "ok":
                self._safe_ids.add(call_id)
            self._calls.pop(call_id).set_result(completion)


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
