import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flipcore.core.randomness import generator
from flipcore.stats.base.accuracy import accuracy, accuracy_of
from flipcore.stats.score.cells import ScoreCells
from flipcore.stats.score.error_bar import error_bar


def test_single_answers_have_wilsons_limits_with_students_t():
    # of a score over other questions: 38 of 40 vary as 39 independent answers, t of 39
    one, n, t = accuracy([1] * 38 + [0] * 2), 39, stats.t.ppf(0.975, 39)
    centre, half = 0.95 + t**2 / (2 * n), t * (0.95 * 0.05 / n + t**2 / (4 * n**2)) ** 0.5
    assert (one.method, one.n, one.effective) == ("wilson_t", 40, None)
    assert (one.low, one.high) == pytest.approx(((centre - half) / (1 + t**2 / n), (centre + half) / (1 + t**2 / n)))
    assert accuracy([1] * 40).high == 1.0 and accuracy([1] * 40).low < 0.93


def test_an_accuracy_and_a_score_in_one_wording_have_the_same_limits():
    rng = generator(3)
    runs = (rng.random((60, 3)) < rng.random(60)[:, None]).astype(float)
    cells = ScoreCells(runs.mean(axis=1)[:, None], np.full((60, 1), 3), runs.var(axis=1)[:, None] * 3)
    one, score = accuracy(runs.mean(axis=1)), error_bar(cells).by_questions
    assert (one.value, one.low, one.high) == pytest.approx((score.value, score.low, score.high))


def test_items_of_one_family_count_once():
    # 12 templates of 5 items, each right or wrong as a whole: 12 values, not 60
    right = np.repeat([1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1], 5)
    families = np.repeat(np.arange(12), 5)
    one = accuracy(right, families)
    n, t = 11, stats.t.ppf(0.975, 11)  # m (1 - m)/V with V = m (1 - m)/11: Wilson's limits of so many
    centre, half = 8 / 12 + t**2 / (2 * n), t * (8 / 12 * 4 / 12 / n + t**2 / (4 * n**2)) ** 0.5
    assert (one.n, one.value, one.effective) == (12, pytest.approx(8 / 12), pytest.approx(12))
    assert (one.low, one.high) == pytest.approx(((centre - half) / (1 + t**2 / n), (centre + half) / (1 + t**2 / n)))
    assert one.high - one.low > 1.8 * (accuracy(right).high - accuracy(right).low)
    assert accuracy(right[:25], families[:25]).is_too_short  # five families carry no claim
    assert not accuracy(right[:10], families[:10]).has_interval  # two say nothing
    assert accuracy(right, np.arange(60)) == accuracy(right)  # families of one are none


def test_readouts_count_an_item_once_and_leave_out_what_was_never_judged():
    rows = pd.DataFrame(
        {
            "item_id": ["a", "a", "b", "c"] + [f"i{n}" for n in range(9)],
            "is_correct": [True, False, True, None] + [True] * 9,
            "family": ["a", "a", "b", "c"] + [f"i{n}" for n in range(9)],
        }
    )
    one = accuracy_of(rows)
    assert (one.n, one.value) == (11, pytest.approx(10.5 / 11))
    assert np.isnan(accuracy_of(rows[rows["item_id"] == "c"]).value)
    joined = rows.assign(family=["a"] * 4 + ["b"] * 9)
    assert accuracy_of(joined).n == 2 and not accuracy_of(joined).has_interval
