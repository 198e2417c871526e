"""The gap between two accuracies, by items and by families, against the formulas."""

import math

import numpy as np
import pytest

from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.memory.published_score import RANDOM, score_gap


@pytest.mark.parametrize("clustered", ["benchmark", "controls"])
def test_where_one_set_has_families_its_limits_are_those_over_families(clustered):
    """Ten families of five equal answers, and fifty answers of their own in the other set."""
    right = np.repeat(np.arange(10) < 7, 5).astype(float), (np.arange(50) < 20).astype(float)
    families = np.repeat(np.arange(10), 5), None
    of_families = clustered_mean(right[0], families[0])
    limits = [(of_families.low, of_families.high), clopper_pearson(20, 50)]
    sign = 1
    if clustered == "controls":
        right, families, limits, sign = right[::-1], families[::-1], limits[::-1], -1
    gap = score_gap(*right, RANDOM, families).gap
    (low, high), (other_low, other_high) = limits
    first, second = right[0].mean(), right[1].mean()
    assert gap.value == pytest.approx(sign * 0.3) and (gap.method, gap.n) == ("mover_families", 100)
    assert gap.low == pytest.approx(gap.value - math.hypot(first - low, other_high - second))
    assert gap.high == pytest.approx(gap.value + math.hypot(high - first, second - other_low))
