"""Trustworthiness agrees with scikit-learn's; neighbours of two maps are counted as sets."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from flipcore.core.errors import BadInput
from flipcore.stats.holdout.projection import map_quality


def rows(n=60, d=8):
    values = np.random.default_rng(5).normal(size=(n, d))
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def test_trustworthiness_is_that_of_scikit_learn():
    units = rows()
    places = units[:, :2]
    quality = map_quality(units, places, places)
    assert quality.k == 10 and quality.trustworthiness.n == 60
    assert quality.trustworthiness.value == pytest.approx(trustworthiness(units, places, n_neighbors=10), abs=1e-9)


def test_the_same_map_agrees_with_itself_and_a_shuffled_one_does_not():
    units = rows()
    places = units[:, :2]
    assert map_quality(units, places, places).agreement.value == 1.0
    shuffled = np.random.default_rng(1).permutation(places)
    assert map_quality(units, places, shuffled).agreement.value < 0.4


def test_four_entries_are_too_few():
    with pytest.raises(BadInput, match="at least five"):
        map_quality(rows(4), rows(4)[:, :2], rows(4)[:, :2])
