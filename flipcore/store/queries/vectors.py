"""Vectors that were computed before, and the places of entries on a map: read and kept under the
hash of the text."""

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
    """Text hash -> float32 vector, of those that are kept."""
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
    """Return when the vectors are safe; a vector that is there already stays as it is."""
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


# Base prompts alone, so that a set on which more was tried is no harder for it; the confirmatory
# share stays unseen.
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
    """Item id -> share of right answers to its base prompt, over everything that was asked of it;
    items never asked are left out."""
    return dict(store.rows(_ACCURACY, item_ids=list(item_ids)))
