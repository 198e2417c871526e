"""The contrast of artifact and genuine: above both floors or none, and never surer than the worst case of cut answers."""

import math

import numpy as np
import pytest

from flipcore.claims import flips
from flipcore.core.randomness import generator
from flipcore.stats.flips.contrast import (
    BOTH,
    LARGEST,
    REFERENCE_ALONE,
    contrast,
    contrast_values,
    detectable_difference,
    power,
)
from flipcore.stats.flips.decomposition import COLUMNS
from tests.lab.claims import flips as worlds


def cell(difference, artifact=np.nan, genuine=np.nan):
    """(items, quantities) with A - G and the two excesses over their floors."""
    values = np.full((len(difference), len(COLUMNS)), np.nan)
    for name, column in (("A_minus_G", difference), ("A_excess", artifact), ("G_excess", genuine)):
        values[:, list(COLUMNS).index(name)] = column
    return values


@pytest.fixture
def difference():
    return 0.3 + 0.1 * np.random.default_rng(0).standard_normal(40)


def test_without_floors_the_raw_difference_counts(difference):
    values, above_floor = contrast_values(cell(difference))
    assert not above_floor and values is not None and values.tolist() == difference.tolist()


def test_with_both_floors_the_excesses_count_and_with_a_gap_neither_does(difference):
    genuine = np.zeros(40)
    assert contrast_values(cell(difference, difference - 0.1, genuine))[1]
    genuine[3] = np.nan
    assert not contrast_values(cell(difference, difference - 0.1, genuine))[1]


def test_the_direction_is_that_of_the_larger_part(difference):
    more, less = contrast(cell(difference)), contrast(cell(-difference))
    assert (more.direction, less.direction, more.n) == (1, -1, 40)
    assert max(more.p, less.p) < 1e-5


def test_a_worst_case_on_the_other_side_withdraws_the_p(difference):
    sure = contrast(cell(difference), (difference - 0.05, difference + 0.05))
    open_ = contrast(cell(difference), (-difference, difference))
    assert sure.p < 0.001 and open_.p == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 40, 120])
def test_the_difference_that_is_promised_is_claimed_four_times_in_five(n):
    difference = detectable_difference(n)
    alone = difference + BOTH + 2 * REFERENCE_ALONE
    world = worlds._three_valued(alone, REFERENCE_ALONE, BOTH)
    drawn = world(generator(8, n), n * 400)
    claimed = sum(
        flips.cell_claims(worlds.in_words(worlds.part(drawn, int(run), n)))[0].outcome == flips.MORE
        for run in worlds.promising(drawn, n, 400)
    )
    assert 0.74 <= claimed / 400 <= 0.92


def test_more_cells_and_fewer_items_need_a_larger_difference():
    assert detectable_difference(40, 6) > detectable_difference(40) > detectable_difference(400)
    assert detectable_difference(1_200) == pytest.approx(detectable_difference(300) / 2, abs=0.011)


def test_what_cannot_be_planned_is_missing_and_said():
    assert math.isnan(power(9, 0.3)) and math.isnan(power(40, LARGEST + 0.1)) and math.isnan(detectable_difference(9))
    assert flips.plan_sentence(9, 1).startswith("Below 10 items")
    assert "41 items find one of 0.71" in flips.plan_sentence(10, 500)
    assert flips.plan_sentence(40, 6).startswith("With 40 items and 6 pairings of axis and extractor, a difference of 0.")
