"""Slots for calls on their way to a server at once: never more than its card says, whatever runs in
this process ask it.

A run, a judge that is asked again and whoever proposes paraphrases each have an event loop of their
own, in a thread of its own, so a semaphore of asyncio would count for one of them alone.
"""

import asyncio
import threading
from collections import deque
from types import TracebackType
from weakref import WeakValueDictionary

from flipcore.models.cards import ModelCard

FEW_AT_ONCE = 4  # of a model without a card, which is asked in this process


class Slots:
    """`async with slots:` waits until fewer than `most` calls are on their way; who came first goes
    first, from whatever loop."""

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
            self._hand_on()

    @property
    def n_possible(self) -> int:
        """Number of calls that may be on their way before `most` is changed again: more than it
        where it was larger."""
        with self._lock:
            return max(self.most, self._n_taken)

    def change(self, most: int) -> None:
        """So many from now on: who waits for a slot that this frees has it at once; what is on its
        way comes in."""
        with self._lock:
            self.most = most
            self._hand_on()

    def _hand_on(self) -> None:
        """The free slots go to who waits longest; a loop that was closed with its waiters is passed
        over. The lock is held."""
        while self._waiting and self._n_taken < self.most:
            loop, turn = self._waiting.popleft()
            try:
                loop.call_soon_threadsafe(_grant, turn)
            except RuntimeError:  # the loop is closed
                continue
            self._n_taken += 1

    def _leave(self, loop: asyncio.AbstractEventLoop, turn: asyncio.Future[None]) -> None:
        """Somebody stopped waiting: out of the line, or, where the slot was handed over meanwhile,
        gives it back."""
        with self._lock:
            if (loop, turn) in self._waiting:
                self._waiting.remove((loop, turn))
            else:
                self._n_taken -= 1
                self._hand_on()


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


_of_servers: WeakValueDictionary[tuple[str, str, str], Slots] = WeakValueDictionary()
_lock = threading.Lock()


def slots_of(card: ModelCard | None) -> Slots:
    """The slots of a card's server, the same ones for all that ask it now with this key, as many as
    the newest card says. Without a card, or a server, they are the caller's own."""
    if card is None:
        return Slots(FEW_AT_ONCE)
    if not card.endpoint:
        return Slots(card.n_in_flight)
    with _lock:
        slots = _of_servers.setdefault(
            (card.endpoint, card.model, card.api_key_env), Slots(card.n_in_flight)
        )
        slots.change(card.n_in_flight)
        return slots
