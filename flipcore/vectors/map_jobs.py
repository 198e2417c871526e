"""Compute slow maps: each one once, in its own thread, and stored with the vectors."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Item, digest
from flipcore.stats.holdout.entries import entry_text
from flipcore.stats.holdout.projection import (
    MIN_DISTANCE,
    N_NEIGHBOURS,
    MapQuality,
    map_quality,
    why_no_umap,
)
from flipcore.store.connection import Store
from flipcore.store.queries import vectors
from flipcore.vectors.map_process import begin, umap_places

BACKEND = "umap"
VERSION = 1
MAX_KEPT = 24  # maps and their qualities in memory; the store keeps all maps


@dataclass(frozen=True)
class Drawing:
    """The settings of a map."""

    seed: int = 0
    n_neighbours: int = N_NEIGHBOURS
    min_distance: float = MIN_DISTANCE


DEFAULT = Drawing()


class Layouts:
    """The maps of a process, which needs one instance. `places` and `quality` never wait: during a
    computation they return None, and `seconds` is above 0. In all methods, `key` names the
    embedding."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._outcomes: dict[str, np.ndarray | MapQuality] = {}
        self._failed: dict[str, str] = {}
        self._running: dict[str, float] = {}
        self._latest: dict[str, np.ndarray] = {}

    def warm(self) -> None:
        """Start the drawing process early, because its first import takes 5 to 35 s."""
        if not why_no_umap():
            begin()

    def places(
        self, key: str, items: Sequence[Item], units: np.ndarray, drawing: Drawing = DEFAULT
    ) -> np.ndarray | None:
        """Return the (n, 2) places of a map if it is ready; else None, and start computing it."""
        hashes, name = _hashes(items), _name(key, items, drawing=drawing)
        if not self._begin(name):
            return self._remember(key, hashes, self._map(name))
        by_hash = vectors.vectors(self._store, BACKEND, revision=name, hashes=hashes)
        if len(by_hash) == len(set(hashes)):
            self._finish(name, np.stack([by_hash[text_hash] for text_hash in hashes]))
        else:

            def compute() -> np.ndarray:
                places = _draw(units, drawing.seed, drawing)
                vectors_by_hash = dict(zip(hashes, places, strict=True))
                vectors.keep(self._store, BACKEND, revision=name, vectors_by_hash=vectors_by_hash)
                return places

            self._start(name, compute)
        return self._remember(key, hashes, self._map(name))

    def _remember(
        self, key: str, hashes: list[str], places: np.ndarray | None
    ) -> np.ndarray | None:
        """Return `places` after storing them as the latest map of these entries."""
        if places is not None:
            self._latest[digest(key, hashes)] = places
        return places

    def quality(
        self, key: str, items: Sequence[Item], units: np.ndarray, drawing: Drawing = DEFAULT
    ) -> MapQuality | None:
        """Return the quality of a map if it is ready; else None, and start computing it if the map
        is ready. It needs a second map with another seed."""
        name = f"quality-{_name(key, items, drawing)}"
        places = self._map(_name(key, items, drawing=drawing))
        if places is not None and self._begin(name):

            def compute() -> MapQuality:
                return map_quality(units, places, reseeded=_draw(units, drawing.seed + 1, drawing))

            self._start(name, compute)
        outcome = self._outcomes.get(name)
        return outcome if isinstance(outcome, MapQuality) else None

    def latest(self, key: str, items: Sequence[Item]) -> np.ndarray | None:
        """Return the last finished map of these entries with any settings, to be shown while
        another one is computed; None if there is none."""
        return self._latest.get(digest(key, _hashes(items)))

    def seconds(self, key: str, items: Sequence[Item], drawing: Drawing = DEFAULT) -> float:
        """Return for how long the map has been computed; 0 if it is not being computed."""
        start = self._running.get(_name(key, items, drawing=drawing))
        return time.monotonic() - start if start else 0.0

    def problem(self, key: str, items: Sequence[Item], drawing: Drawing = DEFAULT) -> str:
        """Return why there cannot be such a map; "" if there is one or may be one later."""
        return why_no_umap() or self._failed.get(_name(key, items, drawing=drawing), "")

    def _map(self, name: str) -> np.ndarray | None:
        outcome = self._outcomes.get(name)
        return outcome if isinstance(outcome, np.ndarray) else None

    def _begin(self, name: str) -> bool:
        """Mark the computation as running; return False if it already runs or has ended."""
        with self._lock:
            if name in self._outcomes or name in self._failed or name in self._running:
                return False
            self._running[name] = time.monotonic()
            return True

    def _start(self, name: str, compute: Callable[[], np.ndarray | MapQuality]) -> None:
        arguments = name, compute
        # A daemon, so that an unfinished map does not keep the process alive.
        threading.Thread(
            target=self._compute, args=arguments, name="flipscope-map", daemon=True
        ).start()

    def _compute(self, name: str, compute: Callable[[], np.ndarray | MapQuality]) -> None:
        try:
            outcome: np.ndarray | MapQuality | str = compute()
        except FlipscopeError as error:
            outcome = str(error)
        # A map is a convenience, so any error in its thread becomes a sentence.
        except Exception as error:
            outcome = f"The map could not be computed ({type(error).__name__}: {error})."
        self._finish(name, outcome)

    def _finish(self, name: str, outcome: np.ndarray | MapQuality | str) -> None:
        """Store the outcome of a computation; a text says why it failed."""
        with self._lock:
            self._running.pop(name, None)
            if isinstance(outcome, str):
                self._failed[name] = outcome
                return
            self._outcomes[name] = outcome
            while len(self._outcomes) > MAX_KEPT:
                self._outcomes.pop(next(iter(self._outcomes)))


def _draw(units: np.ndarray, seed: int, drawing: Drawing) -> np.ndarray:
    return umap_places(
        units, seed, n_neighbours=drawing.n_neighbours, min_distance=drawing.min_distance
    )


def _hashes(items: Sequence[Item]) -> list[str]:
    return [digest(entry_text(item)) for item in items]


def _name(key: str, items: Sequence[Item], drawing: Drawing) -> str:
    """Return a map's name in the store."""
    # Default settings are left out, as in earlier versions, so that their stored maps are found.
    settings = () if drawing == DEFAULT else (astuple(drawing),)
    return digest(key, VERSION, _hashes(items), *settings)
