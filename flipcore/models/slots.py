"""Limits the calls in flight to a server to the number in its card, for this whole process.

Runs, repeated judging and proposals of paraphrases each have an event loop in a thread of their
own, so a semaphore of asyncio would count the calls of only one of them.
"""

import asyncio
import threading
from collections import deque
from types import TracebackType
from weakref import WeakValueDictionary

from flipcore.models.cards import ModelCard

FEW_AT_ONCE = 4  # for a model without a card, which is computed in this process


class Slots:
    """`async with slots:` waits until fewer than `most` calls are in flight, in all event loops.
    Slots are given in the order of asking."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._n_taken = 0
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._n_taken < self.most and not self._waiting:
                self._n_taken += 1
                return
            turn = loop.create_future()
            self._waiting.append((loop, turn))
        try:
            await turn
        except BaseException:
            self._leave(loop, turn)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._n_taken -= 1
            self._grant_free_slots()

    @property
    def n_possible(self) -> int:
        """The most calls in flight until `most` changes again.
        It is more than `most` while calls from the time of a larger limit are in flight."""
        with self._lock:
            return max(self.most, self._n_taken)

    def change(self, most: int) -> None:
        """Set the limit. Slots that this frees are given at once; calls in flight go on."""
        with self._lock:
            self.most = most
            self._grant_free_slots()

    def _grant_free_slots(self) -> None:
        """Give free slots to those who wait longest. The caller holds the lock."""
        while self._waiting and self._n_taken < self.most:
            loop, turn = self._waiting.popleft()
            try:
                loop.call_soon_threadsafe(_grant, turn)
            except RuntimeError:  # this waiter's event loop is closed
                continue
            self._n_taken += 1

    def _leave(self, loop: asyncio.AbstractEventLoop, turn: asyncio.Future[None]) -> None:
        """Remove a waiter from the queue, or free the slot that it got in the meantime."""
        with self._lock:
            if (loop, turn) in self._waiting:
                self._waiting.remove((loop, turn))
            else:
                self._n_taken -= 1
                self._grant_free_slots()


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


# (endpoint, model, name of the key's variable) -> slots
_server_slots: WeakValueDictionary[tuple[str, str, str], Slots] = WeakValueDictionary()
_server_slots_lock = threading.Lock()


def slots_of(card: ModelCard | None) -> Slots:
    """Return the slots of a card's server, shared by all who use its endpoint, model and key.
    Their limit is that of the newest card. Without a card or a server the slots are new ones."""
    if card is None:
        return Slots(FEW_AT_ONCE)
    if not card.endpoint:
        return Slots(card.n_in_flight)
    with _server_slots_lock:
        slots = _server_slots.setdefault(
            (card.endpoint, card.model, card.api_key_env), Slots(card.n_in_flight)
        )
        slots.change(card.n_in_flight)
        return slots
