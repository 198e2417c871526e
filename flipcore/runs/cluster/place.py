"""Places where the calls of a run are answered: this process, or the workers of a cluster. A run
asks its place for each model and knows no difference; the place of a cluster says besides how its
workers fare."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from math import ceil
from uuid import uuid4

from flipcore.core.contracts import Backend
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Call
from flipcore.core.study import ModelUse
from flipcore.models import ModelCard, open_backend
from flipcore.models.cards import SERVED, is_near
from flipcore.models.slots import FEW_AT_ONCE, Slots, slots_of
from flipcore.runs.cluster.states import WorkerState
from flipcore.runs.cluster.worker import Greeting, Reply, Setup

# Where the workers of a model go, and how many calls each may have. A model that is computed in the
# worker has one worker a processor, or one for each part of the graphics processors that its card
# asks for (`options.gpus`). A server is asked by one worker a machine. If it stands on the machine
# itself (localhost), every machine has its own, and each takes what its card says; else there is
# one server, and the workers share what it takes.


@dataclass(frozen=True)
class Machine:
    """A machine of a cluster with its free-standing resources."""

    node_id: str
    name: str
    n_cpus: float
    n_gpus: float = 0


@dataclass(frozen=True)
class WorkerSlot:
    """Room for one worker: its name for people, the machine that it is meant for, and how many
    calls it takes at once. One that only waits for a server takes no processor."""

    name: str
    node_id: str
    n_at_once: int
    is_waiting: bool = False
    n_gpus: float = 0


def worker_slots(
    card: ModelCard | None, machines: Sequence[Machine], name: str, address: str
) -> list[WorkerSlot]:
    """The places of a model's workers. Raises FlipscopeError where there is none."""
    n_at_once = card.n_in_flight if card else FEW_AT_ONCE
    usable = [machine for machine in machines if machine.n_cpus >= 1]
    n_gpus = float(card.options.get("gpus", 0)) if card else 0.0
    spots: list[Machine] = []
    if n_gpus > 0:
        for machine in machines:
            spots += [machine] * int(machine.n_gpus // n_gpus)
        rooms = [n_at_once] * len(spots)
    elif card is not None and card.backend == SERVED:
        spots = usable
        rooms = (
            [n_at_once] * len(spots) if is_near(card.endpoint) else shares(n_at_once, len(spots))
        )
    else:
        for machine in usable:
            spots += [machine] * int(machine.n_cpus)
        rooms = [n_at_once] * len(spots)
    is_waiting = bool(card and card.backend == SERVED and not n_gpus)
    rooms_by_spot = [(spot, room) for spot, room in zip(spots, rooms, strict=True) if room]
    if not rooms_by_spot:
        needs = f"{n_gpus:g} graphics processors" if n_gpus else "a processor"
        raise FlipscopeError(
            f"{address} has no machine with {needs} for {name}. Add one to the cluster, or run the"
            " study on this machine."
        )
    return [
        WorkerSlot(f"{spot.name} #{i}", spot.node_id, room, is_waiting, n_gpus)
        for i, (spot, room) in enumerate(rooms_by_spot, 1)
    ]


def shares(n: int, n_parts: int) -> list[int]:
    """`n` in parts that differ by one at most; their sum is `n`."""
    return [n // n_parts + (i < n % n_parts) for i in range(n_parts)] if n_parts else []


Slot = AbstractAsyncContextManager[None]  # what a call holds while it is on its way
SPARE_ITEMS = 12  # of a model that are open beyond its slots
MOST_COUNTED = 4  # calls of an item that are counted on to be on their way together


class Place(ABC):
    """A place where models are asked. One place serves one run."""

    @abstractmethod
    def open(self, name: str, cards: Mapping[str, ModelCard]) -> Backend:
        """The model of that name, to be asked at this place."""

    @abstractmethod
    def n_in_flight(self, name: str, cards: Mapping[str, ModelCard]) -> int:
        """Return how many calls of the model may be on their way at once, over the whole place."""

    def slots(self, name: str, cards: Mapping[str, ModelCard]) -> Slot:
        """Return what a call of the model holds while it is on its way."""
        return Slots(self.n_in_flight(name, cards))

    def n_open(
        self, uses: Sequence[ModelUse], cards: Mapping[str, ModelCard], n_calls: float
    ) -> int:
        """Return how many items are open at once when an item asks `n_calls` of all models
        together: so many that every call that may be on its way is, and some more, which are
        planned while others are stored. Slots are given out in the order in which they were asked
        for, so what was begun first is finished first."""
        # A protocol may ask one by one what it asks at most.
        n_at_once = min(max(n_calls / len(uses), 1.0), MOST_COUNTED)
        return sum(
            ceil(self.n_in_flight(use.name, cards) / n_at_once) + SPARE_ITEMS for use in uses
        )

    def workers(self) -> tuple[WorkerState, ...]:
        """Return how each worker fares; none where everything is done in this process."""
        return ()

    def close(self) -> None:  # noqa: B027 - a place may have nothing to let go of
        """Let go of the place: the run is over."""


class ThisProcess(Place):
    """The default: models are opened and asked in the process that runs the study."""

    def open(self, name: str, cards: Mapping[str, ModelCard]) -> Backend:
        return open_backend(name, cards)

    def n_in_flight(self, name: str, cards: Mapping[str, ModelCard]) -> int:
        card = cards.get(name)
        return card.n_in_flight if card else FEW_AT_ONCE

    def slots(self, name: str, cards: Mapping[str, ModelCard]) -> Slot:
        """Those of the server, whatever else in this process asks it."""
        return slots_of(cards.get(name))


class WorkerLost(FlipscopeError):
    """A worker is gone, or cannot be reached: nobody knows what became of the calls that it had."""


class Link(ABC):
    """The driver's end of the line to one worker, which is started anew by its cluster when it is
    lost. `n_at_once` is how many calls it may have."""

    name: str
    n_at_once: int

    @abstractmethod
    async def hello(self) -> Greeting:
        """Wait until the worker stands. Raises WorkerLost while it does not."""

    @abstractmethod
    def answers(self, calls: Sequence[Call]) -> AsyncIterator[Reply]:
        """Yield what comes back for the calls, as it comes back. Raises WorkerLost when the worker
        is gone."""

    @abstractmethod
    def halt(self) -> None:
        """Tell the worker that nothing more is wanted; waits for nothing."""

    @abstractmethod
    async def close(self) -> None:
        """End the worker."""


class Cluster(ABC):
    """Machines that workers can be started on."""

    address: str

    @abstractmethod
    def machines(self) -> list[Machine]:
        """Those that are up now."""

    @abstractmethod
    def start(self, setup: Setup, slots: Sequence[WorkerSlot], n_models: int) -> list[Link]:
        """Workers on their way up, one a slot. `n_models` share the machines."""

    @abstractmethod
    async def renew(self, server: str, run: str, most: int, n_now: int) -> int:
        """`ServerParts.renew` of the one that all runs on this cluster have in common. Raises
        WorkerLost while it is away."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the cluster; it stays as it is."""


# How many calls the runs of a cluster may have on their way to one server: together what its card
# says, shared out among them. Their drivers are processes, often of several machines, so the parts
# are kept on the cluster. Each driver says twice a second what it may have just now, and hears what
# it may have next. Nobody is given what another may still use, so the sum holds while parts change
# as runs come and go. A driver that says nothing for LEASE_S is gone, and the calls of its workers
# with it.

RENEW_S, LEASE_S = 0.5, 10.0
TURN_S = 5.0  # after which what cannot be divided goes to the next run
# In a row, after which a run goes by its card alone: what keeps the parts is out of reach.
MOST_FAULTS = 5
LEAVES = -1  # calls that a run wants which is over


@dataclass
class _Part:
    """The calls that one run may have on their way, at most, until it is heard again."""

    n: int
    heard_at: float


class ServerParts:
    """The part that each run may have of each server. `wait_s` is how long nothing is given out:
    whoever was at work before this stood, has said so by then."""

    def __init__(
        self, wait_s: float = 1.5 * RENEW_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._now, self._opens_at = now, now() + wait_s
        self._parts: dict[str, dict[str, _Part]] = {}

    def renew(self, server: str, run: str, most: int, n_now: int) -> int:
        """Return how many calls the run may have on their way to the server, which takes `most`;
        until it hears so it may have `n_now`."""
        now, parts = self._now(), self._parts.setdefault(server, {})
        for name, part in list(parts.items()):
            if (name == run and most == LEAVES) or part.heard_at < now - LEASE_S:
                del parts[name]
        if most == LEAVES:
            return 0
        own_part = parts.setdefault(run, _Part(0, now))
        turn = (list(parts).index(run) + int(now / TURN_S)) % len(parts)
        fair = most // len(parts) + (turn < most % len(parts))
        free = most - sum(part.n for part in parts.values() if part is not own_part)
        n = max(min(fair, free), 0) if now >= self._opens_at else 0
        own_part.n, own_part.heard_at = max(n, n_now), now
        return n


class SharedSlots(Slots):
    """A run's slots of one server: as many as its cluster says just now. `renew` asks the cluster.
    One where nobody can be asked lets the run have what the card says, so that it comes to its end,
    or to the sentence why not."""

    def __init__(
        self, card: ModelCard, most: int, renew: Callable[[str, str, int, int], Awaitable[int]]
    ) -> None:
        super().__init__(0)
        self._server, self._run = f"{card.endpoint} {card.model} {card.api_key_env}", uuid4().hex
        self._card_most, self._renew = most, renew
        self._watch: asyncio.Future[None] | None = None

    async def __aenter__(self) -> None:
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._keep_up())
        await super().__aenter__()

    async def _keep_up(self) -> None:
        """Ask again and again, until the run's loop ends, which cancels this."""
        n_faults = 0
        try:
            while True:
                try:
                    n = await asyncio.wait_for(
                        self._renew(self._server, self._run, self._card_most, self.n_possible),
                        LEASE_S / 2,
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
