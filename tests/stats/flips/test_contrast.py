"""The three contrasts: above their floors or none, and never surer than what unread answers allow; the power of a design."""

import math

import numpy as np
import pytest

from flipcore.claims import flips
from flipcore.core.randomness import generator
from flipcore.stats.flips.contrast import parts_test
from flipcore.stats.flips.power import HALF_BOTH, LARGEST, TWICE_NOISE, detectable_difference, elsewhere, power
from tests.lab.claims import flips as worlds


def cell(plus=0.4, minus=0.0, both=0.1, n=60, again=True):
    (one,) = worlds.in_words(worlds.parts(plus, minus, both, again=again)(generator(3), n))
    return one


def test_the_larger_part_alone_has_a_small_p():
    compared, reference, genuine = (
        parts_test(cell(*shares)).p.round(3).tolist() for shares in ((0.5, 0, 0.05), (0, 0.5, 0.05), (0.02, 0, 0.5))
    )
    assert compared[0] == reference[1] == genuine[2] == 0
    assert min(compared[1:]) > 0.5 and min(genuine[:2]) > 0.5 and reference[0] > 0.5


def test_without_reruns_nothing_is_asked_of_genuine_flips():
    test = parts_test(cell(0, 0, 0.5, again=False))
    assert not test.above_floor and np.isnan(test.p[2]) and not np.isnan(test.p[:2]).any()
    assert parts_test(cell(0, 0, 0.5)).above_floor


def test_what_reruns_flip_is_no_change():
    (one,) = worlds.in_words(worlds._noise(0.25, 0.0)(generator(1), 200))
    test = parts_test(one)
    assert one.A_plus.value > 0.15 and abs(one.A_plus_excess.value) < 0.05 and (test.p > 0.01).all()


def test_an_answer_that_never_came_weighs_against_every_contrast():
    draw = worlds._lost_where(0.4, 0.1, 1.0, failed=False)
    (one,) = worlds.in_words(draw(generator(3), 80))
    test = parts_test(one)
    assert (test.p[:2] >= test.p_read[:2]).all() and test.p[0] > test.p_read[0]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_cells"), [(20, 1), (40, 6), (120, 2)])
def test_the_difference_that_is_promised_is_claimed_four_times_in_five(n, n_cells):
    missed, runs = worlds._misses_its_plan(n, n_cells)(generator(8, n), 400)
    assert 0.74 <= 1 - missed / runs <= 0.92


def test_more_cells_and_fewer_items_need_a_larger_difference():
    assert detectable_difference(40, 6) > detectable_difference(40) > detectable_difference(400)
    assert detectable_difference(6_000) == pytest.approx(detectable_difference(1_500) / 2, abs=0.011)


def test_a_plan_gives_the_power_of_two_worse_worlds():
    difference = detectable_difference(40)
    low, high = elsewhere(40, difference)
    worse = [power(40, difference, world=world, runs=2_000) for world in (HALF_BOTH, TWICE_NOISE)]
    assert (low, high) == (min(worse), max(worse)) and low < 0.7 < power(40, difference)
    assert f"{100 * low:.0f} % to {100 * high:.0f} % of studies" in flips.plan_sentence(40, 1)


def test_what_cannot_be_planned_is_missing_and_said():
    assert math.isnan(power(9, 0.3)) and math.isnan(power(40, LARGEST + 0.1)) and math.isnan(detectable_difference(9))
    assert flips.plan_sentence(9, 1).startswith("Below 10 items")
    assert flips.plan_sentence(10, 500).startswith(
        "Too few items: 10 and 500 pairings"
    ) and "38 items find one" in flips.plan_sentence(10, 500)
    assert flips.plan_sentence(40, 6).startswith(
        "With 40 items and 6 pairings of axis and extractor, artifact that exceeds what is"
    )
