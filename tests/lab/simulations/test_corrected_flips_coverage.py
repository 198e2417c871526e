"""The simulated coverage of corrected G and A, on few studies; the command runs them all."""

import pytest

from flipcore.core.randomness import generator
from tests.lab.simulations.corrected_flips_coverage import World, coverage, draw, truth, worlds


def test_a_reference_errs_as_planted_and_pairs_come_item_by_item():
    one = draw(World(2000, 3, 0.2, 0.1, 1.0, 2000), generator(1))
    assert one.n_pairs == 2000 and one.labelled_items.size == 2000
    g, a = truth(0.2, 0.1, 1.0)
    assert one.stated.low <= g <= one.stated.high and one.artifact.low <= a <= one.artifact.high
    assert abs(one.genuine.mean() - g) > 0.05  # the reference alone is far off


@pytest.mark.slow
def test_corrected_flips_hold_what_they_say():
    usual, rare = coverage(World(100, 3, 0.2, 0.2, 1.0, 100), 150), coverage(World(300, 1, 0.2, 0.02, 0.0, 100), 150)
    assert usual["normal limits"] > 0.9 and min(usual["G held"], usual["A held"]) > 0.9
    assert usual["width beside labels alone"] < 1
    assert rare["normal limits"] < 0.1 and min(rare["exact: G held"], rare["exact: A held"]) > 0.93


def test_the_worlds_are_of_every_kind():
    assert {one.error for one in worlds()} == {0.02, 0.1, 0.2, 0.4} and {one.bias for one in worlds()} == {0.0, 1.0}
