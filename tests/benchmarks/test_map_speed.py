"""A map of 2,600 entries: principal components at once, UMAP on its first and on a later fit, and from the store. Ratios are
printed; what is asserted is that the quick ways give what the slow ones give.
"""

import time

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.stats.holdout.neighbours import nearest
from flipcore.stats.holdout.projection import principal_places, umap_places, why_no_umap
from flipcore.store.connection import Store
from flipcore.vectors.map_jobs import Layouts
from tests.vectors.embeddings.items import entry

N, DIMENSIONS, TOPICS = 2_600, 256, 40
pytestmark = pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")  # umap's own, on its first import


def unit_rows() -> np.ndarray:
    """`N` entries around `TOPICS` directions."""
    rng = generator(0)
    rows = rng.standard_normal((N, DIMENSIONS)) + 12 * np.eye(DIMENSIONS)[rng.integers(0, TOPICS, N)]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def timed(compute):
    start = time.perf_counter()
    return compute(), time.perf_counter() - start


@pytest.mark.soak
def test_principal_components_and_neighbours_need_no_matrix_of_all_pairs(capsys):
    units = unit_rows()
    (places, _), seconds = timed(lambda: principal_places(units))
    svd, svd_seconds = timed(lambda: np.linalg.svd(units - units.mean(axis=0), full_matrices=False))
    assert np.abs(places) == pytest.approx(np.abs(svd[0][:, :2] * svd[1][:2]), abs=1e-3)
    (rows, _), near_seconds = timed(lambda: nearest(units, units, 10, skip_self=True))
    full, full_seconds = timed(lambda: np.argsort(-(units @ units.T - 3 * np.eye(N, dtype=np.float32)), axis=1)[:, :10])
    assert (rows == full).mean() > 0.999  # float32 ties
    with capsys.disabled():
        print(
            f"\n{N:,} entries: principal components {1000 * seconds:.0f} ms, by the full decomposition "
            f"{svd_seconds / seconds:.0f} x; ten nearest neighbours {1000 * near_seconds:.0f} ms, by a full sort "
            f"{full_seconds / near_seconds:.0f} x"
        )


@pytest.mark.soak
@pytest.mark.skipif(bool(why_no_umap()), reason=why_no_umap() or "installed")
def test_umap_comes_later_and_from_the_store_at_once(capsys, tmp_path):
    units = unit_rows()
    _, pca_seconds = timed(lambda: principal_places(units))
    first, first_seconds = timed(lambda: umap_places(units))
    again, again_seconds = timed(lambda: umap_places(units))
    assert np.array_equal(first, again)
    store, items = Store.open(tmp_path / "flips.duckdb"), [entry(i, f"entry {i}?") for i in range(N)]
    known = Layouts(store)
    while (found := known.places("made", items, units)) is None and not known.problem("made", items):
        time.sleep(0.05)
    kept, kept_seconds = timed(lambda: Layouts(store).places("made", items, units))
    store.close()
    assert np.array_equal(found, kept) and np.array_equal(kept, first)
    with capsys.disabled():
        print(
            f"\nUMAP of {N:,} entries: first in this process {first_seconds:.1f} s, later {again_seconds:.1f} s, from the "
            f"store {1000 * kept_seconds:.0f} ms; principal components {1000 * pca_seconds:.0f} ms. Later against first "
            f"1 : {first_seconds / again_seconds:.1f}, components against a later UMAP 1 : {again_seconds / pca_seconds:.0f}"
        )
