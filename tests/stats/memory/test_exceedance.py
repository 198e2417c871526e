"""Every cut-off at once: the table behind its Monte Carlo p, and that a drag cannot buy a verdict."""

import math

import numpy as np
import pytest
from scipy.stats import betabinom, levene

from flipcore.claims.memory_sets import any_cutoff_claim
from flipcore.stats.memory import exceedance
from flipcore.stats.memory.gap_decision import OTHER, RANDOM


def test_the_table_of_tails_holds_the_exact_p_of_every_count():
    table = exceedance._tail_table(25, 40)
    assert table.shape == (20, 26)
    for k, c in ((1, 0), (1, 3), (5, 9), (20, 25)):
        assert np.isclose(table[k - 1, c], exceedance.set_p(c, 25, k, 40), rtol=1e-9)


def test_blocks_of_permutations_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    d, d0 = rng.normal(0.3, 1, 40), rng.normal(size=60)
    whole = exceedance.largest_excess_p(d, d0, 3)
    monkeypatch.setattr(exceedance, "_CELLS", 100 * 300)
    assert abs(exceedance.largest_excess_p(d, d0, 3).p - whole.p) < 0.03


def test_a_set_that_is_shifted_is_beyond_at_some_cut_off_and_a_clean_one_is_not():
    rng = np.random.default_rng(1)
    d, d0 = rng.normal(size=60), rng.normal(size=90)
    shifted, clean = (any_cutoff_claim(exceedance.largest_excess_p(x, d0).p, RANDOM) for x in (d + 1.5, d0[:60]))
    assert shifted.is_made and "all cut-offs at once" in shifted.text
    assert not clean.is_made and clean.text.startswith("After a drag: at no cut-off is it shown")
    assert "Controls of another kind" in any_cutoff_claim(0.01, OTHER).text
    assert not any_cutoff_claim(0.001, RANDOM, withheld="Templates.").is_made


def test_a_set_without_items_or_without_controls_has_no_p():
    for items, controls in (([], [1.0, 2.0]), ([1.0, 2.0], []), ([], [])):
        test = exceedance.set_test(items, controls)
        assert (test.n, test.m, test.n_beyond, test.n_least) == (len(items), len(controls), 0, 0) and np.isnan(test.p)


@pytest.mark.parametrize(("items", "controls"), [([], [1.0, 2.0]), ([1.0, 2.0], []), ([], []), ([math.nan], [1.0])])
def test_without_items_or_without_controls_no_cut_off_has_a_p(items, controls):
    found = exceedance.largest_excess_p(items, controls)
    assert np.isnan([found.p, found.low, found.high]).all() and (found.b, found.m) == (0, 0)


def test_the_p_of_all_cut_offs_is_that_of_all_regroupings():
    """Two items above three controls: at k = 1 the smallest p is .1, which one in ten regroupings has."""
    found = exceedance.largest_excess_p([4.0, 5.0], [1.0, 2.0, 3.0])
    assert found.low <= 0.1 <= found.high and found.m == 1999
    tied = exceedance.largest_excess_p([3.0, 3.0], [1.0, 2.0, 3.0])  # a tie is not above
    assert tied.p == 1


@pytest.mark.parametrize(
    ("m", "rate", "k"),
    [(19, 0.05, 1), (18, 0.05, 1), (38, 0.05, 1), (39, 0.05, 2), (39, 0.0499, 1), (99, 0.05, 5), (9, 0.5, 5), (1, 0.05, 1)],
)
def test_the_rank_is_the_largest_within_the_rate_and_at_least_1(m, rate, k):
    assert exceedance.rank(m, rate) == k and (rate != 0.05 or exceedance.rank(m) == k)


def test_items_are_counted_above_the_mark_and_ties_are_not():
    d, d0 = [3.0, 2.0, 2.5, math.nan, 9.0], [1.0, 2.0, 3.0, math.inf]
    assert [exceedance.n_beyond(d, d0, k) for k in (1, 2, 3)] == [1, 3, 4]
    assert exceedance.chance_count(10, 2, 39) == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "k", "m"), [(5, 1, 3), (1, 2, 5), (4, 2, 7), (3, 3, 3), (6, 2, 2)])
def test_the_p_of_a_count_is_the_beta_binomials(n, k, m):
    for c in range(n + 1):
        assert exceedance.set_p(c, n, k, m) == pytest.approx(betabinom.sf(c - 1, n, k, m + 1 - k))
    assert exceedance.set_p(0, n, k, m) == exceedance.set_p(-1, n, k, m) == 1 and exceedance.set_p(n + 1, n, k, m) == 0


def test_rounding_makes_no_p_larger_than_1():
    assert exceedance.set_p(1, 300, 11, 19) <= 1 and exceedance.set_p(1, 500, 100, 1000) <= 1


@pytest.mark.parametrize(("n", "k", "m"), [(30, 2, 39), (30, 5, 99), (8, 1, 19)])
def test_the_least_number_is_the_first_that_the_test_does_not_reject(n, k, m):
    for c in range(n + 1):
        for error in (0.05, 0.2):
            accepted = [j for j in range(c + 1) if exceedance.set_p(c - j, n - j, k, m) > error]
            assert exceedance.least_contaminated(c, n, k, m, error) == accepted[0]
        assert exceedance.least_contaminated(c, n, k, m) == exceedance.least_contaminated(c, n, k, m, 0.05)


def test_a_test_of_a_set_holds_the_numbers_of_its_parts():
    d, d0 = np.array([4.0, 6.0, 9.0, 1.0]), np.arange(1.0, 40.0)
    test = exceedance.set_test(d, d0)
    assert (test.n, test.m, test.k, test.mark, test.n_beyond) == (4, 39, 2, 38.0, 0)
    other = exceedance.set_test(d, d0, k=35)
    assert (other.k, other.mark, other.n_beyond) == (35, 5.0, 2) and other.chance == pytest.approx(4 * 35 / 40)
    assert other.p == exceedance.set_p(2, 4, 35, 39) and other.n_least == exceedance.least_contaminated(2, 4, 35, 39)
    assert (test.sd, test.control_sd) == (pytest.approx(d.std(ddof=1)), pytest.approx(d0.std(ddof=1)))
    assert exceedance.set_test(d, d0, rate=0.25).k == 10
    pair = exceedance.set_test([1.0, 3.0], [2.0])
    assert pair.sd == pytest.approx(2**0.5) and math.isnan(pair.control_sd) and pair.share_least == pair.n_least / 2


def test_the_p_of_equal_spread_is_brown_and_forsythes():
    rng = np.random.default_rng(2)
    for d, d0 in (
        (rng.normal(0, 3, 12), rng.normal(size=25)),
        (rng.normal(5, 0.2, 9), rng.normal(1, 1, 7)),
        ([0.0, 1.0], [2.0, 5.0, 9.0]),
    ):
        assert exceedance.spread_p(d, d0) == pytest.approx(levene(d, d0, center="median").pvalue)
    assert math.isnan(exceedance.spread_p([0.0, 1.0], [0.0, 3.0]))  # the distances from the median do not vary
    assert all(
        math.isnan(exceedance.spread_p(*sets))
        for sets in (([1.0], [1.0, 2.0, 4.0]), ([1.0, 2.0, 4.0], [1.0]), ([1.0, 1.0], [2.0, 2.0]))
    )
