"""One score of an item from its epochs, as Inspect's own reducers gave it (inspect-ai 0.3.285 on these scores)."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.score.reducers import is_known, item_scores

SCORES = pd.Series([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5])
ITEMS = pd.Series(["a"] * 4 + ["b"] * 4 + ["c"] * 4)


@pytest.mark.parametrize(
    ("reducer", "expected"),
    [
        ("mean", (0.5, 0, 0.875)),
        ("median", (0.5, 0, 1)),
        ("mode", (1, 0, 1)),
        ("max", (1, 0, 1)),
        ("at_least_2", (1, 0, 1)),
        ("at_least_4", (0, 0, 0)),
        ("pass_at_2", (1 - 1 / 6, 0, 1)),
        ("pass_hat_2", (1 / 6, 0, 0.5)),
        ("pass_k_2", (1 / 6, 0, 0.5)),  # Inspect's name for it
    ],
)
def test_each_reducer(reducer, expected):
    assert item_scores(SCORES, ITEMS, reducer).to_numpy() == pytest.approx(expected)


def test_a_sample_without_a_score_is_no_epoch():
    scores = pd.Series([1.0, np.nan, 1.0, 0.0])
    items = pd.Series(["a", "a", "b", "b"])
    assert dict(item_scores(scores, items, "mean")) == {"a": 1.0, "b": 0.5}
    assert np.isnan(item_scores(scores, items, "pass_hat_2")["a"])


def test_a_reducer_of_ones_own_is_not_known():
    assert is_known("pass_at_12") and not is_known("my_reducer") and not is_known("mean_score_2")


@pytest.mark.parametrize("reducer", ["mean", "mode", "at_least_1", "pass_at_1", "pass_hat_1"])
def test_items_stay_in_their_order_with_their_own_epochs(reducer):
    scores = pd.Series([1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    items = pd.Series(["z", "a", "m", "a", "z", "m"])
    found = item_scores(scores, items, reducer)
    assert found.index.tolist() == ["z", "a", "m"] and found.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("reducer", "expected"),
    [
        ("at_least_1", (1, 0)),
        ("at_least_2", (0, 0)),
        ("pass_at_3", (1, 0)),
        ("pass_at_4", (1, 1)),  # fewer epochs than k, as Inspect has it
        ("pass_hat_3", (0, 0)),
        ("pass_hat_4", (np.nan, np.nan)),
    ],
)
def test_items_with_as_many_epochs_as_k_and_with_fewer(reducer, expected):
    found = item_scores(pd.Series([1.0, 0.9, 0.0, 0.0, 0.0, 0.0]), pd.Series(["a"] * 3 + ["b"] * 3), reducer)
    assert found.to_numpy() == pytest.approx(expected, nan_ok=True)
