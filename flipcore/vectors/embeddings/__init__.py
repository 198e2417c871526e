"""Text -> vectors. Vectors that depend on a text alone are kept in the store under the hash of the
text."""

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
    """Texts -> vectors. `of_text_alone`: a text's vector does not depend on the other texts, so it
    is kept in the store.

    `why_not` is "" where the embedding can be used here, otherwise the sentence that says what is
    missing. `sent_to` is the address that the texts are sent to, "" where they stay on this
    machine: a holdout that was sent away may be one no longer. `vectors` gives (n, d) rows of any
    length, and raises BadInput with a sentence when it cannot.
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
    """The embedding of that name; BadInput lists what there is."""
    by_name = {embedding.name: embedding for embedding in EMBEDDINGS}
    if name not in by_name:
        raise BadInput(
            f"There is no embedding called {name!r}; choose one of {', '.join(by_name)}."
        )
    return by_name[name]


def map_key(name: str) -> str:
    """Name of an embedding's maps, which are drawn anew with each revision of it."""
    return f"{name}-{embedding_by_name(name).revision}"


def embedded(
    store: Store, items: Sequence[Item], backend_name: str = DEFAULT
) -> tuple[np.ndarray, str]:
    """(n, d) float32 unit rows, one an item in their order, and the words that stand beside every
    figure made of them.

    Call it once with both sets (target + retro) and divide the rows: the default embedding is
    fitted on what it is given, and vectors of two calls cannot be compared. Raises BadInput or
    MissingPackage with a sentence.
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
    """Both sets in one embedding; BadInput for a set without entries."""
    if not target or not retro:
        raise BadInput(
            f"Comparing two sets needs entries of both: came {len(target)} benchmark and "
            f"{len(retro)} holdout entries."
        )
    units, described = embedded(store, [*target, *retro], backend_name=backend)
    return Comparison((*target, *retro), len(target), units=units, described=described)


def unit_rows(vectors: np.ndarray, items: Sequence[Item]) -> np.ndarray:
    """float32 rows of length 1; a row without a direction is an error that names its item."""
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad):
        raise BadInput(
            f"{items[bad[0]].item_id} was given a vector of length {lengths[bad[0]]:g}, which has "
            "no direction: leave that item out, or choose another embedding."
        )
    return vectors / lengths[:, None]


def _vectors_through_store(store: Store, embedding: Embedding, texts: Sequence[str]) -> np.ndarray:
    """Vectors from the store; missing ones are computed and stored block by block."""
    hashes = [digest(text) for text in texts]
    by_hash = embedding_queries.vectors(
        store, embedding.name, revision=embedding.revision, hashes=hashes
    )
    missing = {
        text_hash: text
        for text_hash, text in zip(hashes, texts, strict=True)
        if text_hash not in by_hash
    }
    missing_hashes = list(missing)
    for start in range(0, len(missing_hashes), TEXTS_AT_ONCE):
        block = missing_hashes[start : start + TEXTS_AT_ONCE]
        block_vectors = np.asarray(
            embedding.vectors([missing[text_hash] for text_hash in block]), dtype=np.float32
        )
        new = dict(zip(block, block_vectors, strict=True))
        embedding_queries.keep(
            store, embedding.name, revision=embedding.revision, vectors_by_hash=new
        )
        by_hash |= new
    return np.stack([by_hash[text_hash] for text_hash in hashes])
