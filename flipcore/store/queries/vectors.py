"""Queries for stored vectors of texts, by the hash of the text, and for accuracies on the map."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from flipcore.store.connection import Store
from flipcore.store.visible import OPEN

_VECTORS = """
SELECT text_hash, vector FROM embeddings
WHERE backend = $backend AND revision = $revision AND text_hash IN (SELECT unnest($hashes))
"""


def vectors(
    store: Store, backend: str, revision: str, hashes: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return text hash -> float32 vector, for texts whose vector is stored."""
    frame = store.frame(
        _VECTORS, backend=backend, revision=revision, hashes=list(dict.fromkeys(hashes))
    )
    return {
        text_hash: np.asarray(vector, dtype=np.float32)
        for text_hash, vector in zip(frame["text_hash"], frame["vector"], strict=True)
    }


def keep(
    store: Store, backend: str, revision: str, vectors_by_hash: Mapping[str, np.ndarray]
) -> None:
    """Store vectors and wait until they are written; existing ones stay as they are."""
    now = datetime.now(UTC)
    rows = [
        {
            "text_hash": text_hash,
            "backend": backend,
            "revision": revision,
            "vector": vector,
            "created_at": now,
        }
        for text_hash, vector in vectors_by_hash.items()
    ]
    store.writer.add("embeddings", rows).result(60)


# Base prompts only, so that a set does not look harder because more variants of it were asked.
_ACCURACY = f"""
SELECT r.item_id, avg(r.is_correct::DOUBLE) AS accuracy
FROM readouts r
JOIN study_items i USING (study_id, item_id)
JOIN study_variants v USING (study_id, item_id, axis, variant_id)
WHERE r.is_correct IS NOT NULL AND v.key = 'base' AND {OPEN}
    AND r.item_id IN (SELECT unnest($item_ids))
GROUP BY r.item_id
"""


def accuracies(store: Store, item_ids: Sequence[str]) -> dict[str, float]:
    """Return item id -> share of right answers to its base prompt, over all studies and models.
    Items that were never asked, and set-aside ones, are left out."""
    return dict(store.rows(_ACCURACY, item_ids=list(item_ids)))
