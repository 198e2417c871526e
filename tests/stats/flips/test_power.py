"""The power of a design is that of the rule that the page uses, in the world that the plan names and in two others."""

import math

import pytest

from flipcore.claims import flips
from flipcore.core.randomness import generator
from flipcore.stats.flips import contrast as module
from flipcore.stats.flips.contrast import (
    HALF_BOTH,
    MAX_DIFFERENCE,
    TWICE_NOISE,
    detectable_difference,
    power,
    power_in_worse_worlds,
)
from tests.lab.claims import flips as worlds


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_cells"), [(20, 1), (40, 6), (120, 2)])
def test_the_difference_that_is_promised_is_claimed_four_times_in_five(n, n_cells):
    missed, runs = worlds._misses_its_plan(n, n_cells)(generator(8, n), 400)
    assert 0.74 <= 1 - missed / runs <= 0.92


def test_more_cells_and_fewer_items_need_a_larger_difference():
    assert detectable_difference(40, 6) > detectable_difference(40) > detectable_difference(120)


@pytest.mark.slow
def test_beyond_what_is_drawn_the_difference_shrinks_with_the_root(monkeypatch):
    monkeypatch.setattr(module, "MAX_SIMULATED", 150)
    found = detectable_difference.__wrapped__
    assert found(600) == pytest.approx(found(150) / 2, abs=0.011) and found(150) == detectable_difference(150)


def test_a_plan_gives_the_power_of_two_worse_worlds():
    difference = detectable_difference(40)
    low, high = power_in_worse_worlds(40, difference)
    worse = [power(40, difference, world=world, runs=2_000) for world in (HALF_BOTH, TWICE_NOISE)]
    assert (low, high) == (min(worse), max(worse)) and low < 0.7 < power(40, difference)
    assert f"{100 * low:.0f}% to {100 * high:.0f}% of studies" in flips.plan_sentence(40, 1)


@pytest.mark.slow
def test_what_cannot_be_planned_is_missing_and_said():
    assert math.isnan(power(9, 0.3)) and math.isnan(power(40, MAX_DIFFERENCE + 0.1)) and math.isnan(detectable_difference(9))
    assert flips.plan_sentence(9, 1).startswith("Two extractors read 9 items; from 10 on")
    assert flips.plan_sentence(0, 0).startswith("One extractor shows how often answers change.")
    assert flips.plan_sentence(10, 500).startswith(
        "10 items and 500 combinations"
    ) and "From 38 items on a large effect" in flips.plan_sentence(10, 500)
    assert flips.plan_sentence(40, 6).startswith("40 items and 6 combinations of axis and extractor find a large effect (")
