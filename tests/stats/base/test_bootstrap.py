"""Limits from replicates, by their formulas on numbers that are easy to count."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from flipcore.stats.base.bootstrap import acceleration, bca_limits, bca_percentiles, percentile_limits, studentized_limits

COUNT = np.arange(101.0)


def test_percentiles_leave_out_as_much_on_either_side():
    assert percentile_limits(COUNT, 0.9) == pytest.approx([5, 95])
    assert percentile_limits(COUNT, 0.5) == pytest.approx([25, 75])


def test_a_studentised_limit_is_that_of_the_other_side():
    assert studentized_limits(COUNT / 10, 1.0, 2.0, 0.9) == pytest.approx([1 - 2 * 9.5, 1 - 2 * 0.5])
    assert studentized_limits(COUNT[:0], 3.0, 2.0, 0.9) == [3.0, 3.0]


def test_the_acceleration_is_the_skewness_over_six():
    # about the mean of 1/3, with the sign turned: 1/3, 1/3, -2/3
    assert acceleration(np.array([0.0, 0.0, 1.0])) == pytest.approx((1 + 1 - 8) / 27 / (6 * (6 / 9) ** 1.5))
    assert acceleration(np.array([0.2, 0.2 + 1e-13, 0.2])) == 0.0 == acceleration(np.full(4, 0.7))


@pytest.mark.parametrize("accel", [0.0, 0.1])
@pytest.mark.parametrize(("observed", "below"), [(50.0, 50.5), (30.0, 30.5), (30.5, 31.0)])
def test_percentiles_are_corrected_for_bias_and_acceleration(observed, below, accel):
    """A replicate that equals the observed value counts half."""
    low, high = bca_percentiles(COUNT, observed, accel, np.array([0.9, 0.95]))
    z0 = norm.ppf(below / 101)
    for side, shares in ((-1, low), (1, high)):
        z = z0 + side * norm.ppf([0.95, 0.975])
        assert shares == pytest.approx(norm.cdf(z0 + z / (1 - accel * z)))


def test_limits_are_those_percentiles_of_the_replicates():
    assert bca_limits(COUNT, 50.0, np.array([0.0, 1.0]), 0.9) == pytest.approx([5, 95])


@pytest.mark.parametrize(("replicates", "observed"), [(COUNT, -1.0), (COUNT, 101.0), (COUNT[:0], 0.0)])
def test_without_replicates_on_both_sides_there_is_no_correction(replicates, observed):
    for shares in bca_percentiles(replicates, observed, 0.1, np.array([0.9, 0.95])):
        assert shares.shape == (2,) and np.isnan(shares).all()
    assert all(math.isnan(limit) for limit in bca_limits(replicates, observed, np.arange(4.0), 0.9))
