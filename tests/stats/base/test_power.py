"""Planned numbers of items, against an independent computation."""

import math

import pytest
from scipy.stats import binomtest, norm
from statsmodels.stats.power import NormalIndPower

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import paired, power
from tests import source_statistics


@pytest.mark.parametrize(
    ("control", "gap", "n80", "n90"),
    [
        (0, 0.05, 150, 200),
        (0, 0.10, 71, 95),
        (0, 0.15, 45, 60),
        (0, 0.26, 23, 30),
        (0.05, 0.03, 1_057, 1_414),
        (0.05, 0.05, 432, 578),
        (0.05, 0.10, 138, 184),
        (0.05, 0.15, 73, 97),
        (0.05, 0.26, 31, 41),
        (0.15, 0.03, 2_400, None),
        (0.15, 0.05, 903, 1_209),
        (0.15, 0.10, 248, 331),
        (0.15, 0.15, 118, 158),
    ],
)
def test_the_items_that_a_drop_gap_needs_are_the_stated_ones(control, gap, n80, n90):
    design = (gap, control + gap, control + gap, control, control)
    assert power.n_for_gap(*design) == n80
    assert n90 is None or power.n_for_gap(*design, power=0.9) == n90


@pytest.mark.parametrize(("p2", "n"), [(0.35, 1_471), (0.30, 356), (0.24, 133)])
def test_the_items_that_two_proportions_need_are_the_stated_ones(p2, n):
    assert source_statistics.n_two_prop(0.40, p2) == n


def test_the_items_that_equivalence_needs_are_the_stated_ones():
    assert [power.n_tost_two_prop(0.4, margin) for margin in (0.10, 0.05)] == [412, 1_645]


def test_the_smallest_gap_and_the_number_of_items_are_inverse():
    n = power.n_for_gap(0.10, 0.15, 0.15, 0.05, 0.05)
    variance = 0.15 - 0.15**2 + 0.05 - 0.05**2
    smallest = [(norm.ppf(0.975) + norm.ppf(0.8)) * math.sqrt(variance / count) for count in (n, n - 1)]
    assert smallest[0] <= 0.10 < smallest[1]


def test_the_smallest_difference_of_two_proportions_agrees_with_statsmodels():
    # statsmodels takes the difference in standard deviations of one observation
    effect = NormalIndPower().solve_power(nobs1=200, ratio=0.5, alpha=0.05, power=0.8)
    assert power.mde_two_prop(0.3, 200, 100) == pytest.approx(effect * math.sqrt(0.3 * 0.7), rel=1e-3)


def test_one_sided_designs_need_fewer_items():
    two, one = (power.n_for_gap(0.1, 0.15, 0.15, 0.05, 0.05, two_sided=flag) for flag in (True, False))
    assert one == math.ceil((norm.ppf(0.95) + norm.ppf(0.8)) ** 2 * (0.1275 + 0.0475) / 0.01) < two


def test_no_difference_needs_infinitely_many_items():
    assert math.isinf(power.n_for_gap(0, 0.1, 0.1, 0.1, 0.1)) and math.isinf(source_statistics.n_two_prop(0.4, 0.4))


def test_items_to_author_are_divided_by_coverage():
    assert power.n_to_author(71, 0.79) == 90 and power.n_to_author(100, 1) == 100
    with pytest.raises(BadInput, match="Coverage came as 0"):
        power.n_to_author(100, 0)


def test_designs_without_items_detect_nothing():
    assert math.isnan(power.mde_two_prop(0.4, 0, 5))
    with pytest.raises(BadInput, match="above 0"):
        power.n_tost_two_prop(0.4, 0)


@pytest.mark.slow
def test_the_promised_power_is_reached_in_simulation():
    n = power.n_for_gap(0.15, 0.20, 0.20, 0.05, 0.05)
    rng, runs = generator(4), 2_000
    hits = 0
    for _ in range(runs):
        db, dc = (rng.random(n) < 0.20).astype(float), (rng.random(n) < 0.05).astype(float)
        hits += paired.gap_welch(db, dc)["lo"] > 0
    assert 0.76 < hits / runs < 0.88 and binomtest(hits, runs, 0.8, alternative="less").pvalue > 1e-3
