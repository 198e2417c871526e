"""Bootstrap limits on replicates that are known, and values that are all alike."""

import math

import numpy as np
import pytest

from flipcore.stats.base import bootstrap


def test_percentiles_leave_half_the_rest_outside_on_either_side():
    assert bootstrap.percentile_limits(np.arange(101.0), 0.9) == pytest.approx([5, 95])


def test_without_bias_or_skewness_bca_is_the_percentile_interval():
    reps = np.linspace(-1, 1, 2001)
    assert bootstrap.bca_limits(reps, 0.0, np.array([-1.0, 0.0, 1.0]), 0.95) == pytest.approx([-0.95, 0.95], abs=1e-3)
    assert bootstrap.acceleration(np.array([2.0, 2.0])) == 0.0


def test_an_observed_value_beyond_all_replicates_has_no_bca_limits():
    assert all(map(math.isnan, bootstrap.bca_limits(np.zeros(9) + 1, 5.0, np.arange(3.0), 0.95)))


def test_values_that_are_all_alike_come_back_as_one_point_and_none_as_nan():
    assert bootstrap.boot_bca([2, 2, 2], n_boot=50) == bootstrap.boot_studentized([2, 2, 2], n_boot=50) == [2, 2]
    assert all(
        math.isnan(x) for x in (*bootstrap.boot_percentile([]), *bootstrap.boot_bca([]), *bootstrap.boot_studentized([1]))
    )


def test_studentised_limits_turn_the_replicates_round():
    assert bootstrap.studentized_limits(np.linspace(-1, 3, 401), 10.0, 2.0, 0.95) == pytest.approx([10 - 2 * 2.9, 10 + 2 * 0.9])
