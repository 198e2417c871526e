"""A reader corrected by people: against the formula written out, against limits by hand, and by its coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.score.corrected import EXACT, METHOD, corrected, rate_with_limits


def outputs(n=400, n_labels=120, error=0.2, seed=0, accuracy=0.7):
    """(reader's word, people's word on a random part): the reader takes more rights for wrongs than wrongs for rights."""
    rng = generator(seed, "outputs")
    truth = (rng.random(n) < accuracy).astype(float)
    misread = rng.random(n) < np.where(truth == 1, 1.5 * error, 0.5 * error)
    read = np.full(n, np.nan)
    part = rng.permutation(n)[:n_labels]
    read[part] = truth[part]
    return np.where(misread, 1 - truth, truth), read


def by_the_formula(f, y):
    """Mean and variance of statistics 18.1, sum by sum."""
    there = [i for i in range(len(f)) if not math.isnan(y[i])]
    n, N = len(there), len(f)
    mean_f, mean_y = sum(f[i] for i in there) / n, sum(y[i] for i in there) / n
    covariance = sum((f[i] - mean_f) * (y[i] - mean_y) for i in there) / n
    weight = covariance / (sum((f[i] - mean_f) ** 2 for i in there) / n)
    left = [y[i] - weight * f[i] for i in there]
    value = weight * sum(f) / N + sum(left) / n
    of_f = sum((one - sum(f) / N) ** 2 for one in f) / (N - 1)
    of_left = sum((one - sum(left) / n) ** 2 for one in left) / (n - 1)
    return value, weight, weight**2 * of_f / N + of_left / n


def test_the_estimate_and_its_variance_are_the_formulas():
    f, y = outputs()
    one = corrected(f, y)
    value, weight, variance = by_the_formula(f.tolist(), y.tolist())
    assert one.estimate.value == pytest.approx(value) and one.weight == pytest.approx(weight)
    assert one._uncut.se**2 == pytest.approx(variance, rel=1e-9)
    assert one.estimate.method == METHOD and one.estimate.n == one.n_labels == 120
    assert one.estimate.high - one.estimate.low < one.by_people.high - one.by_people.low


def test_questions_asked_in_several_ways_count_as_one():
    f, y = outputs()
    twice = corrected(np.repeat(f, 2), np.repeat(y, 2), np.repeat(np.arange(f.size), 2))
    once = corrected(f, y)
    assert twice.estimate.value == pytest.approx(once.estimate.value)
    assert twice.estimate.low == pytest.approx(once.estimate.low, abs=2e-3)
    assert corrected(np.repeat(f, 2), np.repeat(y, 2)).estimate.low > once.estimate.low + 0.01


def test_few_disagreements_get_exact_limits_of_both_error_rates():
    f = np.repeat([1.0, 0.0], [150, 50])
    y = np.full(200, np.nan)
    y[:60], y[150:180] = 1.0, 0.0
    y[0] = 0.0
    one = corrected(f, y)
    assert one.n_disagreements == 1 and one.estimate.method == EXACT and one.n_more == 9 * 90
    exact = stats.binomtest(1, 60).proportion_ci(method="exact")
    assert (one.false_rights.low, one.false_rights.high) == pytest.approx((exact.low, exact.high))
    assert one.false_wrongs.low == 0 and one.false_wrongs.high == pytest.approx(1 - 0.025 ** (1 / 30))
    assert one.estimate.value == pytest.approx(0.75 * 59 / 60)
    up = math.hypot((1 - 1 / 60) * (one.raw.high - 0.75), 0.75 * (1 / 60 - exact.low), 0.25 * one.false_wrongs.high)
    assert one.estimate.high == pytest.approx(one.estimate.value + up, abs=1e-3)
    assert math.isnan(one.half_width()) and corrected(f, np.where(np.isnan(y), y, f)).n_more is None


def test_where_people_always_say_the_same_the_interval_has_a_width():
    f = np.resize([1.0, 1.0, 0.0], 400)
    for says in (0.0, 1.0):
        y = np.where(np.arange(400) < 90, says, np.nan)
        one = corrected(f, y)
        assert one.n_disagreements >= 30 and one.estimate.method == EXACT and one.n_more is None
        assert one.estimate.value == pytest.approx(says) and one.estimate.high - one.estimate.low > 0.03
    y[:4] = 1 - says
    assert corrected(f, y).estimate.method == EXACT and corrected(f, y).n_more == math.ceil(90 / 4)
    y[4] = 1 - says
    assert corrected(f, y).estimate.method == METHOD and corrected(f, y).n_more == 0


def test_more_labels_narrow_it_as_far_as_the_questions_allow():
    f, y = outputs(2000, 200)
    one = corrected(f, y)
    widths = [one.half_width(n) for n in (0, 200, 1000, math.inf)]
    assert widths == sorted(widths, reverse=True) and widths[-1] > 0.01
    assert widths[0] == pytest.approx((one.estimate.high - one.estimate.low) / 2, rel=0.05)


def test_few_labels_have_no_interval_and_none_are_missing():
    f, y = outputs(n_labels=9)
    assert not corrected(f, y).estimate.has_interval and not math.isnan(corrected(f, y).estimate.value)
    nobody = corrected(f, np.full(f.size, np.nan))
    assert math.isnan(nobody.estimate.value) and nobody.n_labels == 0 and nobody.raw.n == f.size
    always = corrected(np.ones(50), np.where(np.arange(50) < 20, 1.0, np.nan))
    assert always.estimate.value == 1 and always.estimate.low < 0.95 and math.isnan(always.false_wrongs.value)
    with pytest.raises(BadInput, match="2 readouts came with 1 labels"):
        corrected([1, 0], [1])
    with pytest.raises(BadInput, match="1 .right. or 0"):
        corrected([0.5, 0], [1, 0])


@pytest.mark.slow
@pytest.mark.parametrize(("error", "n_labels"), [(0.02, 100), (0.2, 100), (0.4, 300)])
def test_the_interval_holds_the_truth_as_often_as_it_says(error, n_labels):
    held = [
        one.low <= 0.7 <= one.high for seed in range(400) for one in [corrected(*outputs(400, n_labels, error, seed)).estimate]
    ]
    assert 0.92 <= np.mean(held)


def disagreeing(n_wrong, n_labels=40):
    """60 outputs that are called right in turn; of the first `n_labels` so many are called otherwise by people."""
    f = np.resize([1.0, 0.0], 60)
    y = np.where(np.arange(60) < n_labels, f, np.nan)
    y[:n_wrong] = 1 - y[:n_wrong]
    return corrected(f, y)


@pytest.mark.parametrize(("n_wrong", "method", "n_more"), [(9, EXACT, math.ceil(40 / 9)), (10, METHOD, 0), (11, METHOD, 0)])
def test_ten_disagreements_have_normal_limits(n_wrong, method, n_more):
    found = disagreeing(n_wrong)
    assert (found.n_disagreements, found.estimate.method, found.n_more) == (n_wrong, method, n_more)
    assert found.has_normal_limits == (method == METHOD) and math.isnan(found.half_width()) == (method == EXACT)
    assert found.level == found.estimate.level == 0.95


@pytest.mark.parametrize("n_labels", [9, 10])
def test_ten_labels_have_an_interval(n_labels):
    found = disagreeing(0, n_labels)
    assert found.n_labels == n_labels and found.estimate.has_interval == (n_labels == 10)
    assert found.n_rarer == n_labels // 2


def test_errors_within_families_count_as_fewer_and_are_rounded_outwards():
    """Ten pairs of outputs called right, three of the twenty wrong by people: 1.5 errors of ten."""
    families = np.repeat(np.arange(10), 2)
    found = corrected(np.ones(20), np.where(np.arange(20) < 3, 0.0, 1.0), families).false_rights
    one, two = (stats.binomtest(k, 10).proportion_ci(method="exact") for k in (1, 2))
    assert (found.value, found.n) == (3 / 20, 20) and (found.low, found.high) == pytest.approx((one.low, two.high))
    none = corrected(np.ones(20), np.ones(20)).false_wrongs
    assert none.n == 0 and rate_with_limits(none) == (0.0, 0.0, 1.0)
    assert rate_with_limits(found) == (found.value, found.low, found.high)


@pytest.mark.parametrize("n_more", [0, 40, 280, 1_000, math.inf])
def test_only_the_labels_part_of_the_variance_shrinks(n_more):
    f, y = outputs()
    found = corrected(f, y)
    _, weight, variance = by_the_formula(f.tolist(), y.tolist())
    residuals = (y - weight * f)[~np.isnan(y)]
    of_labels = residuals.var(ddof=1) / 120
    # 280 outputs are left to label
    factor = 0 if math.isinf(n_more) else 120 / (120 + min(n_more, 280))
    half = stats.t.ppf(0.975, found._uncut.df) * math.sqrt(variance - of_labels + factor * of_labels)
    assert found.half_width(n_more) == pytest.approx(half)
    assert n_more or found.half_width() == found.half_width(0)


@pytest.mark.parametrize("readout", [0.0, 1.0])
def test_labels_weigh_by_the_slope_of_people_on_readouts(readout):
    f, y = np.array([1.0, 1, 1, 0, 0, 1]), np.array([1.0, 1, 0, 0, 1, np.nan])

    assert corrected(f, y).weight == pytest.approx(np.cov(f[:5], y[:5])[0, 1] / f[:5].var(ddof=1))
    assert corrected(np.full(6, readout), y).weight == 1.0 and corrected(f, y * np.nan).weight == 1.0
