"""Where the calls of a run are answered: in this process, or by the workers of a cluster. A run asks its place for each model and
knows no difference; the place of a cluster says besides how its workers fare."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from math import ceil

from flipcore.core.contracts import Backend
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Call
from flipcore.core.study import ModelUse
from flipcore.models import ModelCard, open_backend
from flipcore.models.cards import SERVED, is_near
from flipcore.models.slots import FEW_AT_ONCE, Slots, slots_of
from flipcore.runs.cluster.states import WorkerState
from flipcore.runs.cluster.worker import Greeting, Reply, Setup

# Where the workers of a model go, and how many calls each may have. A model that is computed in the worker has one worker a processor, or
# one for each part of the graphics processors that its card asks for (`options.gpus`). A server is asked by one worker a machine. If it
# stands on the machine itself (localhost), every machine has its own, and each takes what its card says; else there is one server, and the
# workers share what it takes.


@dataclass(frozen=True)
class Machine:
    """A machine of a cluster with its free-standing resources."""

    node_id: str
    name: str
    n_cpus: float
    n_gpus: float = 0


@dataclass(frozen=True)
class WorkerSlot:
    """Room for one worker: its name for people, the machine that it is meant for, and how many calls it takes at once. One that
    only waits for a server takes no processor."""

    name: str
    node_id: str
    n_at_once: int
    is_waiting: bool = False
    n_gpus: float = 0


def worker_slots(card: ModelCard | None, machines: Sequence[Machine], name: str, address: str) -> list[WorkerSlot]:
    """The places of a model's workers. Raises FlipscopeError where there is none."""
    n_at_once = card.n_in_flight if card else FEW_AT_ONCE
    usable = [machine for machine in machines if machine.n_cpus >= 1]
    n_gpus = float(card.options.get("gpus", 0)) if card else 0.0
    if n_gpus > 0:
        spots = [machine for machine in machines for _ in range(int(machine.n_gpus // n_gpus))]
        rooms = [n_at_once] * len(spots)
    elif card is not None and card.backend == SERVED:
        spots = usable
        rooms = [n_at_once] * len(spots) if is_near(card.endpoint) else shares(n_at_once, len(spots))
    else:
        spots = [machine for machine in usable for _ in range(int(machine.n_cpus))]
        rooms = [n_at_once] * len(spots)
    is_waiting = bool(card and card.backend == SERVED and not n_gpus)
    rooms_by_spot = [(spot, room) for spot, room in zip(spots, rooms, strict=True) if room]
    if not rooms_by_spot:
        needs = f"{n_gpus:g} graphics processors" if n_gpus else "a processor"
        raise FlipscopeError(
            f"{address} has no machine with {needs} for {name}. Add one to the cluster, or run the study on this machine."
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
    """Where models are asked. One place serves one run."""

    @abstractmethod
    def open(self, name: str, cards: Mapping[str, ModelCard]) -> Backend:
        """The model of that name, to be asked at this place."""

    @abstractmethod
    def n_in_flight(self, name: str, cards: Mapping[str, ModelCard]) -> int:
        """How many calls of the model may be on their way at once, over the whole place."""

    def slots(self, name: str, cards: Mapping[str, ModelCard]) -> Slot:
        """What a call of the model holds while it is on its way."""
        return Slots(self.n_in_flight(name, cards))

    def n_open(self, uses: Sequence[ModelUse], cards: Mapping[str, ModelCard], n_calls: float) -> int:
        """How many items are open at once when an item asks `n_calls` of all models together: so many that every call that may be on
        its way is, and some more, which are planned while others are stored. Slots are given out in the order in which they were
        asked for, so what was begun first is finished first."""
        n_at_once = min(max(n_calls / len(uses), 1.0), MOST_COUNTED)  # a protocol may ask one by one what it asks at most
        return sum(ceil(self.n_in_flight(use.name, cards) / n_at_once) + SPARE_ITEMS for use in uses)

    def workers(self) -> tuple[WorkerState, ...]:
        """How each worker fares; none where everything is done in this process."""
        return ()

    def close(self) -> None:  # noqa: B027
        """The run is over."""


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
    """The driver's end of the line to one worker, which is started anew by its cluster when it is lost. `n_at_once` is how many calls
    it may have."""

    name: str
    n_at_once: int

    @abstractmethod
    async def hello(self) -> Greeting:
        """Waits until the worker stands. Raises WorkerLost while it does not."""

    @abstractmethod
    def answers(self, calls: Sequence[Call]) -> AsyncIterator[Reply]:
        """What comes back for the calls, as it comes back. Raises WorkerLost when the worker is gone."""

    @abstractmethod
    def halt(self) -> None:
        """Tells the worker that nothing more is wanted; waits for nothing."""

    @abstractmethod
    async def close(self) -> None:
        """Ends the worker."""


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
        """`ServerParts.renew` of the one that all runs on this cluster have in common. Raises WorkerLost while it is away."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the cluster; it stays as it is."""
