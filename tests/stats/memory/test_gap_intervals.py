"""Intervals of the drop gap: which one is taken, and each by its formula."""

import math

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

from flipcore.stats.base.families import clustered_difference
from flipcore.stats.memory.gap_intervals import drops_estimate, gap_estimate, n_changed, padded_limits
from flipcore.stats.memory.rewritten import Rewritten


def drops(n, n_changed):
    """One half of an answer lost by `n_changed` of `n` items."""
    return np.repeat([0.5, 0.0], [n_changed, n - n_changed])


def padded(values, low_end=-1.0, level=0.95):
    """Student's limits with a drop of 1 and one of `low_end`, which are no evidence."""
    x = np.append(values, (1.0, low_end))
    half = t.ppf(0.5 + level / 2, x.size - 3) * x.std(ddof=1) / math.sqrt(x.size)
    return x.mean() - half, x.mean() + half


def test_a_drop_by_rounding_is_none():
    assert n_changed(np.array([0.0, 1e-13, -1e-13, 0.5, -0.5, 1e-6])) == 3


@pytest.mark.parametrize(("n_first", "n_second"), [(10, 10), (9, 10), (10, 9)])
def test_from_ten_changes_in_each_set_the_interval_is_welchs(n_first, n_second):
    first, second = drops(40, n_first), drops(30, n_second)
    gap = drops_estimate(first, second, 0.9)
    assert (gap.value, gap.n, gap.level) == (pytest.approx(first.mean() - second.mean()), 70, 0.9)
    if min(n_first, n_second) == 10:
        welch = ttest_ind(first, second, equal_var=False).confidence_interval(0.9)
        assert gap.method == "welch" and (gap.low, gap.high) == pytest.approx((welch.low, welch.high))
        return
    (low, high), (other_low, other_high) = padded(first, level=0.9), padded(second, level=0.9)
    assert gap.method == "padded_mover"
    assert gap.low == pytest.approx(gap.value - math.hypot(first.mean() - low, other_high - second.mean()))
    assert gap.high == pytest.approx(gap.value + math.hypot(high - first.mean(), second.mean() - other_low))


def test_lost_shares_are_padded_with_0_and_1_and_keep_their_mean():
    first, second = drops(40, 5), drops(40, 0)
    gap = drops_estimate(first, second, 0.95, low_end=0.0)
    low, high = padded(first, low_end=0.0)
    other_low, other_high = padded(second, low_end=0.0)
    assert padded_limits(second, 0.95, 0.0) == pytest.approx((max(other_low, 0), other_high))
    assert gap.low == pytest.approx(gap.value - math.hypot(first.mean() - low, other_high))
    assert gap.high == pytest.approx(gap.value + math.hypot(high - first.mean(), 0))
    assert padded_limits(np.full(3_000, -1.0), 0.5) == (-1.0, pytest.approx(padded(np.full(3_000, -1.0), level=0.5)[1]))
    # Padding pulls a mean of -.9 towards 0, by more than the half-width.
    low, high = padded_limits(np.full(50, -0.9), 0.01)
    assert low == pytest.approx(-0.9) and high > low and padded(np.full(50, -0.9), level=0.01)[0] > -0.9
    low, high = padded_limits(np.full(50, 0.9), 0.01)
    assert high == pytest.approx(0.9) and padded(np.full(50, 0.9), level=0.01)[1] < 0.9


def test_one_item_of_a_set_has_no_limits():
    x = np.array([0.5, 1.0, -1.0])
    half = t.ppf(0.975, 1) * x.std(ddof=1) / math.sqrt(3)
    assert padded_limits(x[:1], 0.95) == (max(-1.0, x.mean() - half), min(1.0, x.mean() + half))
    assert not drops_estimate(np.array([0.5]), drops(30, 0), 0.95).has_interval


@pytest.mark.parametrize(("sizes", "has_interval"), [((10, 10), True), ((9, 40), False), ((40, 9), False)])
def test_ten_items_of_each_set_have_an_interval(sizes, has_interval):
    gap = drops_estimate(drops(sizes[0], 4), drops(sizes[1], 2), 0.95)
    assert gap.has_interval == has_interval and gap.n == sum(sizes)
    assert has_interval or gap.note == "No interval: a set has 9 items; at least 10 are needed."


def rewritten(prefix, n, n_broken):
    after = np.repeat([0.0, 1.0], [n_broken, n - n_broken])
    return Rewritten.make([f"{prefix}{i}" for i in range(n)], np.ones(n), after)


@pytest.mark.parametrize(("n_broken", "method"), [(20, "families"), (18, "padded_mover")])
def test_families_are_the_unit_where_both_sets_have_them(n_broken, method):
    """Two items a family: ten families that changed are enough, and with nine two changes are added."""
    benchmark, control = rewritten("b", 80, 40), rewritten("c", 60, n_broken)
    families = np.repeat(np.arange(40), 2), 100 + np.repeat(np.arange(30), 2)
    gap = gap_estimate(benchmark, control, 0.95, families)
    linear = clustered_difference(benchmark.drops, families[0], control.drops, families[1], bounds=(-1.0, 1.0))
    assert gap.method == method and gap.value == pytest.approx(0.5 - n_broken / 60)
    for sets in ((families[0], None), (None, families[1])):
        assert gap_estimate(benchmark, control, 0.95, sets).method == "mover"
    assert gap.low <= linear.low and gap.high >= linear.high
    if method == "padded_mover":
        changed = np.repeat([1.0, 0.0], [20, 20]), np.repeat([1.0, 0.0], [9, 21])
        (low, high), (other_low, other_high) = map(padded, changed)
        joined = gap.value - math.hypot(0.5 - low, other_high - 0.3), gap.value + math.hypot(high - 0.5, 0.3 - other_low)
        assert (gap.low, gap.high) == pytest.approx((min(linear.low, joined[0]), max(linear.high, joined[1])))
