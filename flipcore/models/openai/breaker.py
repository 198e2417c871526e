"""How a server that fails is asked: rarely, by a question of its own, and not at all once it stays away.

A call that fails may be at fault itself, so the calls of a study cannot say whether a server is gone. After `SUSPECT` failures
in a row nothing but a control is sent (one token of a harmless prompt), at growing intervals; once it is answered all go on.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from flipcore.models.openai import retries

SUSPECT = 5  # failures in a row, of any calls
PROBES = 8  # controls in a row that fail before the server counts as gone: 40 seconds of waiting
FEWEST_PROBES = 3
OUTAGE_S = 120.0  # so long a server may hang on every control, once FEWEST_PROBES failed
LIMITED_S = 300.0  # so long a rate limit may refuse every control
START = 4  # calls at once after an outage; one more with every answer
_DOUBLINGS = 4
_POLL_S = 0.02
_REFUSES_ALL = {401, 403, 404}  # a key, a model or a path that is wrong for every call, if a control is refused as well
_BUSY = {408, 429}


class Breaker:
    """One for each model and run. `down` is the sentence that says why nothing more is sent, or ""; `is_halted` is set when
    the run stops. `control` asks the server something harmless and raises its fault, `explain` says the fault."""

    def __init__(self, control: Callable[[], Awaitable[None]], explain: Callable[[Exception], str]) -> None:
        self._control, self._explain = control, explain
        self.down, self.is_halted = "", False
        self._n_failures = self._n_probes = self._n_now = 0
        self._suspected_at, self._last_words, self._asked_wait = 0.0, "", 0.0
        self._allowed = math.inf
        self._locks: dict[int, asyncio.Lock] = {}

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits until a call may be sent, or until there is no point in it any more."""
        await self.verdict()
        while self._n_now >= self._allowed and not self._is_over:
            await asyncio.sleep(_POLL_S)
        self._n_now += 1
        try:
            yield
        finally:
            self._n_now -= 1

    async def verdict(self) -> None:
        """While the server is under suspicion: waits until it answers a control or is given up."""
        while self._is_suspect and not self._is_over:
            async with self._locks.setdefault(id(asyncio.get_running_loop()), asyncio.Lock()):
                if self._is_suspect and not self._is_over:
                    await self._probe()

    async def rest(self, seconds: float) -> None:
        """Sleeps, and wakes when the run stops or the server is given up."""
        end = time.monotonic() + seconds
        while not self._is_over and (wait_s := end - time.monotonic()) > 0:
            await asyncio.sleep(min(wait_s, 0.2))

    def answered(self) -> None:
        """Something came back, be it a refusal of this one request."""
        if self._is_suspect:
            self._allowed = START
        else:
            self._allowed += 1
        self._n_failures = self._n_probes = 0
        self._asked_wait = 0.0

    def failed(self, error: Exception, sentence: str) -> None:
        """Counts a failed attempt. A refused request shows that the server is alive, and the count starts again."""
        if _is_alive(error):
            self.answered()
            return
        self._n_failures += 1
        self._last_words = sentence
        if self._n_failures == SUSPECT:
            self._suspected_at = time.monotonic()

    @property
    def trouble(self) -> str:
        """What is going on while the server fails, with the requests that are still sent; "" while it answers."""
        if not self._is_suspect or self._is_over:
            return ""
        return f"{self._last_words} It is asked once every {self._interval():.1f} s until it answers."

    @property
    def _is_suspect(self) -> bool:
        return self._n_failures >= SUSPECT

    @property
    def _is_over(self) -> bool:
        return bool(self.down) or self.is_halted

    def _interval(self) -> float:
        return max(retries.FIRST_WAIT_S * 2 ** min(self._n_probes, _DOUBLINGS), self._asked_wait)

    async def _probe(self) -> None:
        await self.rest(self._interval())
        if self._is_over:
            return
        try:
            await self._control()
        except Exception as error:  # as in the client: the transport raises many kinds
            if _is_alive(error):
                self.answered()
            else:
                self._control_failed(error)
        else:
            self.answered()

    def _control_failed(self, error: Exception) -> None:
        """A control that failed: the next one waits longer, and after enough of them the server is given up."""
        self._n_probes += 1
        self._last_words = self._explain(error)
        self._asked_wait = min(retries.asked_wait(error) or 0.0, retries.LONGEST_WAIT_S)
        seconds = time.monotonic() - self._suspected_at
        status = getattr(error, "status_code", None)
        if status in _REFUSES_ALL:
            is_gone = True
        elif status == 429:
            is_gone = seconds > LIMITED_S
        else:
            is_gone = self._n_probes >= PROBES or (self._n_probes >= FEWEST_PROBES and seconds > OUTAGE_S)
        if is_gone:
            self.down = self._last_words


def _is_alive(error: Exception) -> bool:
    """Whether the server answered, so that its fault concerns this one request."""
    status = getattr(error, "status_code", None)
    return status is not None and status < 500 and status not in _REFUSES_ALL | _BUSY
