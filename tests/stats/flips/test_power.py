"""The planner answers for the rule that decides: what it promises is what the sentence does."""

import math

import pytest

from flipcore.claims import flips
from flipcore.core.randomness import generator
from flipcore.lab.claims import flips as worlds
from flipcore.stats.flips.power import BOTH, LARGEST, REFERENCE_ALONE, detectable_difference, power


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
    assert "take more items" in flips.plan_sentence(10, 500)
    assert flips.plan_sentence(40, 6).startswith("With 40 items and 6 pairings of axis and extractor, a difference of 0.")
