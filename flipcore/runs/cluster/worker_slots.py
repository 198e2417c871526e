"""Where the workers of a model go, and how many calls each may have.

A model that is computed in the worker has one worker a processor, or one for each part of the graphics processors that its card
asks for (`options.gpus`). A server is asked by one worker a machine. If it stands on the machine itself (localhost), every machine
has its own, and each takes what its card says; else there is one server, and the workers share what it takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.core.errors import FlipscopeError
from flipcore.models import ModelCard
from flipcore.models.cards import SERVED, is_near
from flipcore.models.slots import FEW_AT_ONCE


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
