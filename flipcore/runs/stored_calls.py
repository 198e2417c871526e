"""Which calls have an answer already, read once when a run begins. A query for each item would look through the whole table each
time: 400 calls a second on a million stored ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flipcore.store.connection import Store
from flipcore.store.queries import planning


class StoredCalls:
    """The answered calls of some models, as a set of 20 bytes a call. What a run stores itself is not in it; it is read again when
    something was merged. A call in it may have been purged since, so its row is to be looked up."""

    def __init__(self, store: Store, models: Iterable[str]) -> None:
        self._store, self._models = store, list(models)
        self._revision = -1
        self._ids = np.array([], dtype="S20")

    def __contains__(self, call_id: str) -> bool:
        if (revision := self._store.revision("")) != self._revision:
            self._revision, self._ids = revision, np.sort(planning.answered_ids(self._store, self._models))
        name = call_id.encode()
        place = np.searchsorted(self._ids, name)
        return bool(place < len(self._ids) and self._ids[place] == name)
