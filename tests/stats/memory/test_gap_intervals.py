"""The drop gap's interval: which method stands where, and none below ten units a set."""

import math

import numpy as np
import pytest
from scipy.stats import t

from flipcore.stats.memory.gap_intervals import drops_estimate, padded_limits


def test_sets_that_change_have_welchs_interval():
    first, second = np.tile([0.0, 1.0], 20), np.tile([0.0, 0.5], 20)
    gap = drops_estimate(first, second, 0.95)
    assert gap.method == "welch" and gap.value == pytest.approx(0.25) and gap.low < 0.25 < gap.high and gap.n == 80


def test_a_set_that_hardly_changes_gets_two_changes_added():
    first, second = np.zeros(40), np.zeros(40)
    gap = drops_estimate(first, second, 0.95)
    assert gap.method == "padded_mover" and gap.value == 0 and gap.low == pytest.approx(-gap.high) and gap.high > 0.01


def test_limits_hold_the_mean_and_stay_within_what_a_drop_can_be():
    low, high = padded_limits(np.ones(12), 0.95)
    assert high == 1.0 and low < 1.0
    assert padded_limits(np.zeros(12), 0.95, low_end=0.0)[0] == 0.0


def test_below_ten_items_a_set_there_is_a_value_and_no_interval():
    gap = drops_estimate(np.zeros(5), np.ones(30), 0.95)
    assert gap.value == -1 and math.isnan(gap.low) and "a set has 5 items" in gap.note


def test_padded_limits_are_students_t_over_the_padded_drops():
    """Ten unchanged items and one change of either kind: mean 0, variance 2 / 11, nine degrees of freedom."""
    half = t.ppf(0.975, 9) * math.sqrt(2 / 11) / math.sqrt(12)
    assert padded_limits(np.zeros(10), 0.95) == pytest.approx((-half, half))
    half = t.ppf(0.95, 39) * math.sqrt((4 - 4 / 42) / 41 / 42)  # two of 40 changed: mean 2 / 42, the squares add up to 4
    assert padded_limits(np.array([0.0] * 38 + [1.0, 1.0]), 0.9) == pytest.approx((2 / 42 - half, 2 / 42 + half))
