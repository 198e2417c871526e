"""When to stop asking a server that does not answer: a dead one must not cost every call its five attempts.

After SUSPECT failures in a row, whoever's they are, one call at a time goes on asking, with its usual waits, and the others
wait for it. Its first success lets all go on; PROBES failures more mean that the server is down for the rest of the run.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

SUSPECT = 5
PROBES = 4
_REFUSES_ALL = {401, 403, 404}  # a key, a model or a path that is wrong for every call


class Breaker:
    """One for each model and run. `down` is the sentence that says why nothing more is sent, or ""."""

    def __init__(self):
        self.down = ""
        self._n_failures = self._n_probes = 0
        self._locks: dict[int, asyncio.Lock] = {}

    @asynccontextmanager
    async def turn(self):
        """Waits until this call may ask; while the server is under suspicion that is one call at a time."""
        if self._is_suspect:
            async with self._locks.setdefault(id(asyncio.get_running_loop()), asyncio.Lock()):
                if self._is_suspect:
                    yield
                    return
        yield

    def answered(self) -> None:
        """Something came back, be it a refusal of this one request."""
        self._n_failures = self._n_probes = 0

    def failed(self, error: Exception, sentence: str) -> None:
        """Counts an attempt that failed; one that shows the server alive (a rate limit, a refused request) begins anew."""
        status = getattr(error, "status_code", None)
        if status is not None and status < 500 and status not in _REFUSES_ALL:
            self.answered()
            return
        self._n_probes += self._is_suspect
        self._n_failures += 1
        if self._n_probes >= PROBES:
            self.down = sentence

    @property
    def _is_suspect(self) -> bool:
        return self._n_failures >= SUSPECT
