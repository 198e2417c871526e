"""Places where the calls of a run are answered: this process, or the workers of a cluster.

A run opens each model at its place, and treats all places alike. A cluster also reports the states
of its workers.
"""

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

# How workers are spread over machines, and how many calls each may have at once. A model that the
# worker computes has one worker per processor, or per `options.gpus` graphics processors where its
# card asks for these. A server is asked by one worker per machine. With an address on localhost,
# every machine has a server of its own, which takes as many calls as the card says. With any other
# address there is one server, and the workers share this number.


@dataclass(frozen=True)
class Machine:
    """A machine of a cluster, with its numbers of processors and graphics processors."""

    node_id: str
    name: str
    n_cpus: float
    n_gpus: float = 0


@dataclass(frozen=True)
class WorkerSlot:
    """A worker that may be started on a machine."""

    name: str  # shown to the user
    node_id: str
    n_at_once: int  # calls
    is_waiting: bool = False  # only waits for a server, so it takes no processor
    n_gpus: float = 0


def worker_slots(
    card: ModelCard | None, machines: Sequence[Machine], name: str, address: str
) -> list[WorkerSlot]:
    """Return the workers of a model. Raises FlipscopeError if no machine can have one."""
    n_at_once = card.n_in_flight if card else FEW_AT_ONCE
    usable = [machine for machine in machines if machine.n_cpus >= 1]
    n_gpus = float(card.options.get("gpus", 0)) if card else 0.0
    worker_machines: list[Machine] = []
    if n_gpus > 0:
        for machine in machines:
            worker_machines += [machine] * int(machine.n_gpus // n_gpus)
        calls_per_worker = [n_at_once] * len(worker_machines)
    elif card is not None and card.backend == SERVED:
        worker_machines = usable
        calls_per_worker = [n_at_once] * len(usable)
        if not is_near(card.endpoint):
            calls_per_worker = shares(n_at_once, len(usable))
    else:
        for machine in usable:
            worker_machines += [machine] * int(machine.n_cpus)
        calls_per_worker = [n_at_once] * len(worker_machines)
    is_waiting = bool(card and card.backend == SERVED and not n_gpus)
    slots: list[WorkerSlot] = []
    for machine, n_calls in zip(worker_machines, calls_per_worker, strict=True):
        if n_calls:
            slot_name = f"{machine.name} #{len(slots) + 1}"
            slots.append(WorkerSlot(slot_name, machine.node_id, n_calls, is_waiting, n_gpus))
    if not slots:
        needs = f"{n_gpus:g} graphics processors" if n_gpus else "a processor"
        raise FlipscopeError(
            f"{address} has no machine with {needs} for {name}. Add one to the cluster, or run the"
            " study on this machine."
        )
    return slots


def shares(n: int, n_parts: int) -> list[int]:
    """Divide `n` into integers that differ by at most one."""
    return [n // n_parts + (i < n % n_parts) for i in range(n_parts)] if n_parts else []


Slot = AbstractAsyncContextManager[None]  # a call holds it while it is on its way
SPARE_ITEMS = 12  # items that are open beyond a model's slots
MAX_COUNTED = 4  # most calls of one item that are assumed to be on their way together


class Place(ABC):
    """A place where models are asked. One place serves one run."""

    @abstractmethod
    def open(self, name: str, cards: Mapping[str, ModelCard]) -> Backend:
        """Open a model, to be asked at this place."""

    @abstractmethod
    def n_in_flight(self, name: str, cards: Mapping[str, ModelCard]) -> int:
        """Return how many calls of the model may be on their way at once, over the whole place."""

    def slots(self, name: str, cards: Mapping[str, ModelCard]) -> Slot:
        """Return the slots that calls of the model hold while they are on their way."""
        return Slots(self.n_in_flight(name, cards))

    def n_items_at_once(
        self, uses: Sequence[ModelUse], cards: Mapping[str, ModelCard], n_calls: float
    ) -> int:
        """Return how many items to work on at once, where an item has `n_calls` over all models.
        They are enough to fill all slots, and some more, which are planned while others are stored.
        Slots are given out in the order of request, so the items begun first are finished first."""
        # An adaptive protocol asks its calls one by one, so do not count on many per item.
        n_at_once = min(max(n_calls / len(uses), 1.0), MAX_COUNTED)
        return sum(
            ceil(self.n_in_flight(use.name, cards) / n_at_once) + SPARE_ITEMS for use in uses
        )

    def workers(self) -> tuple[WorkerState, ...]:
        """Return the states of the workers; none in this process."""
        return ()

    def close(self) -> None:  # noqa: B027 - a place may hold nothing
        """Release the place at the end of the run."""


class ThisProcess(Place):
    """The default: models are opened and asked in the process that runs the study."""

    def open(self, name: str, cards: Mapping[str, ModelCard]) -> Backend:
        return open_backend(name, cards)

    def n_in_flight(self, name: str, cards: Mapping[str, ModelCard]) -> int:
        card = cards.get(name)
        return card.n_in_flight if card else FEW_AT_ONCE

    def slots(self, name: str, cards: Mapping[str, ModelCard]) -> Slot:
        """Return the server's slots, shared by everything in this process that asks it."""
        return slots_of(cards.get(name))


class WorkerLost(FlipscopeError):
    """A worker is gone or cannot be reached, so the fate of its calls is unknown."""


class Link(ABC):
    """The driver's connection to one worker. The cluster restarts a worker that is lost."""

    name: str
    n_at_once: int  # most calls on their way to it

    @abstractmethod
    async def hello(self) -> Greeting:
        """Wait until the worker has opened its model. Raises WorkerLost if it does not run."""

    @abstractmethod
    def answers(self, calls: Sequence[Call]) -> AsyncIterator[Reply]:
        """Yield replies to the calls as they arrive. Raises WorkerLost if the worker is gone."""

    @abstractmethod
    def halt(self) -> None:
        """Tell the worker to make no further attempts, without waiting for it."""

    @abstractmethod
    async def close(self) -> None:
        """End the worker."""


class Cluster(ABC):
    """Machines that workers can be started on."""

    address: str

    @abstractmethod
    def machines(self) -> list[Machine]:
        """Return the machines that are up now."""

    @abstractmethod
    def start(self, setup: Setup, slots: Sequence[WorkerSlot], n_models: int) -> list[Link]:
        """Start one worker per slot, without waiting. `n_models` models share the machines."""

    @abstractmethod
    async def renew(self, server: str, run: str, n_allowed: int, n_on_way: int) -> int:
        """Call `ServerParts.renew` on the object that all runs on this cluster share. Raises
        WorkerLost while it cannot be reached."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect from the cluster, which goes on running."""


# The runs of a cluster share the calls that a server's card allows at once. Their drivers may be on
# several machines, so `ServerParts` lives on the cluster. Every RENEW_S seconds each driver reports
# its present number of calls, and gets the number that it may have next. No run gets calls that
# another may still use, so the sum never exceeds the card's number while runs come and go. A driver
# that reports nothing for LEASE_S is gone, and so are the calls of its workers.

RENEW_S, LEASE_S = 0.5, 10.0
TURN_S = 5.0  # the remainder of the division goes to another run after this time
MAX_FAULTS = 5  # after so many failures to reach `ServerParts`, a run goes by its card alone
RUN_ENDED = -1  # reported as `n_allowed` by a run that is over


@dataclass
class _Share:
    """The most calls that one run may have on their way until its next report."""

    n: int
    heard_at: float  # time of its last report


class ServerParts:
    """Shares the calls that each server takes at once among the runs of a cluster. Nothing is given
    out in the first `wait_s` seconds, so that runs from before this object's start have reported
    what they use."""

    def __init__(
        self, wait_s: float = 1.5 * RENEW_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._now, self._opens_at = now, now() + wait_s
        self._shares: dict[str, dict[str, _Share]] = {}

    def renew(self, server: str, run: str, n_allowed: int, n_on_way: int) -> int:
        """Return how many calls the run may have on their way to a server from now on. The server
        takes `n_allowed` calls at once. The run may have `n_on_way` of them until it gets this
        answer."""
        now, shares_by_run = self._now(), self._shares.setdefault(server, {})
        for name, run_share in list(shares_by_run.items()):
            if (name == run and n_allowed == RUN_ENDED) or run_share.heard_at < now - LEASE_S:
                del shares_by_run[name]
        if n_allowed == RUN_ENDED:
            return 0
        own_share = shares_by_run.setdefault(run, _Share(0, now))
        turn = (list(shares_by_run).index(run) + int(now / TURN_S)) % len(shares_by_run)
        n_fair = n_allowed // len(shares_by_run) + (turn < n_allowed % len(shares_by_run))
        n_of_others = sum(share.n for share in shares_by_run.values()) - own_share.n
        n_free = n_allowed - n_of_others
        n = max(min(n_fair, n_free), 0) if now >= self._opens_at else 0
        own_share.n, own_share.heard_at = max(n, n_on_way), now
        return n


class SharedSlots(Slots):
    """A run's slots of one server, as many as its cluster allows at present. `renew` asks the
    cluster. If the cluster cannot be reached, the run gets as many as the card says, so that it can
    finish, or fail with a message."""

    def __init__(
        self, card: ModelCard, n_allowed: int, renew: Callable[[str, str, int, int], Awaitable[int]]
    ) -> None:
        super().__init__(0)
        self._server, self._run = f"{card.endpoint} {card.model} {card.api_key_env}", uuid4().hex
        self._n_allowed, self._renew = n_allowed, renew
        self._watch: asyncio.Future[None] | None = None

    async def __aenter__(self) -> None:
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._renew_forever())
        await super().__aenter__()

    async def _renew_forever(self) -> None:
        """Renew the number of slots until the end of the run's loop cancels this task."""
        n_faults = 0
        try:
            while True:
                try:
                    n = await asyncio.wait_for(
                        self._renew(self._server, self._run, self._n_allowed, self.n_possible),
                        LEASE_S / 2,
                    )
                    n_faults = 0
                except (WorkerLost, TimeoutError):
                    n_faults += 1
                    n = self._n_allowed if n_faults >= MAX_FAULTS else self.most
                except Exception:  # for example, machines lack Flipscope: the first call says so
                    n, n_faults = self._n_allowed, MAX_FAULTS
                self.change(n)
                await asyncio.sleep(RENEW_S)
        finally:
            with suppress(Exception):
                farewell = self._renew(self._server, self._run, RUN_ENDED, 0)
                await asyncio.wait_for(farewell, LEASE_S / 2)
