"""Two sets of other items: exact p against Barnard's, its size by enumeration, and limits that agree with it."""

import math

import numpy as np
import pytest
from scipy.stats import barnard_exact, binom

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import two_shares
from flipcore.stats.base.two_shares import (
    MAX_EXACT,
    Counts,
    critical_score,
    difference_limits,
    p_above,
    p_two_sided,
    tail,
    z_score,
)


@pytest.mark.parametrize("seed", range(12))
def test_the_exact_p_is_barnards(seed):
    rng = generator(seed, "barnard")
    n1, n2 = (int(n) for n in rng.integers(5, 45, 2))
    counts = Counts(int(rng.integers(0, n1 + 1)), n1, int(rng.integers(0, n2 + 1)), n2)
    table = [[counts.k1, counts.k2], [n1 - counts.k1, n2 - counts.k2]]
    for ours, side in ((p_above(counts), "greater"), (p_above(counts.swapped), "less")):
        assert ours == pytest.approx(barnard_exact(table, alternative=side, n=256).pvalue, abs=2e-4)


@pytest.mark.parametrize(("n1", "n2", "difference"), [(1, 3, 0.0), (3, 1, 0.0), (2, 5, 0.1), (6, 4, -0.1), (4, 4, 0.0)])
def test_the_exact_p_of_small_sets_is_that_of_going_through_every_result(n1, n2, difference):
    k1, k2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    scores = z_score(k1, n1, k2, n2, difference)
    shares = np.linspace(max(0.0, difference), min(1.0, 1 + difference), 2001)[:, None, None]
    chances = binom.pmf(k1, n1, shares) * binom.pmf(k2, n2, np.clip(shares - difference, 0, 1))
    for row in range(n1 + 1):
        for column in range(n2 + 1):
            is_extreme = scores >= scores[row, column] - 1e-9
            p = (chances * is_extreme).sum(axis=(1, 2)).max()
            assert p_above(Counts(row, n1, column, n2), difference) == pytest.approx(p, abs=1e-4)


def size(n1, n2, p1, difference, error=0.025):
    """How often a true difference of `difference` is rejected from above, by going through every result."""
    k1, k2 = np.arange(n1 + 1), np.arange(n2 + 1)
    is_rejected = z_score(k1[:, None], n1, k2[None, :], n2, difference) >= critical_score(n1, n2, difference, error)
    return float(binom.pmf(k1, n1, p1) @ is_rejected @ binom.pmf(k2, n2, p1 - difference))


@pytest.mark.parametrize(("n1", "n2"), [(200, 30), (30, 200), (1_319, 50), (40, 40)])
@pytest.mark.parametrize("difference", [0.0, 0.1, -0.1])
def test_no_share_of_right_answers_makes_it_false_too_often(n1, n2, difference):
    shares = [p for p in (0.02, 0.1, 0.12, 0.3, 0.5, 0.7, 0.88, 0.9, 0.98, 1.0) if 0 <= p - difference <= 1]
    assert max(size(n1, n2, p, difference) for p in shares) <= 0.025 + 1e-4


def test_the_normal_p_of_few_errors_is_false_too_often():
    # what the exact one is there for: .98 of 200 and of 30 are right, and one side of the normal z says otherwise in .047, not .025
    k1, k2 = np.arange(201), np.arange(31)
    is_rejected = z_score(k1[:, None], 200, k2[None, :], 30, 0.0) >= 1.96
    assert float(binom.pmf(k1, 200, 0.98) @ is_rejected @ binom.pmf(k2, 30, 0.98)) > 0.045


@pytest.mark.parametrize("seed", range(8))
def test_limits_and_test_never_disagree(seed):
    rng = generator(seed, "agree")
    n1, n2 = (int(n) for n in rng.integers(10, 120, 2))
    counts = Counts(int(rng.binomial(n1, 0.9)), n1, int(rng.binomial(n2, 0.75)), n2)
    low, high = difference_limits(counts)
    assert (low > 0 or high < 0) == (p_two_sided(counts) <= 0.05) and low <= counts.difference <= high
    assert difference_limits(counts.swapped) == pytest.approx([-high, -low], abs=2e-5)
    assert p_above(counts, low - 1e-3) <= 0.025 < p_above(counts, low + 1e-3) + 1e-3


def test_larger_sets_take_the_normal_score():
    counts = Counts(900, MAX_EXACT + 600, 850, MAX_EXACT + 600)
    z = float(z_score(*counts, 0.0))
    assert p_two_sided(counts) == pytest.approx(2 * 0.5 * math.erfc(z / 2**0.5), rel=1e-6)


@pytest.mark.parametrize("counts", [Counts(3, 2, 0, 1), Counts(0, 0, 0, 1), Counts(-1, 2, 0, 1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(BadInput, match="each set needs items"):
        p_above(counts)


@pytest.mark.parametrize(("n1", "n2", "difference"), [(30, 40, 0.0), (25, 60, 0.1), (50, 20, -0.1), (12, 15, 0.0)])
def test_the_critical_score_is_the_smallest_with_a_small_enough_p(n1, n2, difference):
    for error in (0.025, 0.1):
        critical = critical_score(n1, n2, difference, error)
        assert tail(critical, n1, n2, difference) <= error < tail(critical - 1e-3, n1, n2, difference)


def test_the_critical_score_is_the_normal_one_where_the_smaller_set_is_large(monkeypatch):
    assert critical_score(MAX_EXACT + 1, MAX_EXACT + 1, 0.0, 0.025) == pytest.approx(1.959964, abs=1e-6)
    assert critical_score(MAX_EXACT + 1, 20, 0.0, 0.025) != pytest.approx(1.959964, abs=1e-3)
    monkeypatch.setattr(two_shares, "MAX_EXACT", 30)
    exact, normal = (critical_score.__wrapped__(n, n, 0.0, 0.025) for n in (30, 31))
    assert abs(exact - 1.959964) > 1e-3 and normal == pytest.approx(1.959964, abs=1e-6)
