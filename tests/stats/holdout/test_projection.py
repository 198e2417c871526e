"""Principal components against a full singular value decomposition; UMAP keeps neighbourhoods and repeats itself."""

import numpy as np
import pytest

from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.randomness import generator
from flipcore.stats.holdout import projection
from flipcore.stats.holdout.projection import principal_places, umap_places, why_no_umap

needs_umap = pytest.mark.skipif(bool(why_no_umap()), reason=why_no_umap() or "installed")
pytestmark = pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")  # umap's own, on its first import


def clusters(n_each=30, d=12, n=3):
    """`n` groups of unit rows around directions at right angles."""
    rng = generator(0)
    rows = np.concatenate([np.eye(d)[i] + 0.08 * rng.standard_normal((n_each, d)) for i in range(n)])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_places_are_those_of_the_singular_value_decomposition():
    rows = clusters()
    left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    places, shares = principal_places(rows)
    assert np.abs(places) == pytest.approx(np.abs(left[:, :2] * sizes[:2]), abs=1e-4)
    assert shares == pytest.approx(sizes[:2] ** 2 / np.sum(sizes**2), abs=1e-5)


def test_signs_are_fixed_by_the_farthest_entry():
    places, _ = principal_places(clusters())
    assert (places[np.abs(places).argmax(axis=0), [0, 1]] > 0).all()


def test_one_dimension_is_drawn_on_a_line():
    places, shares = principal_places(np.array([[1.0], [-1.0], [1.0]], dtype=np.float32))
    assert places.shape == (3, 2) and (places[:, 1] == 0).all() and shares.tolist() == [1.0, 0.0]


def test_too_few_or_equal_entries_are_a_sentence():
    with pytest.raises(BadInput, match="at least three entries and 2 came"):
        principal_places(clusters()[:2])
    with pytest.raises(BadInput, match="the same vector"):
        principal_places(np.ones((5, 4), dtype=np.float32) / 2)


@needs_umap
@pytest.mark.slow
def test_umap_keeps_clusters_apart_and_repeats_itself():
    rows, group = clusters(), np.repeat(np.arange(3), 30)
    places = umap_places(rows)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(90)
    nearest = distances.argsort(axis=1)[:, :5]
    assert places.dtype == np.float32 and (group[nearest] == group[:, None]).mean() > 0.99
    assert np.array_equal(places, umap_places(rows))
    assert not np.array_equal(places, umap_places(rows, seed=1))


@needs_umap
def test_umap_refuses_four_entries():
    with pytest.raises(BadInput, match="at least five entries and 4 came"):
        umap_places(clusters()[:4])


def test_umap_missing_is_a_sentence(monkeypatch):
    monkeypatch.setattr(projection, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="pip install -r requirements.txt"):
        umap_places(clusters())


def test_marks_that_cover_each_other_are_found_nearest_first():
    places = np.array([[0.0, 0.0], [10.0, 5.0], [0.09, 0.0], [0.05, 0.02], [0.0, 1.0], [0.2, 0.0]])
    assert projection.on_top_of(places, 0).tolist() == [3, 2]
    assert projection.on_top_of(np.zeros((3, 2)), 1).tolist() == [0, 2]
