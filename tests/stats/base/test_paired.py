"""Paired tests against statsmodels and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_ind
from statsmodels.stats.contingency_tables import mcnemar

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import paired
from flipcore.stats.base.guarded import guarded_limits, guarded_t
from flipcore.stats.base.tango import MAX_EXACT, loss_limits, p_above, p_below, p_two_sided, tango_z, upper_loss


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_statsmodels(b, c):
    ours = paired.mcnemar(b, c)
    table = [[0, b], [c, 0]]
    assert ours["exact"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    if b + c == 0:
        assert set(ours.values()) == {1.0}
        return
    assert ours["chi2"] == pytest.approx(mcnemar(table, exact=False, correction=False).pvalue)
    if b != c:  # for b = c statsmodels squares |0| - 1
        assert ours["chi2_cc"] == pytest.approx(mcnemar(table, exact=False, correction=True).pvalue)
    assert ours["one_sided_exact"] == pytest.approx(binomtest(b, b + c, 0.5, alternative="greater").pvalue)
    assert ours["midp"] <= ours["exact"]


def test_the_p_of_the_source_is_the_continuity_corrected_one():
    p = paired.mcnemar(33, 0)
    assert p["chi2_cc"] == pytest.approx(2.540e-8, rel=1e-3)
    assert p["exact"] == pytest.approx(2 * 0.5**33) == pytest.approx(2.33e-10, rel=1e-2)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=2, max_size=30),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=2, max_size=30),
)
@pytest.mark.filterwarnings("ignore:Precision loss")  # scipy, where one set has no variance
def test_welchs_t_equals_scipy(db, dc):
    ours = paired.gap_welch(db, dc)
    if np.var(db) + np.var(dc) < 1e-12:
        assert ours["p"] == (1.0 if np.mean(db) == np.mean(dc) else 0.0) and math.isnan(ours["lo"])
        return
    theirs = ttest_ind(db, dc, equal_var=False)
    interval = theirs.confidence_interval()
    assert (ours["t"], ours["df"], ours["p"]) == pytest.approx((theirs.statistic, theirs.df, theirs.pvalue))
    assert (ours["lo"], ours["hi"]) == pytest.approx((interval.low, interval.high))


# The guarded t: an item that nobody saw counts against the mean.


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


# Paired right and wrong: against enumeration, and test and interval that say one thing.


def trinomial(b, c, n, lost, mended):
    stay = 1 - lost - mended
    ways = math.comb(n, b) * math.comb(n - b, c)
    return ways * lost**b * mended**c * (stay ** (n - b - c) if stay > 0 else float(b + c == n))


def enumerated(b, c, n, loss, grid=400):
    """The largest probability over a grid of the nuisance of a statistic as small as this one, term by term."""
    here, largest = float(tango_z(b, c, n, loss)), 0.0
    extreme = [(i, j) for i in range(n + 1) for j in range(n + 1 - i) if tango_z(i, j, n, loss) <= here + 1e-9]
    low, high = max(0.0, -loss), (1 - loss) / 2
    for mended in np.linspace(low, high, grid):
        largest = max(largest, sum(trinomial(i, j, n, mended + loss, mended) for i, j in extreme))
    return largest


@pytest.mark.parametrize(
    ("b", "c", "n", "loss"), [(1, 0, 12, 0.2), (0, 0, 10, 0.1), (3, 1, 14, 0.3), (2, 5, 12, 0.0), (1, 3, 9, -0.1)]
)
def test_the_exact_p_is_the_enumerated_one(b, c, n, loss):
    assert p_below(b, c, n, loss) == pytest.approx(enumerated(b, c, n, loss), abs=3e-4)


def test_the_statistic_at_no_loss_is_mcnemars():
    assert float(tango_z(9, 4, 40, 0.0)) == pytest.approx(5 / math.sqrt(13))


@pytest.mark.parametrize("n", [10, 22, 150])
def test_where_nothing_changed_the_bound_is_the_exact_one(n):
    assert upper_loss(0, 0, n) == pytest.approx(1 - 0.05 ** (1 / n), abs=1e-5)


@pytest.mark.parametrize(("n", "margin"), [(22, 0.1), (40, 0.05)])
def test_a_loss_at_the_margin_is_called_smaller_in_at_most_a_twentieth(n, margin):
    """By enumeration; Tango's normal z said so in .051-.071, Bonett and Price's limits in .053-.098."""
    pairs = [(b, c) for b in range(n + 1) for c in range(n + 1 - b) if b - c < n * margin]
    said = [(b, c) for b, c in pairs if tango_z(b, c, n, margin) < -1.3 and p_below(b, c, n, margin) <= 0.05]
    worst = max(sum(trinomial(b, c, n, mended + margin, mended) for b, c in said) for mended in (0.0, 0.01, 0.03, 0.1, 0.2))
    assert 0.01 < worst <= 0.05


@pytest.mark.parametrize("n", [12, 40, pytest.param(100, marks=pytest.mark.slow), MAX_EXACT + 1, 1319])
def test_interval_and_test_say_one_thing(n):
    rng = generator(1, n)
    for _ in range(8):
        b, c = (int(x) for x in rng.integers(0, max(2, n // 6), 2))
        low, high = loss_limits(b, c, n)
        assert (p_two_sided(b, c, n) <= 0.05) == (low >= 0 or high <= 0)
        assert -1 <= low <= (b - c) / n <= high <= 1
        assert p_above(b, c, n) == p_below(c, b, n)


def test_counts_that_are_of_no_set_are_refused():
    with pytest.raises(BadInput, match="5 items that broke and 6 that mended are not of one set of 10"):
        p_below(5, 6, 10)
    assert math.isnan(p_below(0, 0, 0)) and math.isnan(upper_loss(0, 0, 0)) and math.isnan(p_two_sided(0, 0, 0))
    assert (p_below(1, 0, 10, 1.0), p_below(1, 0, 10, -1.0)) == (0.0, 1.0)


def test_where_every_item_broke_the_limit_is_the_largest_loss():
    assert upper_loss(12, 0, 12) == 1.0 and -1 < upper_loss(0, 12, 12) < 0
