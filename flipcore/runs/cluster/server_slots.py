"""How many calls the runs of a cluster may have on their way to one server: together what its card says, shared out among them.

Their drivers are processes, often of several machines, so the parts are kept on the cluster. Each driver says twice a second what it
may have just now, and hears what it may have next. Nobody is given what another may still use, so the sum holds while parts change as
runs come and go. A driver that says nothing for LEASE_S is gone, and the calls of its workers with it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from flipcore.models import ModelCard
from flipcore.models.slots import Slots
from flipcore.runs.cluster.place import WorkerLost

RENEW_S, LEASE_S = 0.5, 10.0
TURN_S = 5.0  # after which what cannot be divided goes to the next run
MOST_FAULTS = 5  # in a row, after which a run goes by its card alone: what keeps the parts is out of reach
LEAVES = -1  # calls that a run wants which is over


@dataclass
class _Part:
    """Of one run: how many calls it may have on their way, at most, until it is heard again."""

    n: int
    heard_at: float


class ServerParts:
    """What each run may have of each server. `wait_s` is how long nothing is given out: whoever was at work before this stood, has
    said so by then."""

    def __init__(self, wait_s: float = 1.5 * RENEW_S, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._opens_at = now, now() + wait_s
        self._parts: dict[str, dict[str, _Part]] = {}

    def renew(self, server: str, run: str, most: int, n_now: int) -> int:
        """How many calls the run may have on their way to the server, which takes `most`; until it hears so it may have `n_now`."""
        now, parts = self._now(), self._parts.setdefault(server, {})
        for name in [name for name, part in parts.items() if (name == run and most == LEAVES) or part.heard_at < now - LEASE_S]:
            del parts[name]
        if most == LEAVES:
            return 0
        mine = parts.setdefault(run, _Part(0, now))
        turn = (list(parts).index(run) + int(now / TURN_S)) % len(parts)
        fair = most // len(parts) + (turn < most % len(parts))
        free = most - sum(part.n for part in parts.values() if part is not mine)
        n = max(min(fair, free), 0) if now >= self._opens_at else 0
        mine.n, mine.heard_at = max(n, n_now), now
        return n


class SharedSlots(Slots):
    """A run's slots of one server: as many as its cluster says just now. `renew` asks the cluster. One where nobody can be asked lets
    the run have what the card says, so that it comes to its end, or to the sentence why not."""

    def __init__(self, card: ModelCard, most: int, renew: Callable[[str, str, int, int], Awaitable[int]]) -> None:
        super().__init__(0)
        self._server, self._run = f"{card.endpoint} {card.model} {card.api_key_env}", uuid4().hex
        self._card_most, self._renew = most, renew
        self._watch: asyncio.Future[None] | None = None

    async def __aenter__(self) -> None:
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._keep_up())
        await super().__aenter__()

    async def _keep_up(self) -> None:
        """Until the run's loop ends, which cancels it."""
        n_faults = 0
        try:
            while True:
                try:
                    n = await asyncio.wait_for(
                        self._renew(self._server, self._run, self._card_most, self.n_possible), LEASE_S / 2
                    )
                    n_faults = 0
                except (WorkerLost, TimeoutError):
                    n_faults += 1
                    n = self._card_most if n_faults >= MOST_FAULTS else self.most
                except Exception:  # as where machines lack Flipscope, which the first call says
                    n, n_faults = self._card_most, MOST_FAULTS
                self.change(n)
                await asyncio.sleep(RENEW_S)
        finally:
            with suppress(Exception):
                await asyncio.wait_for(self._renew(self._server, self._run, LEAVES, 0), LEASE_S / 2)
