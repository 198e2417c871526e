"""Standard errors by groups and the permutation p of the groups being alike."""

import numpy as np
import pytest
from scipy import stats

from flipcore.core.randomness import generator
from flipcore.stats.audit.groups import group_spread


def test_the_p_is_that_of_the_one_way_analysis_of_variance():
    rng = generator(3)
    groups = np.repeat(np.arange(12), 20)
    x = rng.normal(0, 1, 240) + rng.normal(0, 0.25, 12)[groups]
    found = group_spread(x, groups)
    assert found.p == pytest.approx(stats.f_oneway(*(x[groups == g] for g in range(12))).pvalue, abs=0.025)
    assert (found.n_groups, found.by_item) == (12, pytest.approx(x.std(ddof=1) / 240**0.5)) and found.ratio > 1


def test_equal_groups_are_called_apart_at_the_level_and_apart_ones_are():
    rng, groups = generator(4), np.repeat(np.arange(15), [40] + [3] * 14)
    p = [group_spread((rng.random(82) < 0.9).astype(float), groups, seed).p for seed in range(300)]
    assert np.mean(np.array(p) <= 0.05) <= 0.085
    assert group_spread((np.arange(82) < 40).astype(float), groups).p < 0.005
