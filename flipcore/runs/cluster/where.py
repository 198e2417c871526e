"""Open the place where a study runs: this process, or a cluster by its address."""

import os
from collections.abc import Mapping
from itertools import chain

from flipcore.core.contracts import Backend
from flipcore.core.errors import AccessDenied
from flipcore.models import ModelCard, open_backend
from flipcore.runs.cluster import ray_cluster
from flipcore.runs.cluster.driver import Driver
from flipcore.runs.cluster.place import (
    Cluster,
    Place,
    SharedSlots,
    Slot,
    ThisProcess,
    WorkerSlot,
    worker_slots,
)
from flipcore.runs.cluster.states import WorkerState

HERE = ""  # this process
# Addresses of clusters that a dashboard offers, separated by commas.
VARIABLE = "FLIPSCOPE_CLUSTERS"


class ClusterPlace(Place):
    """A run's part of a cluster: each model has workers of its own, which end with the run."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._drivers: dict[str, Driver] = {}
        self._worker_slots: dict[str, list[WorkerSlot]] = {}

    def open(self, name: str, cards: Mapping[str, ModelCard]) -> Backend:
        card = cards.get(name)
        slots = self._worker_slots[name] = worker_slots(
            card, self._cluster.machines(), name, self._cluster.address
        )

        def start(setup):
            return self._cluster.start(setup, slots, len(self._drivers))

        local = open_backend(name, cards)
        self._drivers[name] = Driver(local, card, start, len(slots), self._cluster.address)
        return self._drivers[name]

    def n_in_flight(self, name: str, cards: Mapping[str, ModelCard]) -> int:
        return sum(slot.n_at_once for slot in self._worker_slots[name])

    def slots(self, name: str, cards: Mapping[str, ModelCard]) -> Slot:
        """Return the server's slots, shared by everything on this cluster that asks it."""
        card = cards.get(name)
        if card is None or not card.endpoint:
            return super().slots(name, cards)
        return SharedSlots(card, self.n_in_flight(name, cards), self._cluster.renew)

    def workers(self) -> tuple[WorkerState, ...]:
        return tuple(chain.from_iterable(driver.workers() for driver in self._drivers.values()))

    def close(self) -> None:
        self._cluster.close()


def place_of(on: str) -> Place:
    """Return this process for "", or connect to the cluster at an address. Raises FlipscopeError
    if the cluster cannot be reached."""
    return ClusterPlace(ray_cluster.RayCluster(on)) if on else ThisProcess()


def offered_places() -> dict[str, str]:
    """Return address -> label of the places that a dashboard offers. Addresses come only from the
    environment, which the admin sets, because a process trusts the cluster that it is connected
    to."""
    places = {HERE: "This machine"}
    if not ray_cluster.why_not():
        ray_address = os.environ.get("RAY_ADDRESS")
        places[ray_cluster.LOCAL] = (
            f"Ray at {ray_address}" if ray_address else "Ray on this machine"
        )
        for address in map(str.strip, os.environ.get(VARIABLE, "").split(",")):
            if address:
                places[address] = f"Ray at {address}"
    return places


def check_offered(on: str) -> None:
    """Raise AccessDenied for a cluster that this dashboard does not offer."""
    if on in offered_places():
        return
    reason = (
        ray_cluster.why_not() or f"Let its admin add the address to {VARIABLE} and start it again."
    )
    raise AccessDenied(f"This dashboard does not run studies at {on[:80]!r}. {reason}")
