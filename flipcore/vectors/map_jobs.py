"""Maps that take a while: computed once, in a thread of their own, and kept with the vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Item, digest
from flipcore.stats.holdout.projection import umap_places, why_no_umap
from flipcore.store.connection import Store
from flipcore.store.queries import vectors
from flipcore.vectors.embeddings.embedding import entry_text

BACKEND = "umap"
VERSION = 1


class Layouts:
    """One for a process. `places` never waits; while a map is being computed it gives None and `is_busy` is true."""

    def __init__(self, store: Store):
        self._store = store
        self._lock = threading.Lock()
        self._maps: dict[str, np.ndarray] = {}
        self._failed: dict[str, str] = {}
        self._running: set[str] = set()

    def places(self, key: str, items: Sequence[Item], units: np.ndarray) -> np.ndarray | None:
        """(n, 2) of a map that is known, else None; `key` names the embedding. What is not known is begun."""
        hashes = [digest(entry_text(item)) for item in items]
        name = digest(key, VERSION, hashes)
        with self._lock:
            if name in self._maps or name in self._failed or name in self._running:
                return self._maps.get(name)
            self._running.add(name)
        by_hash = vectors.vectors(self._store, BACKEND, name, hashes)
        if len(by_hash) == len(set(hashes)):
            self._settle(name, np.stack([by_hash[one] for one in hashes]))
        else:
            threading.Thread(target=self._compute, args=(name, hashes, units), name="flipscope-map", daemon=True).start()
        return self._maps.get(name)

    def problem(self, key: str, items: Sequence[Item]) -> str:
        """Why there is no such map: the sentence, or "" while there may yet be one."""
        return why_no_umap() or self._failed.get(digest(key, VERSION, [digest(entry_text(item)) for item in items]), "")

    @property
    def is_busy(self) -> bool:
        with self._lock:
            return bool(self._running)

    def _compute(self, name: str, hashes: list[str], units: np.ndarray) -> None:
        try:
            places = umap_places(units)
            vectors.keep(self._store, BACKEND, name, dict(zip(hashes, places, strict=True)))
        except FlipscopeError as error:
            self._settle(name, str(error))
        except Exception as error:  # a map is a convenience: whatever goes wrong in its thread becomes a sentence
            self._settle(name, f"The map could not be computed ({type(error).__name__}: {error}).")
        else:
            self._settle(name, places)

    def _settle(self, name: str, outcome: np.ndarray | str) -> None:
        with self._lock:
            self._running.discard(name)
            if isinstance(outcome, str):
                self._failed[name] = outcome
            else:
                self._maps[name] = outcome
