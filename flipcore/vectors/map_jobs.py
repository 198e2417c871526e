"""Maps that take a while: computed once, in a thread of their own, and kept with the vectors."""

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
MOST_KEPT = 24  # maps and their qualities in memory; the store keeps all maps


@dataclass(frozen=True)
class Drawing:
    """Settings with which a map is drawn."""

    seed: int = 0
    n_neighbours: int = N_NEIGHBOURS
    min_distance: float = MIN_DISTANCE


DEFAULT = Drawing()


class Layouts:
    """One for a process. `places` and `quality` never wait; while something is being computed they
    give None and `seconds` is above 0."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._outcomes: dict[str, np.ndarray | MapQuality] = {}
        self._failed: dict[str, str] = {}
        self._running: dict[str, float] = {}
        self._latest: dict[str, np.ndarray] = {}

    def warm(self) -> None:
        """Begin the process that draws: its first import takes 5 to 35 s."""
        if not why_no_umap():
            begin()

    def places(
        self, key: str, items: Sequence[Item], units: np.ndarray, drawing: Drawing = DEFAULT
    ) -> np.ndarray | None:
        """(n, 2) of a map that is known, else None; `key` names the embedding. What is not known is
        begun."""
        hashes, name = _hashes(items), _name(key, items, drawing=drawing)
        if not self._begin(name):
            return self._remember(key, hashes, self._map(name))
        by_hash = vectors.vectors(self._store, BACKEND, revision=name, hashes=hashes)
        if len(by_hash) == len(set(hashes)):
            self._settle(name, np.stack([by_hash[text_hash] for text_hash in hashes]))
        else:

            def computed() -> np.ndarray:
                places = umap_places(
                    units,
                    drawing.seed,
                    n_neighbours=drawing.n_neighbours,
                    min_distance=drawing.min_distance,
                )
                vectors_by_hash = dict(zip(hashes, places, strict=True))
                vectors.keep(self._store, BACKEND, revision=name, vectors_by_hash=vectors_by_hash)
                return places

            threading.Thread(
                target=self._attempt, args=(name, computed), name="flipscope-map", daemon=True
            ).start()
        return self._remember(key, hashes, self._map(name))

    def _remember(
        self, key: str, hashes: list[str], places: np.ndarray | None
    ) -> np.ndarray | None:
        """The same map, remembered as the latest of these entries."""
        if places is not None:
            self._latest[digest(key, hashes)] = places
        return places

    def quality(
        self, key: str, items: Sequence[Item], units: np.ndarray, drawing: Drawing = DEFAULT
    ) -> MapQuality | None:
        """Quality of a map that is known: how far it may be believed, else None; begun where it is
        not known. It draws a second map."""
        name = f"quality-{_name(key, items, drawing)}"
        places = self._map(_name(key, items, drawing=drawing))
        if places is not None and self._begin(name):

            def computed() -> MapQuality:
                second_places = umap_places(
                    units,
                    drawing.seed + 1,
                    n_neighbours=drawing.n_neighbours,
                    min_distance=drawing.min_distance,
                )
                return map_quality(units, places, reseeded=second_places)

            threading.Thread(
                target=self._attempt, args=(name, computed), name="flipscope-map", daemon=True
            ).start()
        outcome = self._outcomes.get(name)
        return outcome if isinstance(outcome, MapQuality) else None

    def latest(self, key: str, items: Sequence[Item]) -> np.ndarray | None:
        """The last map of these entries that was finished, however it was drawn: shown while
        another is computed."""
        return self._latest.get(digest(key, _hashes(items)))

    def seconds(self, key: str, items: Sequence[Item], drawing: Drawing = DEFAULT) -> float:
        """For how long the map has been computed; 0 where it is not."""
        began = self._running.get(_name(key, items, drawing=drawing))
        return time.monotonic() - began if began else 0.0

    def problem(self, key: str, items: Sequence[Item], drawing: Drawing = DEFAULT) -> str:
        """The reason for which there is no such map, "" while there may yet be one."""
        return why_no_umap() or self._failed.get(_name(key, items, drawing=drawing), "")

    def _map(self, name: str) -> np.ndarray | None:
        outcome = self._outcomes.get(name)
        return outcome if isinstance(outcome, np.ndarray) else None

    def _begin(self, name: str) -> bool:
        with self._lock:
            if name in self._outcomes or name in self._failed or name in self._running:
                return False
            self._running[name] = time.monotonic()
            return True

    def _attempt(self, name: str, compute: Callable[[], np.ndarray | MapQuality]) -> None:
        try:
            outcome: np.ndarray | MapQuality | str = compute()
        except FlipscopeError as error:
            outcome = str(error)
        # a map is a convenience: whatever goes wrong in its thread becomes a sentence
        except Exception as error:
            outcome = f"The map could not be computed ({type(error).__name__}: {error})."
        self._settle(name, outcome)

    def _settle(self, name: str, outcome: np.ndarray | MapQuality | str) -> None:
        with self._lock:
            self._running.pop(name, None)
            if isinstance(outcome, str):
                self._failed[name] = outcome
                return
            self._outcomes[name] = outcome
            while len(self._outcomes) > MOST_KEPT:
                self._outcomes.pop(next(iter(self._outcomes)))


def _hashes(items: Sequence[Item]) -> list[str]:
    return [digest(entry_text(item)) for item in items]


def _name(key: str, items: Sequence[Item], drawing: Drawing) -> str:
    """A map's name in the store; that of the default drawing is the one under which earlier
    versions kept it."""
    settings = () if drawing == DEFAULT else (astuple(drawing),)
    return digest(key, VERSION, _hashes(items), *settings)
