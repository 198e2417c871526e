"""The guarded t: an item that nobody saw counts against the mean."""

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.stats.base.guarded import guarded_limits, guarded_t


def test_an_unseen_item_counts_against_the_mean():
    # four of 26 items at +1: Student's t says p = .021; half an item at -2 makes it .097 one-sided
    x = (np.arange(26) < 4).astype(float)
    found = guarded_t(x, (-2.0, 1.0))
    mean, square = (4 - 1) / 26.5, (4 + 2) / 26.5
    t = mean / np.sqrt((square - mean**2) / 25.5)
    from scipy.stats import t as student

    assert float(found.p_above) == pytest.approx(float(student.sf(t, 25)))
    assert np.isnan(guarded_t(x[:9], (-2.0, 1.0)).p)


def test_one_column_with_families_has_one_p():
    rng = generator(2, "one column")
    x, families = rng.choice([-1.0, 0.0, 1.0], 60), np.repeat(np.arange(20), 3)
    alone = guarded_t(x, (-1.0, 1.0), families)
    assert alone.p.shape == ()
    low, high = guarded_limits(x, x, (-1.0, 1.0), 0.025, families)
    assert low < x.mean() < high
    assert (low > 0 or high < 0) == (float(alone.p) <= 0.05)
