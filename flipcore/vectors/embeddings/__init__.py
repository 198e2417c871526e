"""Embeddings of texts. Vectors that depend only on their own text are stored under its hash."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.records import Item, digest
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.entries import entry_text
from flipcore.store.connection import Store
from flipcore.store.queries import vectors as embedding_queries
from flipcore.vectors.embeddings import kinds


class Embedding(Protocol):
    """The interface of embeddings.

    With `of_text_alone`, the vector of a text does not depend on the other texts, so it is stored.
    `why_not` says what is missing for its use, "" for nothing. `sent_to` is the address that the
    texts are sent to, "" if they stay on this machine: texts that were sent away may no longer be a
    holdout. `vectors` returns (n, d) rows of any length, or raises BadInput.
    """

    name: str
    title: str
    about: str
    of_text_alone: bool

    @property
    def revision(self) -> str: ...

    @property
    def sent_to(self) -> str: ...

    def why_not(self) -> str: ...

    def vectors(self, texts: Sequence[str]) -> np.ndarray: ...


EMBEDDINGS: tuple[Embedding, ...] = kinds.EMBEDDINGS
DEFAULT = EMBEDDINGS[0].name
TEXTS_AT_ONCE = 512


def embedding_by_name(name: str) -> Embedding:
    """Return the embedding of that name; raises BadInput for an unknown one."""
    by_name = {embedding.name: embedding for embedding in EMBEDDINGS}
    if name not in by_name:
        raise BadInput(
            f"There is no embedding called {name!r}; choose one of {', '.join(by_name)}."
        )
    return by_name[name]


def map_key(name: str) -> str:
    """Return the key of an embedding's maps; a new revision has new maps."""
    return f"{name}-{embedding_by_name(name).revision}"


def embedded(
    store: Store, items: Sequence[Item], backend_name: str = DEFAULT
) -> tuple[np.ndarray, str]:
    """Return (n, d) float32 rows of length 1 in the order of `items`, and a description of the
    embedding.

    Call it once with both sets (target + retro) and divide the rows: the default embedding is
    fitted to its texts, so vectors of two calls are not comparable. Raises BadInput or
    MissingPackage if the embedding cannot be used, and BadInput for an item without words.
    """
    embedding = embedding_by_name(backend_name)
    texts = [entry_text(item) for item in items]
    blank = [item.item_id for item, text in zip(items, texts, strict=True) if not text.strip()]
    if blank:
        raise BadInput(
            f"{blank[0]} has no words, so it has no place among the others: leave it out of the "
            "set."
        )
    if embedding.of_text_alone:
        vectors = _vectors_through_store(store, embedding, texts=texts)
    else:
        vectors = embedding.vectors(texts)
    return unit_rows(vectors, items), f"{embedding.title}, {vectors.shape[1]} dimensions"


def comparison(
    store: Store, target: Sequence[Item], retro: Sequence[Item], backend: str = DEFAULT
) -> Comparison:
    """Return both sets in one embedding. Raises BadInput for a set without entries."""
    if not target or not retro:
        raise BadInput(
            f"Comparing two sets needs entries of both: got {len(target)} benchmark and "
            f"{len(retro)} holdout entries."
        )
    units, described = embedded(store, [*target, *retro], backend_name=backend)
    return Comparison((*target, *retro), len(target), units=units, described=described)


def unit_rows(vectors: np.ndarray, items: Sequence[Item]) -> np.ndarray:
    """Return float32 rows of length 1. Raises BadInput for a zero or non-finite row, with the id of
    its item."""
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1)
    bad_rows = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad_rows):
        row = bad_rows[0]
        raise BadInput(
            f"{items[row].item_id} was given a vector of length {lengths[row]:g}, which has "
            "no direction: leave that item out, or choose another embedding."
        )
    return vectors / lengths[:, None]


def _vectors_through_store(store: Store, embedding: Embedding, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors from the store; missing ones are computed and stored in blocks."""
    hashes = [digest(text) for text in texts]
    name, revision = embedding.name, embedding.revision
    by_hash = embedding_queries.vectors(store, name, revision=revision, hashes=hashes)
    missing = {
        text_hash: text
        for text_hash, text in zip(hashes, texts, strict=True)
        if text_hash not in by_hash
    }
    missing_hashes = list(missing)
    for start in range(0, len(missing_hashes), TEXTS_AT_ONCE):
        block = missing_hashes[start : start + TEXTS_AT_ONCE]
        vectors = np.asarray(embedding.vectors([missing[h] for h in block]), dtype=np.float32)
        computed = dict(zip(block, vectors, strict=True))
        embedding_queries.keep(store, name, revision=revision, vectors_by_hash=computed)
        by_hash |= computed
    return np.stack([by_hash[text_hash] for text_hash in hashes])
