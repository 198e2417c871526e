"""AUC with ties, classes that are missing, and weights."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from flipcore.stats.base.separability import auc, weighted_auc
from tests import naive

ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=15)


@pytest.mark.slow
@given(ROWS)
def test_auc_is_the_share_of_pairs_in_the_right_order(rows):
    y, s = zip(*rows, strict=True)
    assert auc(y, s) == pytest.approx(naive.auc(y, s), nan_ok=True)
    if 0 < sum(y) < len(y):
        assert auc(y, s) == pytest.approx(roc_auc_score(y, s))


def test_one_class_or_no_row_is_undefined():
    assert math.isnan(auc([1, 1], [0.2, 0.3])) and math.isnan(auc([], []))


@pytest.mark.slow
@given(ROWS, st.integers(0, 100))
def test_a_weight_counts_a_row_as_often_as_it_says(rows, seed):
    y, s = (np.array(part) for part in zip(*rows, strict=True))
    weights = np.random.default_rng(seed).integers(0, 3, y.size)
    repeated = np.repeat(np.arange(y.size), weights)
    found = weighted_auc(y, s, weights[None, :].astype(float))[0]
    assert found == pytest.approx(naive.auc(y[repeated], s[repeated]), nan_ok=True)
